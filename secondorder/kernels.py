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
def adagrad(gradient, total, direction, epsilon):
    """Adagrad's update of `total` and `direction`, both (P,) and changed in place.

    total += gradient^2; direction = -gradient / (sqrt(total) + epsilon). NumPy twin: `adagrad_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        t = total[i] + g * g
        total[i] = t
        direction[i] = -g / (np.sqrt(t) + epsilon)


def adagrad_numpy(gradient, total, direction, epsilon):
    """Twin of `adagrad`."""
    total += gradient * gradient
    direction[...] = -gradient / (np.sqrt(total) + epsilon)


@compiled
def adadelta(gradient, mean_square, mean_square_change, direction, rho, rest, epsilon):
    """Adadelta's update of both running means and `direction`, all (P,) and changed in place; rest = 1 - rho.

    NumPy twin: `adadelta_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        s = rho * mean_square[i] + rest * (g * g)
        d = -(np.sqrt(mean_square_change[i] + epsilon) / np.sqrt(s + epsilon)) * g
        mean_square[i] = s
        mean_square_change[i] = rho * mean_square_change[i] + rest * (d * d)
        direction[i] = d


def adadelta_numpy(gradient, mean_square, mean_square_change, direction, rho, rest, epsilon):
    """Twin of `adadelta`."""
    mean_square[...] = rho * mean_square + rest * (gradient * gradient)
    direction[...] = -(np.sqrt(mean_square_change + epsilon) / np.sqrt(mean_square + epsilon)) * gradient
    mean_square_change[...] = rho * mean_square_change + rest * (direction * direction)


@compiled
def adam(gradient, first, second, direction, beta1, rest1, beta2, rest2, scale1, scale2, epsilon):
    """Adam's update of both moments and `direction`, all (P,) and changed in place; rest = 1 - beta.

    direction = -(scale1 first) / (scale2 sqrt(second) + epsilon); the scales correct the bias.
    NumPy twin: `adam_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        m = beta1 * first[i] + rest1 * g
        v = beta2 * second[i] + rest2 * (g * g)
        first[i] = m
        second[i] = v
        direction[i] = -(scale1 * m) / (scale2 * np.sqrt(v) + epsilon)


def adam_numpy(gradient, first, second, direction, beta1, rest1, beta2, rest2, scale1, scale2, epsilon):
    """Twin of `adam`."""
    first[...] = beta1 * first + rest1 * gradient
    second[...] = beta2 * second + rest2 * (gradient * gradient)
    direction[...] = -(scale1 * first) / (scale2 * np.sqrt(second) + epsilon)


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
