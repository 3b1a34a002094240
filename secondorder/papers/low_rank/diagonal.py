"""The exact diagonal of the Hessian, and a step length for every weight (Table 2, corrected).

A weight's second derivative is E_b (S_k)_ii (v_j)^2, with S_k the Hessian of a sample's loss in the
pre-activations of layer k: one product of (d_k, S) and (S, m_k) once the diagonals of the S_k are
known. Without curved activations those come from f_pp = sum_c sign_c r_c r_c^T: back-propagate the
C columns r_c like gradients and sum signed squares. Otherwise S_k itself is carried down.
"""

import numpy as np

from ...exact.diagonals import diagonal as exact_diagonal
from .quantities import extended, objective_derivatives
from .rules import fully_connected, hidden_layers
from .steps import step_length


def hessian_diagonal_at(evaluation, l2=0.0):
    """Diagonal of the objective's Hessian, (P,): one product a layer for a chain of `Linear` and
    `Activation` layers, :func:`secondorder.exact.diagonal` for all others.
    """
    evaluation.require_current()
    network = evaluation.network
    if not fully_connected(network):
        return exact_diagonal(network, evaluation.loss_function, evaluation.x, evaluation.y, l2=l2)
    layers, places = hidden_layers(evaluation)
    f_pp = objective_derivatives(evaluation, places[-1])[1]
    straight = all(layer.slope is None or not layer.second_derivative.any()
                   for layer in layers[:-1])
    carried = (squared_columns(layers, f_pp) if straight
               else full_hessians(evaluation, layers, places, f_pp))
    diagonal = np.empty_like(network.theta)
    for layer, place, S in zip(layers, places, carried):
        if layer.linear.size:
            block = weight_curvatures(S, extended(layer, layer.input)) / evaluation.samples
            width = layer.linear.in_features
            diagonal[network.slices[place]] = np.concatenate([block[:, :width].ravel(),
                                                              block[:, width:].ravel()])
    return diagonal + l2


def weight_curvatures(S_diagonal, v_bar):
    """Table 2, corrected: sum over samples of (S_k)_ii (v_j)^2, (d_k, m_k)."""
    return S_diagonal.T @ (v_bar * v_bar)


def squared_columns(layers, f_pp):
    """Diagonals (S, d_k) of the pre-activation Hessians of all affine layers, without curved
    activations.
    """
    values, vectors = np.linalg.eigh(f_pp)
    sign, roots = np.sign(values), np.sqrt(np.abs(values))
    columns = (vectors * roots[:, None, :]).transpose(2, 0, 1)  # (C, S, d)
    diagonals = []
    for layer, below in zip(layers[::-1], [*layers[-2::-1], None]):
        diagonals.append(np.einsum("sc,csi->si", sign, columns**2))
        if below is not None:
            columns = columns @ layer.linear.weight
            columns = columns if below.slope is None else columns * below.slope
    return diagonals[::-1]


def full_hessians(evaluation, layers, places, f_pp):
    """The same for any activation, from the pre-activation Hessians themselves."""
    S, diagonals = f_pp, [np.einsum("sii->si", f_pp)]
    for k in reversed(range(len(layers) - 1)):
        W, below = layers[k + 1].linear.weight, layers[k]
        bar = evaluation.deltas[places[k + 1]] @ W
        S = pre_activation_hessian(S, W, bar, below)
        diagonals.append(np.einsum("sii->si", S))
    return diagonals[::-1]


def pre_activation_hessian(S_above, W_above, bar, layer):
    """The Hessians (S, d, d) in the pre-activations of the layer below, `bar` = df/dv.

    S_k = G W^T S_k+1 W G + diag(A''(z) df/dv) with G = diag(A'(z))
    """
    S = W_above.T @ S_above @ W_above
    if layer.slope is None:
        return S
    S = layer.slope[:, :, None] * S * layer.slope[:, None, :]
    index = np.arange(S.shape[1])
    S[:, index, index] += bar * layer.second_derivative
    return S


def variable_rates(direction, gradient, diagonal, sigma):
    """Table 2: the rate of every parameter, (P,), each from its own model along its own entry of
    the direction.
    """
    d = direction.astype(np.float64)
    return step_length(d * gradient, diagonal * d**2, np.abs(d), sigma)
