"""`LayerNorm`: rows z_b (B, n) are blocks, w and b are (n,), the rates r (B,).

Of K directions, one behind the other, row k stands at the block k % B. P a = a - mean(a).
"""

import math

from .compiling import loop


@loop
def layer_norm(x, w, b, epsilon, y, z, r):
    """z = u / sqrt(mean(u^2) + epsilon / size^2)  with  u = (x - m) / size; the largest |x - m|,
    from 1, is the size, as its square may overflow;  r = z / (x - m);  y = w z + b
    """
    one = x.dtype.type(1)
    for s in range(x.shape[0]):
        n, mean, square, size = x.dtype.type(x.shape[1]), x.dtype.type(0), x.dtype.type(0), one
        for j in range(x.shape[1]):
            mean += x[s, j]
        mean /= n
        for j in range(x.shape[1]):
            z[s, j] = x[s, j] - mean
            size = max(size, abs(z[s, j]))
        share = one / size
        for j in range(x.shape[1]):
            z[s, j] *= share
            square += z[s, j] * z[s, j]
        rate = one / math.sqrt(square / n + epsilon * share * share)
        r[s] = share * rate
        for j in range(x.shape[1]):
            z[s, j] *= rate
            y[s, j] = w[j] * z[s, j] + b[j]


@loop
def back(z_bar, z, r, x_bar):
    """x_bar = r (P z_bar - z mean(z z_bar)): dz/dx is symmetric"""
    n = z.dtype.type(z.shape[1])
    for k in range(z_bar.shape[0]):
        s, mean, along = k % z.shape[0], z.dtype.type(0), z.dtype.type(0)
        for j in range(z.shape[1]):
            mean += z_bar[k, j]
            along += z[s, j] * z_bar[k, j]
        mean, along = mean / n, along / n
        for j in range(z.shape[1]):
            x_bar[k, j] = r[s] * (z_bar[k, j] - mean - z[s, j] * along)


@loop
def back_tangent(x_tangent, z_tangent, z_bar, z_bar_tangent, z, r, x_bar_tangent):
    """With the rate's relative tangent q = r_tangent / r = -mean(z r x_tangent):

    x_bar_tangent = r (P z_bar_tangent - z mean(z z_bar_tangent)) + q r (P z_bar - z mean(z z_bar))
                    - r (z_tangent mean(z z_bar) + z mean(z_tangent z_bar))
    """
    n, zero = z.dtype.type(z.shape[1]), z.dtype.type(0)
    for k in range(x_tangent.shape[0]):
        s = k % z.shape[0]
        mean_bar = mean_moved = z_x = z_b = z_m = t_b = zero
        for j in range(z.shape[1]):
            mean_bar += z_bar[s, j]
            mean_moved += z_bar_tangent[k, j]
            z_x += z[s, j] * x_tangent[k, j]
            z_b += z[s, j] * z_bar[s, j]
            z_m += z[s, j] * z_bar_tangent[k, j]
            t_b += z_tangent[k, j] * z_bar[s, j]
        mean_bar, mean_moved, q = mean_bar / n, mean_moved / n, -r[s] * z_x / n
        z_b, z_m, t_b = z_b / n, z_m / n, t_b / n
        for j in range(z.shape[1]):
            x_bar_tangent[k, j] = r[s] * (
                z_bar_tangent[k, j] - mean_moved - z[s, j] * z_m
                + q * (z_bar[s, j] - mean_bar - z[s, j] * z_b)
                - z_tangent[k, j] * z_b - z[s, j] * t_b)
