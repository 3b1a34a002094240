"""Poolings: the compiled form of `secondorder.nets.pooling`. Images are vectors (S C H W), outputs
vectors (S C P Q).

Both kinds are sums over windows, y_scpq = sum_lk a_scpqlk z_scpqlk, whose fractions a do not change
with x near x. Of a maximum, a is 1 at the entry K_1 l + k = chosen_scpq and 0 elsewhere: `chosen`
is a vector of numbers like y.
"""

import numpy as np

from ..compiling import compiled
from ..losses import all_finite

whole = np.uintp  # places are counted without a sign: see `windows`


@compiled
def geometry(size):
    """Widths of an image and of a line of windows, the kernel, and the step to the next window."""
    return whole(size[2]), whole(size[4]), whole(size[5]), whole(size[6]), whole(size[8])


@compiled
def corner(size, line):
    """The place in x of the first entry of the first window of a line (s C + c) P + p."""
    H, W, P, stride_0 = size[1], size[2], size[3], size[7]
    return whole((line // P * H + stride_0 * (line % P)) * W)


@compiled
def max_pool_forward(x, size, y, chosen):
    """y_scpq = max_lk z_scpqlk, and chosen_scpq = K_1 l + k of the first maximum

    All y are NaN where x is not finite: the literal passes then find out where.
    """
    if not all_finite(x):
        y[:], chosen[:] = np.nan, 0
        return
    W, Q, K_0, K_1, across = geometry(size)
    for line in range(y.size // size[4]):
        at, to = corner(size, line), whole(line) * Q
        for q in range(Q):
            best, place, number = x[at], 0, 0
            for l in range(K_0):
                for k in range(K_1):
                    z = x[at + W * l + k]
                    if z > best:
                        best, place = z, number
                    number += 1
            y[to + q], chosen[to + q] = best, place
            at += across


@compiled
def max_pool_tangent(x_tangent, chosen, size, y_tangent):
    """y_tangent_scpq = z_tangent_scpqlk  of the entry (l, k) that was chosen"""
    W, Q, _, K_1, across = geometry(size)
    for line in range(chosen.size // size[4]):
        at, to = corner(size, line), whole(line) * Q
        for q in range(Q):
            number = whole(chosen[to + q])
            y_tangent[to + q] = x_tangent[at + W * (number // K_1) + number % K_1]
            at += across


@compiled
def max_pool_input_gradient(y_bar, chosen, size, x_bar):
    """x_bar_scij = sum_pq y_bar_scpq  over the windows whose chosen entry is x_scij"""
    W, Q, _, K_1, across = geometry(size)
    x_bar[:] = x_bar.dtype.type(0)
    for line in range(chosen.size // size[4]):
        at, to = corner(size, line), whole(line) * Q
        for q in range(Q):
            number = whole(chosen[to + q])
            x_bar[at + W * (number // K_1) + number % K_1] += y_bar[to + q]
            at += across


@compiled
def average_pool_forward(x, size, y):
    """y_scpq = sum_lk z_scpqlk / (K_0 K_1), of x or of a tangent"""
    W, Q, K_0, K_1, across = geometry(size)
    share = y.dtype.type(1.0 / (size[5] * size[6]))
    for line in range(y.size // size[4]):
        at, to = corner(size, line), whole(line) * Q
        for q in range(Q):
            total = y.dtype.type(0)
            for l in range(K_0):
                for k in range(K_1):
                    total += x[at + W * l + k]
            y[to + q] = total * share
            at += across


@compiled
def average_pool_input_gradient(y_bar, size, x_bar):
    """x_bar_scij = sum_pqlk y_bar_scpq / (K_0 K_1)  over the windows with z_scpqlk = x_scij"""
    W, Q, K_0, K_1, across = geometry(size)
    x_bar[:], share = x_bar.dtype.type(0), x_bar.dtype.type(1.0 / (size[5] * size[6]))
    for line in range(y_bar.size // size[4]):
        at, to = corner(size, line), whole(line) * Q
        for q in range(Q):
            for l in range(K_0):
                for k in range(K_1):
                    x_bar[at + W * l + k] += y_bar[to + q] * share
            at += across
