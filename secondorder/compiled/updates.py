"""Whole steps of the methods that use gradients only: the compiled form of `direction` in
`secondorder.optimizers.first_order`, of the step around it, and of what a step reports.

Every one is a loop over the parameters, block by block, and takes, before its own

``total``          (P,) gradient of the sum of the losses
``theta``          (P,) the parameters, which stay as they are
``moved``          (P,) where the new ones go; it may be `total`
``samples, l2, keep, rate``
``sums``           (5,) float64, of what the step reports: |g|^2, |theta|^2, |direction|^2,
                   |moved|^2 and the sum of the sizes of the new memory

with g_i = total_i / samples + l2 theta_i and moved_i = keep theta_i + rate direction_i. `keep` is 1
for a step; 0, with the rate 1, for the direction alone. Sums are taken
in the dtype within a block, in float64 across blocks: where one is not finite, or so small that its
squares were lost, the literal form decides. A block of `moved` is written when all of its entries
are there: beside the sums it could keep the loop from being done many entries at a time.
"""

import numpy as np

from .compiling import compiled, scalars, summing

__all__ = ["scalars"]

BLOCK = 1024


@compiled
def settle(new, moved, sums, of_g, of_theta, of_direction, of_moved, of_memory):
    """moved_i = new_i, and the sums of a block added to those of the blocks before it."""
    for i in range(moved.size):
        moved[i] = new[i]
    sums[0] += of_g
    sums[1] += of_theta
    sums[2] += of_direction
    sums[3] += of_moved
    sums[4] += of_memory


@summing
def along(total, theta, moved, samples, l2, keep, rate, sums, gradient, direction):
    """A step along a direction (P,) that is known, as the gradient g is; `total`, `samples` and
    `l2` are not needed.
    """
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, gs, ds = theta[part], gradient[part], direction[part]
        gg = tt = dd = mm = zero
        for i in range(at.size):
            t, g, d = at[i], gs[i], ds[i]
            m = keep * t + rate * d
            new[i] = m
            gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
        settle(new, moved[part], sums, gg, tt, dd, mm, zero)


@summing
def sgd(total, theta, moved, samples, l2, keep, rate, sums):
    """direction_i = -g_i"""
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all = theta[part], total[part]
        gg = tt = mm = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            m = keep * t - rate * g
            new[i] = m
            gg, tt, mm = gg + g * g, tt + t * t, mm + m * m
        settle(new, moved[part], sums, gg, tt, gg, mm, zero)


@summing
def momentum(total, theta, moved, samples, l2, keep, rate, sums, buffer, new_buffer, factor,
             nesterov):
    """new_buffer_i = factor buffer_i + g_i; direction_i = -new_buffer_i, or with Nesterov's variant
    (`nesterov` not 0) -(g_i + factor new_buffer_i)
    """
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], buffer[part], new_buffer[part]
        gg = tt = dd = mm = size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            b = factor * old[i] + g
            out[i] = b
            d = -(g + factor * b) if nesterov != 0 else -b
            m = keep * t + rate * d
            new[i] = m
            gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
            size += abs(b)
        settle(new, moved[part], sums, gg, tt, dd, mm, size)


@summing
def adagrad(total, theta, moved, samples, l2, keep, rate, sums, square, new_square, epsilon):
    """new_square_i = square_i + g_i^2; direction_i = -g_i / (sqrt(new_square_i) + epsilon)"""
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], square[part], new_square[part]
        gg = tt = dd = mm = size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            s = old[i] + g * g
            out[i] = s
            d = -g / (np.sqrt(s) + epsilon)
            m = keep * t + rate * d
            new[i] = m
            gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
            size += s
        settle(new, moved[part], sums, gg, tt, dd, mm, size)


@summing
def adadelta(total, theta, moved, samples, l2, keep, rate, sums, square, change, new_square,
             new_change, rho, rest, epsilon):
    """new_square_i = rho square_i + rest g_i^2, with rest = 1 - rho;
    direction_i = -sqrt(change_i + epsilon) / sqrt(new_square_i + epsilon) g_i;
    new_change_i = rho change_i + rest direction_i^2
    """
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], square[part], new_square[part]
        old_change, out_change = change[part], new_change[part]
        gg = tt = dd = mm = size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            s = rho * old[i] + rest * (g * g)
            d = -(np.sqrt(old_change[i] + epsilon) / np.sqrt(s + epsilon)) * g
            c = rho * old_change[i] + rest * (d * d)
            out[i] = s
            out_change[i] = c
            m = keep * t + rate * d
            new[i] = m
            gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
            size += s + c
        settle(new, moved[part], sums, gg, tt, dd, mm, size)


@summing
def adam(total, theta, moved, samples, l2, keep, rate, sums, first, second, new_first, new_second,
         beta1, rest1, beta2, rest2, scale1, scale2, epsilon):
    """new_first_i = beta1 first_i + rest1 g_i, with rest1 = 1 - beta1;
    new_second_i = beta2 second_i + rest2 g_i^2, with rest2 = 1 - beta2;
    direction_i = -scale1 new_first_i / (scale2 sqrt(new_second_i) + epsilon)

    The scales correct the bias: 1 / (1 - beta1^t) and 1 / sqrt(1 - beta2^t).
    """
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], first[part], new_first[part]
        old_second, out_second = second[part], new_second[part]
        gg = tt = dd = mm = size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            f = beta1 * old[i] + rest1 * g
            s = beta2 * old_second[i] + rest2 * (g * g)
            out[i] = f
            out_second[i] = s
            d = -(scale1 * f) / (scale2 * np.sqrt(s) + epsilon)
            m = keep * t + rate * d
            new[i] = m
            gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
            size += s
        settle(new, moved[part], sums, gg, tt, dd, mm, size)
