"""A condition's name completes the word "if", and its text is a sentence of its own."""

import re

import pytest

from secondorder.ledger import Condition
from secondorder.ledger.registry import REGISTRY

#: A finite verb of a clause: `there is one sample`, `the direction descends`.
VERB = re.compile(r"\b(is|are|do|does|has|have|vary|varies|stand|stands|take|takes|lies|goes|count|"
                  r"descends|contracts|share|hold|holds)\b")


def conditions():
    return [(entry, one) for entry in REGISTRY.select() for one in entry.conditions
            if REGISTRY.papers[entry.paper] is not None]


def is_clause(name):
    return bool(VERB.search(name)) and not name.endswith((".", ":"))


@pytest.mark.parametrize("name", sorted({one.name for _, one in conditions()
                                         if isinstance(one, Condition)}))
def test_the_name_of_a_condition_completes_if(name):
    assert is_clause(name), (f"If {name}: wants a verb, such as {VERB.pattern}; a verb that is not "
                             "among them is to be added to VERB")


def test_the_text_of_a_condition_is_a_sentence():
    for entry, one in conditions():
        text = one.text if isinstance(one, Condition) else one
        assert text.endswith((".", ".)")) and not text.startswith("("), (
            f"{entry.labels}: a condition ends with a full stop and begins with no bracket: {text}")
