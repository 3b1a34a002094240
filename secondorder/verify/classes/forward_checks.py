"""Is `forward` a pure function of its input and the current parameters?

All other passes are compared with it.
"""

import copy

import numpy as np

from ...ledger.mismatch import describe_mismatch
from ..recorder import arrays_in
from .passes import flat, parameter_arrays

_STALE_HINT = ("stale parameters: read layer.parameters[...] in every pass; do not keep a copy or "
               "an alias made at construction, because a network moves the arrays")
_OVERWRITES = "a later call overwrites the array that an earlier call returned"
_BUFFER_HINT = "return a new array, or copy the buffer"
_STATE_HINT = "stale state: the layer keeps something from a previous forward call"


def check_forward(subject):
    """All checks of `forward`; whether the other passes can be judged at all."""
    recorder, x = subject.recorder, subject.x

    def owes(what, holds, told, entries="", hint=""):
        return recorder.fact("forward", what, holds, told, entries, hint)

    returned = subject.call("forward", x)
    if not owes("returns y, saved", isinstance(returned, tuple) and len(returned) == 2,
                "must return the pair (y, saved)", f"it returned {type(returned).__name__}"):
        return False
    y = returned[0]
    rows = isinstance(y, np.ndarray) and y.ndim >= 2 and len(y) == len(x)
    if not (owes("one row per sample", rows, "must return an array with one row per sample",
                 f"x has shape {x.shape}, y has shape {np.shape(y)}")
            and owes("finite", np.isfinite(y).all(),
                     "gives non-finite outputs for ordinary inputs")):
        return False
    owes("dtype", y.dtype == x.dtype, f"turns float64 inputs into {y.dtype}")
    return all([_check_state(subject, y, owes), _check_rows(subject, y),
                _check_parameters_are_live(subject, y, owes),
                _check_layer_contract(subject, y, owes)])


def _check_state(subject, y, owes):
    """Calls must not depend on earlier calls, nor overwrite what they returned."""
    recorder, x = subject.recorder, subject.x
    if not recorder.compare("forward", "y of a second call on the same x against the first",
                            subject.call("forward", x)[0], y,
                            names=("second call", "first call"),
                            hint="forward must be deterministic: draw random numbers outside, and "
                            "give them as a fixed parameter (trainable=False) or as a part of x"):
        return False
    other, fresh = subject.rng.standard_normal(subject.shape), copy.deepcopy(subject.unused)
    fresh.forward(x.copy())
    result = fresh.forward(other.copy())[0]
    expected = copy.deepcopy(subject.unused).forward(other.copy())[0]
    untouched = np.array(result)
    ok = recorder.compare("forward",
                          "y of a second call on another x against a fresh copy of the layer",
                          result, expected, names=("second call", "fresh copy"), hint=_STATE_HINT)
    fresh.forward(x.copy())
    return owes("results stay", np.array_equal(result, untouched), _OVERWRITES,
                hint=_BUFFER_HINT) and ok


def _check_rows(subject, y):
    """Each row of y depends on its own row of x only; a shorter batch gives the same rows."""
    changed = subject.rng.standard_normal(subject.x.shape)
    changed[0] = subject.x[0]
    cases = {"row 0 of y after the other rows of x changed": (
        subject.forward(changed)[:1], "other rows changed", "; statistics over the batch cannot be "
        "expressed: make them fixed parameters, set between steps"),
        "y of a batch of one against row 0 of y": (subject.forward(subject.x[:1]), "batch of one",
                                                   "")}
    return all(subject.recorder.compare("forward", what, row, y[:1], names=(name, "y"),
                                        hint=f"a sample leaks into another one{remedy}")
               for what, (row, name, remedy) in cases.items())


def _check_parameters_are_live(subject, y, owes):
    """A parameter changed in place must show in y, unless `backward` agrees that it may not."""
    ok, where = True, {name: place for name, place, _ in subject.blocks}
    for name, _ in parameter_arrays(subject.layer):
        layer = copy.deepcopy(subject.layer)  # which may keep what its first pass read
        for other, value in parameter_arrays(layer):
            if other == name or not (other in where or name in where):  # all fixed ones together
                value += subject.rng.uniform(0.5, 1.0, value.shape)
        moved = not np.array_equal(layer.forward(subject.x.copy())[0], y)
        follows = moved or (name in where and not _backward_disagrees(subject, y, where[name]))
        ok &= owes(f"follows {name}", follows,
                   f"y does not follow the parameter {name}: changing "
                   f"layer.parameters[{name!r}] in place leaves y as it was", hint=_STALE_HINT)
    return ok


def _backward_disagrees(subject, y, where):
    """Whether `backward` says that some parameters matter; a broken one counts as yes."""
    try:
        _, bars = subject.after_forward("backward", subject.x, subject.theta, np.ones_like(y))
        return bool(np.any(flat(bars)[where]))
    except Exception:  # `backward` is judged on its own later
        return True


def _check_layer_contract(subject, y, owes):
    """What a network asks of a layer: size, output shape, parameters that may be moved."""
    layer, of_sample = subject.layer, subject.shape[1:]
    try:
        said = tuple(layer.output_shape(of_sample))
    except Exception as problem:  # reported as it is
        said = f"{type(problem).__name__}: {problem}"
    ok = owes("output_shape", said == y.shape[1:],
              f"output_shape({of_sample}) says {said}, forward gives rows of shape {y.shape[1:]}",
              hint="define output_shape(self, input_shape): where a layer has none, the shape of "
              "the input is meant" if said == of_sample else "")
    if not (ok and subject.theta.size):
        return ok

    class Owner:
        pass

    layer, owner, theta = copy.deepcopy(layer), Owner(), subject.theta.copy()
    layer.bind(theta, owner)
    theta += 0.5
    return subject.recorder.compare(
        "forward", "y after a network moved the parameters and changed them",
        layer.forward(subject.x.copy())[0], subject.forward(theta=theta),
        names=("in a network", "in place"), hint=_STALE_HINT)


def check_state_of_pass(subject, name, saved, args, result):
    """A pass must use `saved`, not what the last forward call left, and keep what it returned."""
    recorder = subject.recorder
    before = [(label, value.copy()) for label, value in arrays_in(result, name)]
    subject.layer.forward(subject.rng.standard_normal(subject.shape))
    again = subject.call(name, saved, *args)
    for (label, old), (_, new) in zip(before, arrays_in(again, name)):
        finite = np.isfinite(old)  # other entries have a check of their own
        slack = 1e-12 * (1 + np.abs(old[finite]).max(initial=0))
        if old.shape != new.shape or not np.allclose(old[finite], new[finite], rtol=1e-9,
                                                     atol=slack):
            recorder.fact(name, "uses saved", False,
                          f"{label} changes after another forward call, with the same saved",
                          describe_mismatch(new, old, names=("after", "before"), limit=3),
                          "stale state: take what is needed from `saved`, not from the layer")
            return
    # the second call has other arguments, so that a buffer that is used again shows
    subject.call(name, saved, *[None if arg is None else 2 * arg + 1 for arg in args])
    unchanged = all(np.array_equal(old, value, equal_nan=True)
                    for (_, old), (_, value) in zip(before, arrays_in(result, name)))
    recorder.fact(name, "pure", unchanged, _OVERWRITES, hint=_BUFFER_HINT)
