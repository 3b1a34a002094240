"""How well the pages of `secondorder show` convince, counted over all labels.

For every label: lines of its page, whether both sides of a comparison are shown with their numbers,
whether the literal form leads.
"""

import inspect
import re
from dataclasses import dataclass

import numpy as np

from secondorder.ledger.labels import canonical
from secondorder.ledger.pages import both_sides, show
from secondorder.ledger.pages.source import doc_lines
from secondorder.ledger.registry import underlying

#: Arguments by which a pass is handed memory: who has one is the fast form of something.
BUFFERS = {"new", "out", "workspace"}
_FORMULA = re.compile(r"[=<>~^]|\b(?:sum|mean|max|min|log|sqrt)\b|\(x\)|\bd \w+ / d |\|\||\[\["
                      r"|\b(?:[A-Za-z]{1,2}|sum|mean|max|min)_[{\w]")


@dataclass
class Counted:
    """What was counted on the page of one check."""

    paper: str
    labels: tuple
    lines: int
    compares: bool
    both_sides: bool
    literal: bool


def counted(entry, run):
    """Counts of one page; `run` runs the check.

    Both sides are there where every entry that the comparison's table has stands on the page, in a
    row of its own with the difference.
    """
    text = show.show(entry.paper, entry.labels[0])
    claim = both_sides.featured(run(entry).claims)
    shown = claim is not None and all(line in text for line in both_sides.table(claim))
    return Counted(entry.paper, entry.labels, len(text.splitlines()), claim is not None, shown,
                   literal_leads(entry))


def literal_leads(entry):
    """Whether the code that a page opens with is the formula as a person writes it.

    It has a formula in its docstring, takes no buffers, and names one of the labels wherever any
    of the implementations names one.
    """
    if not entry.implements:
        return True  # the check is the code, with the formula above it
    first, *others = entry.implements
    if takes_buffers(first) or not states_a_formula(first):
        return False
    return names_a_label(first, entry) or not any(names_a_label(one, entry) for one in others)


def takes_buffers(implementation):
    """Whether a function has an argument for memory to write into."""
    try:
        names = inspect.signature(inspect.unwrap(underlying(implementation))).parameters
    except (TypeError, ValueError):
        return False
    return bool(BUFFERS & set(names))


def states_a_formula(implementation):
    """Whether the docstring has a formula before its sections."""
    return bool(_FORMULA.search(" ".join(doc_lines(implementation))))


def names_a_label(implementation, entry):
    """Whether the docstring names one of the labels: `(39)`, `Theorem 1`, `Table 2`."""
    text = " ".join(doc_lines(implementation, 12))
    named = {canonical(match) for match in re.findall(r"\((?:\d+[a-z]?)\)|[A-Z]\w+ \d[\d.]*\w?",
                                                      text)}
    for first, last in re.findall(r"\((\d+)\)-\((\d+)\)", text):
        named |= {str(k) for k in range(int(first), int(last) + 1)}
    return bool(named & {canonical(label) for label in entry.labels})


def figures(counts):
    """Shares of the labels: whose page fits one screen, whose page opens with the literal form."""
    each = [one for one in counts for _ in one.labels]
    return {"one screen": np.mean([one.lines <= show.SCREEN for one in each]),
            "literal first": np.mean([one.literal for one in each])}
