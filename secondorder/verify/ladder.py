"""Differences of a function at steps of many sizes, of which the size is taken where they settle.

Wide steps leave terms of higher order, narrow ones leave rounding, and some leave the domain of the
function: no size is good for all functions. Between them is a stretch where the extrapolated
differences agree, and how far they are apart there is their error. How the function rounds is
measured, as some work in float32 inside.
"""

import numpy as np

from ..exact.finite_differences import Difference
from .differences import stacked

FIRST, SECOND = 0.1 * 4.0 ** -np.arange(14), 0.2 * 2.0 ** -np.arange(20)  # steps, falling
LINES, POINTS = (1e-5, 1e-6, 1e-7), 9  # steps and points of the lines along which rounding shows
EPS = np.finfo(float).eps
CLEAR, FAINT = 100, 1e-6  # a jump is larger than so many errors, and than this part of the slope


def first_differences(function, theta):
    """First derivatives, (..., n), as a `Difference`.

    D_i(h) = (f(theta + h e_i) - f(theta - h e_i)) / (2 h), h relative to max(1, |theta_i|). What f
    raises at a step is a step that leaves its domain.
    """
    reach = np.maximum(1, np.abs(theta))
    noise, columns = rounding_of(function, theta), []
    for i in range(theta.size):
        rungs = []
        for h in FIRST * reach[i]:
            a = _along(theta, i, h)
            plus, minus = tried(function, (theta + a, theta - a))
            rungs.append(((plus - minus) / (2 * h),
                          max(2 * noise, 5 * EPS * _size(plus, minus)) / h))
        columns.append(_settled(rungs, (FIRST[0] / FIRST[1]) ** 2))
    return stacked(columns)


def second_differences(function, theta):
    """Second derivatives, (..., n, n), as a `Difference`.

    D_ij(h) = (f(+ +) - f(+ -) - f(- +) + f(- -)) / (4 h_i h_j), with signs of h_i e_i and h_j e_j.
    """
    n, reach, noise = theta.size, np.maximum(1, np.abs(theta)), rounding_of(function, theta)
    values = np.empty((*np.shape(function(theta)), n, n))
    errors = np.empty_like(values)
    for i in range(n):
        for j in range(i + 1):
            rungs = []
            for h in SECOND:
                a, b = _along(theta, i, h * reach[i]), _along(theta, j, h * reach[j])
                at = tried(function, (theta + a + b, theta + a - b, theta - a + b, theta - a - b))
                area = 4 * h**2 * reach[i] * reach[j]
                rungs.append(((at[0] - at[1] - at[2] + at[3]) / area,
                              max(8 * noise, 32 * EPS * _size(*at)) / area))
            values[..., i, j], errors[..., i, j] = _settled(rungs, (SECOND[0] / SECOND[1]) ** 2)
            values[..., j, i], errors[..., j, i] = values[..., i, j], errors[..., i, j]
    return Difference(values, errors)


def jumps(function, theta, line):
    """Whether (f(h) - 2 f(0) + f(-h)) / h settles at a jump along a line: theta is at a kink."""
    noise, here, slope, rungs = rounding_of(function, theta), function(theta), 0.0, []
    for h in FIRST:
        plus, minus = tried(function, (theta + h * line, theta - h * line))
        rungs.append(((plus - 2 * here + minus) / h,
                      max(4 * noise, 10 * EPS * _size(plus, here, minus)) / h))
        slope = np.fmax(slope, np.abs(plus - minus).max(initial=0) / h)
    jump, error = _settled(rungs, FIRST[0] / FIRST[1])
    return bool((np.abs(jump) > CLEAR * error + FAINT * slope).any())


def rounding_of(function, theta):
    """How much rounding moves the values of a function, as a number.

    A fourth difference over small steps leaves nothing of a smooth function, and r sqrt(70) of
    rounding by r. What is smooth falls with the step, and what is rounding stays: the least over
    three steps counts. Four lines are looked along, as a function may keep its value along some.
    One that rounds to few digits keeps its value over all three steps, and then jumps.
    """
    sizes = [0.0]
    for phase in range(4):
        line, along = np.maximum(1, np.abs(theta)) * np.cos(np.arange(theta.size) + phase), []
        for step in LINES:
            points = tried(function, [theta + k * step * line for k in range(POINTS)])
            left = np.diff(points, 4, axis=0)
            along.append(np.sqrt(np.mean(left**2, axis=0)).max() / np.sqrt(70))
        sizes.append(min((left for left in along if np.isfinite(left)), default=0.0))
        sizes.append(_stair(function, theta, line))
    return 2 * float(max(sizes))


def _stair(function, theta, line):
    """The height of the first stair of a function that is constant around theta; 0 for none."""
    low, high = 0.0, 0.0
    (here,) = tried(function, [theta])
    for h in LINES[::-1] + (1e-4, 1e-3, 1e-2, 1e-1):
        (there,) = tried(function, [theta + h * line])
        if not np.isfinite(there).all():
            return 0.0
        if np.any(there != here):
            high = h
            break
        low = h
    if not low or not high:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        (there,) = tried(function, [theta + middle * line])
        low, high = (low, middle) if np.any(there != here) else (middle, high)
    (there,) = tried(function, [theta + high * line])
    height = np.abs(there - here).max()
    return float(height) if height > 4 * EPS * np.abs(here).max() else 0.0


def tried(function, points):
    """The function at some points; NaN at all of them where one is not in its domain."""
    try:
        return [np.asarray(function(point), dtype=float) for point in points]
    except Exception:  # whatever a user's function raises: it cannot be asked there
        return [np.nan] * len(points)


def _along(theta, i, h):
    """h e_i, without a matrix of unit vectors: n may be thousands."""
    step = np.zeros_like(theta)
    step[i] = h
    return step


def _size(*values):
    return max(np.abs(value).max(initial=0) for value in values)


def _settled(rungs, q):
    """Value and error from (difference, its rounding) at falling steps; from one to the next the
    leading term of the error falls by a factor q.

    E_k = D_k+1 + (D_k+1 - D_k) / (q - 1) is without the leading term; of three E that follow each
    other the middle one is taken where they agree best.
    """
    shape = np.broadcast_shapes(*(np.shape(difference) for difference, _ in rungs))
    D = np.array([np.broadcast_to(difference, shape) for difference, _ in rungs])
    rounding = np.array([error for _, error in rungs]).reshape(-1, *[1] * len(shape))
    E = D[1:] + (D[1:] - D[:-1]) / (q - 1)
    apart = np.abs(np.diff(E, axis=0))
    error = apart[:-1] + apart[1:] + rounding[2:-1]
    error = np.where(np.isfinite(error), error, np.inf)
    best = np.argmin(error, axis=0)[None]
    return (np.take_along_axis(E[1:-1], best, axis=0)[0],
            np.take_along_axis(error, best, axis=0)[0] + np.finfo(float).tiny)
