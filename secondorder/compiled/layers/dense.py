"""A linear layer: the compiled form of `secondorder.nets.Linear`. Batches are matrices (S, n).

`b` has no entries in a layer without biases. Sums over samples may be taken in any order.
"""

import numpy as np

from ..compiling import compiled, summing
from ..losses import all_finite


@compiled
def linear_forward(x, W, b, y):
    """y_si = sum_j W_ij x_sj + b_i"""
    np.dot(x, W.T, y)
    if b.size:
        for s in range(y.shape[0]):
            for i in range(y.shape[1]):
                y[s, i] += b[i]


@compiled
def linear_input_gradient(y_bar, W, x_bar):
    """x_bar_sj = sum_i y_bar_si W_ij"""
    np.dot(y_bar, W, x_bar)


@compiled
def linear_parameter_gradient(y_bar, x, W_bar, b_bar):
    """W_bar_ij = sum_s y_bar_si x_sj;  b_bar_i = sum_s y_bar_si"""
    np.dot(y_bar.T, x, W_bar)
    if b_bar.size:
        column_sums(y_bar, b_bar)


@summing
def column_sums(y_bar, b_bar):
    """b_bar_i = sum_s y_bar_si"""
    b_bar[:] = b_bar.dtype.type(0)
    for s in range(y_bar.shape[0]):
        for i in range(y_bar.shape[1]):
            b_bar[i] += y_bar[s, i]


@compiled
def linear_parameter_gradients(y_bar, x, rows, W, b, n_b):
    """W_bar_sij = y_bar_si x_sj;  b_bar_si = y_bar_si, in the columns of `rows` (S, P) that begin
    at W and b. Returns whether all is finite.
    """
    n_in, finite = x.shape[1], True
    for s in range(x.shape[0]):
        row, own = rows[s], x[s]
        for i in range(y_bar.shape[1]):
            bar, line = y_bar[s, i], row[W + i * n_in : W + (i + 1) * n_in]
            for j in range(n_in):
                line[j] = bar * own[j]
            finite &= all_finite(line)
        for i in range(n_b):
            row[b + i] = y_bar[s, i]
    return finite & all_finite(y_bar.reshape(-1))


@compiled
def linear_tangent(moves, x_tangent, x, W, V, c, part, y_tangent):
    """y_tangent_si = sum_j W_ij x_tangent_sj + sum_j V_ij x_sj + c_i; without the first sum where
    the input does not move.
    """
    np.dot(x, V.T, y_tangent)
    if moves:
        np.dot(x_tangent, W.T, part)
        for s in range(y_tangent.shape[0]):
            for i in range(y_tangent.shape[1]):
                y_tangent[s, i] += part[s, i]
    if c.size:
        for s in range(y_tangent.shape[0]):
            for i in range(y_tangent.shape[1]):
                y_tangent[s, i] += c[i]


@compiled
def linear_input_gradient_tangent(y_bar_tangent, y_bar, W, V, part, x_bar_tangent):
    """x_bar_tangent_sj = sum_i y_bar_tangent_si W_ij + sum_i y_bar_si V_ij"""
    np.dot(y_bar_tangent, W, x_bar_tangent)
    np.dot(y_bar, V, part)
    for s in range(part.shape[0]):
        for j in range(part.shape[1]):
            x_bar_tangent[s, j] += part[s, j]


@compiled
def linear_parameter_gradient_tangent(bars, xs, W_bar_tangent, b_bar_tangent):
    """W_bar_tangent_ij = sum_s y_bar_tangent_si x_sj + sum_s y_bar_si x_tangent_sj;
    b_bar_tangent_i = sum_s y_bar_tangent_si

    One product over twice as many rows: y_bar_tangent stands above y_bar in `bars` (2 S, n_out), x
    above x_tangent in `xs` (2 S, n_in).
    """
    np.dot(bars.T, xs, W_bar_tangent)
    if b_bar_tangent.size:
        column_sums(bars[: bars.shape[0] // 2], b_bar_tangent)
