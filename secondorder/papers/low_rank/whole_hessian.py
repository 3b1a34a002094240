"""The whole Hessian as what (78)-(80) make of it, outer products.

Count the output as layer n + 1, w^(n+1) = u. With zeta of (66) and f_z the gradient of f before
a layer's activation, (78)-(80) of one sample are for k <= r

    block(r, k)_stij = (M^(r,k)_si v^(r-1)_t + f_z^(r)_s eta^(r-1,k)_ti) v^(k-1)_j,
    M^(r,k) = sum over q >= r of zeta^(q,r)^T B_q zeta^(q,k),

where B_q is A'' f_v on a diagonal, f_pp in the output, and eta^(r-1,r) = 0.
"""

import numpy as np

from ...checks import check_l2, require_bytes
from ...exact.curvature import check_vector, evaluate
from .layers import fcnn

PART = 2**22  # numbers in the factors that are held at a time


def hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Eq. (78)-(80): exact Hessian of the objective, (P, P), the mean of the samples' blocks.

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
    H = l2 * np.eye(network.size, dtype=network.dtype)
    layers, f_pp = fcnn(evaluation)
    size = max(1, PART // sum(max(layer.own.weight.shape) for layer in layers) ** 2)
    for start in range(0, len(f_pp), size):
        for where, block in Factors(layers, f_pp, slice(start, start + size)).blocks():
            H[where] += block / len(f_pp)
    return network.require_finite(H, "the Hessian")


class Factors:
    """What the blocks of some samples are made of, of all layers k that are trained.

    places : where the weights stand in theta (d_k, m_k), the biases as their last column;
    v : what comes in (S, m_k), with a 1 for the biases;  f_z : (S, d_k);
    M : M^(r,k) (S, d_r, d_k) by (r, k), k <= r;  eta : eta^(r-1,k) (S, m_r, d_k), k < r.
    """

    def __init__(self, layers, f_pp, rows=slice(None)):
        self.places, self.v, self.f_z, self.M, self.eta = {}, {}, {}, {}, {}
        layers, f_pp, eta, zeta = [layer.part(rows) for layer in layers], f_pp[rows], {}, {}
        eyes = [np.eye(layer.f_z.shape[1], dtype=f_pp.dtype) for layer in layers]
        B = [eye * (k.f_v * k.bend)[:, None, :] for eye, k in zip(eyes, layers[:-1])] + [f_pp]
        for k, eye in enumerate(eyes):
            zeta[k, k] = eye[None]
            for q in range(k + 1, len(layers)):
                eta[q, k] = layers[q - 1].slope[:, :, None] * zeta[q - 1, k]
                zeta[q, k] = layers[q].own.weight @ eta[q, k]
        for r in (r for r, layer in enumerate(layers) if layer.trained):
            ones = layers[r].own.bias is not None
            self.places[r] = place(layers[r])
            self.v[r] = np.pad(layers[r].v, ((0, 0), (0, ones)), constant_values=1)
            self.f_z[r] = layers[r].f_z
            for k in self.places:
                self.M[r, k] = sum(zeta[q, r].transpose(0, 2, 1) @ B[q] @ zeta[q, k]
                                   for q in range(r, len(layers)))
                if k < r:
                    self.eta[r, k] = np.pad(eta[r, k], ((0, 0), (0, ones), (0, 0)))

    def blocks(self):
        """Pairs of a block's place in the matrix and the block, summed over the samples."""
        for (r, k), M in self.M.items():
            rows, columns = self.places[r], self.places[k]
            block = summed(M, self.v[r][:, :, None] * self.v[k][:, None, :]).transpose(0, 2, 1, 3)
            if k < r:
                block = block + summed(self.f_z[r][:, :, None] * self.v[k][:, None, :],
                                       self.eta[r, k]).transpose(0, 2, 3, 1)
            block = block.reshape(rows.size, columns.size)
            yield np.ix_(rows.ravel(), columns.ravel()), block
            if k < r:
                yield np.ix_(columns.ravel(), rows.ravel()), block.T


def place(layer):
    """Where a layer's weights, and its biases behind them, stand in theta, (d, m)."""
    (d, m), start = layer.own.weight.shape, layer.where.start
    weights, biases = start + np.arange(d * m).reshape(d, m), start + d * m + np.arange(d)
    return weights if layer.own.bias is None else np.column_stack([weights, biases])


def summed(A, B):
    """sum_s A[s, a, b] B[s, c, d], indices a, b, c, d."""
    return (A.reshape(len(A), -1).T @ B.reshape(len(B), -1)).reshape(A.shape[1:] + B.shape[1:])


class SampleHessian:
    """The Hessian of one sample's loss as the outer products that it is a sum of; the matrix is
    made on request only.

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
    places, v, f_z, M, eta : dict
        The :class:`Factors`, without the axis of the samples.
    """

    def __init__(self, network, loss, x, y):
        evaluation = evaluate(network, loss, x, y)
        if evaluation.samples != 1:
            raise ValueError(f"x holds {evaluation.samples} samples, expected one: each has its "
                             "own factors")
        self.network, self.shape, self.dtype = network, 2 * (network.size,), network.dtype
        self.factors = Factors(*fcnn(evaluation))
        self.places = self.factors.places
        self.v, self.f_z, self.M, self.eta = (
            {at: array[0].copy() for at, array in of.items()} for of in (
                self.factors.v, self.factors.f_z, self.factors.M, self.factors.eta))

    @property
    def nbytes(self):
        parts = (self.v, self.f_z, self.M, self.eta)
        return sum(array.nbytes for part in parts for array in part.values())

    def dense(self, max_bytes=2**30):
        """The matrix, (P, P); MemoryError with the size above `max_bytes`."""
        require_bytes("the Hessian", self.shape, self.dtype, max_bytes)
        H = np.empty(self.shape, self.dtype)
        for where, block in self.factors.blocks():
            H[where] = block
        return H

    def __matmul__(self, direction):
        """H times a vector (P,)."""
        direction = check_vector(self.network, direction)
        pieces = {k: direction[place] for k, place in self.places.items()}
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
        """The diagonal, (P,): M^(k,k)_ii (v^(k-1)_j)^2."""
        return self._flat({k: np.outer(np.diag(self.M[k, k]), self.v[k] ** 2)
                           for k in self.places})

    def _flat(self, pieces):
        """A vector (P,) from a piece (d_k, m_k) for every layer."""
        vector = np.empty(self.shape[0], dtype=self.dtype)
        for k, piece in pieces.items():
            vector[self.places[k]] = piece
        return vector

    def compressed(self):
        """A small symmetric matrix with all the eigenvalues of H that are not zero.

        The rows of a block are sums of e_s v^T and f_z e_t^T, d_k + m_k matrices that span
        d_k + m_k - 1 dimensions. An orthonormal basis is e_s v^T / |v| and f_z n_c^T / |f_z|, with
        n_c orthonormal and orthogonal to v.
        """
        bases = {}
        for k, v in self.v.items():
            f_z, length = self.f_z[k], np.linalg.norm(v)
            unit = v / length if length else np.eye(len(v))[0]
            normal = np.linalg.svd(unit[None])[2][1:]  # (m - 1, m)
            bases[k] = (np.pad(length * np.eye(len(f_z)), ((0, len(normal)), (0, 0))),
                        np.concatenate([np.outer(f_z, unit), np.linalg.norm(f_z) * normal]))

        def between(r, k):
            if r < k:
                return between(k, r).T
            of_v, of_f_z = bases[r]
            middle = of_v @ self.M[r, k]
            return (middle + of_f_z @ self.eta[r, k] if k < r else middle) @ bases[k][0].T

        return np.block([[between(r, k) for k in bases] for r in bases])

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
        dense = self.shape[0] ** 2 * self.dtype.itemsize
        return f"SampleHessian{self.shape}  # {self.nbytes:,} bytes of factors, dense {dense:,}"


def generic_rank(active, classes):
    """Rank of a sample's Hessian for ReLU and cross-entropy without biases, as a rule.

    a_1 + sum over k = 2 .. n of (a_k + a_k-1 - 1) + (C - 1 + a_n - 1), with a_k active units in
    layer k (the sequence `active`) and C classes: f_pp has rank C - 1.
    """
    inner = sum(above + below - 1 for above, below in zip(active[1:], active))
    return active[0] + inner + classes - 1 + active[-1] - 1
