"""Updates of the methods that use gradients only: one pass over parameters, gradient and memory.

Every kernel takes

``total, theta``           (P,) gradient of the sum of the losses, parameters
``share, l2, keep, rate``  numbers in their dtype

then the method's own numbers, other arrays that it works with, its memory, and arrays for what is
new: first ``moved``, then the memory's successors. What comes in stays as it is. With

    g_i = share total_i + l2 theta_i
    moved_i = keep theta_i + rate direction_i

`keep` is 1 for a step. With 0, and the rate 1, ``moved`` is the direction alone. Every kernel
returns |g|^2, |direction|^2, |moved|^2 and a sum over the new memory, which is not finite if one
of its entries is not; then what the method wants to be told.
"""

import math

import numpy as np

from . import loop


@loop
def sgd(total, theta, share, l2, keep, rate, moved):
    """direction_i = -g_i"""
    gg = mm = 0.0
    for i in range(theta.size):
        g = share * total[i] + l2 * theta[i]
        moved[i] = keep * theta[i] - rate * g
        gg += np.float64(g) * g
        mm += np.float64(moved[i]) * moved[i]
    return gg, gg, mm, 0.0


@loop
def momentum(total, theta, share, l2, keep, rate, momentum, nesterov, buffer, moved, new_buffer):
    """buffer_i <- momentum buffer_i + g_i
    direction_i = -buffer_i, with Nesterov's variant -(g_i + momentum buffer_i)
    """
    gg = dd = mm = size = 0.0
    for i in range(theta.size):
        g = share * total[i] + l2 * theta[i]
        new_buffer[i] = momentum * buffer[i] + g
        d = -(g + momentum * new_buffer[i]) if nesterov else -new_buffer[i]
        moved[i] = keep * theta[i] + rate * d
        gg += np.float64(g) * g
        dd += np.float64(d) * d
        mm += np.float64(moved[i]) * moved[i]
        size += abs(new_buffer[i])
    return gg, dd, mm, size


@loop
def adagrad(total, theta, share, l2, keep, rate, epsilon, squares, moved, new_squares):
    """squares_i <- squares_i + g_i^2
    direction_i = -g_i / (sqrt(squares_i) + epsilon)
    """
    gg = dd = mm = size = 0.0
    for i in range(theta.size):
        g = share * total[i] + l2 * theta[i]
        new_squares[i] = squares[i] + g * g
        d = -g / (math.sqrt(new_squares[i]) + epsilon)
        moved[i] = keep * theta[i] + rate * d
        gg += np.float64(g) * g
        dd += np.float64(d) * d
        mm += np.float64(moved[i]) * moved[i]
        size += new_squares[i]
    return gg, dd, mm, size


@loop
def adadelta(total, theta, share, l2, keep, rate, rho, rest, epsilon, square, change, moved,
             new_square, new_change):
    """square_i <- rho square_i + rest g_i^2, with rest = 1 - rho
    direction_i = -sqrt(change_i + epsilon) / sqrt(square_i + epsilon) g_i
    change_i <- rho change_i + rest direction_i^2
    """
    gg = dd = mm = size = 0.0
    for i in range(theta.size):
        g = share * total[i] + l2 * theta[i]
        new_square[i] = rho * square[i] + rest * (g * g)
        d = -(math.sqrt(change[i] + epsilon) / math.sqrt(new_square[i] + epsilon)) * g
        new_change[i] = rho * change[i] + rest * (d * d)
        moved[i] = keep * theta[i] + rate * d
        gg += np.float64(g) * g
        dd += np.float64(d) * d
        mm += np.float64(moved[i]) * moved[i]
        size += new_square[i] + new_change[i]
    return gg, dd, mm, size


@loop
def adam(total, theta, share, l2, keep, rate, beta1, rest1, beta2, rest2, scale1, scale2, epsilon,
         first, second, moved, new_first, new_second):
    """first_i <- beta1 first_i + rest1 g_i, with rest1 = 1 - beta1
    second_i <- beta2 second_i + rest2 g_i^2, with rest2 = 1 - beta2
    direction_i = -scale1 first_i / (scale2 sqrt(second_i) + epsilon)

    The scales correct the bias at step t: 1 / (1 - beta1^t) and 1 / sqrt(1 - beta2^t).
    """
    gg = dd = mm = size = 0.0
    for i in range(theta.size):
        g = share * total[i] + l2 * theta[i]
        new_first[i] = beta1 * first[i] + rest1 * g
        new_second[i] = beta2 * second[i] + rest2 * (g * g)
        d = -(scale1 * new_first[i]) / (scale2 * math.sqrt(new_second[i]) + epsilon)
        moved[i] = keep * theta[i] + rate * d
        gg += np.float64(g) * g
        dd += np.float64(d) * d
        mm += np.float64(moved[i]) * moved[i]
        size += abs(new_first[i]) + new_second[i]
    return gg, dd, mm, size

