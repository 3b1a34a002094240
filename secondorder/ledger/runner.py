"""Executable equations: the rules for each verdict, and the runner.

A paper's room registers one function for every label (`equation`).  The function draws a small
random case from the generator it is given, computes both sides and returns claims (see `claims`).
What the claims must contain depends on the verdict:

- ``holds``: at least one comparison, nothing that must fail;
- ``conditional``: a comparison inside the stated condition and a counterexample outside it; with a
corrected form, the
  printed one fails too;
- ``erratum``: the corrected form holds, the printed form fails (or does not conform);
- ``definition``: at least one property or comparison of the object that was built;
- ``unchecked``: nothing yet, so that it neither passes nor fails.
"""

import hashlib
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..compiled.forms import literal
from . import registry
from .claims import Case, Counterexample, Printed, PrintedShape, Property
from .comparisons import Comparison, Equal, VerificationError
from .mismatch import describe_mismatch
from .registry import qualified_name


@dataclass
class Result:
    """What came of one check.

    Attributes
    ----------
    paper : str
    labels : tuple of str
    statement, kind, verdict : str
    ok : bool or None
        Whether everything came out as the verdict says; None where nothing is checked yet.
    error, tolerance : float or None
        Of the comparison that came nearest to its tolerance; None where nothing is compared.  What
        an error is relative to stands in `comparisons.RELATIVE_TO`.
    printed_error : float or None
        Of the form as printed (errata).
    printed_failure : str or None
        "shape" where the printed form does not conform.
    implements : tuple of str
        Qualified names.
    condition, where : str or None
        Under what it holds; where the paper says it.
    weight : str or None
        Of what is corrected: "substance", "misprint" or "extraction".
    ours : bool
        Whether the formula shown is not one of the paper's.
    unnumbered : tuple of str
        Labels that no display of the paper bears.
    seconds : float
    claims : list
        The claims of the check, `Case` included.
    message : str or None
        Why it is not ok.
    """

    paper: str
    labels: tuple
    statement: str
    kind: str
    verdict: str
    ok: bool | None
    error: float | None
    tolerance: float | None
    printed_error: float | None
    printed_failure: str | None
    implements: tuple
    seconds: float
    claims: list = field(default_factory=list, repr=False)
    message: str | None = None
    condition: str | None = None
    where: str | None = None
    weight: str | None = None
    ours: bool = False
    unnumbered: tuple = ()

    @property
    def failed(self):
        """Whether something did not come out as the verdict says; what is unchecked has not."""
        return self.ok is False

    def to_dict(self):
        """Plain values for JSON; `message` only where the check is not ok."""
        names = ("paper", "labels", "statement", "kind", "verdict", "weight", "condition", "where",
                 "ours", "unnumbered", "ok", "error", "tolerance", "printed_error",
                 "printed_failure", "implements", "seconds")
        values = {name: getattr(self, name) for name in names}
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
    ValueError
        Unknown paper or label (with the close match), or a seed that is not an integer >= 0.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {seed!r}")
    return [run_equation(entry, int(seed)) for entry in registry.REGISTRY.select(paper, label)]


def run_equation(entry, seed=0):
    """Execute one registered equation, by the code that one reads; see `run`."""
    started = time.perf_counter()
    claims, unchecked = [], False
    try:
        with literal():
            returned = entry.check(generator(seed, entry.paper, entry.labels[0]))
            unchecked = entry.verdict == "unchecked" and _says_nothing(returned)
            claims = [] if unchecked else _claims_of(returned)
        message = None if unchecked else (
            _broken_rule(entry.verdict, entry.corrected, claims) or _failures(claims))
    # any failure of a check is a result to be reported, not the end of the run
    except Exception as problem:
        unchecked = False
        message = f"{type(problem).__name__}: {problem} ({_location(problem)})"
    seconds = time.perf_counter() - started
    held = _nearest([claim for claim in claims if isinstance(claim, Comparison)], max)
    printed = _nearest([claim for claim in claims if isinstance(claim, Printed)], min)
    return Result(
        paper=entry.paper, labels=entry.labels, statement=entry.statement, kind=entry.kind,
        verdict=entry.verdict,
        ok=None if unchecked else message is None, error=held.error if held else None,
        tolerance=held.tolerance if held else None,
        printed_error=printed.error if printed else None,
        printed_failure="shape" if any(isinstance(claim, PrintedShape) for claim in claims)
        else None,
        implements=tuple(qualified_name(value) for value in entry.implements), seconds=seconds,
        claims=claims, message=message, condition=entry.condition, where=entry.where,
        weight=entry.weight, ours=entry.ours, unnumbered=entry.unnumbered)


def _location(problem):
    """File and line where an exception was raised, without the folder."""
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{Path(last.filename).name}, line {last.lineno}, in {last.name}"


def _says_nothing(returned):
    return returned is None or isinstance(returned, (list, tuple)) and not returned


def _claims_of(returned):
    known = (Comparison, Counterexample, Printed, PrintedShape, Property, Case)
    if not isinstance(returned, (list, tuple)) or not returned:
        raise VerificationError(f"a check returns a list of claims, got {type(returned).__name__} "
                                f"{returned!r:.80}")
    for claim in returned:
        if not isinstance(claim, known):
            raise VerificationError(f"a check returns claims only, got {type(claim).__name__} "
                                    f"{claim!r:.80}")
    return list(returned)


def _broken_rule(verdict, corrected, claims):
    """What the verdict demands of the claims and does not find, or None."""
    def count(*kinds):
        return sum(isinstance(claim, kinds) for claim in claims)

    compared, outside = count(Comparison), count(Counterexample)
    printed = count(Printed, PrintedShape)
    if verdict == "unchecked":
        return "the check claims something: say which verdict it has instead of 'unchecked'"
    if verdict == "definition":
        if not compared + count(Property):
            return "a definition needs at least one Property, Equal, AtMost or Rate"
    elif not compared:
        return f"verdict {verdict!r} needs at least one Equal, AtMost or Rate that must hold"
    if verdict in ("holds", "definition") and printed + outside:
        return f"verdict {verdict!r} may not carry a Printed, PrintedShape or Counterexample"
    if verdict == "conditional" and not outside:
        return "verdict 'conditional' needs a Counterexample outside the condition"
    if (verdict == "erratum" or corrected) and not printed:
        return (f"verdict {verdict!r} with a corrected form needs the form as printed: "
                "Printed or PrintedShape")
    if printed and not corrected:
        return (f"verdict {verdict!r} without a corrected form may not carry a Printed or "
                "PrintedShape")
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


def _nearest(claims, choose):
    """The claim with the largest (or smallest) error relative to its tolerance, or None."""
    return choose(claims, key=lambda claim: claim.error / claim.tolerance) if claims else None
