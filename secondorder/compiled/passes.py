"""The passes of a network, each one walk over its table: forward, gradient, products.

`table` has a row a layer (see :mod:`secondorder.compiled.kinds`), `own` a number a layer, such as
the slope of a leaky activation. `work` is one array, in which every layer's output and derivatives
have their places, each a batch (S, n); `bars` holds the gradients in all outputs at the same
places, and may be the same array. x (S, n) is the batch, theta (P + F,) the parameters, fixed ones
at the end. `more` is None where there are neither LayerNorms nor Skips nor anything fixed,
`steps` where there is no recurrence, `sizes` where nothing looks through windows: numba then
compiles nothing of theirs.
"""

import numpy as np

from .compiling import compiled, walk
from .kinds import (CONVOLUTION, FIXED, FORK, IDENTITY, LAYER_NORM, LINEAR, NOWHERE, RECURRENT,
                    SIN)
from .layers.activations import activate, bend
from .layers.dense import (linear_forward, linear_input_gradient, linear_input_gradient_tangent,
                           linear_parameter_gradient, linear_parameter_gradient_tangent,
                           linear_parameter_gradients, linear_tangent)
from .layers.normalisation import (layer_norm_forward, layer_norm_gradient_tangent,
                                   layer_norm_input_gradient, layer_norm_parameter_gradient,
                                   layer_norm_parameter_gradients, layer_norm_tangent)
from .layers.recurrent import (argument_gradients, recurrent_forward, recurrent_gradient_tangent,
                               recurrent_input_gradient, recurrent_parameter_gradient,
                               recurrent_parameter_gradients, recurrent_tangent)
from .layers.windowed import (windowed_forward, windowed_gradient_tangent, windowed_input_gradient,
                              windowed_parameter_gradient, windowed_parameter_gradients,
                              windowed_tangent)
from .losses import all_finite


@compiled
def batch(work, place, samples, width):
    """The matrix (S, width) at a place of the work array."""
    return work[place * samples : (place + width) * samples].reshape(samples, width)


@compiled
def flat(work, place, samples, width):
    """The same as a vector."""
    return work[place * samples : (place + width) * samples]


@compiled
def blocks(work, place, samples, width, n):
    """The same as a matrix of rows of n numbers, which divides the width."""
    return work[place * samples : (place + width) * samples].reshape(-1, n)


@compiled
def room_of(table, work, samples):
    """What stands in the array behind all batches, the last of which is a gradient."""
    last = table[-1]
    return work[(last[-1] + last[2]) * samples :]


@compiled
def weight(theta, W, n_out, n_in):
    """The matrix (n_out, n_in) at a place of the parameters."""
    return theta[W : W + n_out * n_in].reshape(n_out, n_in)


@compiled
def stack(work, last, T, samples, width):
    """The matrices (S, width) of T steps, up to the last, whose place is given: (T, S, width)."""
    first = last - (T - 1) * width
    return work[first * samples : (last + width) * samples].reshape(T, samples, width)


@compiled
def input_of(x, work, place, samples, width):
    """The input of a layer: the output of the one before it, or the batch."""
    if place == NOWHERE:
        return x
    return batch(work, place, samples, width)


@walk
def forward(table, more, steps, sizes, own, theta, x, work):
    """x of each layer is y of the one before it. Returns whether the outputs are finite."""
    S = x.shape[0]
    for l in range(table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        inside = input_of(x, work, at_x, S, n_in)
        if kind == LINEAR or kind == FIXED:
            linear_forward(inside, weight(theta, W, n_out, n_in), theta[b : b + n_b],
                           batch(work, y, S, n_out))
        elif steps is not None and kind == RECURRENT:
            T, d, function = steps[l]
            recurrent_forward(
                function, own[l], inside, weight(theta, W, n_out, d),
                weight(theta, W + n_out * d, n_out, n_out), theta[b : b + n_b],
                stack(work, curvature, T, S, n_out), stack(work, y, T, S, n_out),
                stack(work, slope, T, S, n_out))
        elif sizes is not None and kind >= CONVOLUTION:
            windowed_forward(kind, sizes[l], inside, theta[W:b], theta[b : b + n_b],
                             batch(work, y, S, n_out), flat(work, slope, S, n_out),
                             room_of(table, work, S))
        elif more is None or kind <= SIN:
            activate(kind, own[l], inside.reshape(-1), flat(work, y, S, n_out),
                     flat(work, slope, S, n_out))
        elif kind == LAYER_NORM:
            n = b - W
            layer_norm_forward(inside.reshape(-1, n), theta[W:b], theta[b : b + n_b], own[l],
                               blocks(work, y, S, n_out, n), blocks(work, slope, S, n_out, n),
                               flat(work, curvature, S, n_out // n))
        elif kind == FORK:
            take_part(inside, W, batch(work, y, S, n_out))
        else:
            copy(input_of(x, work, other, S, n_out).reshape(-1), flat(work, y, S, n_out))
            add_part(inside, W, batch(work, y, S, n_out))
    return all_finite(flat(work, y, S, n_out))


@walk
def curvatures(table, steps, x, work):
    """The second derivatives of all activations, which products with the Hessian need."""
    S = x.shape[0]
    for l in range(table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        if IDENTITY <= kind <= SIN:
            bend(kind, input_of(x, work, at_x, S, n_in).reshape(-1), flat(work, y, S, n_out),
                 flat(work, curvature, S, n_out))
        elif steps is not None and kind == RECURRENT:
            T, d, function = steps[l]
            a = stack(work, curvature, T, S, n_out).reshape(-1)
            bend(function, a, stack(work, y, T, S, n_out).reshape(-1), a)


@walk
def output_gradients(table, more, steps, sizes, theta, work, bars, samples):
    """The gradients in the outputs of all layers, in `bars`, from that in the last one; the chain
    rule: y_bar of each layer is x_bar of the one after it.
    """
    S = samples
    for l in range(table.shape[0] - 1, -1, -1):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        if steps is not None and kind == RECURRENT:
            T, d, function = steps[l]
            a_bars, v_bar = stack(bars, other, T, S, n_out), np.empty((S, n_out), bars.dtype)
            argument_gradients(batch(bars, bar, S, n_out),
                               weight(theta, W + n_out * d, n_out, n_out),
                               stack(work, slope, T, S, n_out), a_bars, v_bar)
            if l > 0:
                recurrent_input_gradient(a_bars, v_bar, weight(theta, W, n_out, d),
                                         batch(bars, table[l - 1, -1], S, n_in))
            continue
        if l == 0:
            break
        x_bar = table[l - 1, -1]
        if kind == LINEAR or kind == FIXED:
            linear_input_gradient(batch(bars, bar, S, n_out), weight(theta, W, n_out, n_in),
                                  batch(bars, x_bar, S, n_in))
        elif sizes is not None and kind >= CONVOLUTION:
            windowed_input_gradient(kind, sizes[l], batch(bars, bar, S, n_out), theta[W:b],
                                    flat(work, slope, S, n_out), batch(bars, x_bar, S, n_in),
                                    room_of(table, bars, S))
        elif more is None or kind <= SIN:
            times(flat(bars, bar, S, n_out), flat(work, slope, S, n_out),
                  flat(bars, x_bar, S, n_in))
        elif kind == LAYER_NORM:
            n = b - W
            layer_norm_input_gradient(blocks(bars, bar, S, n_out, n), theta[W:b],
                                      blocks(work, slope, S, n_out, n),
                                      flat(work, curvature, S, n_out // n),
                                      blocks(bars, x_bar, S, n_in, n))
        elif kind == FORK:
            copy(flat(bars, other, S, n_in), flat(bars, x_bar, S, n_in))
            add_part(batch(bars, bar, S, n_out), W, batch(bars, x_bar, S, n_in))
        else:
            take_part(batch(bars, bar, S, n_out), W, batch(bars, x_bar, S, n_in))


@compiled
def times(y_bar, slope, x_bar):
    """x_bar_j = y_bar_j slope_j"""
    for j in range(y_bar.size):
        x_bar[j] = y_bar[j] * slope[j]


@walk
def parameter_gradient(table, more, steps, sizes, x, work, bars, theta_bar):
    """theta_bar (P,) of all layers, from the gradients in their outputs; the places of what is
    fixed lie behind it.
    """
    S = x.shape[0]
    for l in range(table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        if kind == LINEAR:
            linear_parameter_gradient(batch(bars, bar, S, n_out), input_of(x, work, at_x, S, n_in),
                                      weight(theta_bar, W, n_out, n_in), theta_bar[b : b + n_b])
        elif steps is not None and kind == RECURRENT and W < theta_bar.size:
            T, d, function = steps[l]
            recurrent_parameter_gradient(
                stack(bars, other, T, S, n_out), stack(work, y, T, S, n_out),
                input_of(x, work, at_x, S, n_in), weight(theta_bar, W, n_out, d),
                weight(theta_bar, W + n_out * d, n_out, n_out), theta_bar[b : b + n_b])
        elif sizes is not None and kind >= CONVOLUTION and W < theta_bar.size:
            windowed_parameter_gradient(
                kind, sizes[l], batch(bars, bar, S, n_out), input_of(x, work, at_x, S, n_in),
                theta_bar[W:b], theta_bar[b : b + n_b], room_of(table, bars, S))
        elif more is None or W >= theta_bar.size:
            continue
        elif kind == LAYER_NORM:
            n = b - W
            layer_norm_parameter_gradient(blocks(bars, bar, S, n_out, n),
                                          blocks(work, slope, S, n_out, n), theta_bar[W:b],
                                          theta_bar[b : b + n_b])


@walk
def parameter_gradients(table, more, steps, sizes, x, work, bars, rows):
    """theta_bar of every sample, a row of `rows` (S, P), from the gradients in all outputs.
    Returns whether all is finite.
    """
    S, finite = x.shape[0], True
    for l in range(table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        if kind == LINEAR:
            finite &= linear_parameter_gradients(batch(bars, bar, S, n_out),
                                                 input_of(x, work, at_x, S, n_in), rows, W, b, n_b)
        elif steps is not None and kind == RECURRENT and W < rows.shape[1]:
            T, d, function = steps[l]
            finite &= recurrent_parameter_gradients(
                stack(bars, other, T, S, n_out), stack(work, y, T, S, n_out),
                input_of(x, work, at_x, S, n_in), rows, W, b, n_b)
        elif sizes is not None and kind >= CONVOLUTION and W < rows.shape[1]:
            finite &= windowed_parameter_gradients(
                kind, sizes[l], batch(bars, bar, S, n_out), input_of(x, work, at_x, S, n_in), rows,
                W, b, n_b, room_of(table, bars, S))
        elif more is None or W >= rows.shape[1]:
            continue
        elif kind == LAYER_NORM:
            finite &= layer_norm_parameter_gradients(batch(bars, bar, S, n_out),
                                                     batch(work, slope, S, n_out), rows, W, b)
    return finite


# -- products --------------------------------------------------------------------------------------
# `moving` has twice the rows of `work`: at the place of a layer's output, x_tangent below x, at
# that of its gradient, y_bar_tangent above y_bar, so that the two products of a weight's gradient
# are one. Where other layers than linear ones are fixed, v and theta_bar_tangent are as long as
# theta: v is 0 there.


@walk
def tangents(table, more, steps, sizes, theta, v, x, work, moving, part):
    """y_tangent of all layers along v (P,): x_tangent of each layer is y_tangent of the one before
    it.
    """
    S = x.shape[0]
    for l in range(table.shape[0]):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        x_tangent = input_of(x, moving, at_x, 2 * S, n_in)
        y_tangent, moves = batch(moving, y, 2 * S, n_out)[S:], at_x != NOWHERE
        if kind == LINEAR:
            linear_tangent(moves, x_tangent[S:] if moves else x, input_of(x, work, at_x, S, n_in),
                           weight(theta, W, n_out, n_in), weight(v, W, n_out, n_in),
                           v[b : b + n_b], batch(part, 0, S, n_out), y_tangent)
        elif steps is not None and kind == RECURRENT:
            T, d, function = steps[l]
            hh = W + n_out * d
            recurrent_tangent(
                moves, x_tangent[S:] if moves else x, input_of(x, work, at_x, S, n_in),
                weight(theta, W, n_out, d), weight(theta, hh, n_out, n_out),
                weight(v, W, n_out, d), weight(v, hh, n_out, n_out), v[b : b + n_b],
                stack(work, y, T, S, n_out), stack(work, slope, T, S, n_out),
                stack(moving, slope, T, 2 * S, n_out), stack(moving, y, T, 2 * S, n_out))
        elif sizes is not None and kind >= CONVOLUTION:
            windowed_tangent(kind, sizes[l], moves, x_tangent[S:] if moves else x,
                             input_of(x, work, at_x, S, n_in), theta[W:b], v[W:b], v[b : b + n_b],
                             flat(work, slope, S, n_out), y_tangent, room_of(table, moving, 2 * S))
        elif more is None or kind <= SIN:
            if moves:
                times(x_tangent[S:].reshape(-1), flat(work, slope, S, n_out), y_tangent.reshape(-1))
            else:
                clear(y_tangent.reshape(-1))
        elif kind == LAYER_NORM:
            n = b - W
            x_moved = (x_tangent[S:] if moves else x).reshape(-1, n)
            layer_norm_tangent(moves, x_moved, theta[W:b], v[W:b], v[b : b + n_b],
                               blocks(work, slope, S, n_out, n),
                               flat(work, curvature, S, n_out // n), y_tangent.reshape(-1, n))
        elif not moves:
            clear(y_tangent.reshape(-1))
        elif kind == FIXED:
            linear_forward(x_tangent[S:], weight(theta, W, n_out, n_in), theta[b:b], y_tangent)
        elif kind == FORK:
            take_part(x_tangent[S:], W, y_tangent)
        else:
            if other == NOWHERE:
                clear(y_tangent.reshape(-1))
            else:
                copy(batch(moving, other, 2 * S, n_out)[S:].reshape(-1), y_tangent.reshape(-1))
            add_part(x_tangent[S:], W, y_tangent)


@walk
def gradient_tangent(table, more, steps, sizes, theta, v, x, work, moving, part, theta_bar_tangent):
    """The derivative of `gradient` along v (P,), from the tangents of all layers and that of the
    gradient in the outputs: y_bar_tangent of each layer is x_bar_tangent of the one after it.
    """
    S = x.shape[0]
    for l in range(table.shape[0] - 1, -1, -1):
        kind, n_in, n_out, W, b, n_b, at_x, y, slope, curvature, other, bar = table[l]
        bars, y_bar = batch(moving, bar, 2 * S, n_out), batch(work, bar, S, n_out)
        moves = at_x != NOWHERE
        x_bar_tangent = batch(moving, table[l - 1, -1], 2 * S, n_in)[:S] if moves else bars[:S]
        if kind == LINEAR:
            W_bar, b_bar = weight(theta_bar_tangent, W, n_out, n_in), theta_bar_tangent[b : b + n_b]
            if moves:
                xs = batch(moving, at_x, 2 * S, n_in)
                copy(flat(work, at_x, S, n_in), xs[:S].reshape(-1))
                copy(y_bar.reshape(-1), bars[S:].reshape(-1))
                linear_parameter_gradient_tangent(bars, xs, W_bar, b_bar)
                linear_input_gradient_tangent(bars[:S], y_bar, weight(theta, W, n_out, n_in),
                                              weight(v, W, n_out, n_in), batch(part, 0, S, n_in),
                                              x_bar_tangent)
            else:
                linear_parameter_gradient(bars[:S], x, W_bar, b_bar)
        elif steps is not None and kind == RECURRENT:
            T, d, function = steps[l]
            hh = W + n_out * d
            recurrent_gradient_tangent(
                moves, batch(moving, at_x, 2 * S, n_in)[S:] if moves else x,
                input_of(x, work, at_x, S, n_in), weight(theta, W, n_out, d),
                weight(theta, hh, n_out, n_out), weight(v, W, n_out, d),
                weight(v, hh, n_out, n_out), bars[:S], y_bar, stack(work, y, T, S, n_out),
                stack(work, slope, T, S, n_out), stack(work, curvature, T, S, n_out),
                stack(moving, slope, T, 2 * S, n_out), stack(moving, y, T, 2 * S, n_out),
                stack(moving, other, T, 2 * S, n_out), weight(theta_bar_tangent, W, n_out, d),
                weight(theta_bar_tangent, hh, n_out, n_out), theta_bar_tangent[b : b + n_b],
                x_bar_tangent)
        elif sizes is not None and kind >= CONVOLUTION:
            windowed_gradient_tangent(
                kind, sizes[l], moves, batch(moving, at_x, 2 * S, n_in)[S:] if moves else x,
                input_of(x, work, at_x, S, n_in), bars[:S], y_bar, theta[W:b], v[W:b],
                flat(work, slope, S, n_out), theta_bar_tangent[W:b],
                theta_bar_tangent[b : b + n_b], x_bar_tangent, room_of(table, moving, 2 * S))
        elif more is None or kind <= SIN:
            if moves:
                activation_gradient_tangent(
                    bars[:S].reshape(-1), flat(work, slope, S, n_out), y_bar.reshape(-1),
                    flat(work, curvature, S, n_out),
                    batch(moving, at_x, 2 * S, n_in)[S:].reshape(-1), x_bar_tangent.reshape(-1))
        elif kind == LAYER_NORM:
            x_tangent, n = batch(moving, at_x, 2 * S, n_in)[S:] if moves else x, b - W
            layer_norm_gradient_tangent(
                moves, x_tangent.reshape(-1, n), bars[:S].reshape(-1, n), y_bar.reshape(-1, n),
                theta[W:b], v[W:b], blocks(work, slope, S, n_out, n),
                flat(work, curvature, S, n_out // n), theta_bar_tangent[W:b],
                theta_bar_tangent[b : b + n_b], x_bar_tangent.reshape(-1, n))
        elif not moves:
            continue
        elif kind == FIXED:
            linear_input_gradient(bars[:S], weight(theta, W, n_out, n_in), x_bar_tangent)
        elif kind == FORK:
            copy(batch(moving, other, 2 * S, n_in)[:S].reshape(-1), x_bar_tangent.reshape(-1))
            add_part(bars[:S], W, x_bar_tangent)
        else:
            take_part(bars[:S], W, x_bar_tangent)


@compiled
def clear(out):
    """out_j = 0"""
    for j in range(out.size):
        out[j] = out.dtype.type(0)


@compiled
def copy(v, out):
    """out_j = v_j"""
    for j in range(v.size):
        out[j] = v[j]


@compiled
def take_part(x, first, y):
    """y_sj = x_s(first + j)"""
    for s in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[s, j] = x[s, first + j]


@compiled
def add_part(x, first, y):
    """Add x_sj to y_s(first + j)."""
    for s in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[s, first + j] += x[s, j]


@compiled
def activation_gradient_tangent(y_bar_tangent, slope, y_bar, curvature, x_tangent, x_bar_tangent):
    """x_bar_tangent_j = y_bar_tangent_j slope_j + y_bar_j curvature_j x_tangent_j"""
    for j in range(slope.size):
        x_bar_tangent[j] = y_bar_tangent[j] * slope[j] + y_bar[j] * curvature[j] * x_tangent[j]


@walk
def mean(total, samples, l2, penalised):
    """total_k / samples + l2 penalised_k, in `total`. Returns whether all is finite."""
    share, zero, finite = total.dtype.type(1) / samples, total.dtype.type(0), True
    for k in range(total.size):
        g = total[k] * share
        if l2 != zero:
            g += penalised[k] * l2
        total[k] = g
        finite &= g * zero == zero
    return finite
