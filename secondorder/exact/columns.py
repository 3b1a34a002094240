"""Products of a curvature matrix with several vectors in one pass.

What `tangent` and `backward_tangent` of a layer do for one direction is done here for K of them at
once: an array of tangents is (S, K, ...), row (s, k) that of sample s along direction k, and K
vectors of parameters are the rows of (K, size). Linear layers then need one product of matrices for
all directions where they needed K. A batch is worked through in parts of a few samples, so that the
tangents of several directions stay in the cache together. A network with a layer that is not in the
tables takes one direction at a time, as a single product does; so does one whose tangents of four
directions are too many for the cache.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import forms
from ..nets import (Activation, AvgPool2d, Chain, Conv2d, Flatten, LayerNorm, Linear, MaxPool2d,
                    Reshape, Skip)
from . import shaped_columns as shaped

SAMPLES = 8  # of a part, at least
REUSED = 8  # a part's tangents of one direction are at least so many times its result
FEWEST = 4  # directions that gain something by going together
NUMBERS = 2**17  # of all layers' tangents that are held at a time: they stay in the cache


class Part(NamedTuple):
    """Some samples of an evaluation: where they stand, and what it holds of them."""

    where: slice
    outputs: np.ndarray
    y: np.ndarray
    saved: list
    deltas: list | None


def hessian_rows(evaluation, rows):
    """Hessian of the sum of the losses times every row of `rows` (K, P): (K, P).

    The product with v is the derivative of the gradient along v: tangents t of all layers' inputs
    going forward, then, going back,

        y_bar_tangent = H_loss t at the outputs, and `backward_tangent` of every layer.
    """
    return _products(evaluation, rows, lambda t, part: loss_product(evaluation, t, part), True)


def gauss_newton_rows(evaluation, rows):
    """Sum over samples of J^T H_loss J times every row of `rows` (K, P): (K, P)."""
    return congruence_rows(evaluation, rows, lambda t, part: loss_product(evaluation, t, part))


def fisher_rows(evaluation, rows, F=None):
    """Sum over samples of J^T F J, F (S, C, C) the Fisher matrix in the outputs, times each row."""
    F = evaluation.loss_function.fisher(evaluation.outputs) if F is None else F
    return congruence_rows(evaluation, rows,
                           lambda t, part: np.einsum("sij,skj->ski", F[part.where], t))


def score_rows(evaluation, rows, *scores):
    """Sum over samples of J^T g g^T J, a mean over the `scores` g (S, C), times every row (K, P).

    Without scores g is the gradient of the loss with the targets that are given.
    """
    if not scores:
        scores = (evaluation.loss_function.gradient(evaluation.outputs, evaluation.y),)

    def middle(t, part):
        moved = [np.einsum("sc,skc->sk", g, t)[:, :, None] * g[:, None]
                 for g in (score[part.where] for score in scores)]
        return sum(moved) / len(scores)

    return congruence_rows(evaluation, rows, middle)


def congruence_rows(evaluation, rows, middle):
    """Sum over samples of J^T M J times every row of `rows` (K, P), with ``middle(t, part)`` = M t
    for tangents t (S, K, C) of the outputs of a :class:`Part`.
    """
    return _products(evaluation, rows, middle, False)


def loss_product(evaluation, t, part):
    """H_loss t for tangents t (S, K, C) of the outputs. A loss takes every row alone: its rows are
    repeated K times.
    """
    K = t.shape[1]
    p, y = (np.repeat(array, K, axis=0) for array in (part.outputs, part.y))
    return evaluation.loss_function.hessian_product(p, y, _joined(t)).reshape(t.shape)


# -- parts of the samples, and of the rows ---------------------------------------------------------


def _products(evaluation, rows, middle, second_order):
    """Derivatives of the gradient along all rows (K, P); with `second_order` all of it, else only
    what moves at the outputs.
    """
    evaluation.require_current()
    result, together = np.empty_like(rows, order="C"), _together(evaluation, len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        if forms.is_literal() or together < FEWEST:
            return _one_by_one(evaluation, rows, middle, second_order, result)
        for part in _parts(evaluation, len(rows), second_order):
            for start in range(0, len(rows), together):
                some = slice(start, start + together)
                products = _of_part(evaluation, part, rows[some], middle, second_order)
                result[some] = products if part.where.start == 0 else result[some] + products
    return result


def _together(evaluation, count):
    """How many of `count` directions go through a part of the batch together; with few nothing is
    gained over the passes of a single product, which have their arrays already.
    """
    if not _in_tables(evaluation.network.chain):
        return 1
    if evaluation.work is not None and evaluation.work.program.sizes is not None:
        return 1  # compiled walks through windows are faster alone
    samples = min(evaluation.samples, _length(evaluation, count))
    return min(count, NUMBERS // (samples * _width(evaluation)))


def _width(evaluation):
    """Numbers that all layers make of one sample."""
    return sum(own.output.size for own in evaluation.saved) // evaluation.samples


def _length(evaluation, count):
    """Samples of a part: as many as the cache has room for with `count` directions, and no fewer
    than leave what is added up, P numbers for each direction and part, far below what it is made
    from.
    """
    width = _width(evaluation)
    return max(SAMPLES, REUSED * evaluation.network.size // width, NUMBERS // (count * width))


def _of_part(evaluation, part, rows, middle, second_order):
    chain, saved = evaluation.network.chain, part.saved
    tangents = input_tangents(chain, saved, None, rows)
    bar = middle(tangents[-1], part)
    if second_order:
        return chain_backward(chain, saved, tangents, rows, part.deltas, bar, False)[1]
    return chain_backward(chain, saved, None, None, None, bar, False)[1]


def _one_by_one(evaluation, rows, middle, second_order, result):
    """Row by row, by the passes that one reads."""
    chain, saved = evaluation.network.chain, evaluation.saved
    deltas = evaluation.deltas if second_order else None
    whole = Part(slice(None), evaluation.outputs, evaluation.y, saved, deltas)
    if evaluation.work is not None:
        return _compiled(evaluation, rows, lambda t: middle(t[:, None], whole)[:, 0],
                         second_order, result)
    for v, product in zip(rows, result):
        tangents = chain.input_tangents(saved, None, v)
        bar = middle(tangents[-1][:, None], whole)[:, 0]
        product[...] = (chain.backward_tangent_from(saved, tangents, v, deltas, bar)[1]
                        if second_order else chain.parameter_gradient(saved, bar))
    return result


def _compiled(evaluation, rows, middle, second_order, result):
    """Row by row, by the compiled walks of a single product."""
    with evaluation.network.workspaces.lend(evaluation.samples) as room:
        for v, product in zip(np.ascontiguousarray(rows), result):
            if second_order:
                evaluation.write_hessian_product(v, product, room)
            else:
                evaluation.write_gauss_newton_product(v, middle, product, room)
    return result


def _parts(evaluation, count, with_deltas):
    """The batch, a few samples at a time."""
    deltas, length = evaluation.deltas if with_deltas else None, _length(evaluation, count)
    for start in range(0, evaluation.samples, length):
        where = slice(start, start + length)
        yield Part(where, evaluation.outputs[where], evaluation.y[where],
                   [_of_samples(own, where) for own in evaluation.saved],
                   None if deltas is None else [delta[where] for delta in deltas])


def _of_samples(saved, where):
    """Some samples of what a layer of the tables saved: arrays, or a tuple or list of such."""
    if isinstance(saved, np.ndarray):
        return saved[where]
    inside = [_of_samples(part, where) for part in saved]
    return type(saved)(inside) if isinstance(saved, list) else type(saved)(*inside)


def _in_tables(layer):
    """Whether a layer, and all layers inside it, are in the tables."""
    return all(type(inner) in TANGENTS for inner in layer.sublayers())


# -- forward ---------------------------------------------------------------------------------------


def input_tangents(chain, saved, t, rows):
    """Tangents (S, K, ...) of all layers' inputs and of the output; None where nothing moves."""
    tangents = [t]
    for layer, own_saved, piece in zip(chain.layers, saved, _pieces(chain, rows)):
        if t is not None or piece is not None:
            t = TANGENTS[type(layer)](layer, own_saved, t, piece)
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


TANGENTS = {Linear: linear_tangent, Activation: activation_tangent, Chain: chain_tangent,
            Skip: skip_tangent, Conv2d: shaped.convolution_tangent,
            AvgPool2d: shaped.pooled_tangent, MaxPool2d: shaped.pooled_tangent,
            Flatten: shaped.linear_tangent, Reshape: shaped.linear_tangent,
            LayerNorm: shaped.normalisation_tangent}


# -- backward --------------------------------------------------------------------------------------


def chain_backward(chain, saved, tangents, rows, bars, bar, needs_input=True):
    """Derivative of `backward` along all directions: (S, K, ...) of the input, (K, size).

    `tangents` are those of all layers' inputs and `bars` (S, ...) the gradients in all layers'
    outputs. Without them nothing moves but `bar` (S, K, ...): it is carried back like a gradient.
    """
    result = np.empty((bar.shape[1], chain.size), bar.dtype)
    pieces, places, first = _pieces(chain, rows), chain.slices, 0
    if not needs_input:
        first = next(i for i, layer in enumerate(chain.layers) if layer.size)
    for i in reversed(range(first, len(chain.layers))):
        layer, place = chain.layers[i], places[i]
        t, y_bar = (None, None) if tangents is None else (tangents[i], bars[i])
        bar, own = BACKWARD[type(layer)](layer, saved[i], t, pieces[i], y_bar, bar,
                                         needs_input or i > first)
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


BACKWARD = {Linear: linear_backward, Activation: activation_backward, Chain: inner_backward,
            Skip: skip_backward, Conv2d: shaped.convolution_backward,
            AvgPool2d: shaped.pooled_backward, MaxPool2d: shaped.pooled_backward,
            Flatten: shaped.linear_backward, Reshape: shaped.linear_backward,
            LayerNorm: shaped.normalisation_backward}


# -- pieces ----------------------------------------------------------------------------------------


def _pieces(chain, rows):
    """The columns of rows (K, size) that belong to each layer; None where there are none."""
    if rows is None:
        return [None] * len(chain.layers)
    return [rows[:, where] if where.stop > where.start else None for where in chain.slices]


def _joined(array):
    """(S, K, n) as (S K, n)."""
    return array.reshape(-1, array.shape[-1])
