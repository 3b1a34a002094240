"""The Hessian of one sample as an object that is never formed, and how large its rank is."""

import numpy as np

from ...checks import require_bytes
from ...exact.curvature import check_vector, evaluate
from .factors import factors_at, flat_order
from .rules import hidden_layers


class SampleHessian:
    """The Hessian of one sample's loss as the outer products that it is a sum of; the matrix is
    made on request only.

    Let B map a direction with pieces P_k (d_k, m_k) to the vectors P_k v_k and P_k^T delta_k. Then
    H = B^T K B: the first term of a block is M_rk between P_r v_r and P_k v_k, the second
    eta^(r-1,k) between P_r^T delta_r and P_k v_k. Taking orthonormal bases of the rows of B turns K
    into a small matrix with the eigenvalues of H that are not zero.

    Parameters
    ----------
    network : Network
        A chain of `Linear` and `Activation` layers.
    loss : Loss
    x : (1, *input_shape) array
    y : the target of that sample

    Attributes
    ----------
    shape : (int, int)
    nbytes : int
        Of the factors that are stored.
    dense_nbytes : int
        What the matrix would need.
    """

    def __init__(self, network, loss, x, y):
        evaluation = evaluate(network, loss, x, y)
        if evaluation.samples != 1:
            raise ValueError(f"x holds {evaluation.samples} samples, expected one: each has its "
                             "own factors")
        self.network, self.shape, self.dtype = network, 2 * (network.size,), network.dtype
        factors, places = factors_at(evaluation), hidden_layers(evaluation)[1]
        self._trained = [k for k, layer in enumerate(factors.layers) if layer.linear.size]
        self._slices = {k: network.slices[places[k]] for k in self._trained}
        widths = {k: factors.v[k].shape[1] for k in self._trained}
        self._orders = {k: flat_order(factors.layers[k], widths[k]) for k in self._trained}
        self.v = {k: factors.v[k][0].copy() for k in self._trained}
        self.delta = {k: factors.delta[k][0].copy() for k in self._trained}
        pairs = [(r, k) for r in self._trained for k in self._trained if k <= r]
        self.core = {pair: factors.core[pair][0].copy() for pair in pairs}
        self.eta = {pair: factors.eta[pair][0].copy() for pair in pairs if pair[0] > pair[1]}

    @property
    def nbytes(self):
        parts = (self.v, self.delta, self.core, self.eta)
        return sum(array.nbytes for part in parts for array in part.values())

    @property
    def dense_nbytes(self):
        return self.shape[0] ** 2 * self.dtype.itemsize

    def _pieces(self, direction):
        """P_k (d_k, m_k) of a flat direction."""
        pieces = {}
        for k in self._trained:
            P = np.empty(len(self._orders[k]), dtype=direction.dtype)
            P[self._orders[k]] = direction[self._slices[k]]
            pieces[k] = P.reshape(len(self.delta[k]), len(self.v[k]))
        return pieces

    def __matmul__(self, direction):
        """H times a vector (P,)."""
        pieces = self._pieces(check_vector(self.network, direction))
        right = {k: P @ self.v[k] for k, P in pieces.items()}
        left = {k: self.delta[k] @ P for k, P in pieces.items()}
        of_v = {k: np.zeros_like(self.delta[k]) for k in self._trained}  # coefficients of v_k
        of_delta = {k: np.zeros_like(self.v[k]) for k in self._trained}  # coefficients of delta_k
        for (r, k), M in self.core.items():
            of_v[r] += M @ right[k]
            if r > k:
                of_v[k] += M.T @ right[r] + self.eta[r, k].T @ left[r]
                of_delta[r] += self.eta[r, k] @ right[k]
        product = np.empty(self.shape[0], dtype=self.dtype)
        for k in self._trained:
            block = np.outer(of_v[k], self.v[k]) + np.outer(self.delta[k], of_delta[k])
            product[self._slices[k]] = block.ravel()[self._orders[k]]
        return product

    def diagonal(self):
        """The diagonal, (P,): S_k[i, i] v_k[j]^2, with S_k = M_kk the Hessian in the pre-activation
        of layer k.
        """
        diagonal = np.empty(self.shape[0], dtype=self.dtype)
        for k in self._trained:
            block = np.outer(np.diag(self.core[k, k]), self.v[k] ** 2)
            diagonal[self._slices[k]] = block.ravel()[self._orders[k]]
        return diagonal

    def dense(self, max_bytes=2**30):
        """The matrix, (P, P); MemoryError with the size above `max_bytes`."""
        require_bytes("the Hessian", self.shape, self.dtype, max_bytes)
        columns = [self @ e for e in np.eye(self.shape[0], dtype=self.dtype)]
        return np.stack(columns, axis=1)

    def compressed(self):
        """A small symmetric matrix with all the eigenvalues of H that are not zero.

        Layer k contributes e_s v^T and delta e_t^T, d_k + m_k matrices that span d_k + m_k - 1
        dimensions. In the basis e_s v^T / |v| and delta n_c^T / |delta|, with n_c orthonormal and
        orthogonal to v, the first are |v| e_s and the second (v_t / |v|) delta and |delta| n_c[t].
        """
        bases = {}
        for k in self._trained:
            v, delta, d = self.v[k], self.delta[k], len(self.delta[k])
            length = np.linalg.norm(v)
            unit = v / length if length else np.eye(len(v))[0]
            normal = np.linalg.svd(unit[None])[2][1:]  # (m - 1, m)
            bases[k] = (np.concatenate([length * np.eye(d), np.zeros((len(normal), d))]),
                        np.concatenate([np.outer(delta, unit), np.linalg.norm(delta) * normal]))
        rows = ([self._between(bases, r, k) for k in self._trained] for r in self._trained)
        return np.block(list(rows))

    def _between(self, bases, r, k):
        if r < k:
            return self._between(bases, k, r).T
        of_v, of_delta = bases[r]
        K = self.core[r, k]
        if r == k:
            return of_v @ K @ of_v.T
        return (of_v @ K + of_delta @ self.eta[r, k]) @ bases[k][0].T

    def eigenvalues(self):
        """All eigenvalues that may differ from zero, ascending, from the small matrix."""
        return np.linalg.eigvalsh(self.compressed())

    def rank(self, tolerance=None):
        """Number of eigenvalues above `tolerance` times the largest (default: its order times the
        precision).
        """
        values = np.abs(self.eigenvalues())
        tolerance = len(values) * np.finfo(self.dtype).eps if tolerance is None else tolerance
        return int(np.count_nonzero(values > tolerance * values.max()))

    def __repr__(self):
        sizes = f"{self.nbytes:,} bytes of factors, dense {self.dense_nbytes:,}"
        return f"SampleHessian{self.shape}  # {sizes}"


def rank_bound(widths):
    """The rank of a sample's Hessian without biases is at most this, for any activation and loss.

    d_1 + sum over k = 2, ..., n + 1 of (d_k + d_k-1 - 1)

    Parameters
    ----------
    widths : sequence of int
        d_1, ..., d_n+1: of the hidden layers and the output.
    """
    return widths[0] + sum(above + below - 1 for above, below in zip(widths[1:], widths[:-1]))


def generic_rank(active, classes):
    """Rank of a sample's Hessian for ReLU and cross-entropy without biases, as a rule.

    a_1 + sum over k = 2..n of (a_k + a_k-1 - 1) + (C - 1 + a_n - 1), with a_k the number of active
    units of layer k.

    Parameters
    ----------
    active : sequence of int
        a_1, ..., a_n.
    classes : int
        C.
    """
    inner = sum(above + below - 1 for above, below in zip(active[1:], active[:-1]))
    return active[0] + inner + classes - 1 + active[-1] - 1
