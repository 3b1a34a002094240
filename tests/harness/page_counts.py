"""How well the pages of `secondorder show` convince, counted over all labels.

For every label: lines of its page, whether both sides of a comparison are shown with their numbers,
whether the literal form leads.  In ``tests/``: ``python -m harness.page_counts [PAPER]``; with
``--list`` also what misses.
"""

import argparse
import inspect
import re
from dataclasses import dataclass

import numpy as np

from secondorder.ledger import registry
from secondorder.ledger.labels import canonical
from secondorder.ledger.pages import both_sides, show
from secondorder.ledger.pages.source import doc_lines
from secondorder.ledger.registry import underlying
from secondorder.ledger.runner import run_equation

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


def counted(entry, run=run_equation):
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
    """The figures over labels: how many, lines in the middle and at nine in ten, shares."""
    each = [one for one in counts for _ in one.labels]
    lines = [one.lines for one in each]
    compared = [one for one in each if one.compares]
    return {"labels": len(each), "median": float(np.median(lines)),
            "nine in ten": float(np.percentile(lines, 90)), "longest": max(lines),
            "one screen": np.mean([one.lines <= show.SCREEN for one in each]),
            "both sides": np.mean([one.both_sides for one in compared]),
            "literal first": np.mean([one.literal for one in each])}


def main(arguments=None):
    """Print the figures of every paper and of all."""
    parser = argparse.ArgumentParser(prog="python -m harness.page_counts")
    parser.add_argument("paper", nargs="?")
    parser.add_argument("--list", action="store_true", help="what misses, too")
    options = parser.parse_args(arguments)
    papers = [options.paper] if options.paper else registry.REGISTRY.rooms()
    everything = []
    for paper in papers:
        counts = [counted(entry) for entry in registry.REGISTRY.select(paper)]
        everything += counts
        _tell(paper, counts)
        for one in counts if options.list else ():
            missing = [word for word, missed in (
                (f"{one.lines} lines", one.lines > show.SCREEN),
                ("one side only", one.compares and not one.both_sides),
                ("fast form first", not one.literal)) if missed]
            if missing:
                print(f"    {', '.join(one.labels)}: {', '.join(missing)}")
    if len(papers) > 1:
        _tell("all papers", everything)


def _tell(name, counts):
    found = figures(counts)
    print(f"{name}: {found['labels']} labels; lines {found['median']:.0f} in the middle, "
          f"{found['nine in ten']:.0f} at nine in ten, {found['longest']} at most; "
          f"{found['one screen']:.1%} on one screen, {found['both sides']:.1%} with both sides, "
          f"{found['literal first']:.1%} with the literal form first")


if __name__ == "__main__":
    main()
