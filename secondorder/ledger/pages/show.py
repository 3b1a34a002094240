"""A page in a terminal: on one screen where it fits.

Behind `more` stands the rest: all that implements it, the check's own code, the live case and every
claim.
"""

import inspect
import textwrap

from ...checks import boolean, whole_number
from ...formulas import latex, terminal
from .. import registry
from ..claims import Case, PrintedShape, Property
from ..comparisons import RELATIVE_TO
from ..registry import qualified_name, short_name
from ..runner import run_equation
from . import both_sides, folding
from .page import page
from .source import code_of, doc_lines

_WIDTH = 80
#: Lines that a page keeps to, but for formulas, code and numbers, which stand there whole.
SCREEN = 50
_PAGES = 5  # more displays at once are a list


def show(paper, label, seed=0, more=False, tex=False):
    """One equation for a reader, on one screen; several ones below each other, many as a list.

    Parameters
    ----------
    paper, label : str
        In any spelling; a label also as a list (`6, 7`), a range (`33 to 39`) or a topic (`KFAC`).
        A number is an equation, or all its parts.
    seed : int >= 0
        Draws the live case.
    more : bool
        Everything else too: all implementations, the code of the check, the arrays of the live
        case, every claim with entries of both sides.
    tex : bool
        Formulas in LaTeX as they are registered.

    Raises
    ------
    ValueError
        Unknown paper or label (with the close match).
    """
    entries, topic = registry.REGISTRY.find(paper, label)
    more, tex = boolean(more, "more"), boolean(tex, "tex")
    whole_number(seed, "seed", 0)
    if topic or len(entries) > _PAGES:
        return listed(entries)
    return f"\n\n{'=' * _WIDTH}\n\n".join(_written(entry, seed, more, tex) for entry in entries)


def listed(entries):
    """One line a display: its labels, its verdict, what it states; papers are headings."""
    lines = []
    for paper in dict.fromkeys(entry.paper for entry in entries):
        lines.append(f"{paper}:")
        for entry in entries:
            if entry.paper == paper:
                lines.append(f"{', '.join(entry.labels):<25} {entry.verdict:<12} "
                             f"{entry.statement}")
    return "\n".join(lines)


def _written(entry, seed, more, tex):
    """The page of one check as text."""
    shown, result = page(entry), run_equation(entry, int(seed))
    head = [*_head(shown, result), "", *_paragraph(entry.statement), *_facts(entry), "",
            *_formulas(shown, tex)]
    numbers = ["", *_numbers(result, seed)]
    if more:
        lines = [*head, "", *_all_code(shown), *numbers, "", *_rest(result, seed)]
    else:
        code = ["", *_lead(shown)]
        left = SCREEN - len(head) - len(numbers) - len(code) - 2
        claims = ["", *_claims(result.claims, left)] if result.claims else []
        label = f'"{entry.labels[0]}"' if " " in entry.labels[0] else entry.labels[0]
        lines = _without_gaps([*head, *code, *(numbers if claims else []), *claims,
                               f"more: secondorder show {entry.paper} {label} --more"])
    return "\n".join([*lines, "", result.message] if result.failed else lines)


def _without_gaps(lines):
    """The lines of a page that is longer than a screen without its last empty lines."""
    for k in reversed(range(len(lines))):
        if len(lines) > SCREEN and not lines[k]:
            del lines[k]
    return lines


def _paragraph(text, indent=""):
    return textwrap.wrap(" ".join(text.split()), _WIDTH, subsequent_indent=indent)


def _indented(lines):
    return ["    " + line for line in lines]


def _head(shown, result):
    """Label, verdict with its weight, error and tolerance, and what is not the paper's."""
    verdict = f"{shown.verdict}, {shown.entry.kind}: {'passes' if result.ok else 'FAILS'}"
    if result.ok is None:
        verdict = "unchecked: nobody has written its check yet"
    if result.error is not None:
        verdict += f"; error {result.error:.1e}, allowed {result.tolerance:.1e}"
    if result.printed_failure:
        verdict += "; as printed the shapes differ"
    elif result.printed_error is not None:
        verdict += f"; as printed {result.printed_error:.1e}"
    return [f"[{shown.entry.paper}] {shown.heading}", *_paragraph(verdict, "  "), *shown.marks]


def _facts(entry):
    facts = [f"where: {entry.where}"] if entry.where else []
    return [line for text in (*facts, *(f"condition: {one}" for one in entry.conditions))
            for line in _paragraph(text, "  ")]


def _formulas(shown, tex):
    """The formula, or both, each below its caption."""
    bears, printed, corrected = shown.numbers, shown.printed, shown.corrected
    if tex or printed.nodes is None:
        captions = ["as printed:", "corrected:"] if corrected else \
            ["formula:" if tex else "formula (in LaTeX):"]
        return [line for caption, one in zip(captions, (printed, corrected))
                for line in (caption, *_indented(inspect.cleandoc(one.text).splitlines()))]
    above = terminal.draw(printed.nodes, numbers=bears)
    if corrected is None:
        unknown = terminal.unknown(printed.text)
        return ["formula:", *_indented(above),
                *[f"(as in LaTeX: {', '.join(unknown)})"] * bool(unknown)]
    below = terminal.draw(corrected.nodes, numbers=bears)
    if len(above) + len(below) > SCREEN // 3 and corrected.marked:
        above = terminal.draw(latex.parse(printed.text), numbers=bears)  # marked once is enough
    return ["as printed:", *_indented(above),
            "corrected (^ what changed):" if shown.marked else "corrected:", *_indented(below)]


# -- code ------------------------------------------------------------------------------------------

def _lead(shown):
    """The functions that are the display, each whole. Where none is named by a number, the first
    that implements it.
    """
    if not shown.code:
        what = ("where its check belongs:" if shown.entry.verdict == "unchecked" else "the check")
        return code_of(shown.entry.check, f"{what} {shown.entry.check.__name__}")
    return _implementations(shown, shown.code[:shown.lead])


def _implementations(shown, values):
    """Of each its place, its formula as the docstring has it, its code."""
    lines = []
    for value in values:
        first, *code = code_of(value, short_name(shown.entry.paper, qualified_name(value)))
        lines += ["", first, *("       " + line for line in doc_lines(value)), *code]
    return lines[1:]


def _all_code(shown):
    other = [line for function in shown.check
             for line in ("", *code_of(function, function.__name__))]
    return [*_implementations(shown, shown.code), *[""] * bool(shown.code),
            "the other side, in the check:", *other[1:]]


# -- numbers and claims ----------------------------------------------------------------------------

def _numbers(result, seed):
    """Both sides of the comparison that tells most, and of the form that must fail."""
    lines, first = [], both_sides.featured(result.claims)
    for k, (what, numbers) in enumerate(both_sides.shown(result.claims)):
        title = f"both sides (seed {seed}): {what}" if k == 0 and first is not None else what
        lines += [*_paragraph(title, "  "), *_indented(numbers)]
    return lines


def _claims(claims, room):
    """One line that counts the claims, and as many of them as there is room for."""
    groups = folding.folded(claims)
    count = sum(len(same) for _, same in groups)
    failed = sum(not claim.ok for _, same in groups for claim in same)
    counted = f"{count} claim{'s' * (count != 1)}"
    text = f"{failed} of {counted} FAIL" if failed else f"{counted} pass{'es' * (count == 1)}"
    groups.sort(key=lambda group: group[1][0].ok)  # failures first, else as they stand
    lines = [line for _, same in groups for line in _claim_lines(same)]
    if len(groups) > 1 and len(lines) < room or failed:
        return [text + ":", *lines]
    return [text + "."]


def _claim_lines(same, more=False):
    """Outcome, relation, error and tolerance in columns, then the claim: of those that differ only
    in their case, the worst. Entries of both sides follow where there is to be more, and where it
    fails.
    """
    worst = same[0]
    compared = not isinstance(worst, (Property, PrintedShape))
    error, tolerance = (f"{worst.error:.1e}", f"{worst.tolerance:.1e}") if compared else ("", "")
    head = f"{'ok' if worst.ok else 'FAIL':<4} {worst.relation:<5} {error:<7} {tolerance:<7}  "
    wrapped = textwrap.wrap(_claim_text(worst, len(same)), _WIDTH - len(head),
                            break_long_words=False)
    lines = [(" " * len(head) if k else head) + line for k, line in enumerate(wrapped)]
    if not compared or worst.ok and not more:
        return lines
    return lines + [f"       {line}" for line in both_sides.table(worst, limit=4)]


def _claim_text(claim, count):
    text, case = claim.told(), claim.case
    if count > 1:
        return f"{text} ({count} cases" + (f", worst: {case})" if case else ")")
    return f"{text} ({case})" if case and not isinstance(claim, Property) else text


def _rest(result, seed):
    """The live case and all claims."""
    live = [f"  {line}" for claim in result.claims if isinstance(claim, Case)
            for line in claim.lines()]
    claims = [line for claim in result.claims if not isinstance(claim, Case)
              for line in _claim_lines([claim], more=True)]
    return [*([f"the live case (seed {seed})", *live, ""] if live else []),
            "     claim error   allowed", *claims, "", *_paragraph(RELATIVE_TO)]
