"""A diagonal that bounds, and the diagonal that is bounded."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Property, equation
from ....nets import Linear, Network, SquaredError
from .. import PAPER, diagonals
from . import cases


@equation(
    PAPER, "diagonals", kind="inequality", verdict="holds", ours=True,
    uses=("residual-partitioning algorithm-1", "residual-partitioning 7", "low-rank table-2"),
    where="[residual-partitioning] (7), (9), Algorithm 1; [low-rank] Table 2",
    statement="The curvature that residual partitioning gives a parameter is never below the "
              "parameter's own second derivative, as the low-rank paper computes it. The two are "
              "equal where no change has to be shared: one layer, one input a sample.",
    implements=(diagonals.by_fractions, diagonals.bounding, diagonals.exact))
def bound_and_diagonal(rng):
    claims = []
    for case in cases.variety(rng):
        bound, literal = (side(*case.model) for side in (diagonals.bounding,
                                                         diagonals.by_fractions))
        claims += [AtMost("the diagonal of the Hessian below the bound's curvature",
                          diagonals.exact(*case.model), bound, 1e-10, case=case.name),
                   Equal("the bound's curvature, from its fractions", literal, bound, 1e-10,
                         case=case.name)]
    return [*claims, *_tight(rng), Case(x=case.x, theta=np.array(case.network.theta))]


def _tight(rng):
    """One linear layer without bias, of every sample's inputs one that is not zero."""
    net = Network([Linear(4, 3, bias=False, rng=rng)])
    x = np.diag(rng.uniform(0.5, 2.0, size=4))[rng.permutation(np.arange(8) % 4)]
    x *= rng.choice([-1.0, 1.0], size=(8, 1))
    y = rng.normal(size=(8, 3))
    tight = diagonals.bounding(net, SquaredError(), x, y)
    claims = [Equal("where it is tight: one layer, one input a sample",
                    tight, diagonals.exact(net, SquaredError(), x, y), 1e-12)]
    x = x + np.roll(x, 1, axis=1)  # two inputs a sample share every change
    wide, own = (side(net, SquaredError(), x, y) for side in (diagonals.bounding, diagonals.exact))
    return [*claims, Property("with two inputs a sample the bound is clearly above",
                              bool((wide > 1.1 * own).all()))]
