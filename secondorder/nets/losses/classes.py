"""Losses of classes: softmax with cross-entropy, and the bounded criterion."""

import numpy as np

from ... import checks
from ...checks.randomness import generator
from ...kernels import losses as kernels
from ..layers.activation_functions import logistic
from .base import Loss, diagonal_matrices


def softmax(p):
    """q_si = exp p_si / sum_j exp p_sj, shifted by the largest entry of the row."""
    e = np.exp(p - p.real.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_and_rest(p):
    """Softmax q of each row, and 1 - q by a sum that stays exact where q rounds to 1."""
    e = np.exp(p - p.real.max(axis=1, keepdims=True))
    rest = np.zeros_like(e)
    rest[:, 1:] += np.cumsum(e[:, :-1], axis=1)  # of all that stand before
    rest[:, :-1] += np.cumsum(e[:, :0:-1], axis=1)[:, ::-1]  # and of all that stand after
    total = e.sum(axis=1, keepdims=True)
    return e / total, rest / total


def centred(q, v):
    """v (..., S, C) minus its mean under the weights q (S, C) of each row, measured from the entry
    where q is largest.

    Where that q rounds to 1, the plain ``v - sum(q v)`` would cancel to nothing in this very entry.
    """
    from_top = v - v[..., np.arange(len(q)), q.real.argmax(axis=1)][..., None]
    return from_top - np.einsum("si,...si->...s", q, from_top)[..., None]


class _ClassTargets(Loss):
    """Targets are integer labels (S,), or rows (S, C) of weights: one-hot, or probabilities."""

    many_directions = True

    def prepare_target(self, target, shape, dtype):
        labels = type(target) is np.ndarray and target.dtype.kind in "iu"
        if not labels or target.shape != (shape[0],) or shape[1] < 2:
            target = checks.class_targets(target, shape, dtype, self)
            if target.ndim == 2:
                return target
        one_hot = target[:, None] == np.arange(shape[1])
        if np.count_nonzero(one_hot) != len(target):
            checks.labels(target, shape)  # which says what is out of range
        return one_hot.astype(dtype)

    def _weights(self, p, target):
        """Targets as rows (S, C); labels are taken, too."""
        if getattr(target, "shape", None) == p.shape:
            return target
        return self.prepare_target(target, p.shape, p.real.dtype)


class SoftmaxCrossEntropy(_ClassTargets):
    """-sum_i t_i log q_i with q = softmax(p); targets are integer labels (S,) or rows of weights t
    (S, C).

    The gradient is q sum(t) - t and the Hessian (diag(q) - q q^T) sum(t); both are formed without
    cancellation where the network is confident.
    """

    convex = True

    def value(self, p, target):
        """sum_i t_si (log sum_j exp p_sj - p_si)"""
        return SoftmaxCrossEntropy.value_and_gradient(self, p, target)[0]

    def gradient(self, p, target):
        """q_si (sum_j t_sj - t_si) - t_si (1 - q_si)"""
        return SoftmaxCrossEntropy.value_and_gradient(self, p, target)[1]

    def value_and_gradient(self, p, target):
        """Both.

        With m the largest output, log sum_j exp p_sj = p_sm + log1p(sum_{j != m} exp(p_sj - p_sm)):
        where the network is sure, the sum would round to 1.
        """
        t = self._weights(p, target)
        if p.dtype.kind == "f":
            losses, p_bar = np.empty(len(p), p.dtype), np.empty(p.shape, p.dtype)
            kernels.softmax_cross_entropy(p, t, losses, p_bar)
            return losses, p_bar
        rows, m = np.arange(len(p)), p.real.argmax(axis=1)
        shifted = p - p[rows, m][:, None]
        others = np.exp(shifted)
        others[rows, m] = 0
        log_total = np.log1p(others.sum(axis=1, keepdims=True))
        q, rest = softmax_and_rest(p)
        return (np.sum(t * (log_total - shifted), axis=1),
                q * (t.sum(axis=1, keepdims=True) - t) - t * rest)

    def hessian(self, p, target):
        t = self._weights(p, target)
        q, rest = softmax_and_rest(p)
        H = -q[:, :, None] * q[:, None, :]
        np.einsum("sii->si", H)[...] = q * rest
        return H * t.sum(axis=1)[:, None, None]

    def hessian_product(self, p, target, v):
        """q_si (v_si - sum_j q_sj v_sj) sum_j t_sj"""
        t = self._weights(p, target)
        if p.dtype.kind == "f" and v.dtype == p.dtype:
            v, q = np.ascontiguousarray(v), np.empty(p.shape[1], p.dtype)
            product = np.empty(v.shape, v.dtype)
            directions = -1, *p.shape
            kernels.softmax_cross_entropy_product(p, t, v.reshape(directions), q,
                                                  product.reshape(directions))
            return product
        q = softmax(p)
        return q * centred(q, v) * t.sum(axis=1, keepdims=True)

    def hessian_diagonal(self, p, target):
        """q_si (1 - q_si) sum_j t_sj"""
        t = self._weights(p, target)
        if p.dtype.kind == "f":
            diagonal = np.empty(p.shape, p.dtype)
            kernels.softmax_cross_entropy_diagonal(p, t, diagonal)
            return diagonal
        q, rest = softmax_and_rest(p)
        return q * rest * t.sum(axis=1, keepdims=True)

    def fisher(self, p):
        """Of the model label ~ softmax(p): sum over classes of q_c (q - e_c)(q - e_c)^T."""
        q = softmax(p)
        score = q[:, None, :] - np.eye(p.shape[1], dtype=p.dtype)  # (S, class, C)
        return np.einsum("sc,sci,scj->sij", q, score, score)

    def sample_targets(self, p, rng):
        edges = np.cumsum(softmax(p), axis=1)
        draws = generator(rng).random((len(p), 1)) * edges[:, -1:]
        return self.prepare_target((draws > edges[:, :-1]).sum(axis=1), p.shape, p.dtype)


class BoundedCriterion(_ClassTargets):
    """[ea-cg] Eq. (14): 1 / (1 + exp(delta (t . softmax(p) - epsilon))), bounded, non-convex.

    Parameters
    ----------
    delta : float
        Steepness, positive.
    epsilon : float
        Where the criterion crosses 1/2.

    Notes
    -----
    With q = softmax(p), s = t . q, c the criterion and v = q (t - s): c'(s) = -delta c (1 - c),
    c''(s) = delta^2 c (1 - c)(1 - 2 c); gradient c' v; Hessian c'' v v^T + c' (diag(v) - v q^T - q
    v^T).
    """

    delta = checks.Checked(checks.positive_number)
    epsilon = checks.Checked(checks.real_number)

    def __init__(self, delta=5.0, epsilon=0.2):
        self.delta, self.epsilon = delta, epsilon

    def _parts(self, p, target):
        t = self._weights(p, target)
        q = softmax(p)
        s = np.sum(t * q, axis=1, keepdims=True)
        z = self.delta * (s - self.epsilon)
        c, rest = logistic(-z), logistic(z)
        first = -self.delta * c * rest
        second = self.delta**2 * c * rest * (rest - c)
        return c, first, second, q, q * centred(q, t)

    def value(self, p, target):
        return self._parts(p, target)[0][:, 0]

    def gradient(self, p, target):
        _, first, _, _, v = self._parts(p, target)
        return first * v

    def hessian(self, p, target):
        _, first, second, q, v = self._parts(p, target)
        vq = v[:, :, None] * q[:, None, :]
        return (second[:, :, None] * v[:, :, None] * v[:, None, :]
                + first[:, :, None] * (diagonal_matrices(v) - vq - vq.transpose(0, 2, 1)))

    def hessian_product(self, p, target, w):
        _, first, second, q, v = self._parts(p, target)
        vw, qw = np.sum(v * w, axis=-1, keepdims=True), np.sum(q * w, axis=-1, keepdims=True)
        return second * v * vw + first * (v * w - v * qw - q * vw)

    def hessian_diagonal(self, p, target):
        _, first, second, q, v = self._parts(p, target)
        return second * v**2 + first * v * (1 - 2 * q)

    def __repr__(self):
        return f"BoundedCriterion(delta={self.delta}, epsilon={self.epsilon})"
