"""The Hessian of a chain of linear layers and activations, one matrix product a unit."""

import numpy as np

from ..nets import Activation, Linear
from .symmetric import symmetric_sum


def unsupported(network):
    """The first layer that is neither a plain `Linear` nor a plain `Activation`, or None."""
    others = (layer for layer in network.layers if type(layer) not in (Linear, Activation))
    return next(others, None)


def hessian(evaluation, block):
    """Hessian of the mean loss, (P, P) or a block of it, for a chain of plain `Linear` and
    `Activation` layers.

    Let a_r be the input of the linear layer r, z_r its output, delta_r the gradient and S_r the
    Hessian of one sample's loss in z_r. The gradient in W_r[s, t] is delta_r[s] a_r[t]; its
    derivative in z_k[i], of an earlier or the same layer, is

        G_k[i, (r, s, t)] = T_kr[i, s] a_r[t] + delta_r[s] J_kr[i, t],   for b_r[s]: T_kr[i, s],

        J_kr[i, t] = d a_r[t] / d z_k[i], 0 for r = k,
        T_kr[i, s] = sum_s' (d z_r[s'] / d z_k[i]) S_r[s', s].

    As z_k[i] = sum_j W_k[i, j] a_k[j] + b_k[i], the Hessian in W_k[i, j] and a later parameter is
    the mean over samples of a_k[j] G_k[i, .]: one product of matrices for every unit i, written
    straight into its rows.
    """
    samples, network = evaluation.samples, evaluation.network
    trained, whole = layers_of(network, block)
    H = symmetric_sum(evaluation, _numbers(network),
                      lambda part, _: _rows(part, samples, trained), "the Hessian", whole)
    if whole == block:
        return H
    inside = slice(block.start - whole.start, block.stop - whole.start)
    return H[inside, inside].copy()


def layers_of(network, block):
    """The trained layers that a block of theta is in, and the slice of all their parameters."""
    places = network.slices
    trained = [r for r, layer in enumerate(network.layers)
               if layer.size and places[r].start < block.stop and block.start < places[r].stop]
    return trained, slice(places[trained[0]].start, places[trained[-1]].stop)


def _numbers(network):
    """How many numbers are held for each sample: G_k[i, .], and J, T, S with what makes them."""
    widths = [layer.out_features for layer in network.layers if isinstance(layer, Linear)]
    return network.size + 4 * max(widths) * sum(widths)


def _rows(evaluation, samples, trained):
    """Rows of the upper triangle, in the parameters of the `trained` layers, as pairs of factors;
    see `hessian` and :func:`symmetric_sum`.
    """
    network, saved, places = evaluation.network, evaluation.saved, evaluation.network.slices
    origin, end = places[trained[0]].start, places[trained[-1]].stop
    weights = np.full((evaluation.samples, 1), 1 / samples, dtype=network.dtype)
    S = _output_hessians(evaluation, trained[0])
    for k in trained:
        layer, here, later = network.layers[k], places[k].start, [r for r in trained if r >= k]
        a, (J, T) = saved[k].input * weights, _jacobians(evaluation, k, S, trained[-1])
        G = np.empty((evaluation.samples, end - here), dtype=network.dtype)
        pieces = {r: G[:, places[r].start - here : places[r].stop - here] for r in later}
        factors = {r: _factors(saved[r].input, evaluation.deltas[r]) for r in later}
        for i in range(layer.out_features):
            for r, piece in pieces.items():
                _gradient_derivative(network.layers[r], *factors[r], T[r][:, i], J[r][:, i], piece)
            first = i * layer.in_features  # what stands before it is known by symmetry
            row = here - origin + first
            yield slice(row, row + layer.in_features), a, G[:, first:]
            if layer.bias is not None:
                first = layer.weight.size + i
                row = here - origin + first
                yield slice(row, row + 1), weights, G[:, first:]


def _output_hessians(evaluation, first):
    """S_r (samples, n, n) of every layer r from `first` on, by layer."""
    chain, saved, deltas = evaluation.network.chain, evaluation.saved, evaluation.deltas
    H_p = evaluation.loss_function.hessian(evaluation.outputs, evaluation.y)
    return dict(enumerate(chain.input_hessian_from(saved, deltas, H_p, stop=first + 1), first))


def _jacobians(evaluation, k, S, last):
    """J_kr (samples, out of k, in of r) and T_kr (samples, out of k, out of r), by layer r from k
    to `last`.
    """
    layers, samples, dtype = evaluation.network.layers, evaluation.samples, evaluation.network.dtype
    width = layers[k].out_features
    J, T = {k: np.zeros((samples, width, layers[k].in_features), dtype)}, {k: S[k]}
    down = np.broadcast_to(np.eye(width, dtype=dtype), (samples, width, width))
    for r in range(k + 1, last + 1):
        if isinstance(layers[r], Activation):
            down = down * evaluation.saved[r].slope[:, None, :]
        else:
            J[r] = down
            down = (down.reshape(-1, layers[r].in_features) @ layers[r].weight.T).reshape(
                samples, width, layers[r].out_features)
            T[r] = down @ S[r]
    return J, T


def _factors(a, delta):
    """Room for [T, delta] (samples, out, 2), [a, J]^T (samples, 2, in); delta and a filled in."""
    left = np.empty((*delta.shape, 2), delta.dtype)
    right = np.empty((len(a), 2, a.shape[1]), a.dtype)
    left[..., 1], right[:, 0] = delta, a
    return left, right


def _gradient_derivative(layer, left, right, T, J, piece):
    """T[s] a[t] + delta[s] J[t] for the weights, T[s] for the bias, into `piece` (samples, p)."""
    left[..., 0], right[:, 1] = T, J
    weight, bias = (*layer.split(piece), None)[:2]
    np.matmul(left, right, out=weight)  # two outer products at once
    if bias is not None:
        bias[...] = T
