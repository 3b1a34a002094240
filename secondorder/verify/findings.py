"""What the derivative checker found: comparisons, findings by their causes, a picture."""

import copy
from dataclasses import dataclass, field

import numpy as np

from ..ledger.mismatch import describe_mismatch

#: Findings are printed in this order: each of these is compared with differences of what stands
#: before it.
ORDER = ("__init__", "deepcopy", "forward", "backward", "tangent", "parameter_gradients",
         "second_tangent", "backward_tangent", "input_hessian", "value", "kinks", "slope",
         "curvature", "jet", "gradient", "hessian", "hessian_product", "hessian_diagonal", "fisher",
         "sample_targets")

#: A computed quantity may differ from its reference by this many predicted errors.
SAFETY = 3.0
#: How many findings are printed in full for the first wrong pass, the likely cause, and for each
#: later one; and one of every kind.
_SHOWN_FIRST, _SHOWN_LATER = 4, 1
#: What is wrong in single precision only, as the headline says it; printed after everything else.
PROMOTES, INACCURATE = "promotes float32", "inaccurate in float32"
SINGLE = (PROMOTES, INACCURATE)
#: What could not be judged: right or wrong.
UNJUDGED = "too inaccurate to judge"
#: Differences less accurate than this, relative to the largest entry, are no reference.
_USABLE = 1e-3


@dataclass
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    pass_name : str
        The pass (or method, or flag) that is wrong.
    compared : str
        What was compared with what.
    entries : str
        The worst entries with both values and their ratio, and what the pattern of ratios suggests.
    hint : str
        What usually causes it; may be empty.
    kind : str
        ``"mismatch"`` (two numbers that should agree), ``"fact"`` (anything else that must hold),
        ``"too inaccurate to judge"`` (the reference; nothing is known to be wrong),
        ``"promotes float32"`` or ``"inaccurate in float32"`` (right in float64).
    """

    pass_name: str
    compared: str
    entries: str = ""
    hint: str = ""
    kind: str = "fact"

    def __str__(self):
        lines = [f"{self.pass_name}: {self.compared}"]
        lines += ["    " + line for line in self.entries.splitlines()]
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Check:
    """One comparison that was made: its pass, what was compared, the error in units of what is
    allowed, the outcome.
    """

    pass_name: str
    what: str
    excess: float
    ok: bool


@dataclass
class Report:
    """What `verify.layer` and its like return; true when nothing is wrong.

    Attributes
    ----------
    subject : str
        What was checked.
    findings : list of Finding
        What is wrong, causes before consequences.
    checks : list of Check
        Every comparison that was made.
    notes : list of str
        What was left out, and why.
    curves : dict
        Name -> (steps, errors): the error of a central difference against the hand-derived pass, by
        step size.
    """

    subject: str
    findings: list = field(default_factory=list)
    checks: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    curves: dict = field(default_factory=dict, repr=False)

    def note(self, text):
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def ok(self):
        """Whether nothing is wrong."""
        return not self.findings

    def __bool__(self):
        return self.ok

    def __str__(self):
        counts = {}
        for check in self.checks:
            counts[check.pass_name] = counts.get(check.pass_name, 0) + 1
        by_pass = ", ".join(f"{name} {count}" for name, count in counts.items())
        amount = f"{len(self.checks)} comparisons ({by_pass})"
        if self.ok:
            lines = [f"{self.subject}: ok, {amount}"]
        else:
            lines = [f"{self.subject}: {self.headline()}; {amount}"]
            for position, name in enumerate(_names(self.findings)):
                mine = [finding for finding in self.findings if finding.pass_name == name]
                shown = _shown(mine, _SHOWN_FIRST if position == 0 else _SHOWN_LATER)
                lines += ["", *("\n".join(map(str, shown)).splitlines())]
                if len(mine) > len(shown):
                    lines.append(f"{name}: and {len(mine) - len(shown)} more in this pass (see "
                                 "report.findings)")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def headline(self):
        """Which passes are wrong, which could not be judged, and which are wrong in single
        precision only.
        """
        wrong = _names(finding for finding in self.findings
                       if finding.kind not in (*SINGLE, UNJUDGED))
        parts = [f"wrong in {', '.join(wrong)}"] if wrong else []
        unjudged = [name for name in _names(finding for finding in self.findings
                                            if finding.kind == UNJUDGED) if name not in wrong]
        parts += [f"{UNJUDGED} in {', '.join(unjudged)}"] if unjudged else []
        parts = parts or ["right in float64"]
        for kind in SINGLE:
            names = _names(finding for finding in self.findings if finding.kind == kind)
            parts += [f"{kind} in {', '.join(names)}"] if names else []
        return "; ".join(parts)

    def plot(self, ax=None):
        """Draw the error of central differences against the hand-derived passes over the step size.

        A right derivative falls along step^2 until rounding takes over; a wrong one stays flat.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ValueError
            If nothing could be drawn because the checks stopped before any derivative was taken.
        """
        if not self.curves:
            raise ValueError(f"there is nothing to draw: the checks of {self.subject} stopped "
                             "before any derivative")
        # only here: what is checked knows no pictures
        from ..plots.style import axes_of, legend, style

        ax = axes_of(ax)
        for number, (name, (steps, errors)) in enumerate(self.curves.items()):
            colour, marker = style(number)
            ax.loglog(steps, np.maximum(errors, np.finfo(float).tiny), marker=marker, markersize=3,
                      color=colour, label=name)
        ax.set(xlabel="step size", ylabel="relative error of the central difference",
               title=self.subject)
        legend(ax)
        return ax


def _names(findings):
    """The passes of some findings, in order of first occurrence."""
    return list(dict.fromkeys(finding.pass_name for finding in findings))


def _shown(findings, most):
    """The first few findings, and the first one of every kind."""
    first = {finding.kind: finding for finding in reversed(findings)}
    return [finding for i, finding in enumerate(findings) if i < most
            or first[finding.kind] is finding]


class Recorder:
    """Collects checks and findings for a report.

    Parameters
    ----------
    subject : str
    tolerance : float
        Relative difference that is always allowed, on top of the predicted error of a reference.
    lenient : bool
        Whether references that are too inaccurate are a note everywhere, not a finding.

    Attributes
    ----------
    unit : float
        Natural size of what is compared: differences that are small beside it are accurate also
        where they are zero.
    broken : set of str
        Passes whose results cannot be used at all: they raised, or gave something of a wrong shape.
    """

    def __init__(self, subject, tolerance, lenient=False):
        if not (isinstance(tolerance, (int, float)) and np.isfinite(tolerance) and tolerance > 0):
            raise ValueError(f"tolerance must be a finite number > 0, got {tolerance!r}")
        self.report = Report(subject)
        self.tolerance, self.lenient = float(tolerance), lenient
        self.unit = 0.0
        self.broken = set()

    def wrong(self, *pass_names):
        """Whether any of these passes, or any at all, has a finding in float64 already."""
        return any(finding.kind not in SINGLE
                   and (not pass_names or finding.pass_name in pass_names)
                   for finding in self.report.findings)

    def find(self, pass_name, compared, entries="", hint="", kind="fact"):
        """Record a finding, once for each pass and comparison."""
        if not any((other.pass_name, other.compared) == (pass_name, compared)
                   for other in self.report.findings):
            self.report.findings.append(Finding(pass_name, compared, entries, hint, kind))

    def note(self, text):
        """Add a note to the report, once."""
        self.report.note(text)

    def fact(self, pass_name, what, holds, compared, entries="", hint="", kind="fact"):
        """Record a check of a fact, and a finding if it does not hold."""
        self.report.checks.append(Check(pass_name, what, 0.0 if holds else np.inf, bool(holds)))
        if not holds:
            self.find(pass_name, compared, entries, hint, kind)
        return bool(holds)

    def compare(self, pass_name, what, computed, reference, error=0.0,
                names=("computed", "differences"), hint="",
                scale=None, optional=False, kind="mismatch"):
        """Compare a computed quantity with its reference and the reference's predicted error.

        Parameters
        ----------
        computed, reference : array_like of one shape
        error : float or array_like
            Predicted absolute error of the reference.  Infinite entries are not compared.
        scale : float, optional
            Size to which the tolerance refers; default the largest entry of the reference, 1 if it
            is zero.
        optional : bool
            A reference that is too inaccurate is a note, not a finding: other comparisons were made
            of the same pass.

        Returns
        -------
        bool
            Whether they agree.
        """
        computed, reference = np.asarray(computed), np.asarray(reference)
        if computed.shape != reference.shape:
            self.broken.add(pass_name)
            return self.fact(pass_name, what, False, f"{what}: wrong shape",
                             f"{names[0]} has shape {computed.shape}, expected {reference.shape}")
        if computed.size == 0:
            return True
        size = float(np.abs(reference).max()) or 1.0 if scale is None else float(scale)
        error = np.broadcast_to(np.asarray(error, dtype=float), reference.shape)
        judged = np.isfinite(error)
        if judged.any() and np.median(error[judged]) > _USABLE * max(size, self.unit):
            if optional or self.lenient:
                self.note(f"{what}: not judged, the differences are too inaccurate")
                return True
            return self.fact(
                pass_name, what, False, f"{what}: the differences are too inaccurate to judge",
                f"predicted error {np.median(error[judged]):.1e} for entries up to {size:.1e}",
                "is the function smooth and deterministic near random inputs?", kind=UNJUDGED)
        allowed = SAFETY * error + self.tolerance * size
        with np.errstate(invalid="ignore"):
            excess = np.where(judged, np.abs(computed - reference) / allowed, 0.0)
        excess = np.where(np.isnan(excess), np.inf, excess)
        ok = bool((excess <= 1).all())
        self.report.checks.append(Check(pass_name, what, float(excess.max()), ok))
        if not ok:
            text = describe_mismatch(computed, reference, error=allowed, names=names, limit=4)
            self.find(pass_name, what, text, hint, kind)
        return ok

    def sorted_report(self):
        """The report, its findings in the order of causes, single precision last."""
        rank = {name: position for position, name in enumerate(ORDER)}
        self.report.findings.sort(key=lambda finding: (finding.kind in SINGLE,
                                                       rank.get(finding.pass_name, len(ORDER))))
        return self.report


def arrays_in(value, name):
    """All arrays inside nested tuples, lists, dicts and simple objects, with names such as
    `saved.input`.
    """
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays_in(item, f"{name}[{key!r}]")
    elif hasattr(value, "_fields"):
        for key in value._fields:
            yield from arrays_in(getattr(value, key), f"{name}.{key}")
    elif isinstance(value, (tuple, list)):
        for position, item in enumerate(value):
            yield from arrays_in(item, f"{name}[{position}]")
    elif hasattr(value, "__dict__") and not callable(value):
        for key, item in vars(value).items():
            yield from arrays_in(item, f"{name}.{key}")


def pure_call(recorder, pass_name, function, names, args):
    """Call `function` on copies of `args`; report arguments that it changes in place.

    Parameters
    ----------
    names : sequence of str
        How to call the arguments.
    """
    given = copy.deepcopy(tuple(args))
    result = function(*given)
    for name, before, after in zip(names, args, given):
        for (label, old), (_, new) in zip(arrays_in(before, name), arrays_in(after, name)):
            if old.shape != new.shape or not np.array_equal(old, new,
                                                            equal_nan=old.dtype.kind in "fc"):
                recorder.fact(
                    pass_name, f"{label} left alone", False,
                    f"changes its argument {label} in place",
                    describe_mismatch(new, old, error=0.0, names=("after", "before"), limit=3),
                    "passes are pure: work on a copy, or write x = x * y instead of x *= y")
    return result
