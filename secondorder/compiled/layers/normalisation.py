"""`LayerNorm`: the compiled form of `secondorder.nets.layers.normalisation`.

A row of a matrix (S, n) is a block, all numbers of a sample or a part of them; w and b are (n,),
the rates r (S,).

The sum of a mean may be taken in any order.
"""

import numpy as np

from ..compiling import compiled, summing
from ..losses import all_finite


@summing
def mean(a):
    """sum_j a_j / n"""
    total = a.dtype.type(0)
    for j in range(a.size):
        total += a[j]
    return total / a.dtype.type(a.size)


@summing
def mean_product(a, c):
    """sum_j a_j c_j / n"""
    total = a.dtype.type(0)
    for j in range(a.size):
        total += a[j] * c[j]
    return total / a.dtype.type(a.size)


@compiled
def layer_norm_forward(x, w, b, epsilon, y, normalised, rate):
    """y_sj = w_j z_sj + b_j  with, of every sample,  z = r (x - m),  m = mean(x)

    z = u / sqrt(mean(u^2) + epsilon / size^2),  u = (x - m) / size; the largest |x - m|, from 1, is
    the size.
    """
    one = x.dtype.type(1)
    for s in range(x.shape[0]):
        m, z, size = mean(x[s]), normalised[s], one
        for j in range(z.size):
            z[j] = x[s, j] - m
            size = max(size, abs(z[j]))
        for j in range(z.size):
            z[j] /= size
        deviation = np.sqrt(mean_product(z, z) + epsilon / size / size)
        rate[s] = one / (size * deviation)
        for j in range(z.size):
            z[j] /= deviation
            y[s, j] = w[j] * z[j] + b[j]


@compiled
def back(z_bar, z, r, out):
    """out = r (P z_bar - z mean(z z_bar))  with  P a = a - mean(a), of one sample: dz/dx is
    symmetric.
    """
    m, k = mean(z_bar), mean_product(z, z_bar)
    for j in range(z.size):
        out[j] = r * ((z_bar[j] - m) - z[j] * k)


@compiled
def layer_norm_input_gradient(y_bar, w, normalised, rate, x_bar):
    """x_bar_s = r_s (P z_bar_s - z_s mean(z_s z_bar_s))  with  z_bar_sj = w_j y_bar_sj"""
    z_bar = np.empty_like(w)
    for s in range(y_bar.shape[0]):
        for j in range(w.size):
            z_bar[j] = w[j] * y_bar[s, j]
        back(z_bar, normalised[s], rate[s], x_bar[s])


@compiled
def layer_norm_parameter_gradient(y_bar, normalised, w_bar, b_bar):
    """w_bar_j = sum_s y_bar_sj z_sj;  b_bar_j = sum_s y_bar_sj"""
    zero = w_bar.dtype.type(0)
    w_bar[:], b_bar[:] = zero, zero
    for s in range(y_bar.shape[0]):
        for j in range(w_bar.size):
            w_bar[j] += y_bar[s, j] * normalised[s, j]
            b_bar[j] += y_bar[s, j]


@compiled
def layer_norm_parameter_gradients(y_bar, normalised, rows, W, b):
    """w_bar_sj = sum y_bar_sj z_sj;  b_bar_sj = sum y_bar_sj, over all blocks of sample s, in the
    columns of `rows` (S, P) that begin at W and b. Returns whether all is finite.

    The rows of `y_bar` and `normalised` are whole samples here, block behind block.
    """
    n, finite = b - W, True
    for s in range(y_bar.shape[0]):
        own = rows[s, W : b + n]
        own[:] = own.dtype.type(0)
        for block in range(0, y_bar.shape[1], n):
            for j in range(n):
                own[j] += y_bar[s, block + j] * normalised[s, block + j]
                own[n + j] += y_bar[s, block + j]
        finite &= all_finite(own)
    return finite


@compiled
def layer_norm_tangent(moves, x_tangent, w, v, c, normalised, rate, y_tangent):
    """y_tangent_sj = w_j z_tangent_sj + v_j z_sj + c_j  with, of every sample,

    z_tangent = r (P x_tangent - z mean(z x_tangent)); without it where the input does not move.
    """
    z_tangent = np.zeros_like(w)
    for s in range(y_tangent.shape[0]):
        if moves:
            back(x_tangent[s], normalised[s], rate[s], z_tangent)
        for j in range(w.size):
            y_tangent[s, j] = w[j] * z_tangent[j] + v[j] * normalised[s, j] + c[j]


@compiled
def layer_norm_gradient_tangent(moves, x_tangent, y_bar_tangent, y_bar, w, v, normalised, rate,
                                w_bar_tangent, b_bar_tangent, x_bar_tangent):
    """w_bar_tangent_j = sum_s (y_bar_tangent_sj z_sj + y_bar_sj z_tangent_sj);
    b_bar_tangent_j = sum_s y_bar_tangent_sj

    With z_bar = w y_bar, z_bar_tangent = w y_bar_tangent + v y_bar and the rate's relative tangent
    q = r_tangent / r = -mean(z r x_tangent), of every sample:

    x_bar_tangent = r (P z_bar_tangent - z mean(z z_bar_tangent)) + q r (P z_bar - z mean(z z_bar))
                    - r (z_tangent mean(z z_bar) + z mean(z_tangent z_bar))

    The last only where the input moves.
    """
    zero, n = w.dtype.type(0), w.size
    z_tangent, z_bar, z_bar_tangent = np.zeros_like(w), np.empty_like(w), np.empty_like(w)
    part = np.empty_like(w)
    w_bar_tangent[:], b_bar_tangent[:] = zero, zero
    for s in range(y_bar.shape[0]):
        z, r = normalised[s], rate[s]
        if moves:
            back(x_tangent[s], z, r, z_tangent)
        for j in range(n):
            z_bar[j] = w[j] * y_bar[s, j]
            z_bar_tangent[j] = w[j] * y_bar_tangent[s, j] + v[j] * y_bar[s, j]
            w_bar_tangent[j] += y_bar_tangent[s, j] * z[j] + y_bar[s, j] * z_tangent[j]
            b_bar_tangent[j] += y_bar_tangent[s, j]
        if moves:
            out, q = x_bar_tangent[s], -r * mean_product(z, x_tangent[s])
            k, k_tangent = mean_product(z, z_bar), mean_product(z_tangent, z_bar)
            back(z_bar_tangent, z, r, out)
            back(z_bar, z, r, part)
            for j in range(n):
                out[j] += q * part[j] - r * z_tangent[j] * k - r * z[j] * k_tangent
