"""What people read: the table of a run, the page of a paper, one equation at the desk.

`table` shows what was measured in this run; `markdown` is the document and holds nothing that was measured, so that it
is the same on every machine; `show` puts formula, code, shapes and the numbers of both sides under each other.
"""

import inspect
import re
import shutil
import textwrap
from pathlib import Path

import numpy as np

from . import registry
from .claims import AtMost, Case, Comparison, PrintedShape, Property, Rate, VerificationError
from .equations import run, run_equation
from ..mismatch import entry_line
from .registry import VERDICTS, qualified_name, underlying

_LONGEST_SOURCE = 80
_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


# -- the table ----------------------------------------------------------------------------------------------------

def table(results, width=None):
    """Results as text, one table a paper, each followed by a line that counts verdicts and by what failed.

    Parameters
    ----------
    results : list of Result
    width : int, optional
        Columns to use; default: those of the terminal (160 where there is none).  Columns of the table that do not fit
        are left out, and the line below the table names them.

    Returns
    -------
    str
    """
    width = shutil.get_terminal_size((160, 24)).columns if width is None else width
    blocks = []
    for paper in dict.fromkeys(result.paper for result in results):
        mine = [result for result in results if result.paper == paper]
        failed = [f"FAILED {paper} {', '.join(result.labels)}: {result.message}" for result in mine if not result.ok]
        blocks.append("\n".join([paper, *_rows(mine, width), summary(mine), *failed]))
    return "\n\n".join(blocks)


def summary(results):
    """One line: labels, checks, verdicts and failures, time."""
    counts = {verdict: sum(result.verdict == verdict for result in results) for verdict in VERDICTS}
    names = {"holds": ("holds", "hold"), "conditional": ("conditional", "conditional"),
             "erratum": ("erratum", "errata"), "definition": ("definition", "definitions")}
    parts = [f"{count} {names[verdict][count != 1]}" for verdict, count in counts.items() if count]
    labels, failed = sum(len(result.labels) for result in results), sum(not result.ok for result in results)
    seconds = sum(result.seconds for result in results)
    checks = f"{len(results)} check{'s' * (len(results) != 1)} of {labels} label{'s' * (labels != 1)}"
    return f"{checks}: {', '.join(parts) or 'nothing'}; {failed} failed; {seconds:.1f} s"


def _rows(results, width):
    columns = [("label", [", ".join(result.labels) for result in results], None),
               ("states", [result.statement for result in results], "rest"),
               ("kind", [result.kind for result in results], None),
               ("verdict", [result.verdict for result in results], None),
               ("error", [_short(result.error) for result in results], None),
               ("tol.", [_short(result.tolerance) for result in results], None),
               ("printed", [result.printed_failure or _short(result.printed_error) for result in results], None),
               ("implemented", [_where(result.implements) for result in results], "rest"),
               ("", ["ok" if result.ok else "FAIL" for result in results], None)]
    if not any(cell for cell in columns[6][1]):
        del columns[6]
    widths = _widths(columns, width)
    lines = [[name for name, _, _ in columns], *zip(*(cells for _, cells, _ in columns))]
    text = ["  ".join(_clip(cell, size) for cell, size in zip(line, widths) if size) for line in lines]
    rule = "-" * min(width, max(len(line) for line in text))
    hidden = [name for (name, _, _), size in zip(columns, widths) if name and not size]
    notes = textwrap.wrap(f"(no room for {', '.join(hidden)}: a wider terminal shows them)", width) if hidden else []
    return [text[0].rstrip(), rule, *(line.rstrip() for line in text[1:]), *notes]


def _widths(columns, width):
    """Fixed columns get what they need, statement and place share the rest; a narrow terminal loses the place first."""
    sizes = [max([len(name), *map(len, cells)]) for name, cells, _ in columns]
    sizes[0] = min(sizes[0], 24)
    names = [name for name, _, _ in columns]

    def free():
        fixed = [size for size, (_, _, role) in zip(sizes, columns) if role is None and size]
        return width - sum(fixed) - 2 * (len(fixed) + (sizes[names.index("implemented")] > 0))

    states, place = names.index("states"), names.index("implemented")
    for dropped in ("implemented", "kind", "tol.", "printed"):
        if free() >= (45 if sizes[place] else 24):
            break
        if dropped in names:
            sizes[names.index(dropped)] = 0
    rest = max(free(), 12)
    if sizes[place]:
        sizes[place] = min(sizes[place], max(rest // 3, rest - sizes[states]))
        rest -= sizes[place]
    sizes[states] = min(sizes[states], rest)
    return sizes


def _clip(text, size):
    text = " ".join(text.split())
    return text.ljust(size) if len(text) <= size else text[:max(size - 3, 0)] + "..."[:size]


def _short(value):
    return "" if value is None else f"{value:.1e}"


def _where(names):
    shown = [name.removeprefix("secondorder.") for name in names]
    return shown[0] + (f" +{len(shown) - 1}" if len(shown) > 1 else "") if shown else ""


# -- the page of a paper --------------------------------------------------------------------------------------------

def markdown(paper):
    """The page of a paper: every display with its formula, verdict, what is checked and what implements it.

    Formulas stand in ``math`` fences, which code hosts render.  The text holds nothing that was measured.

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
    counts = {verdict: sum(entry.verdict == verdict for entry in entries) for verdict in VERDICTS}
    lines = [f"# {paper}: every equation, executed", "",
             f"Written by `secondorder verify {paper} --markdown`; change the checks in `equations` instead.",
             f"`secondorder verify {paper}` runs it; `secondorder show {paper} LABEL` shows one with its numbers.",
             "", "| verdict | displays |", "|---|---|",
             *(f"| {verdict} | {count} |" for verdict, count in counts.items())]
    for entry in entries:
        lines += ["", *_markdown_entry(entry)]
    return "\n".join(lines) + "\n"


def _markdown_entry(entry):
    result = run_equation(entry)
    if not result.claims:
        raise VerificationError(f"[{entry.paper}] {', '.join(entry.labels)} cannot be documented: {result.message}")
    lines = [f"## {heading(entry.labels)}", "", entry.statement, "",
             *_math("As printed:" if entry.corrected else None, entry.formula)]
    if entry.corrected:
        lines += ["", *_math("Corrected:", entry.corrected)]
    lines += ["", f"- Kind: {entry.kind}. Verdict: **{entry.verdict}**."]
    if entry.condition:
        lines.append(f"- Condition: {entry.condition}")
    lines += [f"- Checked: {claim.requirement()}" for claim in result.claims if not isinstance(claim, Case)]
    if entry.implements:
        names = ", ".join(f"`{qualified_name(value)}`" for value in entry.implements)
        lines.append(f"- Implemented by {names}.")
    return lines


def _math(caption, formula):
    return ([caption, ""] if caption else []) + ["```math", inspect.cleandoc(formula), "```"]


def heading(labels):
    """`Equations (8a), (8b)` for numbers, the label itself for theorems, algorithms and claims."""
    numbers = [label for label in labels if re.fullmatch(r"\d+[a-z]?", label)]
    if len(numbers) < len(labels):
        return ", ".join(labels)
    return ("Equation " if len(labels) == 1 else "Equations ") + ", ".join(f"({label})" for label in labels)


# -- one equation at the desk ----------------------------------------------------------------------------------------

def show(paper, label, seed=0):
    """One equation for a reader: formula, statement, code, the shapes of a live case, both sides' numbers, verdict.

    Parameters
    ----------
    paper, label : str
    seed : int >= 0

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Unknown paper or label (with the close match).
    """
    entry = registry.REGISTRY.select(paper, label)[0]
    result = run(paper, label, seed)[0]
    lines = [f"[{entry.paper}] {heading(entry.labels)}", "", entry.statement, ""]
    lines += _indent("as printed" if entry.corrected else "formula", entry.formula)
    if entry.corrected:
        lines += ["", *_indent("corrected", entry.corrected)]
    if entry.condition:
        lines += ["", f"condition: {entry.condition}"]
    for value in entry.implements:
        lines += ["", *source_lines(value)]
    cases = [line for claim in result.claims if isinstance(claim, Case) for line in claim.lines()]
    if cases:
        lines += ["", f"a live case (seed {seed})", *("  " + line for line in cases)]
    for claim in result.claims:
        if not isinstance(claim, Case):
            lines += ["", *claim_lines(claim)]
    outcome = "as it should be" if result.ok else "NOT as it should be"
    lines += ["", f"kind {entry.kind}, verdict {entry.verdict}: {outcome} ({result.seconds:.2f} s)"]
    if not result.ok:
        lines += ["", result.message]
    return "\n".join(lines)


def _indent(caption, text):
    return [f"{caption}:", *("    " + line for line in inspect.cleandoc(text).splitlines())]


def source_lines(implementation):
    """Qualified name, file and numbered source lines of an implementation; long ones are cut."""
    name, target = qualified_name(implementation), inspect.unwrap(underlying(implementation))
    try:
        lines, first = inspect.getsourcelines(target)
        file = Path(inspect.getsourcefile(target)).resolve()
    except (OSError, TypeError):
        return [f"{name}  (no source at hand)"]
    inside = file.is_relative_to(_PACKAGE_FOLDER)
    place = file.relative_to(_PACKAGE_FOLDER.parent).as_posix() if inside else file.name
    shown = [f"{number:5d}  {line.rstrip()}" for number, line in enumerate(lines[:_LONGEST_SOURCE], max(first, 1))]
    if len(lines) > _LONGEST_SOURCE:
        shown.append(f"       ... {len(lines) - _LONGEST_SOURCE} more lines")
    return [f"{name}  ({place}:{max(first, 1)})", *shown]


def claim_lines(claim, limit=4):
    """What a claim demands and measured, with a few entries of both sides."""
    mark = "ok  " if claim.ok else "FAIL"
    lines = [f"{mark} {claim.outcome()}"]
    if isinstance(claim, (Property, PrintedShape)):
        return lines
    comparison = claim if isinstance(claim, Comparison) else claim.claim
    if isinstance(comparison, Rate):
        pairs = zip(comparison.steps[:limit], comparison.remainders[:limit])
        return lines + [f"       step {step:.3g}: remainder {remainder:.6g}" for step, remainder in pairs]
    names = ("smaller", "larger") if isinstance(comparison, AtMost) else ("left", "right")
    # entries that tell most: the tightest of an inequality, the worst of a failure, else the largest
    if isinstance(comparison, AtMost):
        weight = comparison.left - comparison.right
    elif comparison.holds:
        weight = np.maximum(np.abs(comparison.left), np.abs(comparison.right))
    else:
        weight = np.abs(comparison.left - comparison.right)
    for flat in np.argsort(-weight, axis=None, kind="stable")[:limit]:
        index = tuple(int(i) for i in np.unravel_index(flat, weight.shape))
        lines.append("       " + entry_line(index, comparison.left[index], comparison.right[index], names))
    if comparison.left.size > limit:
        lines.append(f"       ... {comparison.left.size} entries, shape {comparison.left.shape}")
    return lines
