"""The displays of an article, each with the paper's number, a link, and its own lines."""

from dataclasses import dataclass

from ...formulas import marks
from ...formulas.latex import leaves, parse, to_latex, told
from ...ledger.displays import anchors, displays, printed_numbers
from ...ledger.pages import own_lines
from . import formulas


@dataclass(frozen=True)
class Shown:
    """One display: MathML, the text of its number, the addresses that lead to it, and for code and
    check the word, the line and the address of the line.
    """

    math: str
    number: str
    anchors: tuple
    lines: tuple


def shown(entry, symbols, where, blocks):
    """The displays as printed, and those as corrected or None, as lists of `Shown`.

    `symbols` has the letters that the paper's table explains, `blocks` what code the page shows
    where. FormulaError, which names `where`, for a formula of a room that cannot be set.
    """
    if blocks.foreign:
        try:
            return _shown(entry, symbols, where, blocks)
        except ValueError:  # an author's own, which may have anything in it: its LaTeX
            return [Shown(formulas.mathml_or_source(entry.formula, symbols),
                          told(printed_numbers(entry)), (), _lines(entry, blocks))], None
    return _shown(entry, symbols, where, blocks)


def _shown(entry, symbols, where, blocks):
    if not entry.corrected:
        return [_display(entry, part, symbols, where, blocks)
                for part in displays(entry, parse(entry.formula))], None
    (printed, corrected), _ = marks.marked_pair(entry.formula, entry.corrected)
    return tuple([_display(entry, part, symbols, where, blocks, is_printed)
                  for part in displays(entry, nodes)]
                 for nodes, is_printed in ((printed, True), (corrected, False)))


def _display(entry, part, symbols, where, blocks, is_printed=True):
    marked = any(leaf.marked for leaf in leaves(part.nodes))
    math = formulas.mathml(to_latex(part.nodes, "red" if marked else None), symbols, where)
    if not is_printed:
        return Shown(math, told(part.numbers), (), ())
    ids_of = tuple(f"eq-{number}" for number in anchors(entry, part.numbers))
    if not part.numbers and printed_numbers(entry):  # what stands beside the numbered ones
        return Shown(math, "", (), ())
    return Shown(math, told(part.numbers), ids_of, _lines(entry, blocks, part.numbers))


def _lines(entry, blocks, numbers=()):
    """Word, line and address of the code's and of the check's own line."""
    label = numbers[0] if numbers else entry.labels[0]
    return tuple((word, line.number, blocks.address_of(entry, line, word, label))
                 for word, line in own_lines.of_both(entry, label))


def ids(entry):
    """File and line of every line that is a display's own -> its addresses on the page."""
    ids_of = {}
    for label in printed_numbers(entry) or entry.labels[:1]:
        for word, line in own_lines.of_both(entry, label):
            ids_of.setdefault((own_lines.plain(line.function), line.number), []).append(
                f"{word}-eq-{label}")
    return ids_of
