"""The whole Hessian as what (78)-(80) make of it, outer products, for a batch; and one sample's, as
an object that is never formed.

Count the output as layer n + 1. With v the inputs of a layer (1 behind them for a bias), f_z the
gradient before its activation and dz_q/dz_k = w^(q) eta^(q-1,k), (78)-(80) are, for k <= r,

    block(r, k)_stij = M^(r,k)_si v^(r-1)_t v^(k-1)_j + f_z^(r)_s eta^(r-1,k)_ti v^(k-1)_j,
    M^(r,k) = sum over q >= r of (dz_q/dz_r)^T B_q dz_q/dz_k,

where B_q is A'' f_v on a diagonal, f_pp in the output; the second term is absent for k = r.
"""

import numpy as np

from ...checks import check_l2, require_bytes
from ...exact.curvature import check_vector, evaluate
from .layers import fcnn

PART = 2**22  # numbers in the factors that are held at a time


class Factors:
    """What the blocks of some samples are made of; layers are counted from 0.

    layers : as :func:`~.layers.fcnn` has them;  v : list of (S, m_k);  f_z : list of (S, d_k);
    eta : (S, m_r, d_k) by (r, k), r > k, with a row of zeros for a bias;  M : (S, d_r, d_k) by
    (r, k), r >= k.
    """

    def __init__(self, layers, f_pp):
        self.layers, self.eta, self.M, dz = layers, {}, {}, {}
        self.v = [with_ones(layer) for layer in layers]
        self.f_z = [layer.f_z for layer in layers]
        for k, layer in enumerate(layers):
            dz[k, k] = np.broadcast_to(np.eye(layer.f_z.shape[1], dtype=f_pp.dtype),
                                       (len(f_pp), *2 * layer.f_z.shape[1:]))
            for r in range(k + 1, len(layers)):
                eta = layers[r - 1].slope[:, :, None] * dz[r - 1, k]
                dz[r, k] = layers[r].own.weight @ eta
                self.eta[r, k] = np.pad(eta, ((0, 0), (0, self.v[r].shape[1] - eta.shape[1]),
                                              (0, 0)))
        last = len(layers) - 1
        for r, k in dz:
            M = dz[last, r].transpose(0, 2, 1) @ f_pp @ dz[last, k]
            for q in range(r, last):
                B = layers[q].f_v * layers[q].bend
                M += (dz[q, r] * B[:, :, None]).transpose(0, 2, 1) @ dz[q, k]
            self.M[r, k] = M


def with_ones(layer):
    """What comes into a layer (S, m), with a 1 behind it where the layer has a bias."""
    v = layer.v
    return v if layer.own.bias is None else np.concatenate([v, np.ones_like(v[:, :1])], axis=1)


def flat_order(layer):
    """Where the entries of a layer's weights and biases behind them, (d, m), stand in theta."""
    d, m = layer.own.weight.shape
    place = np.arange(d * (m + (layer.own.bias is not None))).reshape(d, -1)
    return np.concatenate([place[:, :m].ravel(), place[:, m:].ravel()])


def hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Eq. (78)-(80): exact Hessian of the objective, (P, P), assembled from outer products.

    Parameters
    ----------
    network : Network
        A chain of `Linear` and `Activation` layers.
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    l2 : float
        Adds l2 * I.
    max_bytes : int
        Refuse, with `MemoryError`, a matrix larger than this.

    Returns
    -------
    (P, P) array

    Raises
    ------
    MemoryError
        With the size, above `max_bytes`.
    TypeError
        For a layer that is not fully connected; it is named.
    ValueError, FloatingPointError
        Bad arguments; something that is not finite.
    """
    l2, evaluation = check_l2(l2), evaluate(network, loss, x, y)
    require_bytes("the Hessian", (network.size, network.size), network.dtype, max_bytes)
    H = np.zeros((network.size, network.size), dtype=network.dtype)
    layers, f_pp = fcnn(evaluation)
    size = max(1, PART // sum(max(layer.own.weight.shape) for layer in layers) ** 2)
    for start in range(0, len(f_pp), size):
        rows = slice(start, start + size)
        add_blocks(H, Factors([layer.part(rows) for layer in layers], f_pp[rows]))
    H /= len(f_pp)
    H[np.diag_indices_from(H)] += l2
    return network.require_finite(H, "the Hessian")


def add_blocks(H, of):
    """Add the sum over samples of every block, and of its mirror image, to H."""
    for (r, k), M in of.M.items():
        if of.layers[r].trained and of.layers[k].trained:
            v_r, v_k = of.v[r], of.v[k]
            block = summed(M, v_r[:, :, None] * v_k[:, None, :]).transpose(0, 2, 1, 3)
            if r > k:
                second = summed(of.f_z[r][:, :, None] * v_k[:, None, :], of.eta[r, k])
                block = block + second.transpose(0, 2, 3, 1)
            flat = block.reshape(block.shape[0] * block.shape[1], -1)[
                np.ix_(flat_order(of.layers[r]), flat_order(of.layers[k]))]
            rows, columns = of.layers[r].where, of.layers[k].where
            H[rows, columns] += flat
            if r > k:
                H[columns, rows] += flat.T


def summed(A, B):
    """sum_s A[s, a, b] B[s, c, d], indices a, b, c, d."""
    return (A.reshape(len(A), -1).T @ B.reshape(len(B), -1)).reshape(A.shape[1:] + B.shape[1:])


class SampleHessian:
    """The Hessian of one sample's loss as the outer products that it is a sum of; the matrix is
    made on request only.

    Let B map a direction with pieces P_k (d_k, m_k) to the vectors P_k v_k and P_k^T f_z_k. Then
    H = B^T K B: the first term of a block is M_rk between P_r v_r and P_k v_k, the second
    eta^(r-1,k) between P_r^T f_z_r and P_k v_k. Taking orthonormal bases of the rows of B turns K
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
        of = Factors(*fcnn(evaluation))
        self._layers = {k: layer for k, layer in enumerate(of.layers) if layer.trained}
        self.v = {k: of.v[k][0].copy() for k in self._layers}
        self.f_z = {k: of.f_z[k][0].copy() for k in self._layers}
        pairs = [(r, k) for r in self._layers for k in self._layers if k <= r]
        self.M = {pair: of.M[pair][0].copy() for pair in pairs}
        self.eta = {pair: of.eta[pair][0].copy() for pair in pairs if pair[0] > pair[1]}

    @property
    def nbytes(self):
        parts = (self.v, self.f_z, self.M, self.eta)
        return sum(array.nbytes for part in parts for array in part.values())

    @property
    def dense_nbytes(self):
        return self.shape[0] ** 2 * self.dtype.itemsize

    def _flat(self, blocks):
        """A flat vector (P,) from a block (d_k, m_k) for every layer."""
        vector = np.empty(self.shape[0], dtype=self.dtype)
        for k, block in blocks.items():
            vector[self._layers[k].where] = block.ravel()[flat_order(self._layers[k])]
        return vector

    def __matmul__(self, direction):
        """H times a vector (P,)."""
        direction, pieces = check_vector(self.network, direction), {}
        for k, layer in self._layers.items():
            phi = np.empty((len(self.f_z[k]), len(self.v[k])), dtype=direction.dtype)
            phi.ravel()[flat_order(layer)] = direction[layer.where]
            pieces[k] = phi
        right = {k: phi @ self.v[k] for k, phi in pieces.items()}
        left = {k: self.f_z[k] @ phi for k, phi in pieces.items()}
        of_v = {k: np.zeros_like(self.f_z[k]) for k in pieces}  # what v_k is multiplied by
        of_f_z = {k: np.zeros_like(self.v[k]) for k in pieces}
        for (r, k), M in self.M.items():
            of_v[r] += M @ right[k]
            if r > k:
                of_v[k] += M.T @ right[r] + self.eta[r, k].T @ left[r]
                of_f_z[r] += self.eta[r, k] @ right[k]
        return self._flat({k: np.outer(of_v[k], self.v[k]) + np.outer(self.f_z[k], of_f_z[k])
                           for k in pieces})

    def diagonal(self):
        """The diagonal, (P,): M_kk[i, i] v_k[j]^2."""
        return self._flat({k: np.outer(np.diag(self.M[k, k]), self.v[k] ** 2)
                           for k in self._layers})

    def dense(self, max_bytes=2**30):
        """The matrix, (P, P); MemoryError with the size above `max_bytes`."""
        require_bytes("the Hessian", self.shape, self.dtype, max_bytes)
        return np.stack([self @ e for e in np.eye(self.shape[0], dtype=self.dtype)], axis=1)

    def compressed(self):
        """A small symmetric matrix with all the eigenvalues of H that are not zero.

        Layer k contributes e_s v^T and f_z e_t^T, d_k + m_k matrices that span d_k + m_k - 1
        dimensions. In the basis e_s v^T / |v| and f_z n_c^T / |f_z|, with n_c orthonormal and
        orthogonal to v, the first are |v| e_s and the second (v_t / |v|) f_z and |f_z| n_c[t].
        """
        bases = {}
        for k in self._layers:
            v, f_z, d = self.v[k], self.f_z[k], len(self.f_z[k])
            length = np.linalg.norm(v)
            unit = v / length if length else np.eye(len(v))[0]
            normal = np.linalg.svd(unit[None])[2][1:]  # (m - 1, m)
            bases[k] = (np.concatenate([length * np.eye(d), np.zeros((len(normal), d))]),
                        np.concatenate([np.outer(f_z, unit), np.linalg.norm(f_z) * normal]))

        def between(r, k):
            if r < k:
                return between(k, r).T
            of_v, of_f_z = bases[r]
            if r == k:
                return of_v @ self.M[r, k] @ of_v.T
            return (of_v @ self.M[r, k] + of_f_z @ self.eta[r, k]) @ bases[k][0].T

        return np.block([[between(r, k) for k in self._layers] for r in self._layers])

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


def generic_rank(active, classes):
    """Rank of a sample's Hessian for ReLU and cross-entropy without biases, as a rule.

    a_1 + sum over k = 2 .. n of (a_k + a_k-1 - 1) + (C - 1 + a_n - 1), with a_k active units in
    layer k (the sequence `active`) and C classes: f_pp has rank C - 1.
    """
    inner = sum(above + below - 1 for above, below in zip(active[1:], active))
    return active[0] + inner + classes - 1 + active[-1] - 1
