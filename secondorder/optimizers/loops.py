"""Compiled updates of the methods that use gradients only, and whole steps of them.

The NumPy twin of each is the method's own formula, its `_direction`: the same arithmetic in the
same order, but for the two corrections of Adam, which are products here, not divisions.

The passes that end in ``_step`` take a whole step of a method over all P parameters. They go
through the arrays block by block: what one loop writes is still in the nearest cache when the next
one reads it, and it is read from memory once.
"""

import numpy as np

from ..checks.loops import bits_of_extremes, number, squares
from ..compiled import compiled, scalars, summing

__all__ = ["bits_of_extremes", "number", "scalars", "squares"]


@compiled
def sgd(gradient, direction):
    """direction = -gradient, both (P,). Formula: `SGD._direction`."""
    for i in range(gradient.size):
        direction[i] = -gradient[i]


@compiled
def momentum(gradient, buffer, new_buffer, direction, factor, nesterov):
    """Momentum: `new_buffer` and `direction` (P,) from `gradient` and `buffer`.

    new_buffer = factor buffer + gradient; direction = -new_buffer, or with Nesterov's variant
    -(gradient + factor new_buffer) (`nesterov` not 0). Formula: `Momentum._direction`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        b = factor * buffer[i] + g
        new_buffer[i] = b
        direction[i] = -(g + factor * b) if nesterov != 0 else -b


@compiled
def adagrad(gradient, total, new_total, direction, epsilon):
    """Adagrad: `new_total` and `direction` (P,) from `gradient` and `total`.

    new_total = total + gradient^2; direction = -gradient / (sqrt(new_total) + epsilon). Formula:
    `Adagrad._direction`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        t = total[i] + g * g
        new_total[i] = t
        direction[i] = -g / (np.sqrt(t) + epsilon)


@compiled
def adadelta(gradient, square, change, new_square, new_change, direction, rho, rest, epsilon):
    """Adadelta: new running means and `direction` (P,) from `gradient` and the means so far.

    `square` is the mean of gradient^2, `change` that of direction^2, and rest = 1 - rho. Formula:
    `Adadelta._direction`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        s = rho * square[i] + rest * (g * g)
        d = -(np.sqrt(change[i] + epsilon) / np.sqrt(s + epsilon)) * g
        new_square[i] = s
        new_change[i] = rho * change[i] + rest * (d * d)
        direction[i] = d


@compiled
def adam(gradient, first, second, new_first, new_second, direction, beta1, rest1, beta2, rest2,
         scale1, scale2, epsilon):
    """Adam: new moments and `direction` (P,) from `gradient` and the moments so far.

    direction = -(scale1 first) / (scale2 sqrt(second) + epsilon)

    The scales correct the bias; rest1 = 1 - beta1, rest2 = 1 - beta2. Formula: `Adam._direction`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        m = beta1 * first[i] + rest1 * g
        v = beta2 * second[i] + rest2 * (g * g)
        new_first[i] = m
        new_second[i] = v
        direction[i] = -(scale1 * m) / (scale2 * np.sqrt(v) + epsilon)


# -- whole steps -----------------------------------------------------------------------------------
# The new parameters go to `moved` (P,); theta (P,) stays as it is, until the step is settled.
# `total` (P,) is the gradient of the sum of the losses; `moved` may be the same array, as each of
# its entries is read before it is written. What is reported goes to `sums` (3,) float64, |g|^2,
# |theta|^2 before the step and |d|^2, and to `peaks` (3,) int64, bit patterns of the largest |d|,
# |theta| after the step, and entry of the new memory. The NumPy twin of each is
# `Optimizer._moved_by_formula` around the method's formula.

BLOCK = 1024


@compiled
def objective_gradient(total, theta, samples, l2, gradient):
    """gradient = total / samples + l2 theta"""
    weight = total.dtype.type(1) / samples  # as a product: a division costs several
    for i in range(total.size):
        gradient[i] = total[i] * weight + l2 * theta[i]


@summing
def move(theta, moved, gradient, direction, memory, rate, sums, peaks):
    """moved = theta + rate direction, for one block, and what is reported of it."""
    of_gradient = of_theta = of_direction = 0.0
    for i in range(theta.size):
        g, t, d = np.float64(gradient[i]), np.float64(theta[i]), np.float64(direction[i])
        of_gradient += g * g
        of_theta += t * t
        of_direction += d * d
    # a loop of its own: beside the sums it would let their order depend on where the arrays lie
    for i in range(theta.size):
        moved[i] = theta[i] + rate * direction[i]
    sums[0] += of_gradient
    sums[1] += of_theta
    sums[2] += of_direction
    peaks[0] = max(peaks[0], bits_of_extremes(direction)[1])
    peaks[1] = max(peaks[1], bits_of_extremes(moved)[1])
    peaks[2] = max(peaks[2], bits_of_extremes(memory)[1])


@compiled
def sgd_step(total, theta, moved, samples, l2, rate, sums, peaks):
    """A step of gradient descent."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        sgd(gradient, direction)
        move(at, moved[start:stop], gradient, direction, direction, rate, sums, peaks)


@compiled
def momentum_step(total, theta, moved, samples, l2, rate, sums, peaks, buffer, new_buffer, factor,
                  nesterov):
    """A step of gradient descent with momentum."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_buffer[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        momentum(gradient, buffer[start:stop], new, direction, factor, nesterov)
        move(at, moved[start:stop], gradient, direction, new, rate, sums, peaks)


@compiled
def adagrad_step(total, theta, moved, samples, l2, rate, sums, peaks, square, new_square, epsilon):
    """A step of Adagrad."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_square[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        adagrad(gradient, square[start:stop], new, direction, epsilon)
        move(at, moved[start:stop], gradient, direction, new, rate, sums, peaks)


@compiled
def adadelta_step(total, theta, moved, samples, l2, rate, sums, peaks, square, change, new_square,
                  new_change, rho, rest, epsilon):
    """A step of Adadelta."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_square[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        adadelta(gradient, square[start:stop], change[start:stop], new, new_change[start:stop],
                 direction, rho, rest, epsilon)
        move(at, moved[start:stop], gradient, direction, new, rate, sums, peaks)


@compiled
def adam_step(total, theta, moved, samples, l2, rate, sums, peaks, first, second, new_first,
              new_second, beta1, rest1, beta2, rest2, scale1, scale2, epsilon):
    """A step of Adam."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_second[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        adam(gradient, first[start:stop], second[start:stop], new_first[start:stop], new, direction,
             beta1, rest1, beta2, rest2, scale1, scale2, epsilon)
        move(at, moved[start:stop], gradient, direction, new, rate, sums, peaks)
