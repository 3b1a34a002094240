"""Laplace's approximation with the curvature of a layer as a Kronecker product, Eq. (8c).

With A (x) B in the paper's order, N samples and a prior N(0, I / tau), a layer's precision is

    Lambda = N / s^2 A (x) B + tau I    (N / s^4 for the empirical Fisher matrix)

and with A = U diag(a) U^T, B = V diag(b) V^T it is exact, without the damping of Eq. (12), that

    Lambda^-1 vec(G) = vec(V [(V^T G U) / (N / s^2 b a^T + tau)] U^T),

division entry by entry, G (n, m) of the shape of the weights. Where inputs are wider than the
batch, U (m, S) has the eigenvectors of their span alone, and across it Lambda is tau I:

    Lambda^-1 vec(G) = vec(V [(V^T G U) / (N / s^2 b a^T + tau)] U^T + (G - G U U^T) / tau).
"""

import numpy as np

from ...checks import boolean
from ...checks.randomness import generator
from ...exact.spectra.posterior import Posterior, checked_precisions, data_weight
from .eq_04_hessian import layers_of, numbered
from .eq_05_07_expectation import ehht
from .method import check_real_network, curvatures_at, known_curvature


def posterior(network, loss, x, y, prior_precision, curvature="gauss-newton", noise_variance=1.0,
              joint=True, rng=None):
    """As :func:`secondorder.exact.posterior`, with Kronecker factors for the block of every layer.

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss, x, y
        All data: N samples, not a batch of them.
    prior_precision : float, sequence or dict
        tau, positive; of each layer its own, as there.
    curvature : str
        A curvature of :func:`~secondorder.papers.eacg.bias_curvatures` that is positive
        semidefinite. KFRA's ``"gauss-newton"``; KFAC's ``"fisher-exact"``; ``"pch-1"``.
    noise_variance : float
        s^2 of normal outputs, for `SquaredError`; else 1.
    joint : bool
        Whether a layer's weights and bias are one matrix, with inputs [h; 1]; else they are
        independent, as KFAC is often programmed.
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``.

    Returns
    -------
    Kronecker
        With the methods of :class:`~secondorder.exact.Posterior`.

    Raises
    ------
    ValueError, TypeError, FloatingPointError
        As :func:`~secondorder.papers.eacg.matrix`; a curvature that may be indefinite.

    Examples
    --------
    With one linear layer and squared error nothing is approximated.

    >>> import numpy as np, secondorder as so
    >>> net, rng = so.mlp([3, 2], rng=0), np.random.default_rng(0)
    >>> case = net, so.SquaredError(), rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), 0.5
    >>> kronecker, full = so.eacg.posterior(*case), so.exact.posterior(*case)
    >>> bool(np.isclose(kronecker.log_evidence(), full.log_evidence()))
    True
    """
    known_curvature(curvature)
    check_real_network(network)
    tau, s2 = checked_precisions(network, loss, prior_precision, noise_variance)
    joint, rng = boolean(joint, "joint"), generator(rng)
    evaluation = network.evaluate(loss, x, y)
    layers = layers_of(evaluation)
    matrices = curvatures_at(evaluation, layers, curvature, rng)
    weight = data_weight(curvature, evaluation.samples, s2)
    blocks = [block for layer, B in zip(numbered(layers), matrices) if layer.trained
              for block in _blocks(layer, B, weight, tau[layer.where.start], joint)]
    return Kronecker(network, loss, x, y, tau, s2, blocks)


class Kronecker(Posterior):
    """Lambda of blocks, a layer each; made by :func:`posterior`."""

    def __init__(self, network, loss, x, y, tau, s2, blocks):
        super().__init__(network, loss, x, y, slice(0, network.size), tau, s2)
        self._blocks = blocks
        self.log_determinant = float(sum(block.log_determinant for block in blocks))

    def _inverse(self, V):
        return self._each(V, lambda block, G: block.power(G, -1.0))

    def _root(self, Z):
        return self._each(Z, lambda block, G: block.root(G))

    def _each(self, V, function):
        """A function of the [W b] (K, n, m) of every block, for the columns of V (P, K)."""
        result = np.empty_like(V)
        for block in self._blocks:
            result[block.where] = block.flat(function(block, block.matrices(V[block.where])))
        return result


def _blocks(layer, B, weight, tau, joint):
    """One block over [W b], or one over W and one over b: an input that is always 1."""
    X, where, own = layer.h, layer.where, layer.own
    ones = np.ones_like(X[:, :1])
    if own.bias is None:
        return [Block(where, X, B, weight, tau, False)]
    if joint:
        return [Block(where, np.concatenate([X, ones], axis=1), B, weight, tau, True)]
    middle = where.start + own.weight.size
    return [Block(slice(where.start, middle), X, B, weight, tau, False),
            Block(slice(middle, where.stop), ones, B, weight, tau, False)]


def _eigenvectors(X):
    """Eigenvalues (r,) and eigenvectors (m, r) of E[h h^T] for inputs X (S, m), r = min(S, m): of
    wider inputs those of their span.
    """
    if X.shape[1] <= len(X):
        return np.linalg.eigh(ehht(X))
    Q, R = np.linalg.qr(X.T / np.sqrt(len(X)))
    a, turn = np.linalg.eigh(R @ R.T)
    return a, Q @ turn


class Block:
    """Lambda over the weights (n, m) of inputs X (S, m), by eigenvectors; with `has_bias` the last
    of these inputs is 1, and its weights stand behind all others in theta.

    Attributes
    ----------
    where : slice
    values : (n, m) or (n, S) array
        Eigenvalues of Lambda, N / s^2 b_i a_j + tau, in the inputs' span.
    log_determinant : float
        Of Lambda.
    """

    def __init__(self, where, X, B, weight, tau, has_bias):
        self.where, self.tau, self.has_bias = where, tau, has_bias
        a, self.U = _eigenvectors(X.astype(np.float64))
        b, self.V = np.linalg.eigh((B + B.T).astype(np.float64) / 2)
        a, b = np.maximum(a, 0), np.maximum(b, 0)  # they are, but for rounding
        self.values = weight * b[:, None] * a + tau
        self.shape = len(b), len(self.U)
        across = len(b) * (len(self.U) - len(a))
        self.log_determinant = np.sum(np.log(self.values)) + across * np.log(tau)

    def power(self, G, exponent):
        """Lambda^exponent of G (K, n, m): V [(V^T G U) * values^exponent] U^T, and across the span
        (G - G U U^T) * tau^exponent.
        """
        GU = G @ self.U
        inside = self.V @ (self.V.T @ GU * self.values**exponent) @ self.U.T
        if self.U.shape[0] == self.U.shape[1]:
            return inside
        return inside + (G - GU @ self.U.T) * self.tau**exponent

    def root(self, Z):
        """L Z with L L^T = Lambda^-1: V [Z * values^(-1/2)] U^T, or Lambda^(-1/2) where the span is
        not all.
        """
        if self.U.shape[0] > self.U.shape[1]:
            return self.power(Z, -0.5)
        return self.V @ (Z * self.values**-0.5) @ self.U.T

    def matrices(self, columns):
        """[W b] (K, n, m) from columns (size, K): W row by row, then b."""
        rows, (n, m) = columns.T, self.shape
        if not self.has_bias:
            return rows.reshape(-1, n, m)
        weights = n * (m - 1)
        W, b = rows[:, :weights].reshape(-1, n, m - 1), rows[:, weights:]
        return np.concatenate([W, b[:, :, None]], axis=2)

    def flat(self, matrices):
        """Columns (size, K) from [W b] (K, n, m)."""
        if not self.has_bias:
            return matrices.reshape(len(matrices), -1).T
        W, b = matrices[:, :, :-1], matrices[:, :, -1]
        return np.concatenate([W.reshape(len(W), -1), b], axis=1).T
