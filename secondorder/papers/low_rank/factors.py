"""Whole Hessians from the eta factors; of one sample ``sample_hessian`` never forms it.

Treat the output as a layer of its own and number the affine layers from 0. With d z_q / d z_k = W^q
eta^(q-1,k) (and I for q = k), B_q = diag(A''(z_q) df/dv_q) in a hidden layer and f_pp in the
output, (77) and (80) are

    block(r, k)[s,t,i,j] = M_rk[s,i] v_r[t] v_k[j] + delta_r[s] eta^(r-1,k)[t,i] v_k[j],  k <= r,
    M_rk = sum over q >= r of (d z_q / d z_r)^T B_q (d z_q / d z_k),  delta_r = (d p / d z_r)^T f_p,

where v_k is the input of layer k and the second term is absent for k = r.
"""

import numpy as np

from ...checks import check_l2, require_bytes
from ...exact.curvature import evaluate
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
    size = max(1, PART // sum(widths) ** 2)
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
