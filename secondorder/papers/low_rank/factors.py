"""Whole Hessians from the eta factors: of a batch as a matrix, of one sample as an object that is
never formed.

Treat the output as a layer of its own and number the affine layers from 0. With d z_q / d z_k = W^q
eta^(q-1,k) (and I for q = k), B_q = diag(A''(z_q) df/dv_q) in a hidden layer and f_pp in the
output, (77) and (80) are

    block(r, k)[s,t,i,j] = M_rk[s,i] v_r[t] v_k[j] + delta_r[s] eta^(r-1,k)[t,i] v_k[j],  k <= r,
    M_rk = sum over q >= r of (d z_q / d z_r)^T B_q (d z_q / d z_k),  delta_r = (d p / d z_r)^T f_p,

where v_k is the input of layer k and the second term is absent for k = r.
"""

import numpy as np

from ...checks import check_l2, require_bytes
from ...exact.curvature import check_vector, evaluate
from .quantities import extended, objective_derivatives
from .rules import hidden_layers

PART = 2**22  # numbers in the factors that are held at a time


class Factors:
    """The factors of every block, for all samples of a batch; affine layers are counted from 0, the
    output included.

    Attributes
    ----------
    layers : list of HiddenLayer
    v : list of (S, m_k) arrays
        Inputs, with a 1 behind them where the layer has a bias.
    delta : list of (S, d_k) arrays
        Gradients of every sample's f in the pre-activations.
    eta : dict of (S, m_r, d_k) arrays
        By (r, k), r > k: the derivative of v[r] in the pre-activation of layer k (a row of zeros
        for a bias).
    core : dict of (S, d_r, d_k) arrays
        M by (r, k), r >= k.
    """

    def __init__(self, layers, f_p, f_pp):
        self.layers = layers
        last = len(layers) - 1
        self.v = [extended(layer, layer.input) for layer in layers]
        across, self.eta = {}, {}
        for k, layer in enumerate(layers):
            across[k, k] = np.broadcast_to(np.eye(layer.z.shape[1], dtype=layer.z.dtype),
                                           (*layer.z.shape, layer.z.shape[1]))
            for r in range(k + 1, last + 1):
                below = across[r - 1, k]
                slope = layers[r - 1].slope
                eta = below if slope is None else slope[:, :, None] * below
                across[r, k] = layers[r].linear.weight @ eta
                self.eta[r, k] = _with_rows(eta, self.v[r].shape[1])
        self.delta = [np.einsum("sck,sc->sk", across[last, k], f_p) for k in range(last + 1)]
        self.core = {(r, k): self._core(across, f_pp, r, k)
                     for k in range(last + 1) for r in range(k, last + 1)}

    def _core(self, across, f_pp, r, k):
        """M_rk: the output's Hessian, and B_q of every layer q from r on."""
        last = len(self.layers) - 1
        M = across[last, r].transpose(0, 2, 1) @ f_pp @ across[last, k]
        for q in range(r, last):
            if self.layers[q].slope is not None:
                bar = self.delta[q + 1] @ self.layers[q + 1].linear.weight
                B = self.layers[q].second_derivative * bar
                M += (across[q, r] * B[:, :, None]).transpose(0, 2, 1) @ across[q, k]
        return M


def _with_rows(eta, rows):
    """eta (S, d, d_k) with zeros below up to `rows` rows."""
    missing = rows - eta.shape[1]
    return (np.concatenate([eta, np.zeros((len(eta), missing, eta.shape[2]), eta.dtype)],
                           axis=1) if missing else eta)


def factors_at(evaluation, where=slice(None)):
    """The `Factors` of the samples `where` of an evaluation; TypeError names a layer that is not
    fully connected.
    """
    layers, places = hidden_layers(evaluation)
    f_p, f_pp = objective_derivatives(evaluation, places[-1])
    return Factors([layer.part(where) for layer in layers], f_p[where], f_pp[where])


def flat_order(layer, width):
    """Where the entries (d, width) of a block stand in the layer's flat order, weight then bias."""
    place = np.arange(layer.z.shape[1] * width).reshape(-1, width)
    weights = layer.linear.in_features
    return np.concatenate([place[:, :weights].ravel(), place[:, weights:].ravel()])


def hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Eq. (78)-(80): exact Hessian of the objective, (P, P), assembled from the eta factors.

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
    layers, places = hidden_layers(evaluation)
    widths = [max(layer.linear.weight.shape) for layer in layers]
    size = max(1, PART // (len(layers) * max(widths)) ** 2)
    for start in range(0, evaluation.samples, size):
        _add_blocks(H, network, places, factors_at(evaluation, slice(start, start + size)))
    H /= evaluation.samples
    H[np.diag_indices_from(H)] += l2
    return network.require_finite(H, "the Hessian")


def _add_blocks(H, network, places, factors):
    """Add the sum over samples of every block, and of its mirror image, to H."""
    slices = [network.slices[place] for place in places]
    for (r, k), M in factors.core.items():
        if not (factors.layers[r].linear.size and factors.layers[k].linear.size):
            continue
        v_r, v_k = factors.v[r], factors.v[k]
        block = outer_sum(M, v_r[:, :, None] * v_k[:, None, :]).transpose(0, 2, 1, 3)
        if r > k:
            second = outer_sum(factors.delta[r][:, :, None] * v_k[:, None, :], factors.eta[r, k])
            block = block + second.transpose(0, 2, 3, 1)
        shape = block.shape
        rows, columns = (flat_order(factors.layers[i], factors.v[i].shape[1]) for i in (r, k))
        flat = block.reshape(shape[0] * shape[1], -1)[np.ix_(rows, columns)]
        H[slices[r], slices[k]] += flat
        if r > k:
            H[slices[k], slices[r]] += flat.T


def outer_sum(A, B):
    """sum_s A[s, a, b] B[s, c, d], indices a, b, c, d: one matrix product over samples."""
    return (A.reshape(len(A), -1).T @ B.reshape(len(B), -1)).reshape(A.shape[1:] + B.shape[1:])


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
