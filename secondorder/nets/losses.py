"""Losses: value, gradient and Hessian of a criterion in the output ``p`` (S, C), row by row.

``value`` (S,), ``gradient`` (S, C), ``hessian`` (S, C, C), ``hessian_product`` (S, C),
``hessian_diagonal`` (S, C). Objectives average over the batch; a loss itself never averages or sums
over samples.

Two flags tell methods what they may rely on: ``diagonal_hessian`` (the Hessian of every sample is
diagonal) and ``convex`` (it is positive semidefinite). Losses that are negative log-likelihoods of
a model of the target, given the output, also give the model's second moment of the score,
``fisher(p)`` (S, C, C), and ``sample_targets(p, rng)``.
"""

import numpy as np

from .. import checks
from ..checks.randomness import generator
from .activations import logistic

LARGEST = 1e100  # of a loss's own numbers, so that their squares do not overflow


class Loss:
    """Base of all losses; from `value`, `gradient` and `hessian` the rest follows.

    The passes take outputs ``p`` (S, C) and targets in the form that `prepare_target` returns, one
    row a sample, and treat every row alone: nothing is averaged or summed over samples. They change
    neither argument. None of their arguments may be None. The losses here refuse arguments whose
    shapes do not fit with one call of ``checks.rows``, as NumPy would broadcast them.

    Attributes
    ----------
    diagonal_hessian : bool
        Promise that the Hessian of every sample is diagonal for all p (the loss is a sum over
        outputs). Methods then work with `hessian_diagonal` alone: residual partitioning takes its
        output rule "diagonal". False is always safe. `DiagonalLoss` makes it true and asks for
        `hessian_diagonal` instead of `hessian`.
    convex : bool
        Promise that the Hessian of every sample has no negative eigenvalue for any p. Methods then
        take its square root, as in Gauss-Newton matrices. False is always safe.

    Notes
    -----
    *dtype.* Every pass returns the dtype of `p`: float32 stays float32, float64 stays float64.
    Python numbers keep it (``0.5 * p``); NumPy's own scalars and new arrays do not: write
    ``math.log(2)`` for ``np.log(2.0)``, ``np.eye(C, dtype=p.dtype)`` for ``np.eye(C)``. A pass that
    promotes float32 is refused by a float32 network.

    *Far outputs.* The passes must stay finite for outputs of +-1000, where ``exp`` alone overflows.

    `fisher` and `sample_targets` are for losses that are negative log-likelihoods; leave them out
    otherwise. ``secondorder.verify.loss(MyLoss())`` checks all of this.

    Examples
    --------
    >>> import numpy as np
    >>> class Quartic(DiagonalLoss):
    ...     convex = True
    ...     def value(self, p, target):
    ...         return np.sum((p - target) ** 4, axis=1)
    ...     def gradient(self, p, target):
    ...         return 4 * (p - target) ** 3
    ...     def hessian_diagonal(self, p, target):
    ...         return 12 * (p - target) ** 2
    >>> from secondorder import verify
    >>> bool(verify.loss(Quartic()))
    True
    """

    diagonal_hessian = False
    convex = False

    def prepare_target(self, target, shape, dtype):
        """Check targets of outputs of `shape` (S, C) and return them as the passes use them.

        What it returns, or rows of that, it must accept as well.

        Raises
        ------
        ValueError
            Wrong shape or non-finite numbers.
        TypeError
            Not numbers.
        """
        return checks.targets(target, shape, dtype, self)

    def value(self, p, target):
        """Loss of each sample, (S,)."""
        raise TypeError(f"{type(self).__name__} does not define value(p, target)")

    def gradient(self, p, target):
        """Gradient in p of each sample, (S, C)."""
        raise TypeError(f"{type(self).__name__} does not define gradient(p, target)")

    def hessian(self, p, target):
        """Hessian in p of each sample, (S, C, C)."""
        raise TypeError(f"{type(self).__name__} does not define hessian(p, target)")

    def hessian_product(self, p, target, v):
        """Hessian of each sample times its row of v (S, C)."""
        return np.einsum("sij,sj->si", self.hessian(p, target), v)

    def hessian_diagonal(self, p, target):
        """Diagonal of each sample's Hessian, (S, C)."""
        return np.einsum("sii->si", self.hessian(p, target)).copy()

    def fisher(self, p):
        """E[score score^T] under the model's own distribution of targets, (S, C, C)."""
        checks.no_model(self)

    def sample_targets(self, p, rng):
        """Draw one target a sample from the model, in the form of `prepare_target`."""
        self.fisher(p)

    def __repr__(self):
        return f"{type(self).__name__}()"


def diagonal_matrices(entries):
    """(S, C) -> (S, C, C) diagonal matrices."""
    out = np.zeros((*entries.shape, entries.shape[1]), dtype=entries.dtype)
    np.einsum("sii->si", out)[...] = entries
    return out


class DiagonalLoss(Loss):
    """A sum over outputs; a subclass defines `value`, `gradient` and `hessian_diagonal`."""

    diagonal_hessian = True

    def hessian_diagonal(self, p, target):
        raise TypeError(f"{type(self).__name__} does not define hessian_diagonal(p, target)")

    def hessian(self, p, target):
        return diagonal_matrices(self.hessian_diagonal(p, target))

    def hessian_product(self, p, target, v):
        """f_ii v_si"""
        checks.rows(p, v)
        return self.hessian_diagonal(p, target) * v


class SquaredError(DiagonalLoss):
    """0.5 |p - target|^2, summed over outputs, so that the Hessian is the identity."""

    convex = True

    def value(self, p, target):
        """0.5 sum_i (p_si - t_si)^2"""
        checks.rows(p, target)
        return 0.5 * np.sum((p - target) ** 2, axis=1)

    def gradient(self, p, target):
        """p_si - t_si"""
        checks.rows(p, target)
        return p - target

    def hessian_diagonal(self, p, target):
        """1"""
        checks.rows(p, target)
        return np.ones_like(p)

    def fisher(self, p):
        """Of the model target ~ N(p, I): the identity."""
        checks.rows(p)
        return diagonal_matrices(np.ones_like(p))

    def sample_targets(self, p, rng):
        checks.rows(p)
        return (p + generator(rng).standard_normal(p.shape)).astype(p.dtype, copy=False)


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
    """v minus its mean under the weights q, row by row, measured from the entry where q is largest.

    Where that q rounds to 1, the plain ``v - sum(q v)`` would cancel to nothing in this very entry.
    """
    from_top = v - np.take_along_axis(v, q.real.argmax(axis=1)[:, None], axis=1)
    return from_top - np.einsum("si,si->s", q, from_top)[:, None]


class _ClassTargets(Loss):
    """Targets are integer labels (S,), or rows (S, C) of weights: one-hot, or probabilities."""

    def prepare_target(self, target, shape, dtype):
        target = checks.class_targets(target, shape, dtype, self)
        if target.ndim == 2:
            return target
        return (target[:, None] == np.arange(shape[1])).astype(dtype)

    def _weights(self, p, target, *others):
        """Targets as rows (S, C), after a look at all shapes."""
        checks.rows(p, *others)
        target = checks.plain_array(target, "targets")
        if target.ndim == 1:
            return self.prepare_target(target, p.shape, p.real.dtype)
        checks.rows(p, target)
        return target


class SoftmaxCrossEntropy(_ClassTargets):
    """-sum_i t_i log q_i with q = softmax(p); targets are integer labels (S,) or rows of weights t
    (S, C).

    The gradient is q sum(t) - t and the Hessian (diag(q) - q q^T) sum(t); both are formed without
    cancellation where the network is confident.
    """

    convex = True

    def value(self, p, target):
        """sum_i t_si (log sum_j exp p_sj - p_si)

        With m the largest output, log sum_j exp p_sj = p_sm + log1p(sum_{j != m} exp(p_sj - p_sm)):
        where the network is sure, the sum would round to 1.
        """
        t = self._weights(p, target)
        largest = p.real.argmax(axis=1)[:, None]
        shifted = p - np.take_along_axis(p, largest, axis=1)
        others = np.exp(shifted)
        np.put_along_axis(others, largest, 0, axis=1)
        log_total = np.log1p(others.sum(axis=1, keepdims=True))
        return np.sum(t * (log_total - shifted), axis=1)

    def gradient(self, p, target):
        """q_si (sum_j t_sj - t_si) - t_si (1 - q_si)"""
        t = self._weights(p, target)
        q, rest = softmax_and_rest(p)
        return q * (t.sum(axis=1, keepdims=True) - t) - t * rest

    def hessian(self, p, target):
        t = self._weights(p, target)
        q, rest = softmax_and_rest(p)
        H = -q[:, :, None] * q[:, None, :]
        np.einsum("sii->si", H)[...] = q * rest
        return H * t.sum(axis=1)[:, None, None]

    def hessian_product(self, p, target, v):
        """q_si (v_si - sum_j q_sj v_sj) sum_j t_sj"""
        t = self._weights(p, target, v)
        q = softmax(p)
        return q * centred(q, v) * t.sum(axis=1, keepdims=True)

    def hessian_diagonal(self, p, target):
        """q_si (1 - q_si) sum_j t_sj"""
        t = self._weights(p, target)
        q, rest = softmax_and_rest(p)
        return q * rest * t.sum(axis=1, keepdims=True)

    def fisher(self, p):
        """Of the model label ~ softmax(p): sum over classes of q_c (q - e_c)(q - e_c)^T."""
        checks.rows(p)
        q = softmax(p)
        score = q[:, None, :] - np.eye(p.shape[1], dtype=p.dtype)  # (S, class, C)
        return np.einsum("sc,sci,scj->sij", q, score, score)

    def sample_targets(self, p, rng):
        checks.rows(p)
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

    def __init__(self, delta=5.0, epsilon=0.2):
        self.delta = checks.positive_number(delta, "delta", LARGEST)
        self.epsilon = checks.real_number(epsilon, "epsilon")

    def _parts(self, p, target, *others):
        t = self._weights(p, target, *others)
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
        _, first, second, q, v = self._parts(p, target, w)
        vw, qw = np.sum(v * w, axis=1, keepdims=True), np.sum(q * w, axis=1, keepdims=True)
        return second * v * vw + first * (v * w - v * qw - q * vw)

    def hessian_diagonal(self, p, target):
        _, first, second, q, v = self._parts(p, target)
        return second * v**2 + first * v * (1 - 2 * q)

    def __repr__(self):
        return f"BoundedCriterion(delta={self.delta}, epsilon={self.epsilon})"


class TukeyBiweight(DiagonalLoss):
    """Tukey's biweight of every residual r = p - target, summed over outputs: a robust, non-convex
    criterion.

    With u = r / c: rho = c^2/6 (1 - (1 - u^2)^3), rho' = r (1 - u^2)^2, rho'' = (1 - u^2)(1 - 5
    u^2) for |u| <= 1, and a constant c^2/6 outside.

    Parameters
    ----------
    c : float
        Where outliers begin, in units of the residual; positive.
    """

    def __init__(self, c=4.685):
        self.c = checks.positive_number(c, "c", LARGEST)

    def _parts(self, p, target):
        """r, and min(u^2, 1)."""
        checks.rows(p, target)
        r = p - target
        with np.errstate(over="ignore"):  # an outlier's square may overflow
            u2 = (r / self.c) ** 2
        return r, np.where(u2.real < 1, u2, 1)

    def value(self, p, target):
        _, a = self._parts(p, target)
        # 1 - (1 - a)^3 without cancellation
        return np.sum(self.c**2 / 6 * (a * (3 - 3 * a + a * a)), axis=1)

    def gradient(self, p, target):
        r, a = self._parts(p, target)
        return r * (1 - a) ** 2

    def hessian_diagonal(self, p, target):
        _, a = self._parts(p, target)
        return (1 - a) * (1 - 5 * a)

    def __repr__(self):
        return f"TukeyBiweight(c={self.c})"
