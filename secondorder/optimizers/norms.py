"""Inner products, and the Euclidean norm that steps report."""

import functools
import math

import numpy as np

from ..compiled import forms

_SQUARES_LOST = 1e-280  # a sum of squares below this may have lost some to underflow


def norm(v):
    """Euclidean norm of a vector as a float; finite wherever float64 can hold it.

    Squares are summed in float64. Where they overflow, or vanish, the vector is scaled by its
    largest entry first.
    """
    if forms.is_literal():
        with np.errstate(over="ignore"):
            total = float(np.sum(np.square(v, dtype=np.float64)))
    else:
        total = _loops().squares(v)
    if _SQUARES_LOST < total < np.inf or not v.size:
        return math.sqrt(total)
    largest = float(np.abs(v).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.linalg.norm(v.astype(np.float64) / largest))


def dot(a, b):
    """Inner product as a float, summed in float64."""
    if forms.is_literal():
        return float(np.sum(np.multiply(a, b, dtype=np.float64)))
    return _loops().dot(a, b)


@functools.cache
def _loops():
    from ..checks import loops  # here, so that numba is loaded by the first step, not by an import

    return loops
