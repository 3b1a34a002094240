"""Inner products, and the Euclidean norm that steps report: summed in float64."""

import math

import numpy as np

from ..exact.conjugate_gradients import dot

SQUARES_LOST = 1e-280  # a sum of squares below this may have lost some to underflow


def norm(v):
    """Euclidean norm of a vector as a float; finite wherever float64 can hold it.

    Where squares overflow, or vanish, the vector is scaled by its largest entry first.
    """
    total = dot(v, v)
    if SQUARES_LOST < total < np.inf or not v.size:
        return math.sqrt(total)
    largest = float(np.abs(v).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.linalg.norm(v.astype(np.float64) / largest))
