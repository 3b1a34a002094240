"""Losses of residuals r = p - target: the squared error, and Tukey's biweight, which bounds it."""

import numpy as np

from ... import checks
from ...checks.randomness import generator
from .base import DiagonalLoss, diagonal_matrices


class SquaredError(DiagonalLoss):
    """0.5 |p - target|^2, summed over outputs, so that the Hessian is the identity."""

    convex = True

    def value(self, p, target):
        """0.5 sum_i (p_si - t_si)^2"""
        return 0.5 * np.sum((p - target) ** 2, axis=1)

    def gradient(self, p, target):
        """p_si - t_si"""
        return p - target

    def hessian_diagonal(self, p, target):
        """1"""
        return np.ones_like(p)

    def fisher(self, p):
        """Of the model target ~ N(p, I): the identity."""
        return diagonal_matrices(np.ones_like(p))

    def sample_targets(self, p, rng):
        return (p + generator(rng).standard_normal(p.shape)).astype(p.dtype, copy=False)


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

    c = checks.Checked(checks.positive_number)

    def __init__(self, c=4.685):
        self.c = c

    def _parts(self, p, target):
        """r, and min(u^2, 1)."""
        r = p - target
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
