"""Splitting, scaling and standardising."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import checks
from ..checks import instance_of, real_array
from ..checks.randomness import generator
from .dataset import Dataset


def split(data, validation=0.2, rng=None):
    """Two disjoint parts, drawn without replacement.

    Parameters
    ----------
    data : Dataset or tuple of arrays
        Arrays share their first axis, e.g. ``(x, y)``.
    validation : float or int
        Fraction of the rows, strictly between 0 and 1, or a number of rows.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    training, validation : of the kind given
        The same seed gives the same parts.

    Raises
    ------
    TypeError, ValueError
        If the lengths differ or a part would be empty.
    """
    if isinstance(data, Dataset):
        parts = split((data.inputs, data.targets), validation, rng)
        return tuple(replace(data, inputs=x, targets=y) for x, y in parts)
    arrays = [np.asarray(array) for array in instance_of(data, (tuple, list), "data")]
    rows = len(arrays[0])
    if any(len(array) != rows for array in arrays):
        raise ValueError("data: arrays must share their first axis, got shapes "
                         f"{[array.shape for array in arrays]}")
    count = checks.real_number(validation, "validation")
    count = round(count * rows) if isinstance(validation, (float, np.floating)) else int(count)
    if not 0 < count < rows:
        raise ValueError(f"validation must leave rows in both parts, got {validation} of {rows} "
                         "rows")
    order = generator(rng).permutation(rows)
    return tuple(tuple(array[part] for array in arrays) for part in (order[count:], order[:count]))


def scale(data, interval=(0.0, 1.0)):
    """Inputs moved from the range of their format to an interval, without looking at the data.

    Parameters
    ----------
    data : Dataset
        With an `input_range`.
    interval : tuple of float
        Where the two ends of the range go; residual partitioning uses (-1, 1).

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the format sets no range (standardise instead) or the interval is empty.
    """
    instance_of(data, Dataset, "data")
    low, high = checks.interval(interval, "interval")
    if data.input_range is None:
        raise ValueError(f"data set {data.name!r} has no range set by its format; use "
                         "Standardisation.fit")
    bottom, top = data.input_range
    inputs = (data.inputs - bottom) * ((high - low) / (top - bottom)) + low
    return replace(data, inputs=inputs, input_range=(low, high))


class Standardisation(NamedTuple):
    """Columns shifted to mean 0 and scaled to deviation 1; a constant column is only shifted.

    Fit it on the training part alone and apply it to both parts, so that nothing of the validation
    part leaks in.
    """

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def fit(cls, values):
        """Means and standard deviations of the columns of `values`, shape (N, D).

        Raises
        ------
        TypeError, ValueError
            Not finite real numbers, another shape, no rows.
        """
        values = real_array(values, "values").astype(float)
        if values.ndim != 2 or values.size == 0:
            raise ValueError(f"values has shape {values.shape}, expected (N, D), none of them 0")
        # the rounding of a constant column's mean is no deviation
        constant = np.ptp(values, axis=0) == 0
        return cls(np.where(constant, values[0], values.mean(axis=0)),
                   np.where(constant, 1.0, values.std(axis=0)))

    def apply(self, values):
        """Standardised copy of `values`, shape (N, D)."""
        return (real_array(values, "values") - self.mean) / self.deviation

    def undo(self, values):
        """The inverse of `apply`."""
        return real_array(values, "values") * self.deviation + self.mean
