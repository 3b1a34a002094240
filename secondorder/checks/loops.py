"""Compiled sums and extremes of a flat vector, which the checks and the reports of a step need."""

import numpy as np

from ..compiled import compiled, summing


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


@compiled
def bits_of_extremes(v):
    """Bit patterns of the smallest and the largest |v_i|, as integers.

    Without the bit of the sign, the patterns of floating-point numbers are in the order of their
    sizes, inf and then NaN after all others; and integers are compared many at a time. `number`
    turns a pattern into the number again.
    """
    if v.itemsize == 4:
        short = v.view(np.int32)
        low, high = np.int32(0x7FFFFFFF), np.int32(0)
        for i in range(short.size):
            x = np.int32(short[i] & np.int32(0x7FFFFFFF))
            low, high = min(low, x), max(high, x)
        return np.int64(low), np.int64(high)
    wide = v.view(np.int64)
    least, most = np.int64(0x7FFFFFFFFFFFFFFF), np.int64(0)
    for i in range(wide.size):
        y = wide[i] & np.int64(0x7FFFFFFFFFFFFFFF)
        least, most = min(least, y), max(most, y)
    return least, most


def number(bits, dtype):
    """The floating-point number of `dtype` with a bit pattern, as a float."""
    return float(np.array(bits, f"i{dtype.itemsize}").view(dtype))
