"""The ways in which a pass may be called: one sample alone, and tangents that are None."""

import itertools

import numpy as np

from .layer_under_test import PASSES

#: Arguments that may be None, which means zero.
TANGENTS = ("x_tangent", "x_second", "theta_tangent")
#: How to call what a pass returns; a pair is (for the input, for the parameters).
RESULTS = {"backward": ("x_bar", "theta_bar"), "tangent": ("y_tangent",),
           "parameter_gradients": ("theta rows",),
           "second_tangent": ("y_second",),
           "backward_tangent": ("x_bar_tangent", "theta_bar_tangent"),
           "input_hessian": ("H_x",)}
_ROUNDING = 1e2 * np.finfo(float).eps


def check_none(checks, name, args):
    """Whichever tangents are None, the result is that with zeros in their place.

    `args` stand after `saved`; one that is None already stays so (a layer without parameters).
    """
    may_be_none = [k for k, (label, arg) in enumerate(zip(PASSES[name][1:], args))
                   if label in TANGENTS and arg is not None]
    for count in range(1, len(may_be_none) + 1):
        for chosen in itertools.combinations(may_be_none, count):
            nones = [None if k in chosen else arg for k, arg in enumerate(args)]
            zeros = [np.zeros_like(arg) if k in chosen else arg for k, arg in enumerate(args)]
            said = ", ".join(f"{PASSES[name][1 + k]}=None" for k in chosen)
            got, expected = (_parts(checks, name, given, f" with {said}")
                             for given in (nones, zeros))
            if got is None or expected is None:
                return
            for label, left, right in zip(RESULTS[name], got, expected):
                _compare(checks, name,
                         f"{label} with {said} against zeros in {'their' if count > 1 else 'its'} "
                         "place",
                         left, right, ("None", "zeros"), "a tangent that is None means zero")


def check_alone(checks, name, args):
    """A pass of sample 0 alone gives what it gives for sample 0 in the batch.

    Sums over samples (theta_bar, theta_bar_tangent) are compared with those of the batch in which
    only sample 0 has a `y_bar` and a `y_bar_tangent` that are not zero.
    """
    def rows(label, arg, alone):
        if arg is None or label == "theta_tangent":
            return arg
        if alone:
            return arg[:1]
        first = np.zeros_like(arg)
        first[:1] = arg[:1]
        return first if label in ("y_bar", "y_bar_tangent") else arg

    x = checks.subject.x
    labelled = list(zip(PASSES[name][1:], args))
    batch = _parts(checks, name, [rows(label, arg, False) for label, arg in labelled], "", x)
    alone = _parts(checks, name, [rows(label, arg, True) for label, arg in labelled],
                   " for a batch of one", x[:1])
    if batch is None or alone is None:
        return
    for label, one, all_rows in zip(RESULTS[name], alone, batch):
        summed = label in ("theta_bar", "theta_bar_tangent")
        _compare(checks, name, f"{label} of sample 0 alone against sample 0 of the batch", one,
                 all_rows if summed else all_rows[:1], ("alone", "in the batch"),
                 "a batch of one must keep its sample axis, and no sample may leak into another "
                 "one")


def _parts(checks, name, args, case, x=None):
    """The results of a pass as a tuple of arrays, or None with a finding."""
    subject, recorder = checks.subject, checks.recorder
    try:
        saved = subject.call("forward", subject.x if x is None else x)[1]
        result = subject.call(name, saved, *args)
    except Exception as problem:  # whatever a user's pass raises is the finding
        recorder.raised(name, problem, f"runs{case}", case)
        return None
    parts = result if len(RESULTS[name]) == 2 else (result,)
    arrays = (isinstance(parts, tuple) and len(parts) == len(RESULTS[name])
              and all(isinstance(part, np.ndarray) for part in parts))
    return tuple(parts) if recorder.fact(name, f"returns arrays{case}", arrays,
                                         f"does not return arrays{case}",
                                         f"it returned {_said(result)}") else None


def _said(result):
    if isinstance(result, tuple):
        return f"({', '.join(map(_said, result))})"
    return "None" if result is None else type(result).__name__


def _compare(checks, name, what, computed, reference, names, hint):
    unit = max(checks.recorder.unit, float(np.abs(reference).max(initial=0)), 1.0)
    checks.recorder.compare(name, what, computed, reference, _ROUNDING * unit, names=names,
                            hint=hint)
