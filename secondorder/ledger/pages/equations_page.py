"""The page of a whole paper, `EQUATIONS.md`: contents, errata, symbols, every display.

The text holds nothing that was measured, so that it is the same on every machine.
"""

import importlib.util
import inspect
import os
import re
import sys
from pathlib import Path

from ...formulas import latex, terminal
from .. import registry
from ..claims import Case
from ..comparisons import RELATIVE_TO, VerificationError
from ..labels import short
from ..registration import WEIGHTS, Condition
from ..registry import qualified_name, short_name
from ..runner import run_equation
from ..tex_file import folder_of_checks
from . import counts, folding
from .page import page
from .source import place_of

_WIDE = 105  # columns on one line from which a formula is broken at relations and signs


def markdown(paper):
    """The page of a paper: its errata, its symbols, every display with formula, verdict and code.

    Formulas stand in ``math`` fences, which code hosts render.  What an erratum changes is in
    colour, names of code are links to file and line, and the claims of each display are folded.

    Parameters
    ----------
    paper : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Unknown paper, or one without equations.
    VerificationError
        If a check raises, so that there is nothing to document.
    """
    entries = registry.REGISTRY.select(paper)
    paper = entries[0].paper
    folder = folder_of(paper)
    lines = [f"# {paper}: every equation, executed", "", *_errata(entries), "",
             f"Written by `secondorder verify {paper} --markdown`; change the checks instead. "
             f"`secondorder verify {paper}` runs them, `secondorder show {paper} LABEL` shows one "
             "with its numbers.", "", *_contents(entries), *_symbols(paper), *_conditions(entries)]
    for entry in entries:
        lines += ["", *_display(entry, folder)]
    return "\n".join([*lines, "", RELATIVE_TO]) + "\n"


def folder_of(paper):
    """Where the paper's page belongs: its room, or beside the file of its first check; or None."""
    module = registry.REGISTRY.papers[paper]
    if module is not None:
        return Path(importlib.util.find_spec(module.rpartition(".")[0]).origin).parent
    entries = registry.REGISTRY.of(paper)
    try:
        return folder_of_checks(entries[0].check)
    except (IndexError, OSError, TypeError):
        return None


# -- what stands above the displays ----------------------------------------------------------------

def _errata(entries):
    """What is counted, errata of substance one by one, the others by name."""
    of = {weight: [entry for entry in entries if entry.weight == weight] for weight in WEIGHTS}
    lines = [f"{counts.labels(entries)}: {counts.verdicts(entries)}."]
    if of["substance"]:
        lines += ["", "Errata of substance:", "",
                  *(f"- {_link(entry)}: {entry.statement}" for entry in of["substance"])]
    others = [f"{name}: {', '.join(map(_link, of[weight]))}" for name, weight in (
        ("Misprints", "misprint"), ("What the text that was read may have lost", "extraction"))
        if of[weight]]
    return lines + (["", ". ".join(others) + "."] if others else [])


def _link(entry):
    return f"[{short(entry.labels)}](#label-{entry.labels[0]})"


def _contents(entries):
    lines = ["## Contents", "", "| display | verdict | states |", "|---|---|---|"]
    for entry in entries:
        text = " ".join(entry.statement.split())
        sentence = re.match(r".*?[a-z)0-9]\.(?=\s+[A-Z(])|.*", text)[0].replace("|", "\\|")
        lines.append(f"| {_link(entry)} | {counts.verdict_of(entry)} | {sentence} |")
    return lines


def _symbols(paper):
    """The paper's symbols, from the table in its room's docstring or as they were registered."""
    rows = [("paper", "", "meaning")] + [(symbol, "", text) for symbol, text
                                         in registry.REGISTRY.symbols.get(paper, {}).items()]
    module = registry.REGISTRY.papers[paper]
    if module is not None:
        room = importlib.import_module(module.rpartition(".")[0])
        rows = table_of(room.__doc__ or "", _code) or rows
    if len(rows) == 1:
        return []
    rows.insert(1, ("---",) * len(rows[0]))
    return ["", "## Symbols", "", *("| " + " | ".join(cell.replace("|", "\\|") for cell in row)
                                    + " |" for row in rows)]


def table_of(text, shown=lambda cell, column: cell):
    """Rows of the first table in a docstring, whose columns a line of ``=`` marks, header first."""
    lines = text.splitlines()
    rules = [k for k, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line.strip())]
    if len(rules) < 3:
        return []
    starts = [match.start() for match in re.finditer("=+", lines[rules[0]])]
    rows = []
    for line in [*lines[rules[0] + 1:rules[1]], *lines[rules[1] + 1:rules[2]]]:
        cells = [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None])]
        if cells[0] or not rows:
            rows.append([shown(cell, k) for k, cell in enumerate(cells)])
        else:  # a row that goes on
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells)]
    return rows


def _code(cell, column):
    """What is marked as code in a docstring, as Markdown has it; a first column is all code."""
    cell = cell.replace("``", "`")
    return f"`{cell}`" if column == 0 and cell and cell != "paper" and "(not" not in cell else cell


def _conditions(entries):
    conditions = dict.fromkeys(one for entry in entries for one in entry.conditions
                               if isinstance(one, Condition))
    if not conditions:
        return []
    return ["", "## Conditions", "", *(f"- **{one.name}**: {one.text}" for one in conditions)]


# -- one display -----------------------------------------------------------------------------------

def _display(entry, folder):
    shown, result = page(entry), run_equation(entry)
    if not result.claims and result.ok is not None:
        raise VerificationError(f"[{entry.paper}] {', '.join(entry.labels)} cannot be documented: "
                                f"{result.message}")
    places = "".join(f'<a id="label-{label}"></a>' for label in entry.labels)
    lines = [f"## {shown.heading}", "",
             f"{places}**{shown.verdict}**, {entry.kind}. {entry.statement}", "",
             *(line for mark in shown.marks for line in (f"*{mark}*", "")),
             *_formulas(shown, folder), ""]
    if entry.where:
        lines.append(f"- Where: {entry.where}")
    for one in entry.conditions:
        lines.append(f"- Condition: **{one.name}**." if isinstance(one, Condition)
                     else f"- Condition: {one}")
    if shown.code:
        names = ", ".join(_linked(value, short_name(entry.paper, qualified_name(value)), folder)
                          for value in shown.code)
        lines.append(f"- Implemented by {names}.")
    check = _linked(entry.check, entry.check.__name__, folder)
    if result.ok is None:
        return [*lines, f"- Not checked yet: {check} is where its check belongs."]
    lines.append(f"- Checked by {check}.")
    return lines + _claims([claim for claim in result.claims if not isinstance(claim, Case)])


def _formulas(shown, folder):
    printed, corrected = shown.printed, shown.corrected
    if corrected is None:
        return _math(None, printed, folder)
    if corrected.nodes is None or corrected.marked:
        printed = printed.unmarked()  # as it stands: what is new below says enough
    return [*_math("As printed:", printed, folder), "",
            *_math("Corrected, with what changed in red:" if shown.marked else "Corrected:",
                   corrected)]


def _math(caption, formula, folder=None):
    """A fence for each display with the paper's number, and for the printed ones (those with a
    folder) a link to it and its own lines of code.

    A single one stands as it is registered, if nothing is marked and it is not broken.
    """
    lines = [caption, ""] if caption else []
    if formula.nodes is None:
        return [*lines, "```math", inspect.cleandoc(formula.text), "```"]
    for part in formula.parts:
        broken = latex.broken(part.nodes, _WIDE, _columns)
        as_it_is = len(formula.parts) == 1 and broken is part.nodes and not formula.marked
        text = inspect.cleandoc(formula.text) if as_it_is else latex.to_latex(broken).strip()
        linked = part.numbers and folder is not None
        if linked:
            lines += ["".join(f'<a id="eq-{one}"></a>' for one in part.anchors), ""]
        tag = rf" \tag{{{', '.join(part.numbers)}}}" if part.numbers else ""
        lines += ["```math", text + tag, "```", ""]
        if linked:
            links = "; ".join(_to_line(line.file, line.number, f"{word}, line {line.number}",
                                       folder) for word, line in part.lines)
            lines += [f"[{latex.told(part.numbers)}](#eq-{part.numbers[0]}): {links}.", ""]
    return lines[:-1]


def _columns(nodes):
    return max(map(terminal.columns, terminal.draw(nodes, 10_000)), default=0)


def _linked(value, name, folder):
    """A name as a link to its file and line, where the page's folder leads to it."""
    place = place_of(value)
    if place is None or folder is None:
        return f"`{name}`"
    return _to_line(*place, f"`{name}`", folder)


def _to_line(file, line, text, folder):
    """A text as a link to a line of a file, where the page's folder leads to it."""
    top = Path(sys.modules["secondorder"].__file__).resolve().parent
    if not (file.is_relative_to(top) and folder.is_relative_to(top)) \
            and not file.is_relative_to(folder):
        return text
    return f"[{text}]({Path(os.path.relpath(file, folder)).as_posix()}#L{line})"


def _claims(claims):
    """The list of what is checked, folded; claims that differ only in their case are one line.

    Of several tolerances it names the tightest and the loosest: which case is the worst would hang
    on the machine.
    """
    lines = []
    for _, same in folding.folded(claims):
        same = sorted(same, key=lambda one: (getattr(one, "tolerance", 0.0), one.requirement()))
        loosest = getattr(same[-1], "tolerance", 0.0)
        more = (f", the loosest to {loosest:.2g}" if loosest > getattr(same[0], "tolerance", 0.0)
                else "")
        suffix = f" ({len(same)} cases{more})" if len(same) > 1 else ""
        lines.append(f"- {same[0].requirement()}{suffix}")
    count = f"{len(claims)} claim{'s' * (len(claims) != 1)} checked"
    return ["", "<details>", f"<summary>{count}</summary>", "", *lines, "", "</details>"]
