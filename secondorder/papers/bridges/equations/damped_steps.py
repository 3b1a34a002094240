"""The damped Newton step of the one paper and the regularised step of the other."""

import numpy as np

from ....ledger import Case, Condition, Counterexample, Equal, equation
from ....nets import Activation, Network, SquaredError
from .. import PAPER, steps
from . import cases

SAME = Condition("all samples share one curvature", (
    "One layer is trained, the loss is squared, and all samples have the same Gauss-Newton "
    "matrix in that layer's outputs. So it is if only linear layers stand above it, or the batch "
    "has one sample. Otherwise EA-CG's mean of a product is not the product of the means."))


def network(rng, above=None):
    """A frozen layer, tanh, the trained layer, `above` if it is named, another frozen layer."""
    layers = [cases.linear(rng, 3, 4, trainable=False), Activation("tanh"),
              cases.linear(rng, 4, 3, bias=False),
              *([] if above is None else [Activation(above)]),
              cases.linear(rng, 3, 2, trainable=False)]
    return Network(layers)


@equation(
    PAPER, "damped-step", where="[ea-cg] (9), (11a); [reversible-gauss-newton] (5)",
    kind="identity", verdict="conditional", condition=SAME, ours=True,
    uses=("ea-cg 9", "ea-cg 11a", "reversible-gauss-newton 5", "layer-gauss-newton"),
    statement="EA-CG's damped step with the Gauss-Newton matrix is the reversible paper's step "
              "with regularised singular values. The damping of a sum is the number of samples "
              "times the damping of a mean.",
    implements=(steps.damped, steps.regularised, steps.damping))
def damped_step(rng):
    claims = []
    for alpha, samples, above in ((0.1, 6, None), (0.5, 2, None), (0.02, 9, None),
                                  (0.3, 1, "sigmoid")):
        net = network(rng, above)
        x, y = rng.normal(size=(samples, 3)), rng.normal(size=(samples, 2))
        batch = net, SquaredError(), x, y
        claims.append(Equal("damped step against the regularised one",
                            steps.damped(*batch, alpha), steps.regularised(*batch, alpha), 1e-10,
                            case=f"alpha = {alpha}, batch {samples}"))
    net, x = network(rng, "tanh"), 2 * rng.normal(size=(6, 3))
    batch = net, SquaredError(), x, 3 * rng.normal(size=(6, 2))
    outside = Equal("tanh above the trained layer", steps.damped(*batch, 0.1),
                    steps.regularised(*batch, 0.1), 1e-6)
    return [*claims, Counterexample(outside), Case(x=x, theta=np.array(net.theta))]
