"""Executable equations: the rules for each verdict, and the runner.

A paper's room registers one function for every label (`equation`).  The function draws a small
random case from the generator it is given, computes both sides and returns claims (see `claims`).
What the claims must contain depends on the verdict:

- ``holds``: at least one comparison, nothing that must fail;
- ``conditional``: a comparison inside the stated condition and a counterexample outside it; with a
  corrected form, the printed one fails too;
- ``erratum``: the corrected form holds, the printed form fails (or does not conform);
- ``definition``: at least one property or comparison of the object that was built;
- ``unchecked``: nothing yet, so that it neither passes nor fails.
"""

import hashlib
import inspect
import time
import traceback
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

import numpy as np

from ..checks import whole_number
from . import registry
from .claims import Case, Counterexample, Printed, PrintedShape, Property
from .comparisons import Comparison, Equal, VerificationError
from .mismatch import describe_mismatch
from .registration import Equation
from .registry import qualified_name

#: What a result tells of its equation under the same name.
_STATED = ("paper", "labels", "statement", "kind", "verdict", "weight", "condition", "where",
           "ours", "unnumbered")


@dataclass
class Result:
    """What came of one check.

    Attributes
    ----------
    equation : Equation
        The display and its check. Its paper, labels, statement, kind, verdict, weight, condition,
        where, ours and unnumbered are attributes of the result, too.
    claims : list
        The claims of the check, `Case` included.
    seconds : float
    message : str or None
        Why it is not ok.
    """

    equation: Equation
    claims: list = field(repr=False)
    seconds: float
    message: str | None

    paper, labels, statement, kind, verdict, weight, condition, where, ours, unnumbered = (
        property(attrgetter(f"equation.{name}")) for name in _STATED)

    @property
    def ok(self):
        """Whether everything came out as the verdict says; None where nothing is checked yet."""
        if self.message is None and not self.claims:
            return None
        return self.message is None

    @property
    def failed(self):
        """Whether something did not come out as the verdict says; what is unchecked has not."""
        return self.ok is False

    @property
    def implements(self):
        """Qualified names of what implements the display."""
        return tuple(map(qualified_name, self.equation.implements))

    @property
    def error(self):
        """Error of the comparison nearest to its tolerance; None where nothing is compared."""
        return getattr(self._nearest(Comparison, max), "error", None)

    @property
    def tolerance(self):
        """Tolerance of the same comparison."""
        return getattr(self._nearest(Comparison, max), "tolerance", None)

    @property
    def printed_error(self):
        """The least error, relative to its tolerance, of the form as printed (errata)."""
        return getattr(self._nearest(Printed, min), "error", None)

    @property
    def printed_failure(self):
        """"shape" where the printed form does not conform, else None."""
        return "shape" if any(isinstance(claim, PrintedShape) for claim in self.claims) else None

    def _nearest(self, kind, choose):
        """The claim of a kind with the largest (or least) error relative to its tolerance."""
        return choose((claim for claim in self.claims if isinstance(claim, kind)),
                      key=lambda claim: claim.error / claim.tolerance, default=None)

    def to_dict(self):
        """Plain values for JSON; `message` only where the check is not ok."""
        values = {name: getattr(self, name) for name in (
            *_STATED, "ok", "error", "tolerance", "printed_error", "printed_failure", "implements",
            "seconds")}
        for name in ("labels", "unnumbered", "implements"):
            values[name] = list(values[name])
        for name in ("error", "tolerance", "printed_error", "seconds"):
            if values[name] is not None and not np.isfinite(values[name]):
                values[name] = None
        if self.failed:
            values["message"] = self.message
        return values


def generator(seed, paper, label):
    """The random generator of one check: a function of seed, paper and label alone."""
    digest = hashlib.sha256(f"{paper} {label}".encode()).digest()
    words = [int.from_bytes(digest[i:i + 4], "little") for i in range(0, 16, 4)]
    return np.random.default_rng([seed, *words])


def run(paper=None, label=None, seed=0):
    """Execute equations and return the result of each.

    Parameters
    ----------
    paper : str, optional
        Key of a paper; default: every paper that has a room.
    label : str, optional
        One label; default: all.
    seed : int >= 0
        Draws other random cases.

    Returns
    -------
    list of Result
        One for each display, in the order of the papers.  A check that raises is reported as not
        ok, with the exception in `message`; it does not stop the others.

    Raises
    ------
    TypeError, ValueError
        Unknown paper or label (with the close match), or a seed that is not an integer >= 0.
    """
    seed = whole_number(seed, "seed", 0)
    return [run_equation(entry, seed) for entry in registry.REGISTRY.select(paper, label)]


def run_equation(entry, seed=0):
    """Execute one registered equation; see `run`."""
    started = time.perf_counter()
    claims, message = [], None
    try:
        returned = entry.check(generator(seed, entry.paper, entry.labels[0]))
        returned = list(returned) if inspect.isgenerator(returned) else returned
        if entry.verdict != "unchecked" or returned:
            claims = _claims_of(returned)
            message = _broken_rule(entry.verdict, entry.corrected, claims) or _failures(claims)
    # any failure of a check is a result to be reported, not the end of the run
    except Exception as problem:
        message = f"{type(problem).__name__}: {problem} ({_location(problem)})"
    return Result(entry, claims, time.perf_counter() - started, message)


def _location(problem):
    """File and line where an exception was raised, without the folder."""
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{Path(last.filename).name}, line {last.lineno}, in {last.name}"


def _claims_of(returned):
    known = (Comparison, Counterexample, Printed, PrintedShape, Property, Case)
    claims = returned if isinstance(returned, (list, tuple)) and returned else [returned]
    for claim in claims:
        if not isinstance(claim, known):
            raise VerificationError("a check returns a list of claims, got "
                                    f"{type(claim).__name__} {claim!r:.80}")
    return list(claims)


def _broken_rule(verdict, corrected, claims):
    """What the verdict demands of the claims and does not find, or None."""
    def count(*kinds):
        return sum(isinstance(claim, kinds) for claim in claims)

    outside, printed = count(Counterexample), count(Printed, PrintedShape)
    if verdict == "unchecked":
        return "the check claims something: say which verdict it has instead of 'unchecked'"
    if not count(Comparison) and not (verdict == "definition" and count(Property)):
        return (f"verdict {verdict!r} needs at least one Equal, AtMost or Rate that must hold, "
                "a definition one of these or a Property")
    if verdict in ("holds", "definition") and outside:
        return f"verdict {verdict!r} may not carry a Counterexample"
    if verdict == "conditional" and not outside:
        return "verdict 'conditional' needs a Counterexample outside the condition"
    if bool(corrected) != bool(printed):
        return "a corrected form and the form as printed, Printed or PrintedShape, go together"
    return None


def _failures(claims):
    """Text on every claim that failed, or None."""
    texts = []
    for claim in claims:
        if isinstance(claim, Case) or claim.ok:
            continue
        texts.append(claim.outcome())
        if isinstance(claim, Equal):
            texts.append(describe_mismatch(claim.left, claim.right,
                                           error=claim.tolerance * claim.scale,
                                           names=claim.names))
    return "\n".join(texts) if texts else None
