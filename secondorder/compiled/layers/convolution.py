"""A convolution: the compiled form of `secondorder.nets.Conv2d`. Batches are matrices: images x
(S, C H W), y (S, O P Q); W (O, C K K) is a matrix too, and b has no entries without biases.

A turn of windows Z at a time, every sum over them is a product of matrices,

    y = W Z,    Z_bar = W^T y_bar,    W_bar^T = Z y_bar^T,

each small enough for the fast path that BLAS has for small ones. `room` holds Z and what the turn
makes.
"""

import numpy as np

from ..compiling import compiled, summing
from ..losses import all_finite
from .windows import windows, windows_back


@compiled
def piece(room, start, rows, columns):
    """A matrix in the room, and where it ends."""
    end = start + rows * columns
    return room[start:end].reshape(rows, columns), end


@compiled
def outputs(y, size, first, end, part):
    """part_o(rq) = y_sopq for the lines of a turn."""
    P, Q, channels = size[3], size[4], part.shape[0]
    for o in range(channels):
        line = part[o]
        for r in range(first, end):
            own = y[r // P, (o * P + r % P) * Q :]
            at = line[(r - first) * Q : (r - first + 1) * Q]
            for q in range(at.size):
                at[q] = own[q]


@compiled
def outputs_transposed(y, size, first, end, part):
    """part_(rq)o = y_sopq for the lines of a turn."""
    P, Q, channels = size[3], size[4], part.shape[1]
    for r in range(first, end):
        own = y[r // P]
        for q in range(Q):
            at = part[(r - first) * Q + q]
            for o in range(channels):
                at[o] = own[(o * P + r % P) * Q + q]


@compiled
def put_outputs(part, b, size, first, end, y):
    """y_sopq = part_o(rq) + b_o for the lines of a turn."""
    P, Q = size[3], size[4]
    for o in range(part.shape[0]):
        line, bias = part[o], b[o] if b.size else part.dtype.type(0)
        for r in range(first, end):
            own = y[r // P, (o * P + r % P) * Q :]
            at = line[(r - first) * Q : (r - first + 1) * Q]
            for q in range(at.size):
                own[q] = at[q] + bias


@compiled
def convolution_forward(x, W, b, size, y, room):
    """y_sopq = sum_clk W_oclk z_scpqlk + b_o"""
    lines, Q, turn = x.shape[0] * size[3], size[4], size[-1]
    for first in range(0, lines, turn):
        end = min(first + turn, lines)
        Z, at = piece(room, 0, W.shape[1], (end - first) * Q)
        part, _ = piece(room, at, W.shape[0], Z.shape[1])
        windows(x, size, first, end, Z)
        np.dot(W, Z, part)
        put_outputs(part, b, size, first, end, y)


@compiled
def convolution_input_gradient(y_bar, W, size, x_bar, room):
    """x_bar_scij = sum_opqlk y_bar_sopq W_oclk  over the windows with z_scpqlk = x_scij"""
    lines, Q, turn = y_bar.shape[0] * size[3], size[4], size[-1]
    x_bar[:] = x_bar.dtype.type(0)
    for first in range(0, lines, turn):
        end = min(first + turn, lines)
        Z_bar, at = piece(room, 0, W.shape[1], (end - first) * Q)
        part, _ = piece(room, at, W.shape[0], Z_bar.shape[1])
        outputs(y_bar, size, first, end, part)
        np.dot(W.T, part, Z_bar)
        windows_back(Z_bar, size, first, end, x_bar)


@compiled
def correlate(y_bar, x, size, lines, total, room):
    """Add sum_rq z_scpqlk y_bar_sopq, over the lines from the first to the last of a pair, to
    total_(clk)o.
    """
    (start, stop), (entries, channels), Q, turn = lines, total.shape, size[4], size[-1]
    for first in range(start, stop, turn):
        end = min(first + turn, stop)
        Z, at = piece(room, 0, entries, (end - first) * Q)
        part, at = piece(room, at, Z.shape[1], channels)
        product, _ = piece(room, at, entries, channels)
        windows(x, size, first, end, Z)
        outputs_transposed(y_bar, size, first, end, part)
        np.dot(Z, part, product)
        for e in range(entries):
            for o in range(channels):
                total[e, o] += product[e, o]


@compiled
def put_transposed(total, W_bar):
    """W_bar_oe = total_eo"""
    for o in range(W_bar.shape[0]):
        for e in range(W_bar.shape[1]):
            W_bar[o, e] = total[e, o]


@summing
def channel_sum(y_bar, o, places):
    """sum_pq y_bar_opq of one sample."""
    total = y_bar.dtype.type(0)
    for place in range(places):
        total += y_bar[o * places + place]
    return total


@compiled
def channel_sums(y_bar, b_bar):
    """b_bar_o = sum_spq y_bar_sopq"""
    for o in range(b_bar.size):
        b_bar[o] = b_bar.dtype.type(0)
        for s in range(y_bar.shape[0]):
            b_bar[o] += channel_sum(y_bar[s], o, y_bar.shape[1] // b_bar.size)


@compiled
def convolution_parameter_gradient(y_bar, x, size, W_bar, b_bar, room):
    """W_bar_oclk = sum_spq y_bar_sopq z_scpqlk;  b_bar_o = sum_spq y_bar_sopq"""
    total, at = piece(room, 0, W_bar.shape[1], W_bar.shape[0])
    total[:] = total.dtype.type(0)
    correlate(y_bar, x, size, (0, x.shape[0] * size[3]), total, room[at:])
    put_transposed(total, W_bar)
    channel_sums(y_bar, b_bar)


@compiled
def convolution_parameter_gradients(y_bar, x, size, rows, W, b, n_b, room):
    """W_bar_soclk = sum_pq y_bar_sopq z_scpqlk;  b_bar_so = sum_pq y_bar_sopq, in the columns of
    `rows` (S, P) that begin at W and b. Returns whether all is finite.
    """
    P, places, finite = size[3], size[3] * size[4], True
    channels = y_bar.shape[1] // places
    total, at = piece(room, 0, (b - W) // channels, channels)
    for s in range(x.shape[0]):
        total[:] = total.dtype.type(0)
        correlate(y_bar, x, size, (s * P, (s + 1) * P), total, room[at:])
        put_transposed(total, rows[s, W:b].reshape(channels, -1))
        for o in range(n_b):
            rows[s, b + o] = channel_sum(y_bar[s], o, places)
        finite &= all_finite(rows[s, W : b + n_b])
    return finite


@compiled
def convolution_tangent(moves, x_tangent, x, W, V, c, size, y_tangent, room):
    """y_tangent_sopq = sum_clk W_oclk z_tangent_scpqlk + sum_clk V_oclk z_scpqlk + c_o; without the
    first sum where the input does not move.
    """
    lines, Q, turn = x.shape[0] * size[3], size[4], size[-1]
    for first in range(0, lines, turn):
        end = min(first + turn, lines)
        Z, at = piece(room, 0, W.shape[1], (end - first) * Q)
        part, at = piece(room, at, W.shape[0], Z.shape[1])
        other, _ = piece(room, at, W.shape[0], Z.shape[1])
        windows(x, size, first, end, Z)
        np.dot(V, Z, part)
        if moves:
            windows(x_tangent, size, first, end, Z)
            np.dot(W, Z, other)
            add_to(other.reshape(-1), part.reshape(-1))
        put_outputs(part, c, size, first, end, y_tangent)


@compiled
def add_to(v, out):
    """Add v_j to out_j."""
    for j in range(out.size):
        out[j] += v[j]


@compiled
def convolution_parameter_gradient_tangent(moves, x_tangent, y_bar_tangent, y_bar, x, size,
                                           W_bar_tangent, b_bar_tangent, room):
    """W_bar_tangent_oclk = sum_spq y_bar_tangent_sopq z_scpqlk + sum_spq y_bar_sopq
    z_tangent_scpqlk;  b_bar_tangent_o = sum_spq y_bar_tangent_sopq; without the second sum where
    the input does not move.
    """
    total, at = piece(room, 0, W_bar_tangent.shape[1], W_bar_tangent.shape[0])
    total[:], lines = total.dtype.type(0), (0, x.shape[0] * size[3])
    correlate(y_bar_tangent, x, size, lines, total, room[at:])
    if moves:
        correlate(y_bar, x_tangent, size, lines, total, room[at:])
    put_transposed(total, W_bar_tangent)
    channel_sums(y_bar_tangent, b_bar_tangent)


@compiled
def convolution_input_gradient_tangent(y_bar_tangent, y_bar, W, V, size, x_bar_tangent, room):
    """x_bar_tangent_scij = sum_opqlk (y_bar_tangent_sopq W_oclk + y_bar_sopq V_oclk)  over the
    windows with z_scpqlk = x_scij
    """
    lines, Q, turn = y_bar.shape[0] * size[3], size[4], size[-1]
    x_bar_tangent[:] = x_bar_tangent.dtype.type(0)
    for first in range(0, lines, turn):
        end = min(first + turn, lines)
        Z_bar, at = piece(room, 0, W.shape[1], (end - first) * Q)
        other, at = piece(room, at, W.shape[1], Z_bar.shape[1])
        part, _ = piece(room, at, W.shape[0], Z_bar.shape[1])
        outputs(y_bar_tangent, size, first, end, part)
        np.dot(W.T, part, Z_bar)
        outputs(y_bar, size, first, end, part)
        np.dot(V.T, part, other)
        add_to(other.reshape(-1), Z_bar.reshape(-1))
        windows_back(Z_bar, size, first, end, x_bar_tangent)
