"""Equations (1)-(3) and Theorem 1: the objective, and the bound as a whole, a sum over single parameters."""

from typing import NamedTuple

import numpy as np

from ... import exact
from ...nets import Evaluation, Network
from ...ledger import AtMost, Case, Counterexample, Equal, equation
from .. import PAPER, bounding
from ..bound import bound_at
from ..hessian import bounded_hessian
from . import cases


WITHOUT_PRODUCTS = (
    "The model on the left drops the products of a change of weight and a change of activation, as (4) does: its "
    "Hessian is bounded_hessian, not that of the loss. Sums over j start at the bias, j = 0, and the loss at the point "
    "is counted among the constants of the quadratics.")


# -- the objective ----------------------------------------------------------------------------------------------------

@equation(PAPER, "1",
          statement="The objective adds up, over samples, a convex loss of the outputs that the changed weights give. "
                    "(Layers map y^(1) to y^(L), so that the trained ones, P, are among the first L - 1; printed is a "
                    "subset of [L].)",
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


def products_missed():
    """Counterexample: y = w2 w1 x at zero, whose true second-order model along (1, 0, -1, 0) lies above the bound."""
    at, delta = cases.product_of_weights(), np.array([1.0, 0.0, -1.0, 0.0])
    return Counterexample(AtMost("true second-order model of w2 w1 x at zero, products kept, along (1, 0, -1, 0)",
                                 cases.model(at, delta, products=True), bound_at(at).value(delta)))


def bias_missed(at):
    """Counterexample: sums from j = 1 on, which leave the bias out; the step is one bias of the last layer, uphill."""
    built, delta = bounding.explicit_bound(at), np.zeros(at.network.size)
    delta[-1] = 1.0 if at.gradient[-1] >= 0 else -1.0
    total = at.loss
    for layer, where, W_dot, W_ddot in zip(at.network.layers, at.network.slices, built.W_dot, built.W_ddot):
        if W_dot is not None:
            dW = bounding.unflatten(layer, delta[where])[:, 1:]
            total += np.sum(W_dot[:, 1:] * dW + W_ddot[:, 1:] * dW**2 / 2)
    return Counterexample(AtMost("model against the bound with sums from j = 1, no bias, at a step of one bias",
                                 cases.model(at, delta), total))


class Tight(NamedTuple):
    """A case in which every inequality of the derivation is an equality, so that a wrong factor cannot hide in slack.

    Positive relu network, positive inputs, one output, optimal fractions, and all parameters changed by one.
    """

    at: Evaluation
    ones: np.ndarray
    second: float  # second difference of the model along `ones`


def tight(rng):
    at = cases.evaluation(rng, "relu", positive=True, sizes=(3, 4, 3, 1))
    ones = np.ones(at.network.size)
    return Tight(at, ones, cases.model(at, ones) + cases.model(at, -ones) - 2 * at.loss)


def equalities(rng):
    """Claims of (3) and Theorem 1 in the tight case: explicit arrays and fast path against differences of the model."""
    case = tight(rng)
    name = "positive relu network, all changes one: W_ddot along the step against differences of the model, "
    return [Equal(name + which, built.curvature @ case.ones**2, case.second, tolerance=1e-12)
            for which, built in (("explicit arrays", bounding.explicit_bound(case.at)), ("fast", bound_at(case.at)))]


@equation(PAPER, "2",
          statement="At every layer the model is at most a sum of univariate quadratics: of the changes of that "
                    "layer's inputs, and of the changes of all weights above.",
          formula=r"\tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_\ell \equiv \sum_{s=1}^S \sum_{j=1}^{m_\ell} "
                  r"\mathcal{Y}_{sj}^{(\ell)} + \sum_{\ell' \in P, \ell' \geq \ell} \sum_{i=1}^{m_{\ell'+1}} "
                  r"\sum_{j=1}^{m_{\ell'}} \mathcal{W}_{ij}^{(\ell')}",
          kind="inequality", verdict="conditional", condition=WITHOUT_PRODUCTS,
          implements=(bounding.explicit_bound, bounding.affine, bounding.activation, bounding.output))
def equation_2(rng):
    claims = []
    for name, at in cases.variety(rng, samples=3).items():
        built = bounding.explicit_bound(at, bounding.partitions_of(at, rng))
        rows = [chain_of_bounds(at, built, delta) for delta in cases.steps(rng, at.network.size, 8)]
        rows = [row / (np.abs(row).max() or 1.0) for row in rows]  # 1: a step that moves dead units only
        claims.append(AtMost(f"{name}: model and bounds from the output down to the input, each at most the next",
                             [row[:-1] for row in rows], [row[1:] for row in rows]))
    case = tight(rng)
    built = bounding.explicit_bound(case.at)
    rows = np.array([chain_of_bounds(case.at, built, step) for step in (case.ones, -2 * case.ones)])
    claims.append(Equal("positive relu network, all changes equal: bounds at all layers against the model", rows[:, 1:],
                        rows[:, :1].repeat(rows.shape[1] - 1, axis=1), tolerance=1e-12))
    at = cases.evaluation(rng)
    return [*claims, products_missed(), bias_missed(at), Case(x=at.x, y=at.y, theta=at.network.theta)]


@equation(PAPER, "3",
          statement="Taken down to the input, the bound is a sum of univariate quadratics of single parameters.",
          formula=r"\tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_1 \equiv \sum_{\ell \in P} "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=1}^{m_\ell} \mathcal{W}_{ij}^{(\ell)}",
          kind="inequality", verdict="conditional", condition=WITHOUT_PRODUCTS,
          implements=(bounding.explicit_bound, bound_at, bounded_hessian))
def equation_3(rng):
    claims = []
    for name, at in cases.variety(rng, samples=3).items():
        H = bounded_hessian(at.network, at.loss_function, at.x, at.y)
        curvatures = bounding.explicit_bound(at, bounding.partitions_of(at, rng)).curvature, bound_at(at).curvature
        least = [cases.least_eigenvalue(curvature, H) / curvature.max() for curvature in curvatures]
        claims.append(AtMost(f"{name}: 0 against least eigenvalues of diag(W_ddot) - bounded Hessian, any and optimal "
                             "partition, over max W_ddot", 0.0, least, scale=1.0))
        directions = rng.normal(size=(3, at.network.size))
        second = [cases.model(at, v) + cases.model(at, -v) - 2 * at.loss for v in directions]
        claims.append(Equal(f"{name}: bounded Hessian along three directions against differences of the model",
                            [v @ H @ v for v in directions], second, 1e-10))
    claims += equalities(rng)
    at = cases.product_of_weights()
    true = exact.hessian(at.network, at.loss_function, at.x, at.y)
    claims.append(Counterexample(AtMost("w2 w1 x at zero: 0 against the least eigenvalue of diag(W_ddot) - true H",
                                        0.0, cases.least_eigenvalue(bound_at(at).curvature, true), scale=1.0)))
    at = cases.evaluation(rng)
    return [*claims, products_missed(), bias_missed(at), Case(x=at.x, y=at.y, theta=at.network.theta)]


@equation(PAPER, "theorem-1",
          statement="At every layer there is an upper bound that is a sum of convex quadratics of single variables.",
          formula=r"\forall \ell \in [L]: \quad \tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_\ell, \qquad "
                  r"\ddot{\mathcal{Y}}_{sj}^{(\ell)} \geq 0, \quad \ddot{\mathcal{W}}_{ij}^{(\ell)} \geq 0",
          kind="inequality", verdict="conditional",
          condition=WITHOUT_PRODUCTS + " The quadratics stay convex below a curved activation only if a negative "
                    "coefficient is replaced there by its absolute value, or by zero.",
          implements=(bounding.explicit_bound, bounding.activation, bound_at))
def theorem_1(rng):
    claims = []
    fixed = {f"layer {k} fixed": cases.evaluation(rng, fixed=(k,)) for k in range(3)}
    for name, at in (fixed | {"dead unit": cases.with_dead_unit(rng), "bent unit": cases.bent_unit()}).items():
        H = bounded_hessian(at.network, at.loss_function, at.x, at.y)
        for way in ("abs", "max"):
            built = bounding.explicit_bound(at, bounding.partitions_of(at, rng), negative_curvature=way)
            convex = np.concatenate([W.ravel() for W in built.W_ddot + built.Y_ddot if W is not None])
            claims += [AtMost(f"{name}, {way}: 0 against all W_ddot and Y_ddot", 0.0, convex),
                       AtMost(f"{name}, {way}: 0 against the least eigenvalue of diag(W_ddot) - bounded Hessian", 0.0,
                              cases.least_eigenvalue(built.curvature, H), scale=built.curvature.max())]
    claims += equalities(rng)
    at = cases.bent_unit()
    bare = bounding.explicit_bound(at, negative_curvature="none")
    H = bounded_hessian(at.network, at.loss_function, at.x, at.y)
    return [*claims, products_missed(),
            Counterexample(AtMost("bent unit, no correction: 0 against all W_ddot", 0.0, bare.curvature)),
            Counterexample(AtMost("bent unit, no correction: 0 against the least eigenvalue", 0.0,
                                  cases.least_eigenvalue(bare.curvature, H), scale=np.abs(bare.curvature).max())),
            Case(x=at.x, y=at.y, theta=at.network.theta)]
