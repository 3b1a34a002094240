"""Splitting, scaling and standardising."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import checks
from ..checks import instance_of, plain_array, real_array
from ..checks.randomness import generator
from .dataset import Dataset


def split(data, validation=0.2, rng=None):
    """Two disjoint parts, drawn without replacement.

    Parameters
    ----------
    data : Dataset, array or tuple of arrays
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
        arrays = data.inputs, data.targets
    elif isinstance(data, (tuple, list)):
        arrays = tuple(plain_array(a, "data") for a in data)
    elif isinstance(data, np.ndarray):
        arrays = (plain_array(data, "data"),)
    else:
        raise TypeError("data must be a Dataset, an array or a tuple of arrays, got "
                        f"{type(data).__name__}")
    rows = len(arrays[0]) if arrays and arrays[0].ndim else 0
    if any(a.ndim == 0 or len(a) != rows for a in arrays):
        raise ValueError("data: arrays must share their first axis, given shapes "
                         f"{[a.shape for a in arrays]}")
    held_out = _held_out(validation, rows)
    order = generator(rng).permutation(rows)
    parts = [[a[chosen] for a in arrays] for chosen in (order[held_out:], order[:held_out])]
    if isinstance(data, Dataset):
        return tuple(replace(data, inputs=x, targets=y) for x, y in parts)
    if isinstance(data, np.ndarray):
        return tuple(part for (part,) in parts)
    return tuple(tuple(part) for part in parts)


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

    A column is constant if its entries differ by no more than their rounding. That is 4 units in
    the last place of the dtype that `fit` is given.

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
        values = real_array(values, "values")
        unit = np.finfo(values.dtype if values.dtype.kind == "f" else float).eps
        values = values.astype(float)
        if values.ndim != 2 or values.size == 0:
            raise ValueError("values: expected a non-empty array of shape (N, D), given "
                             f"{values.shape}")
        low, high = values.min(axis=0), values.max(axis=0)
        largest = np.maximum(np.abs(low), np.abs(high))
        # over a power of two, so that no square and no sum overflows or vanishes
        power = np.frexp(np.where(largest > 0, largest, 1.0))[1]
        small, rounding = np.ldexp(values, -power), unit * np.ldexp(largest, -power)
        constant = np.ldexp(high, -power) - np.ldexp(low, -power) <= 4 * rounding
        return cls(np.where(constant, low, np.ldexp(small.mean(axis=0), power)),
                   np.where(constant, 1.0, np.ldexp(small.std(axis=0), power)))

    def apply(self, values):
        """Standardised copy of `values`, shape (N, D); ValueError for another width."""
        return (self._fitting(values) - self.mean) / self.deviation

    def undo(self, values):
        """The inverse of `apply`."""
        return self._fitting(values) * self.deviation + self.mean

    def _fitting(self, values):
        values = real_array(values, "values")
        if values.ndim != 2 or values.shape[1] != len(self.mean):
            raise ValueError(f"values: expected shape (N, {len(self.mean)}), given {values.shape}")
        return values


def _held_out(validation, rows):
    if isinstance(validation, (bool, np.bool_)) or not isinstance(
        validation, (int, float, np.integer, np.floating)):
        raise TypeError("validation: expected a fraction or a number of rows, given "
                        f"{checks.shown(validation)}")
    if isinstance(validation, (int, np.integer)):
        count = int(validation)
    else:
        if not 0.0 < validation < 1.0:
            raise ValueError("validation: a fraction lies strictly between 0 and 1, given "
                             f"{validation}")
        count = round(validation * rows)
    if not 0 < count < rows:
        raise ValueError(f"validation: {count} of {rows} rows would leave a part empty")
    return count
