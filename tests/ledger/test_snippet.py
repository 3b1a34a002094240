"""Lines to run a display with numbers of one's own: made of what its check gives, and they run."""

import subprocess
import sys

import numpy as np
import pytest

from secondorder.ledger.pages.snippet import _Maker, _NoCode, runs, snippet
from secondorder.ledger.registry import REGISTRY


def test_arguments_are_told_as_code():
    maker = _Maker()
    assert maker.of([1, 2.5, "a", None, (True,)]) == "[1, 2.5, 'a', None, (True,)]"
    assert maker.of(np.array([[0.123456, 2.0]])) == "np.array([[0.123, 2.0]])"
    assert maker.of(np.linspace(-1, 3, 30).reshape(5, 6)) == "rng.uniform(-1, 3, size=(5, 6))"
    assert maker.random and maker.numpy
    with pytest.raises(_NoCode):
        maker.of(lambda x: x)


def test_a_display_is_called_with_other_numbers_and_one_that_needs_more_runs_its_check():
    (entry,) = REGISTRY.select("residual-partitioning", "22")
    text = snippet(entry)
    assert "import eq_22_gradient" in text and "print(eq_22_gradient(x, p))" in text
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("[")


@pytest.mark.slow
@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_the_lines_of_every_display_run(paper):
    own = 0
    for entry in REGISTRY.select(paper):
        text = snippet(entry)
        own += "so.ledger.show(" not in text
        assert runs(text), (entry.labels, text)
    assert paper == "bridges" or own > len(REGISTRY.select(paper)) // 2
