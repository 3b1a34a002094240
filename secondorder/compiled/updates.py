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
squares were lost, the literal form decides. What a block gives stands in arrays of its own until
all of it is there, and is summed by a loop that writes nothing. Beside a store, the order of a sum
would hang on how near to each other the arrays lie in memory, and so would its last bit.
"""

import numpy as np

from .compiling import summing

BLOCK = 1024


@summing
def settle(gradient, theta, direction, new, moved, sums, of_memory):
    """moved_i = new_i, and the sums of a block added to those of the blocks before it."""
    gg = tt = dd = mm = theta.dtype.type(0)
    for i in range(moved.size):
        g, t, d, m = gradient[i], theta[i], direction[i], new[i]
        gg, tt, dd, mm = gg + g * g, tt + t * t, dd + d * d, mm + m * m
    for i in range(moved.size):
        moved[i] = new[i]
    sums[0] += gg
    sums[1] += tt
    sums[2] += dd
    sums[3] += mm
    sums[4] += of_memory


@summing
def along(total, theta, moved, samples, l2, keep, rate, sums, gradient, direction):
    """A step along a direction (P,) that is known, as the gradient g is; `total`, `samples` and
    `l2` are not needed.
    """
    new, zero = np.empty(BLOCK, theta.dtype), theta.dtype.type(0)
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, d = theta[part], direction[part]
        for i in range(at.size):
            new[i] = keep * at[i] + rate * d[i]
        settle(gradient[part], at, d, new, moved[part], sums, zero)


@summing
def sgd(total, theta, moved, samples, l2, keep, rate, sums):
    """direction_i = -g_i"""
    rows, zero = np.empty((2, BLOCK), theta.dtype), theta.dtype.type(0)
    gs, new = rows[0], rows[1]
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all = theta[part], total[part]
        for i in range(at.size):
            g = of_all[i] * share + l2 * at[i]
            gs[i] = g
            new[i] = keep * at[i] - rate * g
        settle(gs, at, gs, new, moved[part], sums, zero)


@summing
def momentum(total, theta, moved, samples, l2, keep, rate, sums, buffer, new_buffer, factor,
             nesterov):
    """new_buffer_i = factor buffer_i + g_i; direction_i = -new_buffer_i, or with Nesterov's variant
    (`nesterov` not 0) -(g_i + factor new_buffer_i)
    """
    rows, zero = np.empty((3, BLOCK), theta.dtype), theta.dtype.type(0)
    gs, ds, new = rows[0], rows[1], rows[2]
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], buffer[part], new_buffer[part]
        size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            b = factor * old[i] + g
            out[i] = b
            d = -(g + factor * b) if nesterov != 0 else -b
            gs[i] = g
            ds[i] = d
            new[i] = keep * t + rate * d
            size += abs(b)
        settle(gs, at, ds, new, moved[part], sums, size)


@summing
def adagrad(total, theta, moved, samples, l2, keep, rate, sums, square, new_square, epsilon):
    """new_square_i = square_i + g_i^2; direction_i = -g_i / (sqrt(new_square_i) + epsilon)"""
    rows, zero = np.empty((3, BLOCK), theta.dtype), theta.dtype.type(0)
    gs, ds, new = rows[0], rows[1], rows[2]
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], square[part], new_square[part]
        size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            s = old[i] + g * g
            out[i] = s
            d = -g / (np.sqrt(s) + epsilon)
            gs[i] = g
            ds[i] = d
            new[i] = keep * t + rate * d
            size += s
        settle(gs, at, ds, new, moved[part], sums, size)


@summing
def adadelta(total, theta, moved, samples, l2, keep, rate, sums, square, change, new_square,
             new_change, rho, rest, epsilon):
    """new_square_i = rho square_i + rest g_i^2, with rest = 1 - rho;
    direction_i = -sqrt(change_i + epsilon) / sqrt(new_square_i + epsilon) g_i;
    new_change_i = rho change_i + rest direction_i^2
    """
    rows, zero = np.empty((3, BLOCK), theta.dtype), theta.dtype.type(0)
    gs, ds, new = rows[0], rows[1], rows[2]
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], square[part], new_square[part]
        old_change, out_change = change[part], new_change[part]
        size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            s = rho * old[i] + rest * (g * g)
            d = -(np.sqrt(old_change[i] + epsilon) / np.sqrt(s + epsilon)) * g
            c = rho * old_change[i] + rest * (d * d)
            out[i] = s
            out_change[i] = c
            gs[i] = g
            ds[i] = d
            new[i] = keep * t + rate * d
            size += s + c
        settle(gs, at, ds, new, moved[part], sums, size)


@summing
def adam(total, theta, moved, samples, l2, keep, rate, sums, first, second, new_first, new_second,
         beta1, rest1, beta2, rest2, scale1, scale2, epsilon):
    """new_first_i = beta1 first_i + rest1 g_i, with rest1 = 1 - beta1;
    new_second_i = beta2 second_i + rest2 g_i^2, with rest2 = 1 - beta2;
    direction_i = -scale1 new_first_i / (scale2 sqrt(new_second_i) + epsilon)

    The scales correct the bias: 1 / (1 - beta1^t) and 1 / sqrt(1 - beta2^t).
    """
    rows, zero = np.empty((3, BLOCK), theta.dtype), theta.dtype.type(0)
    gs, ds, new = rows[0], rows[1], rows[2]
    share = theta.dtype.type(1) / samples
    for start in range(0, theta.size, BLOCK):
        part = slice(start, min(start + BLOCK, theta.size))
        at, of_all, old, out = theta[part], total[part], first[part], new_first[part]
        old_second, out_second = second[part], new_second[part]
        size = zero
        for i in range(at.size):
            t = at[i]
            g = of_all[i] * share + l2 * t
            f = beta1 * old[i] + rest1 * g
            s = beta2 * old_second[i] + rest2 * (g * g)
            out[i] = f
            out_second[i] = s
            d = -(scale1 * f) / (scale2 * np.sqrt(s) + epsilon)
            gs[i] = g
            ds[i] = d
            new[i] = keep * t + rate * d
            size += s
        settle(gs, at, ds, new, moved[part], sums, size)
