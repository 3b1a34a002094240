"""Losses that are sums over outputs: binary cross-entropy, Huber's and Poisson's.

Names, arguments and conventions are PyTorch's (``BCEWithLogitsLoss``, ``HuberLoss``,
``PoissonNLLLoss``), but for the sum over outputs: as everywhere here a loss sums over the outputs
of a sample, and the objective is the mean over samples.

All passes are finite for outputs of +-1000, where exp alone overflows.
"""

import math

import numpy as np

from ... import checks
from ...checks.randomness import generator
from ..layers.activation_functions import Softplus, logistic
from .base import DiagonalLoss, diagonal_matrices


softplus = Softplus().value  # log(1 + exp(x))


class BinaryCrossEntropy(DiagonalLoss):
    """Of every output alone, a logit p: -w t log q - (1 - t) log(1 - q) with q = 1 / (1 + exp(-p)).

    Targets are numbers t from 0 to 1, of the outputs' shape (S, C): 0 and 1, or probabilities.

    Parameters
    ----------
    pos_weight : float or (C,) array
        w, the weight of positive targets, of all outputs or of each; positive. With w = 1 the loss
        is the negative log-likelihood of independent targets.
    """

    convex = True
    pos_weight = checks.Checked(checks.positive_weights)

    def __init__(self, pos_weight=1.0):
        self.pos_weight = pos_weight

    def prepare_target(self, target, shape, dtype):
        if np.ndim(self.pos_weight) and len(self.pos_weight) != shape[1]:
            raise ValueError(f"pos_weight has {len(self.pos_weight)} entries, expected "
                             f"{shape[1]}, one for each output")
        return checks.targets_between(super().prepare_target(target, shape, dtype), 0, 1)

    def _weights(self, p, target):
        """w t and 1 - t."""
        return np.asarray(self.pos_weight, dtype=p.real.dtype) * target, 1 - target

    def value(self, p, target):
        """sum_i w t_si log(1 + exp(-p_si)) + (1 - t_si) log(1 + exp(p_si))"""
        positive, negative = self._weights(p, target)
        return (positive * softplus(-p) + negative * softplus(p)).sum(axis=1)

    def gradient(self, p, target):
        """(1 - t_si) q_si - w t_si (1 - q_si)"""
        positive, negative = self._weights(p, target)
        return negative * logistic(p) - positive * logistic(-p)

    def hessian_diagonal(self, p, target):
        """(w t_si + 1 - t_si) q_si (1 - q_si)"""
        positive, negative = self._weights(p, target)
        return (positive + negative) * logistic(p) * logistic(-p)

    def fisher(self, p):
        """Of the model t_si ~ Bernoulli(q_si): q_si (1 - q_si) on the diagonal."""
        if np.any(np.asarray(self.pos_weight) != 1):
            checks.no_model(self)
        return diagonal_matrices(logistic(p) * logistic(-p))

    def sample_targets(self, p, rng):
        self.fisher(p)
        return (generator(rng).random(p.shape) < logistic(p)).astype(p.dtype)

    def __repr__(self):
        return f"BinaryCrossEntropy(pos_weight={checks.plain(self.pos_weight)})"


class Huber(DiagonalLoss):
    """Of every residual r = p - t: r^2 / 2 for |r| <= delta, and delta (|r| - delta / 2) beyond.

    It grows like a straight line far out, so that outliers pull no harder than delta. The second
    derivative is 1 for |r| < delta and 0 beyond; at |r| = delta, where it jumps, it is 0.

    Parameters
    ----------
    delta : float
        Where the line begins, in units of the residual; positive.
    """

    convex = True
    delta = checks.Checked(checks.positive_number)

    def __init__(self, delta=1.0):
        self.delta = delta

    def _residual(self, p, target):
        """r, |r|, and |r| or delta where that is smaller."""
        r = p - target
        size = np.where(r.real < 0, -r, r)
        return r, size, np.where(size.real < self.delta, size, p.dtype.type(self.delta))

    def value(self, p, target):
        """sum_i a_si (|r_si| - a_si / 2) with a = min(|r|, delta)"""
        _, size, inner = self._residual(p, target)
        return (inner * (size - inner / 2)).sum(axis=1)

    def gradient(self, p, target):
        """r_si, but no larger than delta"""
        r, _, inner = self._residual(p, target)
        return np.where(r.real < 0, -inner, inner)

    def hessian_diagonal(self, p, target):
        """1 where |r_si| < delta, else 0"""
        _, size, _ = self._residual(p, target)
        return (size.real < self.delta).astype(p.dtype)

    def __repr__(self):
        return f"Huber(delta={self.delta})"


class PoissonNLL(DiagonalLoss):
    """Of every output alone, the log of a rate: exp(p) - t p, for counts t that are not negative.

    Above p = 40, a rate of 2e17, a straight line continues the exponential where it touches it: the
    loss stays convex and finite. The term log t!, which no derivative sees, is left out.
    """

    convex = True
    limit = 40.0  # log of a rate beyond which nothing is counted

    def prepare_target(self, target, shape, dtype):
        return checks.targets_between(super().prepare_target(target, shape, dtype), 0,
                                      math.exp(self.limit))

    def _parts(self, p, target):
        """q = min(p, 40), exp(q) and p - q."""
        q = np.minimum(p, p.dtype.type(self.limit))
        return q, np.exp(q), p - q

    def value(self, p, target):
        """sum_i exp(q_si) - t_si q_si + (exp(q_si) - t_si) (p_si - q_si) with q = min(p, 40)"""
        q, rate, beyond = self._parts(p, target)
        return (rate - target * q + (rate - target) * beyond).sum(axis=1)

    def gradient(self, p, target):
        """exp(q_si) - t_si"""
        return self._parts(p, target)[1] - target

    def hessian_diagonal(self, p, target):
        """exp(p_si), and 0 on the line"""
        _, rate, beyond = self._parts(p, target)
        return np.where(beyond.real > 0, 0, rate)

    def fisher(self, p):
        """Of the model t_si ~ Poisson(exp(q_si)): exp(q_si) on the diagonal."""
        return diagonal_matrices(self._parts(p, p)[1])

    def sample_targets(self, p, rng):
        rate = self._parts(p, p)[1].astype(np.float64)
        drawn = np.minimum(generator(rng).poisson(rate), 0.99 * math.exp(self.limit))
        return drawn.astype(p.dtype)
