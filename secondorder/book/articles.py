"""What a page shows of one check."""

import re
from dataclasses import dataclass

from ..ledger import sides, tally
from ..ledger.claims import Printed
from ..ledger.labels import heading
from . import code, evidence, formulas

GLYPHS = {"holds": ("✓", "holds"), "conditional": ("◐", "conditional"), "erratum": ("✗", "erratum"),
          "definition": ("≔", "definition")}


@dataclass(frozen=True)
class Article:
    """One check, ready for the template; `entry` is its registration."""

    entry: object
    anchor: str
    heading: str
    short: str
    glyph: str
    word: str
    statement: str
    marks: list
    conditions: list
    printed: str
    corrected: str | None
    wide: bool
    rows: list
    ok: bool
    both: list
    live: list
    code: list
    other: list
    topic: str


def anchor(label):
    """The address of a label on its page: `39`, `theorem-4.3`."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", label)


def short(entry):
    """The labels as the rail shows them."""
    names = [f"({label})" if re.fullmatch(r"\d+[a-z]?", label) else label
             for label in entry.labels]
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


def article(entry, seeds, symbols, links):
    """Gather one article: runs the check for `seeds` seeds.

    Raises
    ------
    FormulaError
        A formula that cannot be set, named.
    """
    where = f"[{entry.paper}] {heading(entry.labels)}"
    if entry.corrected:
        printed, corrected = formulas.pair(entry.formula, entry.corrected, symbols, where)
    else:
        printed, corrected = formulas.mathml(entry.formula, symbols, where), None
    results = evidence.runs(entry, seeds)
    glyph, word = GLYPHS[entry.verdict]
    latex = [text for text in (entry.formula, entry.corrected) if text]
    return Article(
        entry=entry, anchor=anchor(entry.labels[0]), heading=heading(entry.labels),
        short=short(entry), glyph=glyph, word=tally.verdict_of(entry),
        statement=formulas.prose(entry.statement), marks=tally.marks(entry),
        conditions=[(getattr(one, "name", ""), formulas.prose(getattr(one, "text", str(one))))
                    for one in entry.conditions],
        printed=printed, corrected=corrected, wide=any(map(formulas.is_wide, latex)),
        rows=[row | {"text": formulas.prose(row["text"])} for row in evidence.rows(results)],
        ok=all(result.ok for result in results), both=both_sides(results[0]),
        live=evidence.live_case(results[0]),
        code=[code.block(value, entry.paper, links) for value in entry.implements],
        other=code.other_side(entry.check, entry.paper),
        topic=entry.check.__module__.rpartition(".")[2].replace("_", " "))


def both_sides(result):
    """Lines of the comparison that tells most, and of the printed form."""
    blocks = []
    claim = sides.featured(result.claims)
    if claim is not None:
        blocks.append((sides.title(claim), sides.table(claim)))
    failure = sides.featured_failure(result.claims, Printed)
    if failure is not None:
        blocks.append((f"as printed, fails: {sides.title(failure)}",
                       sides.table(failure, ("printed", "check"), 2)))
    return blocks
