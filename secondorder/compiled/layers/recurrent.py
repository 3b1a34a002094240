"""A recurrence: the compiled form of `secondorder.nets.layers.Recurrent`.

What changes from step to step is a stack (T, S, h): states v_1 to v_T, arguments a_1 to a_T, ... x
are sequences (S, T d) with an input at every step, or the first state (S, h): then U and Y (h, d)
have no entries. b and c have none in a layer without biases.

Moving stacks are (T, 2 S, h): the tangents of v below v, a_bar_tangent above a_bar, so that two
products are one.
"""

import numpy as np

from ..compiling import compiled
from ..losses import all_finite
from .activations import activate
from .dense import column_sums, linear_forward


@compiled
def by_steps(x, T):
    """x_ts, the input of step t of sample s, as rows (T S, d)."""
    S, d = x.shape[0], x.shape[1] // T
    rows = np.empty((T * S, d), x.dtype)
    for s in range(S):
        for t in range(T):
            for j in range(d):
                rows[t * S + s, j] = x[s, t * d + j]
    return rows


@compiled
def by_samples(rows, x):
    """The way back from `by_steps`: x_st = rows_ts."""
    S, d = x.shape[0], rows.shape[1]
    for s in range(S):
        for t in range(rows.shape[0] // S):
            for j in range(d):
                x[s, t * d + j] = rows[t * S + s, j]


@compiled
def rows_of(stack):
    """A stack (T, S, h) as rows (T S, h)."""
    return stack.reshape(stack.shape[0] * stack.shape[1], stack.shape[2])


@compiled
def write(v, out):
    """out_si = v_si; numba takes a second to compile `out[:, :] = v`"""
    for s in range(v.shape[0]):
        for i in range(v.shape[1]):
            out[s, i] = v[s, i]


@compiled
def add_product(x, W, out):
    """Add sum_j W_ij x_sj to out_si."""
    part = np.dot(x, W.T)
    for s in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[s, i] += part[s, i]


@compiled
def recurrent_forward(function, below, x, U, W, b, a, states, slopes):
    """v_t = A(a_t)  with  a_t = U x_t + W v_(t-1) + b  for t = 1 to T"""
    if U.size:
        linear_forward(by_steps(x, a.shape[0]), U, b, rows_of(a))
    for t in range(a.shape[0]):
        if not U.size:
            linear_forward(x if t == 0 else states[t - 1], W, b, a[t])
        elif t > 0:
            add_product(states[t - 1], W, a[t])
        activate(function, below, a[t].reshape(-1), states[t].reshape(-1), slopes[t].reshape(-1))


@compiled
def argument_gradients(y_bar, W, slopes, a_bars, v_bar):
    """a_bar_t = A'(a_t) v_bar_t  with  v_bar_T = y_bar  and  v_bar_(t-1) = W^T a_bar_t; the last of
    them, v_bar_0, is left in `v_bar` (S, h).
    """
    write(y_bar, v_bar)
    for t in range(len(slopes) - 1, -1, -1):
        slope, a_bar = slopes[t], a_bars[t]
        for s in range(a_bar.shape[0]):
            for i in range(a_bar.shape[1]):
                a_bar[s, i] = slope[s, i] * v_bar[s, i]
        np.dot(a_bar, W, v_bar)


@compiled
def recurrent_input_gradient(a_bars, v_bar, U, x_bar):
    """x_bar_t = U^T a_bar_t at every step, or x_bar = v_bar_0"""
    if U.size:
        by_samples(np.dot(rows_of(a_bars), U), x_bar)
    else:
        write(v_bar, x_bar)


@compiled
def recurrent_parameter_gradient(a_bars, states, x, U_bar, W_bar, b_bar):
    """U_bar = sum_st a_bar_ts x_ts^T;  W_bar = sum_st a_bar_ts v_(t-1)s^T;  b_bar = sum_st
    a_bar_ts, each one product over all steps and samples.
    """
    T = a_bars.shape[0]
    np.dot(rows_of(a_bars[1:]).T, rows_of(states[: T - 1]), W_bar)
    if U_bar.size:
        np.dot(rows_of(a_bars).T, by_steps(x, T), U_bar)
    else:
        add_product(a_bars[0].T, x.T, W_bar)
    if b_bar.size:
        column_sums(rows_of(a_bars), b_bar)


@compiled
def recurrent_parameter_gradients(a_bars, states, x, rows, at, b, n_b):
    """U_bar_s = sum_t a_bar_ts x_ts^T;  W_bar_s = sum_t a_bar_ts v_(t-1)s^T;  b_bar_s = sum_t
    a_bar_ts, in the columns of `rows` (S, P) that begin at `at` and b. Returns whether all is
    finite.
    """
    T, S, h = a_bars.shape
    d, finite = (b - at) // h - h, True
    bars, before = np.empty((T, h), x.dtype), np.zeros((T, h), x.dtype)
    for s in range(S):
        write(a_bars[:, s], bars)
        write(states[: T - 1, s], before[1:])
        row, W = rows[s], at + h * d
        if d:
            np.dot(bars.T, x[s].reshape(T, d), row[at:W].reshape(h, d))
        else:
            write(x[s : s + 1], before[:1])
        np.dot(bars.T, before, row[W:b].reshape(h, h))
        if n_b:
            column_sums(bars, row[b : b + n_b])
        finite &= all_finite(row[at : b + n_b])
    return finite


@compiled
def recurrent_tangent(moves, x_tangent, x, U, W, Y, V, c, states, slopes, a_moving, v_moving):
    """v_tangent_t = A'(a_t) a_tangent_t  with  a_tangent_t = W v_tangent_(t-1) + V v_(t-1)
    + U x_tangent_t + Y x_t + c; without what belongs to x_tangent where the input does not move.
    """
    T, S, h = states.shape
    a_tangents = np.empty_like(states)
    if Y.size:
        linear_forward(by_steps(x, T), Y, c, rows_of(a_tangents))
        add_product(rows_of(states[: T - 1]), V, rows_of(a_tangents[1:]))
        if moves:
            add_product(by_steps(x_tangent, T), U, rows_of(a_tangents))
    else:
        linear_forward(x, V, c, a_tangents[0])
        linear_forward(rows_of(states[: T - 1]), V, c, rows_of(a_tangents[1:]))
        if moves:
            add_product(x_tangent, W, a_tangents[0])
    for t in range(T):
        if t > 0:
            add_product(v_moving[t - 1, S:], W, a_tangents[t])
        for s in range(S):
            for i in range(h):
                a_tangent = a_tangents[t, s, i]
                a_moving[t, S + s, i] = a_tangent
                v_moving[t, S + s, i] = slopes[t, s, i] * a_tangent


@compiled
def recurrent_gradient_tangent(moves, x_tangent, x, U, W, Y, V, y_bar_tangent, y_bar, states,
                               slopes, curvatures, a_moving, v_moving, bars, U_bar, W_bar, b_bar,
                               x_bar_tangent):
    """From t = T down,

    a_bar_tangent_t = A'(a_t) v_bar_tangent_t + A''(a_t) a_tangent_t v_bar_t
    v_bar_tangent_(t-1) = W^T a_bar_tangent_t + V^T a_bar_t
    x_bar_tangent_t = U^T a_bar_tangent_t + Y^T a_bar_t
    W_bar_tangent = sum_st a_bar_tangent_ts v_(t-1)s^T + a_bar_ts v_tangent_(t-1)s^T
    U_bar_tangent = sum_st a_bar_tangent_ts x_ts^T + a_bar_ts x_tangent_ts^T
    b_bar_tangent = sum_st a_bar_tangent_ts
    """
    T, S, h = states.shape
    v_bars = np.empty((2 * S, h), x.dtype)  # v_bar_tangent above v_bar
    write(y_bar_tangent, v_bars[:S])
    write(y_bar, v_bars[S:])
    xs = np.zeros((2 * S, x.shape[1]), x.dtype)  # x above x_tangent
    write(x, xs[:S])
    if moves:
        write(x_tangent, xs[S:])
    for t in range(T - 1, -1, -1):
        a_bars = bars[t]
        for s in range(S):
            for i in range(h):
                v_bar, slope = v_bars[S + s, i], slopes[t, s, i]
                a_bars[s, i] = (slope * v_bars[s, i]
                                + curvatures[t, s, i] * a_moving[t, S + s, i] * v_bar)
                a_bars[S + s, i] = slope * v_bar
        np.dot(a_bars, W, v_bars)
        add_product(a_bars[S:], V.T, v_bars[:S])
        write(states[t], v_moving[t, :S])
    recurrent_parameter_gradient(bars, v_moving, xs, U_bar, W_bar, b_bar[:0])
    a_bar_tangents = rows_of(np.ascontiguousarray(bars[:, :S]))
    if b_bar.size:
        column_sums(a_bar_tangents, b_bar)
    if moves and U.size:
        below = np.dot(a_bar_tangents, U)
        add_product(rows_of(np.ascontiguousarray(bars[:, S:])), Y.T, below)
        by_samples(below, x_bar_tangent)
    elif moves:
        write(v_bars[:S], x_bar_tangent)
