"""Second derivatives by differences of differences, with a predicted error."""

import numpy as np

from ..exact.finite_differences import Difference, central

_STEP = 2e-3
_STEPS = np.logspace(-1, -9, 33)  # of pictures


def at_zero(function, step=None):
    """Derivative at 0 of a function of one number, as a `Difference`."""
    value, error = central(lambda t: function(t[0]), np.zeros(1), step)
    return Difference(value[..., 0], error[..., 0])


def nested(function):
    """Derivative at 0 of a function of one number that returns a Difference.

    Wide steps keep the errors of the inner differences small; one extrapolation removes the leading
    truncation.
    """
    at = {k: function(k * _STEP) for k in (-2, -1, 1, 2)}
    near = (at[1].value - at[-1].value) / (2 * _STEP)
    far = (at[2].value - at[-2].value) / (4 * _STEP)
    noise = np.max([at[k].error for k in at], axis=0) / _STEP
    return Difference(near + (near - far) / 3, np.abs(far - near) / 10 + noise)


def rounding(unit):
    """Error of a central difference whose value is the rest of terms of size `unit` that cancel.

    `central` predicts its rounding from the values it sees; where terms cancel, these are smaller
    than what was rounded.
    """
    return 5 * np.finfo(float).eps ** (2 / 3) * unit


def stacked(columns):
    """Derivatives in one number each, side by side along a new last axis."""
    return Difference(*(np.stack(parts, axis=-1) for parts in zip(*columns)))


def error_by_step(function, expected):
    """Steps, and the relative error of the central difference (f(h) - f(-h)) / 2h for each."""
    size = float(np.linalg.norm(expected)) or 1.0
    errors = [np.linalg.norm((function(h) - function(-h)) / (2 * h) - expected) / size
              for h in _STEPS]
    return _STEPS, np.array(errors)
