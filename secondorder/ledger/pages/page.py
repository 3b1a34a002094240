"""The page of an equation: what stands on it, which `show`, EQUATIONS.md and the book each write.

What is measured, claims with both sides' numbers, comes of a run (`run_equation`); all that stands
there without one is a `Page`.
"""

import functools
from dataclasses import dataclass

from ...formulas import latex, marks, terminal
from ..displays import anchors, displays, printed_numbers
from ..labels import heading
from . import counts, own_lines
from .source import check_and_helpers


@dataclass(frozen=True)
class Part:
    """One display: its symbols, the paper's numbers, the addresses of these, its own lines of code
    and check.
    """

    nodes: list
    numbers: tuple
    anchors: tuple
    lines: tuple


@dataclass(frozen=True)
class Formula:
    """A formula in LaTeX, as symbols of which those are marked that a correction changes, and cut
    into its displays. `nodes` is None where an author's own has what cannot be drawn.
    """

    entry: object
    text: str
    nodes: list | None

    @functools.cached_property
    def parts(self):
        """The displays, each a `Part`."""
        return [Part(one.nodes, one.numbers, tuple(anchors(self.entry, one.numbers)),
                     own_lines.of_both(self.entry, (one.numbers or self.entry.labels)[0]))
                for one in displays(self.entry, self.nodes)]

    @property
    def marked(self):
        """Whether something of it is marked."""
        return any(leaf.marked for leaf in latex.leaves(self.nodes or ()))

    def unmarked(self):
        """The formula without marks."""
        return Formula(self.entry, self.text, self.nodes and latex.parse(self.text))


@dataclass(frozen=True)
class Page:
    """What stands on the page of one check.

    Attributes
    ----------
    entry : Equation
    heading, verdict : str
        `Equation (22)`; `erratum (misprint)`.
    marks : list of str
        Sentences that say what of it is not the paper's.
    numbers : tuple of str
        Those that displays of the paper bear.
    printed, corrected : Formula
        `corrected` is None where nothing is.
    code : list
        What implements it, the functions that are the display first; `lead` says how many these
        are.
    check : list
        The check, and the helpers of its room that it calls.
    """

    entry: object
    heading: str
    verdict: str
    marks: list
    numbers: tuple
    printed: Formula
    corrected: Formula | None
    code: list
    lead: int
    check: list

    @property
    def marked(self):
        """Whether it is marked what a correction changes."""
        return self.printed.marked or self.corrected is not None and self.corrected.marked


def page(entry):
    """The `Page` of a check."""
    texts = [text for text in (entry.formula, entry.corrected) if text]
    nodes = [None, None]
    if all(map(terminal.drawable, texts)):
        nodes = marks.marked_pair(*texts)[0] if entry.corrected else [latex.parse(texts[0])]
    formulas = [Formula(entry, *pair) for pair in zip(texts, nodes)] + [None]
    lead = own_lines.displays_among(entry) or list(entry.implements[:1])
    return Page(entry, heading(entry.labels), counts.verdict_of(entry), counts.marks(entry),
                printed_numbers(entry), *formulas[:2],
                lead + [value for value in entry.implements if value not in lead], len(lead),
                check_and_helpers(entry.check))
