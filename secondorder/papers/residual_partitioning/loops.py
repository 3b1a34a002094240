"""Compiled lines of residual partitioning; the NumPy twin of a step is the formula of
`ResidualPartitioning._direction`.
"""

import numpy as np

from ...checks.loops import NO_ENDS, bits_of_extremes, extremes, number, squares
from ...compiled import compiled, scalars, summing
from ...optimizers.loops import BLOCK, move, objective_gradient

__all__ = ["NO_ENDS", "extremes", "number", "scalars", "squares"]



@compiled
def partition_activation(g, Z, slope, curvature, u, clip, Z_below):
    """Carry Z of residual partitioning through a curved activation; all flat (n,), the last one
    changed in place.

    Z_below = | |slope| Z + g curvature u |, or the part above zero if `clip`. NumPy twin:
    `ActivationRule.backward`.
    """
    zero = g.dtype.type(0)
    for i in range(g.size):
        z = abs(slope[i]) * Z[i] + g[i] * curvature[i] * u[i]
        if z < zero:
            z = zero if clip else -z
        Z_below[i] = z


@compiled
def partition(gradient, curvature_sum, curvature, direction, samples, damping, shrink):
    """Residual partitioning: `curvature` of the data, and `direction`, all (P,), from the curvature
    summed over samples.

    curvature = curvature_sum / samples; direction = -gradient / (curvature + damping + shrink), or
    0 where curvature + damping is 0: the bound says nothing about such a parameter.
    """
    zero = gradient.dtype.type(0)
    weight = gradient.dtype.type(1) / samples
    for i in range(gradient.size):
        c = curvature_sum[i] * weight
        curvature[i] = c
        c = c + damping
        q = -gradient[i] / (c + shrink)
        direction[i] = q if c > zero else zero


@compiled
def partition_step(total, theta, moved, samples, l2, rate, sums, peaks, curvature_sum, damping,
                   shrink, reports, ends):
    """A step of residual partitioning; `reports` (3,) float64 and `ends` (2,) int64 as
    `partition_reports` has them.
    """
    g, c = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    d = np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, curvature, direction = g[:stop - start], c[:stop - start], d[:stop - start]
        at = theta[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        partition(gradient, curvature_sum[start:stop], curvature, direction, samples, damping,
                  shrink)
        partition_reports(gradient, curvature, direction, damping, reports, ends)
        move(at, moved[start:stop], gradient, direction, curvature[:0], rate, sums, peaks)
    peaks[2] = ends[1]


@summing
def partition_reports(gradient, curvature, direction, damping, reports, ends):
    """Add to `reports` sum g d, sum curvature d^2 and the number of parameters without curvature
    (damping included).

    `ends` holds the bit patterns of the smallest and the largest curvature so far; it starts as
    `NO_ENDS`.
    """
    first_order = second_order = 0.0
    for i in range(gradient.size):
        d = np.float64(direction[i])
        first_order += np.float64(gradient[i]) * d
        second_order += np.float64(curvature[i]) * (d * d)
    reports[0] += first_order
    reports[1] += second_order
    low, high = bits_of_extremes(curvature)
    if low == 0:
        zero = curvature.dtype.type(0)
        for i in range(curvature.size):
            reports[2] += curvature[i] + damping == zero
    ends[0], ends[1] = min(ends[0], low), max(ends[1], high)
