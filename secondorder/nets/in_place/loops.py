"""Compiled lines of windows: patches laid out for one matrix product a sample, and the way back.

A patch matrix has a row for every entry (c, l, k) of a kernel and a column for every place (p, q).
All arrays are flat. Places in them are counted without a sign: with one, every access would ask
whether it counts from the end. NumPy twins: `windows` and `windows_back` of
:mod:`secondorder.nets.layers.windows`, and the passes of :mod:`secondorder.nets.layers.pooling`.
"""

import numpy as np

from ...compiled import compiled

whole = np.uintp


@compiled
def places_inside(offset, stride, size, places):
    """The first place and the one after the last, of `places`, at which stride * place + offset
    lies inside 0 .. size - 1.
    """
    first = 0 if offset >= 0 else (-offset + stride - 1) // stride
    last = 0 if size <= offset else min(places, (size - 1 - offset) // stride + 1)
    return min(first, last), last


@compiled
def gather(x, shape, kernel, stride, padding, places, z):
    """z[b, (c, l, k), p, q] = x[b, c, stride p + l - padding, stride q + k - padding], 0 outside;
    x (B, C, H, W) = `shape`, z (B, C K K, P, Q).
    """
    zero, across, width = x.dtype.type(0), whole(stride[1]), whole(places[1])
    line = whole(0)
    for image in range(shape[0] * shape[1]):
        for l in range(kernel[0]):
            top = l - padding[0]
            p_first, p_end = places_inside(top, stride[0], shape[2], places[0])
            for k in range(kernel[1]):
                left = k - padding[1]
                q_first, q_end = places_inside(left, stride[1], shape[3], places[1])
                for p in range(places[0]):
                    if p < p_first or p >= p_end:
                        for q in range(width):
                            z[line + q] = zero
                    else:
                        for q in range(whole(q_first)):
                            z[line + q] = zero
                        for q in range(whole(q_end), width):
                            z[line + q] = zero
                        to, count = line + whole(q_first), whole(q_end - q_first)
                        row = image * shape[2] + stride[0] * p + top
                        pixel = whole(row * shape[3] + stride[1] * q_first + left)
                        if stride[1] == 1:
                            for q in range(count):
                                z[to + q] = x[pixel + q]
                        else:
                            for q in range(count):
                                z[to + q] = x[pixel + across * q]
                    line += width


@compiled
def spread(z, shape, kernel, stride, padding, places, x):
    """The way back: every entry of x is the sum of the entries of z that `gather` takes from
    it.
    """
    x[:] = x.dtype.type(0)
    across, width = whole(stride[1]), whole(places[1])
    line = whole(0)
    for image in range(shape[0] * shape[1]):
        for l in range(kernel[0]):
            top = l - padding[0]
            p_first, p_end = places_inside(top, stride[0], shape[2], places[0])
            for k in range(kernel[1]):
                left = k - padding[1]
                q_first, q_end = places_inside(left, stride[1], shape[3], places[1])
                for p in range(places[0]):
                    if p_first <= p < p_end:
                        to, count = line + whole(q_first), whole(q_end - q_first)
                        row = image * shape[2] + stride[0] * p + top
                        pixel = whole(row * shape[3] + stride[1] * q_first + left)
                        if stride[1] == 1:
                            for q in range(count):
                                x[pixel + q] += z[to + q]
                        else:
                            for q in range(count):
                                x[pixel + across * q] += z[to + q]
                    line += width


@compiled
def largest(x, shape, kernel, stride, places, y, chosen):
    """y is the maximum of every window, chosen the number of its first place in the window, row by
    row; x (N, H, W) = `shape`, y and chosen (N, P, Q).
    """
    width, to = whole(shape[2]), whole(0)
    for n in range(shape[0]):
        for p in range(places[0]):
            corner = whole((n * shape[1] + stride[0] * p) * shape[2])
            for _ in range(places[1]):
                best, place, number = x[corner], 0, 0
                for l in range(whole(kernel[0])):
                    for k in range(whole(kernel[1])):
                        entry = x[corner + width * l + k]
                        if entry > best:
                            best, place = entry, number
                        number += 1
                y[to], chosen[to] = best, place
                to += whole(1)
                corner += whole(stride[1])


@compiled
def chosen_entries(x, shape, chosen, kernel, stride, places, y):
    """y is the entry of every window at the place that `chosen` tells."""
    to = whole(0)
    for n in range(shape[0]):
        for p in range(places[0]):
            corner = (n * shape[1] + stride[0] * p) * shape[2]
            for _ in range(places[1]):
                l, k = chosen[to] // kernel[1], chosen[to] % kernel[1]
                y[to] = x[whole(corner + shape[2] * l + k)]
                to += whole(1)
                corner += stride[1]


@compiled
def to_chosen_entries(y, shape, chosen, kernel, stride, places, x):
    """The way back of `chosen_entries`."""
    x[:] = x.dtype.type(0)
    to = whole(0)
    for n in range(shape[0]):
        for p in range(places[0]):
            corner = (n * shape[1] + stride[0] * p) * shape[2]
            for _ in range(places[1]):
                l, k = chosen[to] // kernel[1], chosen[to] % kernel[1]
                x[whole(corner + shape[2] * l + k)] += y[to]
                to += whole(1)
                corner += stride[1]


@compiled
def means(x, shape, kernel, stride, places, y):
    """y is the mean of every window."""
    share, zero = y.dtype.type(1.0 / (kernel[0] * kernel[1])), y.dtype.type(0)
    width, to = whole(shape[2]), whole(0)
    for n in range(shape[0]):
        for p in range(places[0]):
            corner = whole((n * shape[1] + stride[0] * p) * shape[2])
            for _ in range(places[1]):
                total = zero
                for l in range(whole(kernel[0])):
                    for k in range(whole(kernel[1])):
                        total += x[corner + width * l + k]
                y[to] = total * share
                to += whole(1)
                corner += whole(stride[1])


@compiled
def from_means(y, shape, kernel, stride, places, x):
    """The way back of `means`."""
    x[:] = x.dtype.type(0)
    share = x.dtype.type(1.0 / (kernel[0] * kernel[1]))
    width, to = whole(shape[2]), whole(0)
    for n in range(shape[0]):
        for p in range(places[0]):
            corner = whole((n * shape[1] + stride[0] * p) * shape[2])
            for _ in range(places[1]):
                part = y[to] * share
                for l in range(whole(kernel[0])):
                    for k in range(whole(kernel[1])):
                        x[corner + width * l + k] += part
                to += whole(1)
                corner += whole(stride[1])
