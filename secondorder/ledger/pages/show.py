"""One equation, on one screen where it fits: formula, the whole function that is the formula, both
sides' numbers, verdict.

Behind `more` stands the rest: all that implements it, the check's own code, the live case and every
claim.
"""

import inspect
import textwrap

from ...checks import boolean, whole_number
from ...formulas import marks, terminal
from .. import registry
from ..claims import Case, Counterexample, Printed, PrintedShape, Property
from ..comparisons import RELATIVE_TO, named
from ..displays import printed_numbers
from ..labels import heading
from ..registry import qualified_name, short_name
from ..runner import run_equation
from . import both_sides, counts, folding, own_lines
from .source import code_of, doc_lines, reference_code

_WIDTH = 80
#: Lines that a page keeps to, but for formulas, code and numbers, which stand there whole.
SCREEN = 50
_PAGES = 5  # more displays at once are a list
#: What must fail, and what is said where it does.
_FAILING = {Printed: "printed form fails, as expected",
            Counterexample: "fails outside the condition, as expected"}


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
    return f"\n\n{'=' * _WIDTH}\n\n".join(_page(entry, seed, more, tex) for entry in entries)


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


def _page(entry, seed, more, tex):
    result = run_equation(entry, int(seed))
    head = [*_head(entry, result), "", *_paragraph(entry.statement), *_facts(entry), "",
            *_with_lines(entry, _formulas(entry, tex))]
    numbers = ["", *_numbers(result, seed)]
    command = f"secondorder show {entry.paper} {_shell(entry.labels[0])} --more"
    if more:
        body = [*head, "", *_all_code(entry), *numbers, "", *_rest(entry, result, seed)]
    else:
        code = ["", *_lead(entry)]
        left = SCREEN - len(head) - len(numbers) - len(code) - 2
        claims = ["", *_claims(result.claims, left)] if result.claims else []
        body = _without_gaps([*head, *code, *(numbers if claims else []), *claims,
                              f"more: {command}"])
    if result.failed:
        body += ["", result.message]
    return "\n".join(body)


def _without_gaps(lines):
    """The lines of a page that is longer than a screen without its last empty lines."""
    lines = list(lines)
    for k in reversed(range(len(lines))):
        if len(lines) > SCREEN and not lines[k]:
            del lines[k]
    return lines


def _shell(label):
    return f'"{label}"' if " " in label else label


def _paragraph(text, indent=""):
    return textwrap.wrap(" ".join(text.split()), _WIDTH, subsequent_indent=indent)


def _head(entry, result):
    """Label, verdict with its weight, error and tolerance, and what is not the paper's."""
    outcome = "passes" if result.ok else "FAILS"
    verdict = f"{counts.verdict_of(entry)}, {entry.kind}: {outcome}"
    if result.ok is None:
        verdict = "unchecked: nobody has written its check yet"
    if result.error is not None:
        verdict += f"; error {result.error:.1e}, allowed {result.tolerance:.1e}"
    if result.printed_failure:
        verdict += "; as printed the shapes differ"
    elif result.printed_error is not None:
        verdict += f"; as printed {result.printed_error:.1e}"
    return [f"[{entry.paper}] {heading(entry.labels)}", *_paragraph(verdict, "  "),
            *counts.marks(entry)]


def _facts(entry):
    lines = []
    if entry.where:
        lines += _paragraph(f"where: {entry.where}", "  ")
    for condition in entry.conditions:
        lines += _paragraph(f"condition: {condition}", "  ")
    return lines


def _formulas(entry, tex):
    """The formula, or both."""
    if tex:
        pairs = [("as printed:" if entry.corrected else "formula:", entry.formula)]
        pairs += [("corrected:", entry.corrected)] if entry.corrected else []
        return [line for caption, text in pairs
                for line in (caption, *_indented(inspect.cleandoc(text).splitlines()))]
    bears = printed_numbers(entry)
    if not entry.corrected:
        if not terminal.drawable(entry.formula):
            return ["formula (in LaTeX):", *_indented(inspect.cleandoc(entry.formula).splitlines())]
        lines = ["formula:", *_indented(terminal.draw(entry.formula, numbers=bears))]
        unknown = terminal.unknown(entry.formula)
        return lines + [f"(as in LaTeX: {', '.join(unknown)})"] * bool(unknown)
    (printed, corrected), marked = marks.marked_pair(entry.formula, entry.corrected)
    above, below = (terminal.draw(nodes, numbers=bears) for nodes in (printed, corrected))
    if len(above) + len(below) > SCREEN // 3 and any("^" in line for line in below):
        above = terminal.draw(entry.formula, numbers=bears)  # long: marked once, where it changed
    return ["as printed:", *_indented(above),
            "corrected (^ what changed):" if marked else "corrected:", *_indented(below)]


def _with_lines(entry, formulas):
    """Formulas with the lines of code and check that are their own, where it is one pair of them
    beside the caption.
    """
    caption, *rest = formulas
    parts = own_lines.told(entry)
    if len(parts) == 1 and len(caption + parts[0]) < _WIDTH - 2:
        return [f"{caption[:-1]} ({parts[0]}):", *rest]
    return [*formulas, *_paragraph(f"lines: {'; '.join(parts)}", "  ")]


def _indented(lines):
    return ["    " + line for line in lines]


# -- code ------------------------------------------------------------------------------------------

def _lead(entry):
    """Lines of the functions that are the display, each whole: its place, its formula as the
    docstring has it, its code. Where none is named by a number, of the first that implements it.
    """
    if not entry.implements:
        what = "where its check belongs:" if entry.verdict == "unchecked" else "the check"
        return code_of(entry.check, f"{what} {entry.check.__name__}")
    functions = own_lines.displays_among(entry) or entry.implements[:1]
    return [line for value in functions for line in ("", *_implementation(entry, value))][1:]


def _implementation(entry, value):
    name = qualified_name(value)
    first, *code = code_of(value, short_name(entry.paper, name))
    return [first, *("       " + line for line in doc_lines(value)), *code]


def _all_code(entry):
    lines = []
    for value in entry.implements:
        lines += [*_implementation(entry, value), ""]
    return [*lines, "the other side, in the check:", *reference_code(entry.check)]


# -- numbers ---------------------------------------------------------------------------------------

def _numbers(result, seed):
    """Both sides of the comparison that tells most, and of the form that must fail."""
    lines = []
    claim = both_sides.featured(result.claims)
    if claim is not None:
        lines += _paragraph(f"both sides (seed {seed}): {named(claim)}", "  ")
        lines += _indented(both_sides.table(claim))
    for kind, name in _FAILING.items():
        failure = both_sides.featured_failure(result.claims, kind)
        if failure is not None:
            lines += _paragraph(f"{name}: {named(failure)}", "  ")
            names = ("printed" if kind is Printed else "outside", "check")
            lines += _indented(both_sides.table(failure, names, 2))
    for claim in result.claims:
        if isinstance(claim, PrintedShape):
            lines += _paragraph(f"as printed, {claim.what}: {claim.left_shape} against "
                                f"{claim.right_shape}", "  ")
            break
    return lines


# -- claims ----------------------------------------------------------------------------------------

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
    """The claim with its relation: of those that differ only in their case, the worst. Entries of
    both sides follow where there is to be more, and where it fails.
    """
    worst = same[0]
    lines = _claim_line(worst, len(same))
    if isinstance(worst, (Property, PrintedShape)) or worst.ok and not more:
        return lines
    return lines + [f"       {line}" for line in both_sides.table(worst, limit=4)]


def _claim_line(claim, count):
    """Outcome, relation, error, tolerance in columns, then the claim, wrapped under itself."""
    error, tolerance = "", ""
    if not isinstance(claim, (Property, PrintedShape)):
        error, tolerance = f"{claim.error:.1e}", f"{claim.tolerance:.1e}"
    head = f"{'ok' if claim.ok else 'FAIL':<4} {claim.relation:<5} {error:<7} {tolerance:<7}  "
    lines = textwrap.wrap(_claim_text(claim, count), _WIDTH - len(head), break_long_words=False)
    return [head + lines[0], *(" " * len(head) + line for line in lines[1:])]


def _claim_text(claim, count):
    text, case = claim.what, claim.case
    if isinstance(claim, (Counterexample, Printed)):
        text = f"{_FAILING[type(claim)] if claim.ok else f'{claim.label}, must fail'}: {text}"
    elif isinstance(claim, PrintedShape):
        text = f"as printed, {text}: {claim.left_shape} against {claim.right_shape}"
    elif isinstance(claim, Property) and (claim.expected is not True or not claim.ok):
        text = claim.outcome()
    if count > 1:
        return f"{text} ({count} cases" + (f", worst: {case})" if case else ")")
    return f"{text} ({case})" if case and not isinstance(claim, Property) else text


def _rest(entry, result, seed):
    """The live case and all claims."""
    lines, claims = [], []
    for claim in result.claims:
        if isinstance(claim, Case):
            lines += claim.lines()
        else:
            claims += _claim_lines([claim], more=True)
    if lines:
        lines = [f"the live case (seed {seed})", *("  " + line for line in lines), ""]
    return [*lines, "     claim error   allowed", *claims, "", *_paragraph(RELATIVE_TO)]
