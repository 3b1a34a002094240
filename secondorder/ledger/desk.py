"""One equation at the desk: its verdict, formula, code of both sides, live case and claims."""

import inspect
import textwrap

import numpy as np

from ..checks import boolean, whole_number
from .mismatch import entry_line
from . import registry, tally
from .claims import Case, Counterexample, Printed, PrintedShape, Property
from .comparisons import RELATIVE_TO, AtMost, Comparison, Rate
from .equations import run_equation
from .labels import heading
from .registry import qualified_name
from .report import short_name
from .source import code_of, reference_code

_WIDTH = 80


def show(paper, label, seed=0, verbose=False):
    """One equation for a reader: verdict, formula, code of both sides, a live case, claims.

    Parameters
    ----------
    paper, label : str
        The label in any spelling.
    seed : int >= 0
    verbose : bool
        Give entries of both sides for every claim and not only where one fails, and every case of
        claims that differ in nothing else.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Unknown paper or label (with the close match).
    """
    entry, verbose = registry.REGISTRY.select(paper, label)[0], boolean(verbose, "verbose")
    result = run_equation(entry, whole_number(seed, "seed", 0))
    outcome = "as it should be" if result.ok else "NOT as it should be"
    lines = [f"[{entry.paper}] {heading(entry.labels)}",
             f"verdict {tally.verdict_of(entry)}, {entry.kind}: {outcome}",
             *tally.marks(entry), "", *_paragraph(entry.statement)]
    lines += _facts(entry) + [""] + _formulas(entry)
    for value in entry.implements:
        lines += ["", *code_of(value, short_name(entry.paper, qualified_name(value)))]
    lines += ["", "the other side, in the check:", *reference_code(entry.check)]
    cases = [line for claim in result.claims if isinstance(claim, Case) for line in claim.lines()]
    if cases:
        lines += ["", f"a live case (seed {seed})", *("  " + line for line in cases)]
    lines += ["", "     claim error   allowed", *claim_table(result.claims, verbose), "",
              *_paragraph(RELATIVE_TO)]
    if not result.ok:
        lines += ["", result.message]
    return "\n".join(lines)


def _paragraph(text, indent=""):
    return textwrap.wrap(" ".join(text.split()), _WIDTH, subsequent_indent=indent)


def _facts(entry):
    lines = []
    if entry.where:
        lines += ["", *_paragraph(f"where: {entry.where}", "  ")]
    for condition in entry.conditions:
        lines += ["", *_paragraph(f"condition: {condition}", "  ")]
    return lines


def _formulas(entry):
    lines = _indent("as printed" if entry.corrected else "formula", entry.formula)
    return lines + (["", *_indent("corrected", entry.corrected)] if entry.corrected else [])


def _indent(caption, text):
    return [f"{caption}:", *("    " + line for line in inspect.cleandoc(text).splitlines())]


# -- claims ----------------------------------------------------------------------------------------

def claim_table(claims, verbose=False):
    """One line a claim with its relation; the worst of those that differ only in their case."""
    groups = {}
    for claim in claims:
        if not isinstance(claim, Case):
            key = id(claim) if verbose else (type(claim), claim.relation, claim.what)
            groups.setdefault(key, []).append(claim)
    lines = []
    for same in groups.values():
        worst = max(same, key=_badness)
        lines += _claim_line(worst, len(same))
        if verbose or not worst.ok:
            lines += entries(worst)
    return lines


def _badness(claim):
    """Larger for what is nearer to not coming out as it should."""
    if not claim.ok:
        return np.inf
    if isinstance(claim, (Property, PrintedShape)):
        return 0.0
    ratio = claim.error / claim.tolerance
    return ratio if isinstance(claim, Comparison) else -ratio


def _claim_line(claim, count):
    """Outcome, relation, error, tolerance in columns, then the claim, wrapped under itself."""
    error, tolerance = "", ""
    if not isinstance(claim, (Property, PrintedShape)):
        error, tolerance = f"{claim.error:.1e}", f"{claim.tolerance:.1e}"
    head = f"{'ok' if claim.ok else 'FAIL':<4} {claim.relation:<5} {error:<7} {tolerance:<7}  "
    lines = textwrap.wrap(_claim_text(claim, count), _WIDTH - len(head), break_long_words=False)
    return [head + lines[0], *(" " * len(head) + line for line in lines[1:])]


def _claim_text(claim, count):
    text = claim.what
    if isinstance(claim, (Counterexample, Printed)):
        text = f"{claim.label}, {'fails as it should' if claim.ok else 'must fail'}: {text}"
    elif isinstance(claim, PrintedShape):
        text = f"as printed, {text}: {claim.left_shape} against {claim.right_shape}"
    elif isinstance(claim, Property) and (claim.expected is not True or not claim.ok):
        text = claim.outcome()
    if count > 1:
        return f"{text} ({count} cases" + (f", worst: {claim.case})" if claim.case else ")")
    return f"{text} ({claim.case})" if claim.case and not isinstance(claim, Property) else text


def entries(claim, limit=4):
    """A few entries of both sides: where tightest, where worst on failure, else the largest."""
    if isinstance(claim, (Property, PrintedShape)):
        return []
    claim = claim if isinstance(claim, Comparison) else claim.claim
    if isinstance(claim, Rate):
        pairs = zip(claim.steps[:limit], claim.remainders[:limit])
        return [f"       step {step:.3g}: remainder {remainder:.6g}" for step, remainder in pairs]
    names = ("smaller", "larger") if isinstance(claim, AtMost) else ("left", "right")
    if isinstance(claim, AtMost):
        weight = claim.left - claim.right
    elif claim.holds:
        weight = np.maximum(np.abs(claim.left), np.abs(claim.right))
    else:
        weight = np.abs(claim.left - claim.right)
    lines = []
    for flat in np.argsort(-weight, axis=None, kind="stable")[:limit]:
        index = tuple(int(i) for i in np.unravel_index(flat, weight.shape))
        lines.append("       " + entry_line(index, claim.left[index], claim.right[index], names))
    if claim.left.size > limit:
        lines.append(f"       ... {claim.left.size} entries, shape {claim.left.shape}")
    return lines
