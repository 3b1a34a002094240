"""Differences with a predicted error that kinks cannot deceive, and a search for jumps."""

import numpy as np

from ..exact import finite_differences
from ..exact.finite_differences import Difference

_STEP = 2e-3
CELLS, _SUSPECTS, _HALVINGS = 256, 12, 42  # of a line that is followed
_JUMP = 1e-7  # of the largest value on the line: what is left at a step in the end


def central(f, theta, step=None):
    """Central differences, whose predicted error is large wherever a kink is within two steps.

    A kink close to the point itself deceives the differences at h and 2h alike: the mean of both
    slopes. There (f(h) - 2 f(0) + f(-h)) / h, which falls like h where f is smooth, does not fall.
    """
    seen, here = {}, np.array(f(np.array(theta, dtype=float)), dtype=float)

    def remembered(point):
        moved = np.flatnonzero(point != theta)
        value = np.array(f(point), dtype=float)
        seen.setdefault(moved[0], []).append((point[moved[0]] - theta[moved[0]], value))
        return value

    difference = finite_differences.central(remembered, theta, step)
    for i, values in seen.items():
        bends = [(below + above - 2 * here) / h
                 for (_, below), (h, above) in zip(values[1::-1], values[2:])]
        difference.error[..., i] += np.abs(bends[1] / 2 - bends[0])
    return difference


def at_zero(function, step=None):
    """Derivative at 0 of a function of one number, as a `Difference`."""
    value, error = central(lambda t: function(t[0]), np.zeros(1), step)
    return Difference(value[..., 0], error[..., 0])


def nested(function):
    """Derivative at 0, extrapolated from wide steps, of a function that returns a Difference."""
    at = {k: function(k * _STEP) for k in (-2, -1, 1, 2)}
    near = (at[1].value - at[-1].value) / (2 * _STEP)
    far = (at[2].value - at[-2].value) / (4 * _STEP)
    noise = np.max([at[k].error for k in at], axis=0) / _STEP
    return Difference(near + (near - far) / 3, np.abs(far - near) / 10 + noise)


def rounding(unit):
    """Error of a central difference that is the rest of terms of size `unit` that cancel."""
    return 5 * np.finfo(float).eps ** (2 / 3) * unit


def stacked(columns):
    """Derivatives in one number each, side by side along a new last axis."""
    return Difference(*(np.stack(parts, axis=-1) for parts in zip(*columns)))


def jumps_along(function, length):
    """Where functions (T, 1 or columns) -> (T, columns, entries) of one number jump between -length
    and length: (t, column, before, after), the largest jump of a column first.

    The cells in which an entry rises most unlike beside them are halved until rounding: over them a
    continuous function rises by nothing in the end.
    """
    t = np.linspace(-length, length, CELLS + 1) + length / (np.e * CELLS)
    values = function(t[:, None])
    rises = np.diff(values, axis=0)
    usual = np.full_like(rises, np.nan)
    usual[1:-1] = (rises[2:] + rises[:-2]) / 2
    odd = np.nan_to_num(np.abs(rises - usual))
    suspects, column = np.argsort(-odd.max(axis=-1), axis=0)[:_SUSPECTS], np.arange(odd.shape[1])
    entry, row = odd[suspects, column].argmax(axis=-1), np.arange(len(suspects))[:, None]
    slope = usual[suspects, column, entry] * CELLS / (2 * length)
    left, right = t[suspects], t[suspects + 1]
    before, after = values[suspects, column, entry], values[suspects + 1, column, entry]
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        here = function(middle)[row, column, entry]
        half = slope * (right - left) / 2
        first = np.abs(here - before - half) >= np.abs(after - here - half)
        left, right = np.where(first, left, middle), np.where(first, middle, right)
        before, after = np.where(first, before, here), np.where(first, here, after)
    size = np.abs(after - before) / np.maximum(
        np.abs(values[:, column, entry]).max(axis=0), np.finfo(float).tiny)
    return [(float(left[k, c]), c, before[k, c], after[k, c]) for c in column
            for k in np.argsort(-size[:, c]) if size[k, c] > _JUMP]
