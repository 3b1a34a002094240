"""Products of a curvature matrix with several vectors in one pass.

What `tangent` and `backward_tangent` of a layer do for one direction is done here for K of them at
once: an array of tangents is (S, K, ...), row (s, k) that of sample s along direction k, and K
vectors of parameters are the rows of (K, size). Linear layers then need one product of matrices for
all directions where they needed K. A layer that is not in the tables is asked direction by
direction.
"""

import numpy as np

from ..nets import Activation, Chain, Linear, Skip


NUMBERS = 2**16  # of all layers' tangents that are held at a time: they stay in the cache


def hessian_rows(evaluation, rows):
    """Hessian of the sum of the losses times every row of `rows` (K, P): (K, P).

    The product with v is the derivative of the gradient along v: tangents t of all layers' inputs
    going forward, then, going back,

        y_bar_tangent = H_loss t at the outputs, and `backward_tangent` of every layer.
    """
    chain, saved, deltas = evaluation.network.chain, evaluation.saved, evaluation.deltas

    def products(some):
        tangents = input_tangents(chain, saved, None, some)
        bar = loss_product(evaluation, tangents[-1])
        return chain_backward(chain, saved, tangents, some, deltas, bar, False)[1]

    return _by_blocks(evaluation, rows, products)


def gauss_newton_rows(evaluation, rows):
    """Sum over samples of J^T H_loss J times every row of `rows` (K, P): (K, P)."""
    return congruence_rows(evaluation, rows, lambda t: loss_product(evaluation, t))


def fisher_rows(evaluation, rows, F=None):
    """Sum over samples of J^T F J, F (S, C, C) the Fisher matrix in the outputs, times each row."""
    F = evaluation.loss_function.fisher(evaluation.outputs) if F is None else F
    return congruence_rows(evaluation, rows, lambda t: np.einsum("sij,skj->ski", F, t))


def score_rows(evaluation, rows, *scores):
    """Sum over samples of J^T g g^T J, a mean over the `scores` g (S, C), times every row (K, P).

    Without scores g is the gradient of the loss with the targets that are given.
    """
    if not scores:
        scores = (evaluation.loss_function.gradient(evaluation.outputs, evaluation.y),)

    def middle(t):
        moved = [np.einsum("sc,skc->sk", g, t)[:, :, None] * g[:, None] for g in scores]
        return sum(moved) / len(scores)

    return congruence_rows(evaluation, rows, middle)


def congruence_rows(evaluation, rows, middle):
    """Sum over samples of J^T M J times every row of `rows` (K, P), with ``middle(t)`` = M t for
    tangents t (S, K, C) of the outputs.
    """
    chain, saved = evaluation.network.chain, evaluation.saved

    def products(some):
        bar = middle(input_tangents(chain, saved, None, some)[-1])
        return chain_backward(chain, saved, None, None, None, bar, False)[1]

    return _by_blocks(evaluation, rows, products)


def loss_product(evaluation, t):
    """H_loss t for tangents t (S, K, C) of the outputs. A loss takes every row alone: its rows are
    repeated K times.
    """
    p, y, K = evaluation.outputs, evaluation.y, t.shape[1]
    p, y = (np.repeat(array, K, axis=0) for array in (p, y))
    return evaluation.loss_function.hessian_product(p, y, _joined(t)).reshape(t.shape)


def _by_blocks(evaluation, rows, products):
    """Products of as many rows at a time as `NUMBERS` allows."""
    evaluation.require_current()
    of_one = sum(own_saved.output.size for own_saved in evaluation.saved)
    length, result = max(1, NUMBERS // of_one), np.empty_like(rows, order="C")
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(rows), length):
            result[start : start + length] = products(rows[start : start + length])
    return result


# -- forward ---------------------------------------------------------------------------------------


def input_tangents(chain, saved, t, rows):
    """Tangents (S, K, ...) of all layers' inputs and of the output; None where nothing moves."""
    tangents = [t]
    for layer, own_saved, piece in zip(chain.layers, saved, _pieces(chain, rows)):
        if t is not None or piece is not None:
            t = TANGENTS.get(type(layer), tangent_by_direction)(layer, own_saved, t, piece)
        tangents.append(t)
    return tangents


def linear_tangent(layer, saved, t, rows):
    """y_tangent_ski = sum_j W_ij t_skj + sum_j V_kij x_sj + c_ki; rows k = (V_k, c_k)"""
    result = 0
    if t is not None:
        result = (_joined(t) @ layer.weight.T).reshape(*t.shape[:2], -1)
    if rows is not None:
        V, c = (*layer.split(rows), None)[:2]
        result += (saved.input @ V.reshape(-1, layer.in_features).T).reshape(
            len(saved.input), len(rows), -1)
        if c is not None:
            result += c
    return result


def activation_tangent(layer, saved, t, rows):
    """y_tangent_skj = slope_sj t_skj"""
    return saved.slope[:, None] * t


def chain_tangent(chain, saved, t, rows):
    return input_tangents(chain, saved, t, rows)[-1]


def skip_tangent(layer, saved, t, rows):
    """y_tangent = t + F_tangent"""
    inside = chain_tangent(layer.inner, saved.inner, t, rows)
    return inside if t is None else t + inside


def tangent_by_direction(layer, saved, t, rows):
    return np.stack([layer.tangent(saved, *direction)
                     for direction in _directions(t, rows)], axis=1)


TANGENTS = {Linear: linear_tangent, Activation: activation_tangent, Chain: chain_tangent,
            Skip: skip_tangent}


# -- backward --------------------------------------------------------------------------------------


def chain_backward(chain, saved, tangents, rows, bars, bar, needs_input=True):
    """Derivative of `backward` along all directions: (S, K, ...) of the input, (K, size).

    `tangents` are those of all layers' inputs and `bars` (S, ...) the gradients in all layers'
    outputs. Without them nothing moves but `bar` (S, K, ...): it is carried back like a gradient.
    """
    result = np.empty((bar.shape[1], chain.size), bar.dtype)
    pieces, first = _pieces(chain, rows), 0
    if not needs_input:
        first = next(i for i, layer in enumerate(chain.layers) if layer.size)
    for i in reversed(range(first, len(chain.layers))):
        layer, place = chain.layers[i], chain.slices[i]
        back = BACKWARD.get(type(layer), backward_by_direction)
        t, y_bar = (None, None) if tangents is None else (tangents[i], bars[i])
        bar, own = back(layer, saved[i], t, pieces[i], y_bar, bar, needs_input or i > first)
        if layer.size:
            result[:, place] = own
    return bar, result


def linear_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """x_bar_skj = sum_i bar_ski W_ij + sum_i y_bar_si V_kij;
    W_bar_kij = sum_s bar_ski x_sj + sum_s y_bar_si t_skj;  b_bar_ki = sum_s bar_ski
    """
    samples, K = bar.shape[:2]
    below = own = None
    if needs_input:
        below = (_joined(bar) @ layer.weight).reshape(samples, K, -1)
        if rows is not None:
            V = layer.split(rows)[0].swapaxes(0, 1).reshape(layer.out_features, -1)
            below += (y_bar @ V).reshape(below.shape)
    if layer.size:
        own = np.empty((K, layer.size), bar.dtype)
        W_bar, b_bar = (*layer.split(own), None)[:2]
        W_bar[...] = (bar.reshape(samples, -1).T @ saved.input).reshape(W_bar.shape)
        if t is not None:
            W_bar += (y_bar.T @ t.reshape(samples, -1)).reshape(-1, K, t.shape[2]).swapaxes(0, 1)
        if b_bar is not None:
            bar.sum(axis=0, out=b_bar)
    return below, own


def activation_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """x_bar_skj = bar_skj slope_sj + y_bar_sj curvature_sj t_skj"""
    below = bar * saved.slope[:, None]
    if t is not None:
        below += (y_bar * saved.curvature)[:, None] * t
    return below, None


def inner_backward(chain, saved, t, rows, y_bar, bar, needs_input):
    if y_bar is None:
        return chain_backward(chain, saved, None, None, None, bar)
    tangents = input_tangents(chain, saved, t, rows)
    return chain_backward(chain, saved, tangents, rows, chain.output_gradients(saved, y_bar), bar)


def skip_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """x_bar = bar + that of F; the parameters are those of F."""
    below, own = inner_backward(layer.inner, saved.inner, t, rows, y_bar, bar, True)
    return bar + below, own


def backward_by_direction(layer, saved, t, rows, y_bar, bar, needs_input):
    if y_bar is None:
        result = [layer.backward(saved, bar[:, k]) for k in range(bar.shape[1])]
    else:
        result = [layer.backward_tangent(saved, *direction, y_bar, bar[:, k])
                 for k, direction in enumerate(_directions(t, rows, bar.shape[1]))]
    below, own = zip(*result)
    return np.stack(below, axis=1), np.stack(own)


BACKWARD = {Linear: linear_backward, Activation: activation_backward, Chain: inner_backward,
            Skip: skip_backward}


# -- pieces ----------------------------------------------------------------------------------------


def _pieces(chain, rows):
    """The columns of rows (K, size) that belong to each layer; None where there are none."""
    if rows is None:
        return [None] * len(chain.layers)
    return [rows[:, where] if where.stop > where.start else None for where in chain.slices]


def _directions(t, rows, count=None):
    """Tangents of input and parameters, direction by direction."""
    count = count or (len(rows) if t is None else t.shape[1])
    return [(None if t is None else np.ascontiguousarray(t[:, k]),
             None if rows is None else np.ascontiguousarray(rows[k])) for k in range(count)]


def _joined(array):
    """(S, K, n) as (S K, n)."""
    return array.reshape(-1, array.shape[-1])
