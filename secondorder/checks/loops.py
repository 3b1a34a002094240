"""Compiled sums over flat vectors, which the checks and the reports of a step need."""

import numpy as np

from ..compiled import summing


@summing
def squares(v):
    """sum_i v_i^2, in float64, so that squares of float32 entries do not overflow."""
    total = 0.0
    for i in range(v.size):
        x = np.float64(v[i])
        total += x * x
    return total


@summing
def dot(a, b):
    """sum_i a_i b_i, in float64."""
    total = 0.0
    for i in range(a.size):
        total += np.float64(a[i]) * np.float64(b[i])
    return total
