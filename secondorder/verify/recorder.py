"""Collects the comparisons and findings of a checker while it runs."""

import copy

import numpy as np

from ..checks import positive_number
from ..ledger.mismatch import describe_mismatch, shape_hint
from .findings import ORDER, PROMOTES, UNJUDGED, Check, Finding, Report

#: A computed quantity may differ from its reference by this many predicted errors.
SAFETY = 3.0
#: Differences less accurate than this, relative to the largest entry, are no reference.
_USABLE = 1e-3
#: What NumPy says where an array is treated as a number, and what to write.
SCALAR = {"truth value of an array": "x is an array: np.where(x > 0, ..., ...) in place of `if`",
          "converted to Python scalar": "x is an array: np.exp(x) in place of math.exp(x)"}


class Recorder:
    """Collects checks and findings for a report on a subject.

    A relative `tolerance` is allowed on top of the predicted error of a reference. A `lenient` one
    notes references that are too inaccurate, which are findings else; beside `unit`, the size of
    what is compared, also zero is accurate. Passes that are `broken` raised, or gave another shape.
    """

    def __init__(self, subject, tolerance, lenient=False):
        self.report = Report(subject)
        self.tolerance, self.lenient = positive_number(tolerance, "tolerance"), lenient
        self.unit = 0.0
        self.broken, self.left_out = set(), {}

    def wrong(self, *pass_names):
        """Whether any of these passes, or any at all, has a finding in float64 already."""
        return any(finding.kind != PROMOTES
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

    def raised(self, pass_name, problem, what="runs", case="", hint=""):
        """Record that a call raised; False."""
        hint = hint or next((text for said, text in SCALAR.items() if said in str(problem)), "")
        return self.fact(pass_name, what, False,
                         f"raised {type(problem).__name__}{case}: {problem}", hint=hint)

    def nothing(self, pass_name, result):
        """Whether a call returned None, which is recorded."""
        return result is None and not self.fact(pass_name, "returns", False, "returns None",
                                                hint="is its return missing?")

    def keeps_dtype(self, pass_name, given, result, argument="p"):
        """Record whether what comes out has the dtype of the `argument` that was given."""
        self.fact(pass_name, f"keeps {given}", result.dtype == given,
                  f"turns {given} into {result.dtype}",
                  hint="write constants as Python numbers and make arrays with the dtype of "
                       + argument, kind=PROMOTES if given == "float32" else "fact")

    def compare(self, pass_name, what, computed, reference, error=0.0,
                names=("computed", "differences"), hint="",
                scale=None, optional=False, at=None, sure=False):
        """Compare with a reference of predicted absolute error, infinite where nothing is compared.

        The tolerance refers to `scale`, by default the reference's largest entry. `optional`: one
        that is too inaccurate is a note; `sure`: what exceeds its error is wrong however large that
        is. `at` is the point of a derivative, a term that may be lost. Returns whether they agree.
        """
        computed, reference = np.asarray(computed), np.asarray(reference)
        scale = (float(np.abs(reference).max(initial=0)) or 1.0 if scale is None
                 else np.asarray(scale))
        if computed.shape != reference.shape:
            self.broken.add(pass_name)
            return self.fact(pass_name, what, False, f"{what}: wrong shape",
                             f"{names[0]} has shape {computed.shape}, expected {reference.shape}",
                             shape_hint(computed, reference, names, SAFETY * np.asarray(error)
                                        + self.tolerance * scale) or hint)
        if computed.size == 0:
            return True
        size = float(np.max(scale))
        error = np.broadcast_to(np.asarray(error, dtype=float), reference.shape)
        judged = np.isfinite(error)
        middle = np.median(error[judged]) if judged.any() else np.inf
        allowed = SAFETY * error + self.tolerance * scale
        with np.errstate(invalid="ignore"):
            excess = np.where(judged, np.abs(computed - reference) / allowed, 0.0)
        excess = np.where(np.isnan(excess), np.inf, excess)
        ok = bool((excess <= 1).all())
        if not middle <= _USABLE * max(size, self.unit) and not (sure and not ok):
            if optional or self.lenient:
                self.left_out[what] = None
                return True
            return self.fact(
                pass_name, what, False, f"{what}: the differences are too inaccurate to judge",
                f"predicted error {middle:.1e} for entries up to {size:.1e}",
                "is the function smooth and deterministic there, and defined around it?",
                kind=UNJUDGED)
        self.report.checks.append(Check(pass_name, what, float(excess.max()), ok))
        if not ok:
            text = describe_mismatch(computed, reference, allowed, names, limit=4, at=at)
            self.find(pass_name, what, text, hint, "mismatch")
        return ok

    def sorted_report(self):
        """The report, its findings in the order of causes, single precision last."""
        if self.left_out:
            self.note("not judged, as the differences are too inaccurate there: "
                      + "; ".join(self.left_out))
        rank = {name: position for position, name in enumerate(ORDER)}
        self.report.findings.sort(key=lambda finding: (finding.kind == PROMOTES,
                                                       rank.get(finding.pass_name, len(ORDER))))
        return self.report


def arrays_in(value, name):
    """All arrays inside tuples, lists, dicts and simple objects, with names like `saved.input`."""
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


def pure_call(recorder, pass_name, function, names, args, same=()):
    """Call `function` on copies of `args` (not of `same`); report arguments that it changes."""
    given = copy.deepcopy(tuple(args), {id(one): one for one in same})
    result = function(*given)
    for name, before, after in zip(names, args, given):
        now = dict(arrays_in(after, name))  # what is computed when it is asked for may be new
        for label, old in arrays_in(before, name):
            new = now[label]
            if old.shape != new.shape or not np.array_equal(old, new,
                                                            equal_nan=old.dtype.kind in "fc"):
                recorder.fact(
                    pass_name, f"{label} left alone", False,
                    f"changes its argument {label} in place",
                    describe_mismatch(new, old, error=0.0, names=("after", "before"), limit=3),
                    "passes are pure: work on a copy, or write x = x * y instead of x *= y")
    return result


def require_methods(value, kind, names, bare):
    """TypeError unless `value` is an instance that defines all methods, none of them `bare`."""
    if isinstance(value, type):
        raise TypeError(f"{kind} must be an instance, got the class {value.__name__}: call it "
                        "first")
    missing = [name for name in names if not callable(getattr(value, name, None))
               or getattr(type(value), name, None) in bare]
    if missing:
        raise TypeError(f"{kind} {type(value).__name__} lacks {', '.join(missing)}")
