"""The losses: value, gradient and Hessian of each criterion, convex or not.

``base``       what a loss is, and what losses with a diagonal Hessian share
``residuals``  `SquaredError`, `TukeyBiweight`
``classes``    `SoftmaxCrossEntropy`, `BoundedCriterion`
``by_output``  `BinaryCrossEntropy`, `Huber`, `PoissonNLL`
"""

from .base import DiagonalLoss, Loss
from .by_output import BinaryCrossEntropy, Huber, PoissonNLL
from .classes import BoundedCriterion, SoftmaxCrossEntropy
from .residuals import SquaredError, TukeyBiweight

__all__ = ["BinaryCrossEntropy", "BoundedCriterion", "DiagonalLoss", "Huber", "Loss", "PoissonNLL",
           "SoftmaxCrossEntropy", "SquaredError", "TukeyBiweight"]
