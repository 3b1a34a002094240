"""The network as the paper writes it, back-propagation, and Eq. (4a)-(4c), instance by instance.

    h_i^t = sigma(W^t h_i^{t-1} + b^t),  t = 1 .. k - 1,        h_i^k = W^k h_i^{k-1} + b^k

Arrays have a row, or a matrix, for each of the S instances; xi_i is the loss of one.
"""

from typing import NamedTuple

import numpy as np

from ...nets import Activation, Chain, Linear
from ...nets.rules import LayerRules

# -- back-propagation ------------------------------------------------------------------------------


def total_loss(loss, outputs, y):
    """sum_i xi(h_i^k | y_i), which training minimises; (9), and all that runs, has the mean."""
    return np.sum(loss.value(outputs, y))


def bias_gradient_below(W, g, dh):
    """grad_{b^{t-1}} xi_i = diag(h'_i) W^tT grad_{b^t} xi_i, (S, m)"""
    return dh * (g @ W)


def weight_gradient(g, h):
    """grad_{W^t} xi_i = grad_{b^t} xi_i (x) h_i^T, (S, n, m)"""
    return g[:, :, None] * h[:, None, :]


# -- Hessians --------------------------------------------------------------------------------------


def eq_4a_output_hessian(loss, outputs, y):
    """Eq. (4a): Hess_{b^k} xi_i = Hess_{h_i^k} xi_i, (S, C, C), in the logits."""
    return loss.hessian(outputs, y)


def eq_4b_hidden_hessian(W, H, h_bar, dh, ddh):
    """Eq. (4b): diag(h'_i) W^T Hess_{b^t} xi_i W diag(h'_i) + diag(h''_i (.) h_bar_i), (S, m, m)

    H (S, n, n) is Hess_{b^t} xi_i, and h_bar_i = W^T grad_{b^t} xi_i, h', h'' are (S, m). The print
    has diag(h'') (.) (W^T g), a matrix times a vector.
    """
    return plus_diagonal(gauss_newton_hessian(W, H, dh), ddh * h_bar)


def gauss_newton_hessian(W, H, dh):
    """Eq. (4b) without its second term: diag(h'_i) W^T H_i W diag(h'_i), (S, m, m)"""
    return dh[:, :, None] * (W.T @ H @ W) * dh[:, None, :]


def eq_4c_weight_hessian(h, H):
    """Eq. (4c): Hess_{W^t} xi_i = (h_i h_i^T) (x) Hess_{b^t} xi_i, (n m, n m), over Vec(W^t).

    Of one instance: h (m,), H (n, n). Vec puts the columns of W one below the other.
    """
    return np.kron(np.outer(h, h), H)


def plus_diagonal(M, d):
    """M + diag(d), for M (..., n, n), which is changed, and d (..., n) or a number."""
    i = np.arange(M.shape[-1])
    M[..., i, i] += d
    return M


def bias_hessians(layers, H):
    """Eq. (4a), (4b): Hess_{b^t} xi_i (S, n_t, n_t), t = 1 .. k, from H (S, C, C) of (4a)."""
    return downwards(layers, H, exact_step)


def exact_step(layer, H):
    """Eq. (4b) from layer t to t - 1."""
    return eq_4b_hidden_hessian(layer.W, H, layer.h_bar, layer.dh, layer.ddh)


# -- the network, layer by layer -------------------------------------------------------------------

kind_of = LayerRules("EA-CG")  # TypeError for any other layer, or one whose passes are its own
for kind in (Linear, Activation, Chain):
    kind_of.register(kind)(kind)


class Layer(NamedTuple):
    """Layer t of the paper with a batch: W^t, and the sigma between it and layer t - 1."""

    W: np.ndarray  # (n, m)
    h: np.ndarray  # (S, m)  h_i^{t-1}, its inputs
    g: np.ndarray  # (S, n)  grad_{b^t} xi_i
    h_bar: np.ndarray  # (S, m)  W^tT grad_{b^t} xi_i
    dh: np.ndarray  # (S, m)  h_i^{(t-1)'}
    ddh: np.ndarray  # (S, m)  h_i^{(t-1)''}
    where: slice | None  # of its parameters in theta; None for W = I, which only carries a sigma

    def pieces(self, vector):
        """The parts of a vector (P,) for W^t (n, m) and, if there is one, b^t (n,), as views; none
        of a layer that is not trained.
        """
        piece, size = vector[self.where], self.W.size
        if not len(piece):
            return []
        weights = piece[:size].reshape(self.W.shape)
        return [weights, piece[size:]] if len(piece) > size else [weights]

    def part(self, rows):
        """The same for some of the instances."""
        return Layer(self.W, *(a if a is None else a[rows] for a in self[1:6]), self.where)


def layers_of(evaluation, deltas=None):
    """Layers t = 1 .. k of an evaluated network.

    Where no sigma stands between two linear layers, sigma(z) = z does; where no linear layer
    follows a sigma, as at the outputs, one with W = I does. `deltas` are gradients of the layers'
    outputs other than those of the evaluation's loss.
    """
    evaluation.require_current()
    deltas = evaluation.deltas if deltas is None else deltas
    layers, sigma = [], None
    for own, saved, bar, where in unfolded(evaluation.network.chain, evaluation.saved, deltas):
        if isinstance(own, Linear):
            if sigma is None:
                sigma = identity(saved.input) if layers else (None, None, None)
            layers.append(Layer(own.weight, saved.input, bar, *sigma, where))
            sigma = None
        else:
            if sigma is not None:
                layers.append(unit_layer(*sigma))
            sigma = bar, saved.slope, saved.curvature
    return layers if sigma is None else [*layers, unit_layer(*sigma)]


def unfolded(chain, saved, deltas, start=0):
    """(layer, what it saved, gradients of its output, place in theta), chains taken apart."""
    found = []
    for layer, its_saved, bar, where in zip(chain.layers, saved, deltas, chain.slices):
        if kind_of(layer) is Chain:
            inner = layer.output_gradients(its_saved, bar)
            found += unfolded(layer, its_saved, inner, start + where.start)
        else:
            found.append((layer, its_saved, bar, slice(start + where.start, start + where.stop)))
    return found


def identity(h):
    """h_bar, h' and h'' of sigma(z) = z: h_bar only meets h'' = 0."""
    return np.zeros_like(h), np.ones_like(h), np.zeros_like(h)


def unit_layer(h_bar, dh, ddh):
    """W = I above a sigma, without parameters."""
    return Layer(np.eye(dh.shape[1], dtype=dh.dtype), None, None, h_bar, dh, ddh, None)


def numbered(layers):
    """The layers that the network has, without any W = I."""
    return [layer for layer in layers if layer.where is not None]


def downwards(layers, top, step):
    """[M^1 .. M^k] with M^k = top and M^{t-1} = step(layer t, M^t)."""
    M = [top]
    for layer in layers[:0:-1]:
        M.append(step(layer, M[-1]))
    return [one for one, layer in zip(M[::-1], layers) if layer.where is not None]


MAX_BYTES = 2**28  # of the arrays with one matrix an instance


def mean_of_instances(layers, top, step, max_bytes=MAX_BYTES):
    """E_i of what `step` carries down instance by instance: [(n_t, n_t), t = 1 .. k].

    The batch is taken in parts: ``top(rows)`` gives the matrices (S', C, C) of some instances, and
    all that are held at once take about `max_bytes`.
    """
    samples, widest = len(numbered(layers)[0].h), max(len(layer.W) for layer in layers)
    size = max(1, int(max_bytes) // (4 * widest**2 * layers[0].W.itemsize))
    parts = [slice(start, start + size) for start in range(0, samples, size)]
    sums = [[M.sum(axis=0) for M in downwards([layer.part(rows) for layer in layers], top(rows),
                                               step)] for rows in parts]
    return [sum(of_parts) / samples for of_parts in zip(*sums)]
