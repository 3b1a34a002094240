"""Exact curvature by layers, instance by instance, and its mean: Eq. (4a)-(4c), (5).

H_i^t (n_t, n_t) is the Hessian of instance i's loss in the bias of layer t, which is the Hessian in
z_i^t; the Hessian in the weights follows from it. Arrays hold one matrix an instance, (S, n_t,
n_t).
"""

import numpy as np

from .pos_eig import pos_eig
from .products import mean_outer, symmetric
from .rules import downwards, rules

MAX_BYTES = 2**28  # of the arrays with one matrix an instance


def output_hessians(loss, p, y):
    """Eq. (4a): H_i^k, the Hessian of the loss in the outputs p (S, n_k), of classes the logits."""
    return loss.hessian(p, y)


def block_diagonal(blocks):
    """diag(E_i[Hess_W1], E_i[Hess_b1], ..., E_i[Hess_bk]): the blocks of weights and biases."""
    ends = np.cumsum([len(block) for block in blocks])
    matrix = np.zeros((ends[-1], ends[-1]))
    for block, end in zip(blocks, ends):
        matrix[end - len(block):end, end - len(block):end] = block
    return matrix


def bias_gradients_below(W, g, slope):
    """Gradient in b^{t-1} from that in b^t: diag(h'_i) W^T g_i, (S, m)."""
    return np.einsum("sr,qr,sq->sr", slope, W, g)


def bias_gradient_entry(W, g, slope, r):
    """Supplement B (ii), corrected, entry r: [h'_i]_r [W^T]_r. g_i, (S,)."""
    return slope[:, r] * (g @ W.T[r])


def second_order_part(W, g, second_derivative, r):
    """Supplement C, Part 1, corrected: ([h''_i]_r [W^T]_r. g_i) e_r, (S, m)."""
    return (second_derivative[:, r] * (g @ W.T[r]))[:, None] * np.eye(W.shape[1])[r]


def gauss_newton_below(W, H, slope):
    """Eq. (4b) without its diagonal: diag(h'_i) W^T H_i W diag(h'_i), (S, m, m)."""
    return slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]


def hidden_hessians(W, H, g, slope, second_derivative):
    """Eq. (4b): H_i^{t-1} = diag(h'_i) W^T H_i W diag(h'_i) + diag(h''_i (.) W^T g_i), (S, m, m).

    W (n, m), H_i^t (S, n, n) and the gradients g (S, n) in the bias are those of layer t; h' and
    h'' (S, m) those of layer t - 1.
    """
    below = slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]
    index = np.arange(W.shape[1])
    below[:, index, index] += second_derivative * (g @ W)
    return below


def weight_hessian(h, H):
    """Eq. (4c): (h h^T) (x) H_i, (n m, n m), over Vec(W), the stacked columns of W (n, m)."""
    return np.kron(np.outer(h, h), H)


def bias_hessians(all_units, H):
    """Eq. (4b) for any chain of layers: H_i^t (S, n_t, n_t) of every linear layer, from the input
    up, for H_i^k (S, C, C) of (4a).
    """
    return downwards(all_units, H, exact_step)


def exact_step(unit, H):
    """Eq. (4b), one layer of it: the layer's own `input_hessian`."""
    return unit.layer.input_hessian(unit.saved, unit.delta, H)


def gauss_newton_step(unit, H):
    """Eq. (4b) without the second-order term: diag(h'_i) H_i diag(h'_i) or W^T H_i W."""
    return rules(unit.layer).carry_each(unit, H, None)


def clipped_step(unit, H):
    """Eq. (4b) with the negative entries of the diagonal dropped instance by instance, so that
    every H_i stays PSD.
    """
    return rules(unit.layer).carry_each(unit, H, 0.0)


def mean_of_instances(evaluation, all_units, top, step=exact_step, max_bytes=MAX_BYTES):
    """Mean over the batch of what `step` carries down, (n_t, n_t) for every linear layer, in parts
    of the batch. ``top(p, y)`` gives the matrices (S', C, C) of a part, and these may take about
    `max_bytes`; a part has at least one instance.
    """
    widest = max(unit.delta.shape[1] for unit in all_units)
    size = max(1, int(max_bytes) // (4 * widest**2 * evaluation.network.dtype.itemsize))
    total = None
    for start in range(0, evaluation.samples, size):
        part = slice(start, start + size)
        matrices = downwards([unit.part(part) for unit in all_units],
                             top(evaluation.outputs[part], evaluation.y[part]), step)
        sums = [H.sum(axis=0) for H in matrices]
        total = sums if total is None else [a + b for a, b in zip(total, sums)]
    return [symmetric(H / evaluation.samples) for H in total]


def mean_bias_hessians(evaluation, all_units, max_bytes=MAX_BYTES):
    """E_i[H_i^t], the exact mean, for every linear layer; see :func:`mean_of_instances`."""
    loss = evaluation.loss_function
    return mean_of_instances(evaluation, all_units, lambda p, y: output_hessians(loss, p, y),
                             exact_step, max_bytes)


def clipped_bias_hessians(evaluation, all_units, max_bytes=MAX_BYTES):
    """E_i of positive semidefinite H_i: negative curvature is dropped instance by instance, at the
    top and below.

    It is at least the exact mean in the Loewner order, layer by layer. For cross-entropy the top
    needs no correction.
    """
    loss = evaluation.loss_function

    def top(p, y):
        H = output_hessians(loss, p, y)
        return H if getattr(loss, "convex", False) else np.array([pos_eig(one, 0.0) for one in H])

    return mean_of_instances(evaluation, all_units, top, clipped_step, max_bytes)


# -- Eq. (5) ---------------------------------------------------------------------------------------


def ele_cov(X, Y):
    """Ele-Cov: covariance (1/S, not 1/(S - 1)) of X and Y (S, ...), entry by entry."""
    return ((X - X.mean(axis=0)) * (Y - Y.mean(axis=0))).mean(axis=0)


def cov_t(h, H):
    """Eq. (5), last term, (n m, n m): Ele-Cov((h h^T) (x) 1, 1 (x) H) of h (S, m), H (S, n, n)."""
    m, n = h.shape[1], H.shape[1]
    inputs = np.array([np.kron(np.outer(row, row), np.ones((n, n))) for row in h])
    outputs = np.array([np.kron(np.ones((m, m)), matrix) for matrix in H])
    return ele_cov(inputs, outputs)


def mean_weight_hessian(h, H):
    """Eq. (5): E_i[h_i h_i^T] (x) E_i[H_i] + cov-t, the exact mean of (4c), (n m, n m)."""
    return np.kron(mean_outer(h), H.mean(axis=0)) + cov_t(h, H)
