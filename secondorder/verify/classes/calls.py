"""The ways in which a pass may be called: one sample alone, and several directions at once."""

import numpy as np

from .passes import PAIRS, PASSES, Unusable, flat, slots

#: Arguments that are directions: several of them may stand in front of the samples.
DIRECTIONS = {"backward": ("y_bar",), "tangent": ("x_tangent", "theta_tangent"),
              "second_tangent": ("x_tangent", "x_second", "theta_tangent"),
              "backward_tangent": ("x_tangent", "theta_tangent", "y_bar_tangent")}
#: How to call what a pass returns for the input.
RESULTS = {"backward": "x_bar", "tangent": "y_tangent", "parameter_gradients": "theta rows",
           "second_tangent": "y_second", "backward_tangent": "x_bar_tangent",
           "input_hessian": "H_x"}
_ROUNDING = 1e2 * np.finfo(float).eps


def labelled(layer, name, result):
    """(what it is, array) for every array that a pass returns, of samples or summed over them."""
    kept = [slot for slot, place, _ in slots(layer) if place is not None]
    if name in PAIRS:
        x_part, bars = result
        return [(RESULTS[name], x_part), *((f"{slot} part", bar) for slot, bar in zip(kept, bars))]
    if name == "parameter_gradients":
        return [(f"{slot} rows", bar) for slot, bar in zip(kept, result)]
    return [(RESULTS[name], result)]


def check_alone(checks, name, args):
    """A pass of sample 0 alone gives what it gives for sample 0 in the batch.

    Sums over samples are compared with those of the batch in which only sample 0 has a `y_bar` and
    a `y_bar_tangent` that are not zero.
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
    named = list(zip(PASSES[name], args))
    batch = _parts(checks, name, [rows(label, arg, False) for label, arg in named], "", x)
    alone = _parts(checks, name, [rows(label, arg, True) for label, arg in named],
                   " for a batch of one", x[:1])
    if batch is None or alone is None:
        return
    for (label, one), (_, all_rows) in zip(alone, batch):
        summed = label.endswith(" part")
        _compare(checks, name, f"{label} of sample 0 alone against sample 0 of the batch", one,
                 all_rows if summed else all_rows[:1], ("alone", "in the batch"),
                 "a batch of one must keep its sample axis, and no sample may leak into another "
                 "one")


def check_many(checks, name, args):
    """Several directions at once give what each of them gives alone, as many as there are samples:
    a wrong axis has the right shape then. A tangent that is zero may be None, and the arrays for
    the parameters may be asked for in a given place.
    """
    if name in DIRECTIONS:
        _check_directions(checks, name, dict(zip(PASSES[name], args)))
        _check_none(checks, name, dict(zip(PASSES[name], args)))
    if name in ("backward", "parameter_gradients") and checks.subject.theta.size:
        _check_given_place(checks, name)


def _check_directions(checks, name, named):
    many, rng = len(checks.subject.x), checks.subject.rng
    drawn = {label: rng.standard_normal((many, *named[label].shape)) for label in DIRECTIONS[name]
             if named[label] is not None}
    whole = _parts(checks, name, [drawn.get(label, arg) for label, arg in named.items()],
                   f" for {many} directions")
    alone = [_parts(checks, name, [drawn[label][k] if label in drawn else arg
                                   for label, arg in named.items()], "") for k in range(many)]
    if whole is None or any(one is None for one in alone):
        return
    for position, (label, got) in enumerate(whole):
        _compare(checks, name, f"{label} for {many} directions at once against one after the other",
                 got, np.stack([one[position][1] for one in alone]), ("at once", "one by one"),
                 f"directions stand in front: samples are axis -{checks.subject.x.ndim}")


def _check_none(checks, name, named):
    """x_tangent or x_second is None, where something else moves; without the first there is no
    second.
    """
    for label in ("x_tangent", "x_second"):
        if label not in named or (label == "x_tangent" and named["theta_tangent"] is None):
            continue
        without = {"x_tangent": ("x_tangent", "x_second"), "x_second": ("x_second",)}[label]
        zeros = np.zeros_like(checks.subject.x)
        got, expected = (_parts(checks, name, [value if key in without else arg
                                               for key, arg in named.items()], f" with {label}={s}")
                         for value, s in ((None, "None"), (zeros, "0")))
        if got is None or expected is None:
            return
        for (part, left), (_, right) in zip(got, expected):
            _compare(checks, name, f"{part} with {label}=None against zeros in its place", left,
                     right, ("None", "zeros"), "a tangent that is None means zero")


def _check_given_place(checks, name):
    """The flat vector that a network asks for has the same numbers."""
    layer, y_bar = checks.subject.layer, checks.y_bar
    saved = checks.subject.call("forward", checks.subject.x)[1]
    bars = checks.subject.call(name, saved, y_bar)
    lead = () if name == "backward" else (len(y_bar),)
    expected = flat(bars[1] if name == "backward" else bars, len(lead))
    given = np.full((*lead, layer.size), np.nan)
    try:
        if name == "backward":
            layer.flat_backward(saved, y_bar.copy(), given, True)
        else:
            layer.flat_parameter_gradients(saved, y_bar.copy(), given)
    except Exception as problem:  # whatever a user's pass raises is the finding
        checks.recorder.raised(name, problem, "runs with out", " where a place for its arrays is "
                               "given")
        return
    _compare(checks, name, "theta_bar in a given place against the arrays returned", given,
             expected, ("given", "returned"), "write into the arrays of `out`, or return others")


def _parts(checks, name, args, case, x=None):
    """The labelled arrays of a pass, or None with a finding."""
    subject, recorder = checks.subject, checks.recorder
    try:
        saved = subject.call("forward", subject.x if x is None else x)[1]
        return labelled(subject.layer, name, subject.call(name, saved, *args))
    except Unusable as problem:
        told, entries, hint = problem.args
        recorder.fact(name, f"returns arrays{case}", False, told + case, entries, hint)
    except Exception as problem:  # whatever a user's pass raises is the finding
        recorder.raised(name, problem, f"runs{case}", case)
    return None


def _compare(checks, name, what, computed, reference, names, hint):
    unit = max(checks.recorder.unit, float(np.abs(reference).max(initial=0)), 1.0)
    checks.recorder.compare(name, what, computed, reference, _ROUNDING * unit, names=names,
                            hint=hint)
