"""Equations (1)-(9), (12)-(18) and Theorem 1: from the objective to a bound that is a sum over single parameters."""

import numpy as np

from ... import exact
from ...exact.finite_differences import complex_step
from ...nets import Network
from ...verify import AtMost, Case, Counterexample, Equal, Property, Rate, equation
from .. import bounding, partitions
from ..bound import bound_at
from ..hessian import bounded_hessian
from ..total_gradient import total_gradients
from . import cases

PAPER = "residual-partitioning"

WITHOUT_PRODUCTS = (
    "The model on the left drops the products of a change of weight and a change of activation, as (4) does: its Hessian is "
    "bounded_hessian, not that of the loss. Sums over j start at the bias, j = 0, and the loss at the point is counted among "
    "the constants of the quadratics.")


# -- the objective ----------------------------------------------------------------------------------------------------

@equation(PAPER, "1",
          statement="The objective adds up, over the samples, a convex loss of the outputs that the changed weights give.",
          formula=r"\min_{\{\Delta w_{ij}^{(\ell)}\}} \mathcal{L} \qquad "
                  r"\mathcal{L} \equiv \sum_{s=1}^S f(\hat{\mathbf{y}}_s^{(L)} | \mathbf{x}_s)",
          kind="definition", verdict="definition", implements=(Network.evaluate, bounding.explicit_bound))
def equation_1(rng):
    claims = []
    for name in cases.LOSSES:
        at = cases.evaluation(rng, loss=name)
        claims.append(Equal(f"{name}: objective against a sum of f / S over samples", at.loss,
                            np.sum(cases.losses_by_hand(name, at.outputs, at.y) / at.samples), tolerance=1e-13))
        p, q = rng.normal(size=(2, *at.outputs.shape)) * 3
        ends = [cases.losses_by_hand(name, end, at.y) for end in (p, q)]
        claims.append(AtMost(f"{name}: f halfway between two outputs is at most the mean of f at both",
                             at.loss_function.value((p + q) / 2, at.y), (ends[0] + ends[1]) / 2))
        alone = [bounding.explicit_bound(at.network.evaluate(at.loss_function, at.x[s:s + 1], at.y[s:s + 1]))
                 for s in range(at.samples)]
        claims.append(Equal(f"{name}: curvature of the sum over samples against a sum of bounds of single samples",
                            at.samples * bounding.explicit_bound(at).curvature,
                            sum(one.curvature for one in alone), tolerance=1e-12))
    return [*claims, Case(x=at.x, y=at.y, outputs=at.outputs)]


# -- the bound as a whole ---------------------------------------------------------------------------------------------

def chain_of_bounds(at, built, delta):
    """L~, L~_L, ..., L~_1 at a step, minus the loss at the point: the model and the bounds of (2), layer by layer."""
    changes = cases.changes(at, delta)
    from_weights, values = 0.0, [cases.model(at, delta) - at.loss]
    for k in reversed(range(len(changes))):
        if k < len(at.network.layers) and built.W_dot[k] is not None:
            layer = at.network.layers[k]
            dW = bounding.unflatten(layer, delta[at.network.slices[k]])
            from_weights += np.sum(built.W_dot[k] * dW + built.W_ddot[k] * dW**2 / 2)
        moved = changes[k].first + changes[k].second / 2
        from_units = np.sum(built.Y_dot[k] * moved + built.Y_ddot[k] * changes[k].first**2 / 2) if k else 0.0
        values.append(from_units + from_weights)
    return np.array(values)


def products_missed(claim_on, at=None):
    """Counterexample: the true second-order model of y = w2 w1 x at zero, along (1, 0, -1, 0), against the bound."""
    at = cases.product_of_weights() if at is None else at
    delta = np.array([1.0, 0.0, -1.0, 0.0])
    return Counterexample(AtMost(f"{claim_on} with the products kept: true second-order model of w2 w1 x at 0",
                                 cases.model(at, delta, products=True), bound_at(at).value(delta)))


def bias_missed(at):
    """Counterexample: sums from j = 1 leave out the bias; a step of one bias of the last layer, uphill."""
    built = bounding.explicit_bound(at)
    delta = np.zeros(at.network.size)
    delta[-1] = 1.0 if at.gradient[-1] >= 0 else -1.0
    without = [W[:, 1:] for W in built.W_ddot if W is not None]
    assert sum(W.size for W in without) < built.curvature.size
    return Counterexample(AtMost("with the bias column left out of the sums, at a step of one bias",
                                 cases.model(at, delta), at.loss + 0.0))


@equation(PAPER, "2",
          statement="At every layer the model is at most a sum of univariate quadratics: of the changes of that layer's "
                    "inputs, and of the changes of all weights above.",
          formula=r"\tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_\ell \equiv \sum_{s=1}^S \sum_{j=1}^{m_\ell} "
                  r"\mathcal{Y}_{sj}^{(\ell)} + \sum_{\ell' \in P, \ell' \geq \ell} \sum_{i=1}^{m_{\ell'+1}} "
                  r"\sum_{j=1}^{m_{\ell'}} \mathcal{W}_{ij}^{(\ell')}",
          kind="inequality", verdict="conditional", condition=WITHOUT_PRODUCTS,
          implements=(bounding.explicit_bound, bounding.affine, bounding.activation, bounding.output))
def equation_2(rng):
    claims = []
    for at in cases.variety(rng, samples=3):
        built = bounding.explicit_bound(at, bounding.partitions_of(at, rng))
        rows = [chain_of_bounds(at, built, delta) for delta in cases.steps(rng, at.network.size, 8)]
        rows = np.array([row / np.abs(row).max() for row in rows])
        name = f"{at.network.layers[1].function.name}, {type(at.loss_function).__name__}"
        claims.append(AtMost(f"{name}: model and bounds from the output down to the input, each at most the next",
                             rows[:, :-1], rows[:, 1:]))
    at = cases.evaluation(rng)
    return [*claims, products_missed("the model"), bias_missed(at), Case(x=at.x, y=at.y, theta=at.network.theta)]
