"""Directional derivatives and curvatures of single layers along a direction, the products between
layers, and the step that weighs them.

Every layer's piece of the direction is followed on its own: z'_k is the tangent of a pre-activation
that comes from layer k alone, sum_k z'_k the whole one. Their number grows as they go up, the cost
with the square of the depth.
"""

from typing import NamedTuple

import numpy as np

from ...exact.curvature import hessian_vector_product_at
from .quantities import objective_derivatives
from .rules import fully_connected, hidden_layers

TINY = np.finfo(np.float64).tiny


class Terms(NamedTuple):
    """Parts of Q[k, r] = g_k^T H g_r, (K, K) each and symmetric; their sum is Q.

    outputs : q_k^T f_pp q_r, with q_k the tangent of p that comes from layer k: lines one to three
    of (39). weights : products of two layers' weights, the f_p and eta terms of (39). activations :
    second derivatives of the activations.
    """

    outputs: np.ndarray
    weights: np.ndarray
    activations: np.ndarray


def block_products(evaluation, direction):
    """g_k . grad F (K,) and the `Terms` of g_k^T H g_r, for the pieces g_k of a direction (P,) in
    all affine layers; TypeError names a layer that is not fully connected.
    """
    layers, places = hidden_layers(evaluation)
    count, wide = len(layers), np.float64
    f_p, f_pp = objective_derivatives(evaluation, places[-1])
    weights, activations = np.zeros((count, count)), np.zeros((count, count))
    tangents = np.zeros((0, *layers[0].input.shape), dtype=direction.dtype)
    for k, (layer, place) in enumerate(zip(layers, places)):
        own = np.zeros_like(layer.z)
        if layer.linear.size:
            P, P_bias = (*layer.linear.split(direction[evaluation.network.slices[place]]), None)[:2]
            own = layer.input @ P.T + (0 if P_bias is None else P_bias)
            weights[k, :k] = np.einsum("si,ksi->k", evaluation.deltas[place] @ P, tangents,
                                       dtype=wide)
        tangents = np.concatenate([tangents @ layer.linear.weight.T, own[None]])
        if k < count - 1 and layer.slope is not None:
            bar = evaluation.deltas[places[k + 1] - 1]
            second_order = tangents * (bar * layer.second_derivative)
            activations[:k + 1, :k + 1] += _pairs(second_order, tangents)
            tangents = tangents * layer.slope
    a = np.einsum("si,ksi->k", f_p, tangents, dtype=wide)
    outputs = _pairs(np.einsum("sij,ksj->ksi", f_pp, tangents), tangents)
    s = evaluation.samples
    return a / s, Terms(outputs / s, (weights + weights.T) / s, activations / s)


def _pairs(left, right):
    """sum over s and i of left[k, s, i] right[r, s, i], (K, R), in float64."""
    left, right = (a.reshape(len(a), -1).astype(np.float64, copy=False) for a in (left, right))
    return left @ right.T


def layer_products(evaluation, direction, l2=0.0):
    """Of the pieces g_k of a direction in the layers that have parameters: g_k . gradient (K,),
    Q = g_k^T H g_r (K, K), |g_k| (K,), and the slices where each g_k stands.

    Chains of `Linear` and `Activation` layers by `block_products`, all others by one Hessian-vector
    product a layer.
    """
    network = evaluation.network
    trained = [i for i, layer in enumerate(network.layers) if layer.size]
    slices = [network.slices[i] for i in trained]
    wide = direction.astype(np.float64)
    squares = np.array([wide[w] @ wide[w] for w in slices])
    if fully_connected(network):
        a, terms = block_products(evaluation, direction)
        rows = [k for k, place in enumerate(hidden_layers(evaluation)[1]) if place in trained]
        a, Q = a[rows], sum(terms)[np.ix_(rows, rows)]
    else:
        a, Q = _by_products(evaluation, direction, slices)
    if l2:
        a = a + l2 * np.array([wide[w] @ network.theta[w] for w in slices])
        Q = Q + l2 * np.diag(squares)
    return a, Q, np.sqrt(squares), slices


def _by_products(evaluation, direction, slices):
    """The same for any layers, by Hessian-vector products."""
    a = np.array([np.dot(evaluation.gradient[w].astype(np.float64), direction[w]) for w in slices])
    Q = np.empty((len(slices), len(slices)))
    for k, w in enumerate(slices):
        piece = np.zeros_like(direction)
        piece[w] = direction[w]
        product = hessian_vector_product_at(evaluation, piece)
        Q[k] = [np.dot(direction[v].astype(np.float64), product[v]) for v in slices]
    return a, (Q + Q.T) / 2


def coupled_rates(a, Q, norms, sigma):
    """Rates s (K,) that minimise a . s + s^T Q s / 2 + sigma |s|^3 / 6, with |s|^2 = sum_k (norms_k
    s_k)^2.

    In y = norms s the minimiser solves (Q' + (sigma/2) |y| I) y = -a' with Q' + (sigma/2) |y| I
    positive semidefinite; in the eigenbasis of Q' that is one equation for |y|. Where a' has no
    part along the least eigenvector (the hard case), that eigenvector fills y up.

    Parameters
    ----------
    a, norms : (K,) arrays
    Q : (K, K) array
    sigma : float
        Positive.
    """
    live = norms > 0
    rates = np.zeros(len(a))
    if not live.any():
        return rates
    scale = norms[live]
    values, vectors = np.linalg.eigh(Q[np.ix_(live, live)] / scale / scale[:, None])
    gradient = vectors.T @ (a[live] / scale)
    rates[live] = vectors @ _cubic_minimiser(values, gradient, sigma) / scale
    return rates


def _cubic_minimiser(values, gradient, sigma):
    """y in the eigenbasis: y_i = -gradient_i / (values_i + (sigma/2) r), r = |y|.

    r = least + t, where least makes the smallest denominator 0; t is sought on a logarithmic scale,
    as it may be tiny beside r.
    """
    least = max(0.0, -2 * values[0] / sigma)
    gaps = values - values[0] if least > 0 else values

    def solution(t):
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(gradient == 0, 0.0, -gradient / (gaps + sigma / 2 * t))

    # every |gradient_i| at once bounds t from above; |y| falls with t, r grows
    high = np.sqrt(2 * _length(gradient) / sigma) + TINY
    low = max(high * 1e-100, TINY)
    if _length(solution(low)) < least:
        return _filled_up(solution(low), least)
    for _ in range(100):
        middle = np.sqrt(low) * np.sqrt(high)
        if not low < middle < high:
            break
        if _length(solution(middle)) > least + middle:
            low = middle
        else:
            high = middle
    return solution(high)


def _length(v):
    """|v|, without squares that overflow or vanish."""
    largest = np.abs(v).max()
    return largest * np.linalg.norm(v / largest) if 0 < largest < np.inf else largest


def _filled_up(y, least):
    """The hard case: y is too short at t = 0 and gets the rest along the least eigenvector."""
    others = y[1:] / least
    fill = least * np.sqrt(max(1 - others @ others, 0.0))
    y[0] = fill if y[0] >= 0 else -fill
    return y


def joint_model(a, Q, norms, sigma, s):
    """What rates s (K,) of the layers make of the model: a^T s + s^T Q s / 2 + sigma |s|^3 / 6.

    |s|^2 = sum_k |g_k|^2 s_k^2
    """
    return a @ s + s @ Q @ s / 2 + sigma / 6 * np.sum(norms**2 * s**2) ** 1.5
