"""Reading curves of training: at equal training loss, crossings, saturation."""

import numpy as np


def at_loss(training, values, level):
    """What a second curve shows where training first came down to a loss; NaN where it never did.

    Between the two looks around that place both are interpolated, the loss in its logarithm.

    Parameters
    ----------
    training, values : sequences of float, of one length
        Training loss, and what is read (test loss, accuracy), at the same looks.
    level : float
        Positive.
    """
    place = crossing(training, level)
    if not np.isfinite(place):
        return float("nan")
    return float(np.interp(place, np.arange(len(values)), values))


def crossing(losses, level):
    """Where a curve first comes down to a level, between its places 0, 1, ...; inf if nowhere."""
    losses = np.asarray(losses, dtype=float)
    below = np.flatnonzero(losses <= level)
    if not below.size:
        return float("inf")
    k = int(below[0])
    if k == 0 or not np.isfinite(losses[k - 1]):
        return float(k)
    high, low = np.log(losses[k - 1]), np.log(max(losses[k], np.finfo(float).tiny))
    return k - 1 + float((high - np.log(level)) / (high - low))


def lowest_common(*curves):
    """The lowest loss that all of some curves reach."""
    return max(float(np.nanmin(curve)) for curve in curves)


def smoothed(curve, window=5):
    """T(e): mean of the `window` values up to e (of fewer at the beginning)."""
    sums = np.cumsum(np.insert(np.asarray(curve, dtype=float), 0, 0.0))
    stops = np.arange(1, len(sums))
    starts = np.maximum(0, stops - window)
    return (sums[stops] - sums[starts]) / (stops - starts)


def saturation(curve, middle=None):
    """T(middle) over the least T behind it: near 1 where nothing is gained any more.

    Parameters
    ----------
    curve : sequence of float
        A loss an epoch.
    middle : int, optional
        An epoch, counted from 1; default: half of them.
    """
    T = smoothed(curve)
    middle = len(T) // 2 if middle is None else middle
    return float(T[middle - 1] / T[middle:].min()) if 0 < middle < len(T) else float("nan")
