"""The second derivative of the losses along a straight line in parameter space, without a product
with the Hessian: one walk over the table, behind that of the tangents.

The arguments are those of :mod:`secondorder.compiled.passes`.
"""

import numpy as np

from .compiling import compiled, summing, walk
from .kinds import CONVOLUTION, LINEAR, NOWHERE, SIN, TANH
from .layers.windowed import windowed_tangent
from .passes import batch, flat, room_of, weight


@walk
def second_tangents(table, sizes, v, work, moving, part, samples):
    """sum_s <y_bar_s, y_second_s> over all layers, y_second with x_second = 0: what the layers add
    to v^T H v beside p_tangent^T H_loss p_tangent at the outputs.
    """
    S, total = samples, 0.0
    for l in range(table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        if at_x == NOWHERE:
            continue
        x_tangent = batch(moving, at_x, 2 * S, n_in)[S:]
        if kind == LINEAR:
            total += linear_second_tangent(batch(work, bar, S, n_out), x_tangent,
                                           weight(v, W, n_out, n_in), batch(part, 0, S, n_out))
        elif sizes is not None and kind == CONVOLUTION:
            total += convolution_second_tangent(
                kind, sizes[l], batch(work, bar, S, n_out), x_tangent, v[W:b],
                batch(part, 0, S, n_out), room_of(table, moving, 2 * S))
        elif TANH <= kind <= SIN:
            total += activation_second_tangent(flat(work, bar, S, n_out),
                                               flat(work, curvature, S, n_out),
                                               x_tangent.reshape(-1))
    return total


@compiled
def linear_second_tangent(y_bar, x_tangent, V, y_second):
    """sum_si y_bar_si y_second_si  with  y_second_si = 2 sum_j V_ij x_tangent_sj"""
    np.dot(x_tangent, V.T, y_second)
    return 2.0 * inner(y_bar.reshape(-1), y_second.reshape(-1))


@compiled
def convolution_second_tangent(kind, size, y_bar, x_tangent, V, y_second, room):
    """The same for the windows of x_tangent: y_second_sopq = 2 sum_clk V_oclk z_tangent_scpqlk"""
    windowed_tangent(kind, size, False, x_tangent, x_tangent, V, V, V[:0], room[:0], y_second, room)
    return 2.0 * inner(y_bar.reshape(-1), y_second.reshape(-1))


@summing
def inner(v, w):
    """sum_j v_j w_j, in float64: the terms of a curvature cancel."""
    total = 0.0
    for j in range(v.size):
        total += np.float64(v[j]) * np.float64(w[j])
    return total


@summing
def activation_second_tangent(y_bar, curvature, x_tangent):
    """sum_j y_bar_j curvature_j x_tangent_j^2, in float64"""
    total = 0.0
    for j in range(y_bar.size):
        t = np.float64(x_tangent[j])
        total += np.float64(y_bar[j]) * np.float64(curvature[j]) * t * t
    return total
