"""`Ridge`: a loss plus a multiple of the squared outputs, so that the Hessian in the outputs has an
inverse.
"""

import numpy as np

from ...checks import check_loss, positive_number
from ...nets.losses import Loss


class Ridge(Loss):
    """loss(p, target) + (strength / 2) |p|^2, sample by sample.

    With `SoftmaxCrossEntropy` this loss is strictly convex, so that the generalised Gauss-Newton
    step of Eqs. (7) and (19) is defined. The Hessian is diag(q) - q q^T + strength I.

    Parameters
    ----------
    loss : Loss
    strength : float
        Positive.
    """

    def __init__(self, loss, strength):
        self.base, self.strength = check_loss(loss), positive_number(strength, "strength")
        self.diagonal_hessian, self.convex = self.base.diagonal_hessian, self.base.convex

    def prepare_target(self, target, shape, dtype):
        return self.base.prepare_target(target, shape, dtype)

    def value(self, p, target):
        return self.base.value(p, target) + self.strength / 2 * np.sum(p * p, axis=1)

    def gradient(self, p, target):
        return self.base.gradient(p, target) + self.strength * p

    def hessian(self, p, target):
        return self.base.hessian(p, target) + self.strength * np.eye(p.shape[1], dtype=p.dtype)

    def hessian_product(self, p, target, v):
        return self.base.hessian_product(p, target, v) + self.strength * v

    def hessian_diagonal(self, p, target):
        return self.base.hessian_diagonal(p, target) + self.strength

    def __repr__(self):
        return f"Ridge({self.base!r}, {self.strength:g})"
