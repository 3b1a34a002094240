"""Equation (14): a bounded, non-convex criterion."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Property, equation
from ....nets import BoundedCriterion
from .. import PAPER, objective
from . import reference


@equation(PAPER, "14",
          statement="A criterion between 0 and 1: concave in the probability s of the true class "
                    "below epsilon, convex above.",
          formula=r"\begin{gathered} C(\hat{\mathbf{y}}_i | \mathbf{y}_i) = \frac{1}{1 + "
                  r"e^{\delta(\mathbf{y}_i^T \hat{\mathbf{y}}_i - \epsilon)}} \\ \delta = 5 \\ "
                  r"\epsilon = 0.2 \end{gathered}",
          kind="definition", verdict="holds",
          implements=(objective.bounded_criterion, BoundedCriterion.value,
                      BoundedCriterion.gradient, BoundedCriterion.hessian,
                      BoundedCriterion.hessian_product, BoundedCriterion.hessian_diagonal), uses=())
def equation_14(rng):
    loss, y, places = BoundedCriterion(), rng.integers(0, 4, 6), np.arange(4)
    p, w = rng.normal(size=(6, 4)), rng.normal(size=(6, 4))
    probabilities = np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)
    values = [reference.bounded(row, label) for row, label in zip(p, y)]
    gradients, second = (
        np.array([derivative(lambda q: reference.bounded(q, label), row, places)
                  for row, label in zip(p, y)])
        for derivative in (reference.gradient, reference.hessian))
    extremes = loss.value(np.array([[-800.0, 0], [800.0, 0]]), np.array([0, 0]))
    s = np.linspace(0.01, 0.99, 99)
    along = loss.value(np.log(np.c_[s, 1 - s]), np.zeros(99, dtype=int))
    second_order = along[2:] - 2 * along[1:-1] + along[:-2]
    return [Equal("C of probabilities and unit vectors",
                  objective.bounded_criterion(probabilities, np.eye(4)[y]), values, 1e-13),
            Equal("value", loss.value(p, y), values, 1e-13),
            Equal("gradient", loss.gradient(p, y), gradients, 1e-12),
            Equal("Hessian, by differences", loss.hessian(p, y), second, 1e-8),
            Equal("Hessian times a vector", loss.hessian_product(p, y, w),
                  np.einsum("sij,sj->si", second, w), 1e-8),
            Equal("its diagonal", loss.hessian_diagonal(p, y), np.einsum("sii->si", second), 1e-8),
            Equal("largest and smallest value", extremes,
                  [1 / (1 + np.exp(-1.0)), 1 / (1 + np.exp(4.0))], 1e-13),
            AtMost("second differences in s below 0.19 against 0", second_order[:17], 0.0),
            AtMost("0 against second differences in s above 0.21", 0.0, second_order[20:]),
            Property("settings", repr(loss), "BoundedCriterion(delta=5.0, epsilon=0.2)"),
            Case(p=p, y=y)]
