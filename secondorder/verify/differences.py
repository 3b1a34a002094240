"""Second derivatives by differences of differences, and how a function rounds its values."""

import itertools

import numpy as np

from ..exact.finite_differences import Difference

_STEP = 2e-3
_NARROW = (1e-6, 2e-5)  # steps in which a smooth function hardly changes; float32 rounds anew
_COARSE = 1e5  # float32 rounds 5e8 times as coarsely as float64


def nested(function):
    """Derivative at 0 of a function of one number that returns a Difference.

    Wide steps keep the errors of the inner differences small; one extrapolation removes the leading
    truncation.

    Parameters
    ----------
    function : callable, float -> Difference

    Returns
    -------
    Difference
        Of the shape that the function returns.
    """
    at = {k: function(k * _STEP) for k in (-2, -1, 1, 2)}
    near = (at[1].value - at[-1].value) / (2 * _STEP)
    far = (at[2].value - at[-2].value) / (4 * _STEP)
    noise = np.max([at[k].error for k in at], axis=0) / _STEP
    return Difference(near + (near - far) / 3, np.abs(far - near) / 10 + noise)


def measured_rounding(function, theta):
    """Relative rounding of a function's values: eps, or what is measured where that is far more.

    A fourth difference over small steps leaves nothing of a smooth function; of rounding by r it
    leaves about r sqrt(70). A function that works in float32 inside shows here. Four lines are
    looked along, as it may keep its value along one.

    Parameters
    ----------
    function : callable, (n,) -> number or array
    theta : (n,) array

    Returns
    -------
    float
    """
    eps = np.finfo(float).eps
    measured = [eps]
    for step, phase in itertools.product(_NARROW, (0, 2)):
        along = step * np.maximum(1, np.abs(theta)) * np.cos(np.arange(theta.size) + phase)
        values = np.array([function(theta + k * along) for k in range(9)], dtype=float)
        left = np.sqrt(np.mean(np.diff(values, 4, axis=0) ** 2, axis=0)).max() / np.sqrt(70)
        measured.append(2 * left / (np.abs(values).max() or 1.0))
    return float(max(measured)) if max(measured) > _COARSE * eps else eps


def rounding(unit):
    """Error of a central difference whose value is the rest of terms of size `unit` that cancel.

    `central` predicts its rounding from the values it sees; where terms cancel, these are smaller
    than what was rounded.
    """
    return 5 * np.finfo(float).eps ** (2 / 3) * unit


def column(difference):
    """Drop the axis of a derivative in one number."""
    return Difference(difference.value[..., 0], difference.error[..., 0])
