"""float32 in, float32 out, in every pass, and near the float64 result of the same numbers."""

import copy

import numpy as np

from ..findings import INACCURATE, PROMOTES
from ..recorder import SAFETY
from .passes import labelled, parameter_arrays, run

_ERROR = 1e-5
_JITTER = 1e-3
_JITTERS = 24
_STEADY = 5.0


def check_single_precision(checks):
    """Every pass in float32 against float64 on numbers that both can represent.

    A difference that changes like chance when the numbers are moved a little is rounding: the terms
    of the pass cancel. It makes a note.  A difference that stays is a finding.
    """
    subject = checks.subject
    narrow, wide = _in_two_precisions(subject.layer)
    for name in ("forward", *checks.judged):
        args = checks.arguments(name)

        def both(factor, name=name, args=args):
            given = [None if arg is None else (arg * factor(arg.shape)).astype(np.float32)
                     for arg in (subject.x, *args)]
            return (_call(narrow, name, *given),
                    _call(wide, name, *(None if arg is None else arg.astype(float)
                                        for arg in given)))
        _compare(checks.recorder, name, both, subject.rng)


def _in_two_precisions(layer):
    """Copies with the same parameters, rounded to float32, in float32 and in float64."""
    narrow, wide = copy.deepcopy(layer), copy.deepcopy(layer)
    narrow.convert("float32")
    for (_, value), (_, rounded) in zip(parameter_arrays(wide), parameter_arrays(narrow)):
        value[...] = rounded
    return narrow, wide


def _call(layer, name, x, *args):
    """The arrays that a pass returns, each with its name."""
    y, saved = layer.forward(x)
    return [("y", y)] if name == "forward" else labelled(layer, name, run(layer, name, saved, args))


def _compare(recorder, name, both, rng):
    narrow, wide = both(np.ones)
    for position, ((label, got), (_, expected)) in enumerate(zip(narrow, wide)):
        recorder.fact(name, f"{label} keeps float32", got.dtype == np.float32,
                      f"turns float32 into {got.dtype}: {label}",
                      hint="write constants as Python numbers and make arrays with the dtype of "
                           "the input", kind=PROMOTES)
        size = float(np.abs(expected).max(initial=0)) or 1.0
        if got.shape == expected.shape and _only_rounding(got - expected, SAFETY * _ERROR * size,
                                                          both, position, rng):
            error = float(np.abs(got - expected).max()) / size
            recorder.note(f"{name}: {label} has a relative error of {error:.1g} in float32, and it "
                          "is rounding: the terms of the result nearly cancel")
            continue
        recorder.compare(name, f"{label} in float32 against float64", got, expected,
                         error=_ERROR * size, names=("float32", "float64"), kind=INACCURATE)


def _only_rounding(difference, allowed, both, position, rng):
    """Whether entries that differ by more than is allowed differ by chance."""
    wrong = ~(np.abs(difference) <= allowed)
    if not wrong.any():
        return False
    again = []
    for _ in range(_JITTERS):
        narrow, wide = both(lambda shape: 1 + _JITTER * rng.uniform(-1, 1, shape))
        again.append((narrow[position][1] - wide[position][1])[wrong])
    # one entry may be rounded the same way again and again by chance; the noise of the others tells
    return bool(np.abs(np.mean(again, axis=0)).max() <= _STEADY * np.std(again, axis=0).max())
