"""Laplace's approximation with the curvature of a layer as a Kronecker product, Eq. (8c).

With A (x) B in the paper's order, N samples and a prior N(0, I / tau), a layer's precision is

    Lambda = N / s^2 A (x) B + tau I    (N / s^4 for the empirical Fisher matrix)

and with A = U diag(a) U^T, B = V diag(b) V^T it is exact, without the damping of Eq. (12), that

    Lambda^p vec(G) = vec(V [(V^T G U) (N / s^2 b a^T + tau)^p] U^T),

powers and product entry by entry, G (n, m) of the shape of the weights. Where inputs are wider than
the batch, U (m, S) has the eigenvectors of their span alone; across it Lambda is tau I, which adds
tau^p (G - G U U^T).
"""

import numpy as np

from ...checks import boolean
from ...checks.randomness import generator
from ...exact.spectra.posterior import Posterior, checked_precisions, data_weight
from .eq_04_hessian import layers_of, numbered
from .eq_05_07_expectation import ehht
from .matrix import parts
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
    blocks = [Block(places, X, B, weight, tau[layer.where.start])
              for layer, B in zip(numbered(layers), matrices) for places, X in parts(layer, joint)]
    return Kronecker(network, loss, x, y, tau, s2, blocks)


class Kronecker(Posterior):
    """Lambda of blocks, one or two a layer; made by :func:`posterior`."""

    def __init__(self, network, loss, x, y, tau, s2, blocks):
        super().__init__(network, loss, x, y, slice(0, network.size), tau, s2)
        self._blocks = blocks
        self.log_determinant = float(sum(block.log_determinant for block in blocks))

    def _inverse(self, V):
        return self._power(V, -1.0)

    def _root(self, Z):
        return self._power(Z, -0.5)

    def _power(self, V, exponent):
        """Lambda^exponent V for V (P, K)."""
        result = np.empty_like(V)
        for block in self._blocks:
            G = np.moveaxis(V[block.places], -1, 0)
            result[block.places] = np.moveaxis(block.power(G, exponent), 0, -1)
        return result


class Block:
    """Lambda over weights that stand at `places` (n, m) of theta and have inputs X (S, m), by
    eigenvectors; `values` (n, m) or (n, S) are its eigenvalues N / s^2 b_i a_j + tau in their span.
    """

    def __init__(self, places, X, B, weight, tau):
        self.places, self.tau = places, tau
        a, self.U = _eigenvectors(X.astype(np.float64))
        b, self.V = np.linalg.eigh((B + B.T).astype(np.float64) / 2)
        a, b = np.maximum(a, 0), np.maximum(b, 0)  # they are, but for rounding
        self.values = weight * b[:, None] * a + tau
        across = len(b) * (len(self.U) - len(a))
        self.log_determinant = np.sum(np.log(self.values)) + across * np.log(tau)

    def power(self, G, exponent):
        """Lambda^exponent of G (K, n, m)."""
        GU = G @ self.U
        inside = self.V @ (self.V.T @ GU * self.values**exponent) @ self.U.T
        if self.U.shape[0] == self.U.shape[1]:
            return inside
        return inside + (G - GU @ self.U.T) * self.tau**exponent


def _eigenvectors(X):
    """Eigenvalues (r,) and eigenvectors (m, r) of E[h h^T] for inputs X (S, m), r = min(S, m): of
    wider inputs those of their span.
    """
    if X.shape[1] <= len(X):
        return np.linalg.eigh(ehht(X))
    Q, R = np.linalg.qr(X.T / np.sqrt(len(X)))
    a, turn = np.linalg.eigh(R @ R.T)
    return a, Q @ turn
