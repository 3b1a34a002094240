"""The compiled form of the rules for linear layers and activations, each as a walk over a network's
table (see :mod:`secondorder.compiled.passes`); and of `ResidualPartitioning.direction`, with the
step around it and what that reports.

In `carried`, an array like that of the passes, u stands at the place of a layer's output, Z at that
of the gradient in it.
"""

import numpy as np

from ...checks.loops import bits_of_extremes, number
from ...compiled import compiled, summing, walk
from ...compiled.layers.dense import linear_input_gradient, linear_parameter_gradient
from ...compiled.kinds import ADD, FIXED, FORK, LINEAR, SIN
from ...compiled.passes import add_part, batch, copy, flat, input_of, weight
from ...compiled.updates import BLOCK, settle

__all__ = ["number"]

NO_ENDS = np.array([np.iinfo(np.int64).max, 0, 0])  # of no numbers at all


# -- one pass up for u, one down for Z -------------------------------------------------------------


@walk
def up(table, theta, x, work, sizes, carried):
    """u of all layers: u_out of each layer is u of the one after it; nothing moves before the first
    linear layer that is trained. In `sizes`, as long as theta, |theta|.
    """
    S, moves, first = x.shape[0], False, first_trained(table)
    absolute(theta, sizes)
    for l in range(first, table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        u_out = batch(carried, y, S, n_out)
        if kind == LINEAR:
            linear_up(moves, input_of(x, carried, at_x, S, n_in), input_of(x, work, at_x, S, n_in),
                      weight(sizes, W, n_out, n_in), n_b > 0, u_out)
            moves = True
        elif kind <= SIN:
            activation_up(flat(work, slope, S, n_out), flat(carried, at_x, S, n_in),
                          u_out.reshape(-1))
        elif kind == FIXED:
            np.dot(batch(carried, at_x, S, n_in), weight(sizes, W, n_out, n_in).T, u_out)
        else:  # FORK: u_out = u;  ADD: u_out = u_F + u
            copy(flat(carried, at_x, S, n_in), u_out.reshape(-1))
            if kind == ADD and other >= table[first, 7]:
                add_part(batch(carried, other, S, n_out), 0, u_out)


@walk
def down(table, sizes, x, work, carried, part, clip, curvature_sum):
    """Z of all layers from that of the last, and the curvature sums (P,): Z of each layer is Z_in
    of the one after it, down to the first linear layer that is trained.
    """
    S, first = x.shape[0], first_trained(table)
    for l in range(table.shape[0] - 1, first - 1, -1):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        Z = batch(carried, bar, S, n_out)
        if kind == LINEAR:
            inside = input_of(x, work, at_x, S, n_in)
            absolute(inside.reshape(-1), flat(part, 0, S, n_in))
            linear_parameter_gradient(Z, batch(part, 0, S, n_in),
                                      weight(curvature_sum, W, n_out, n_in),
                                      curvature_sum[b : b + n_b])
        if l == first:
            break
        Z_in = batch(carried, table[l - 1, -1], S, n_in)
        if kind == LINEAR or kind == FIXED:
            linear_input_gradient(Z, weight(sizes, W, n_out, n_in), Z_in)
        elif kind <= SIN:
            partition_activation(flat(work, bar, S, n_out), Z.reshape(-1),
                                 flat(work, slope, S, n_out), flat(work, curvature, S, n_out),
                                 flat(carried, at_x, S, n_in), clip, Z_in.reshape(-1))
        else:  # ADD: Z_F = Z;  FORK: Z_in = Z_F + Z of its ADD
            copy(Z.reshape(-1), Z_in.reshape(-1))
            if kind == FORK:
                add_part(batch(carried, other, S, n_in), 0, Z_in)


@compiled
def first_trained(table):
    """The row of the first linear layer that is trained."""
    first = 0
    while table[first, 0] != LINEAR:
        first += 1
    return first


@compiled
def absolute(v, out):
    """out_j = |v_j|"""
    for j in range(v.size):
        out[j] = abs(v[j])


@summing
def linear_up(moves, u, x, size_of_W, with_bias, u_out):
    """u_out_si = sum_{j>=0} |x_sj| + sum_{j>=1} |w_ij| u_sj  with  x_s0 = 1 where there is a bias;
    without the second sum where u is 0.
    """
    if moves:
        np.dot(u, size_of_W.T, u_out)
    else:
        u_out[:, :] = x.dtype.type(0)
    for s in range(x.shape[0]):
        total = x.dtype.type(with_bias)
        for j in range(x.shape[1]):
            total += abs(x[s, j])
        for i in range(u_out.shape[1]):
            u_out[s, i] += total


@compiled
def activation_up(slope, u, u_out):
    """u_out_sj = |slope_sj| u_sj"""
    for j in range(u.size):
        u_out[j] = abs(slope[j]) * u[j]


@compiled
def jensen(u, Z):
    """Z_si = r_si sum_i' r_si' u_si'  with  r = sqrt(f_ii), from f_ii in Z: Eqs. (45), (46)."""
    for s in range(Z.shape[0]):
        total = Z.dtype.type(0)
        for i in range(Z.shape[1]):
            Z[s, i] = np.sqrt(Z[s, i])
            total += Z[s, i] * u[s, i]
        for i in range(Z.shape[1]):
            Z[s, i] *= total


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


# -- the step --------------------------------------------------------------------------------------


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
    rows = np.empty((4, BLOCK), dtype)
    gs, C, direction, new = rows[0], rows[1], rows[2], rows[3]
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, Cs = theta[part], total[part], curvature_sum[part]
        size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            c = Cs[i] * share
            damped = c + damping
            q = -g / (damped + shrink)
            d = q if damped > zero else zero
            gs[i], C[i], direction[i], new[i] = g, c, d, keep * t + rate * d
            size += abs(c)
        settle(gs, at, direction, new, moved[part], sums, size)
        report(gs[: at.size], C[: at.size], direction[: at.size], damping, reports, ends)


@summing
def report(g, C, direction, damping, reports, ends):
    """What `partition_step` reports of a block beside its sums."""
    gd = Cdd = g.dtype.type(0)
    for i in range(g.size):
        gd += g[i] * direction[i]
        Cdd += C[i] * (direction[i] * direction[i])
    reports[0] += gd
    reports[1] += Cdd
    low, high = bits_of_extremes(C)
    if low == 0:
        for i in range(C.size):
            reports[2] += C[i] + damping == C.dtype.type(0)
    ends[0], ends[1] = min(ends[0], low), max(ends[1], high)
    ends[2] = max(ends[2], bits_of_extremes(direction)[1])
