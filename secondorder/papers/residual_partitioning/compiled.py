"""The compiled form of `ResidualPartitioning._direction`, with the step around it and what that
reports, and of `ActivationRule.backward`.
"""

import numpy as np

from ...checks.loops import bits_of_extremes, number
from ...compiled import compiled, scalars, summing
from ...compiled.updates import BLOCK, settle

__all__ = ["number", "scalars"]

NO_ENDS = np.array([np.iinfo(np.int64).max, 0, 0])  # of no numbers at all


@compiled
def partition_activation(g, Z, slope, curvature, u, clip, Z_below):
    """Carry Z of residual partitioning through a curved activation; all flat (n,), the last one
    changed in place.

    Z_below = | |slope| Z + g curvature u |, or the part above zero if `clip`.
    """
    zero = g.dtype.type(0)
    for i in range(g.size):
        z = abs(slope[i]) * Z[i] + g[i] * curvature[i] * u[i]
        if z < zero:
            z = zero if clip else -z
        Z_below[i] = z


@summing
def partition_step(total, theta, moved, samples, l2, keep, rate, sums, curvature_sum, damping,
                   shrink, reports, ends):
    """C_i = curvature_sum_i / samples; direction_i = -g_i / (C_i + damping + shrink), or 0 where
    C_i + damping is 0: the bound says nothing about such a parameter. The rest is as in
    :mod:`secondorder.compiled.updates`.

    `reports` (3,) float64: sum_i g_i direction_i, sum_i C_i direction_i^2, and the number of
    parameters without curvature, damping included. `ends` (3,) int64, `NO_ENDS` before the first
    block: bit patterns of the smallest and the largest C_i and of the largest |direction_i|.
    """
    dtype, zero, share = theta.dtype, theta.dtype.type(0), theta.dtype.type(1) / samples
    new, C, direction = np.empty(BLOCK, dtype), np.empty(BLOCK, dtype), np.empty(BLOCK, dtype)
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, Cs = theta[part], total[part], curvature_sum[part]
        gg = tt = dd = mm = gd = Cdd = size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            c = Cs[i] * share
            damped = c + damping
            q = -g / (damped + shrink)
            d = q if damped > zero else zero
            m = keep * t + rate * d
            C[i], direction[i], new[i] = c, d, m
            gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
            gd += g * d
            Cdd += c * (d * d)
            size += abs(c)
        settle(new, moved[part], sums, gg, tt, dd, mm, size)
        reports[0] += gd
        reports[1] += Cdd
        extremes(C[: at.size], direction[: at.size], damping, reports, ends)


@compiled
def extremes(C, direction, damping, reports, ends):
    """What `partition_step` reports of a block beside its sums."""
    low, high = bits_of_extremes(C)
    if low == 0:
        for i in range(C.size):
            reports[2] += C[i] + damping == C.dtype.type(0)
    ends[0], ends[1] = min(ends[0], low), max(ends[1], high)
    ends[2] = max(ends[2], bits_of_extremes(direction)[1])
