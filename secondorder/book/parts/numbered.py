"""The displays of an article, each with the paper's number, a link, and its own lines."""

from dataclasses import dataclass

from ...formulas.latex import to_latex, told
from ...ledger.displays import printed_numbers
from ...ledger.pages import own_lines
from . import formulas


@dataclass(frozen=True)
class Shown:
    """One display: MathML, LaTeX, the text of its number, the addresses that lead to it, and for
    code and check the word, the line and the address of the line.
    """

    math: str
    latex: str
    number: str
    anchors: tuple
    lines: tuple


def shown(page, symbols, blocks):
    """The displays as printed, and those as corrected or None, as lists of `Shown`.

    `symbols` has the letters that the paper's table explains, `blocks` what code the page shows
    where. FormulaError, which names the place, for a formula of a room that cannot be set.
    """
    try:
        printed = _displays(page, page.printed, symbols, blocks)
        return printed, page.corrected and _displays(page, page.corrected, symbols)
    except ValueError:
        if not blocks.foreign:
            raise
    # an author's own, which may have anything in it: its LaTeX
    text = page.printed.text
    label = page.entry.labels[0]
    return [Shown(formulas.mathml_or_source(text, symbols), text, told(page.numbers), (), _lines(
        page, own_lines.of_both(page.entry, label), label, blocks))], None


def _displays(page, formula, symbols, blocks=None):
    """The displays of one formula; with `blocks`, where they stand as printed, with addresses."""
    if formula.nodes is None:
        raise ValueError(formula.text)
    where = f"[{page.entry.paper}] {page.heading}"
    found = []
    for part in formula.parts:
        latex = to_latex(part.nodes, None)
        colour = "red" if formula.marked else None
        math = formulas.mathml(to_latex(part.nodes, colour), symbols, where)
        linked = blocks is not None and (part.numbers or not page.numbers)
        label = (part.numbers or page.entry.labels)[0]
        found.append(Shown(math, latex, told(part.numbers), *(
            (tuple(f"eq-{number}" for number in part.anchors),
             _lines(page, part.lines, label, blocks)) if linked else ((), ()))))
    return found


def _lines(page, lines, label, blocks):
    """Word, line and address of the code's and of the check's own line."""
    return tuple((word, line.number, blocks.address_of(page.entry, line, word, label))
                 for word, line in lines)


def ids(entry):
    """File and line of every line that is a display's own -> its addresses on the page."""
    ids_of = {}
    for label in printed_numbers(entry) or entry.labels[:1]:
        for word, line in own_lines.of_both(entry, label):
            ids_of.setdefault((own_lines.plain(line.function), line.number), []).append(
                f"{word}-eq-{label}")
    return ids_of
