"""Hot loops compiled by numba, each with its plain NumPy twin: the same arithmetic in the same order.

Every loop takes the scalars in the dtype of its arrays; `scalars` converts them. No fast-math rules are used.
"""

import numpy as np
from numba import njit


def compiled(function):
    """Compile a loop at its first call and keep the result on disk, or only in memory where no folder can be written.

    Division follows NumPy's rules: x / 0 is inf or NaN. A test for zero at every division would cost the SIMD code.
    """
    try:
        return njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba found no place for its cache
        return njit(error_model="numpy")(function)


def scalars(dtype, *values):
    """The values as NumPy scalars of `dtype`; a loop over float32 then computes in float32 throughout."""
    return tuple(dtype.type(value) for value in values)


# -- update loops of the first-order methods ----------------------------------------------------------------------


@compiled
def adagrad(gradient, total, new_total, direction, epsilon):
    """Adagrad: `new_total` and `direction` (P,) from `gradient` and `total`.

    new_total = total + gradient^2; direction = -gradient / (sqrt(new_total) + epsilon). NumPy twin: `adagrad_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        t = total[i] + g * g
        new_total[i] = t
        direction[i] = -g / (np.sqrt(t) + epsilon)


def adagrad_numpy(gradient, total, new_total, direction, epsilon):
    """Twin of `adagrad`."""
    new_total[...] = total + gradient * gradient
    direction[...] = -gradient / (np.sqrt(new_total) + epsilon)


@compiled
def adadelta(gradient, square, change, new_square, new_change, direction, rho, rest, epsilon):
    """Adadelta: new running means and `direction` (P,) from `gradient` and the means so far; rest = 1 - rho.

    `square` is the mean of gradient^2, `change` that of direction^2. NumPy twin: `adadelta_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        s = rho * square[i] + rest * (g * g)
        d = -(np.sqrt(change[i] + epsilon) / np.sqrt(s + epsilon)) * g
        new_square[i] = s
        new_change[i] = rho * change[i] + rest * (d * d)
        direction[i] = d


def adadelta_numpy(gradient, square, change, new_square, new_change, direction, rho, rest, epsilon):
    """Twin of `adadelta`."""
    new_square[...] = rho * square + rest * (gradient * gradient)
    direction[...] = -(np.sqrt(change + epsilon) / np.sqrt(new_square + epsilon)) * gradient
    new_change[...] = rho * change + rest * (direction * direction)


@compiled
def adam(gradient, first, second, new_first, new_second, direction, beta1, rest1, beta2, rest2, scale1, scale2,
         epsilon):
    """Adam: new moments and `direction` (P,) from `gradient` and the moments so far; rest = 1 - beta.

    direction = -(scale1 first) / (scale2 sqrt(second) + epsilon); the scales correct the bias.
    NumPy twin: `adam_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        m = beta1 * first[i] + rest1 * g
        v = beta2 * second[i] + rest2 * (g * g)
        new_first[i] = m
        new_second[i] = v
        direction[i] = -(scale1 * m) / (scale2 * np.sqrt(v) + epsilon)


def adam_numpy(gradient, first, second, new_first, new_second, direction, beta1, rest1, beta2, rest2, scale1, scale2,
               epsilon):
    """Twin of `adam`."""
    new_first[...] = beta1 * first + rest1 * gradient
    new_second[...] = beta2 * second + rest2 * (gradient * gradient)
    direction[...] = -(scale1 * new_first) / (scale2 * np.sqrt(new_second) + epsilon)


# -- residual partitioning ------------------------------------------------------------------------------------------------


@compiled
def partition_activation(g, Z, slope, curvature, u, clip, Z_below):
    """Carry Z of residual partitioning through a curved activation; all flat (n,), the last one changed in place.

    Z_below = | |slope| Z + g curvature u |, or the part above zero if `clip`. NumPy twin: `partition_activation_numpy`.
    """
    for i in range(g.size):
        z = abs(slope[i]) * Z[i] + g[i] * curvature[i] * u[i]
        if z < 0:
            z = z * 0 if clip else -z
        Z_below[i] = z


def partition_activation_numpy(g, Z, slope, curvature, u, clip, Z_below):
    """Twin of `partition_activation`."""
    z = np.abs(slope) * Z + g * curvature * u
    Z_below[...] = np.maximum(z, 0) if clip else np.abs(z)
