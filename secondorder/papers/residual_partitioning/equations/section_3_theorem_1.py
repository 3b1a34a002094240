"""Equations (1)-(3) and Theorem 1: the objective, and the bound as a whole."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import PAPER, Bound, bounded_hessian
from ..method import bound_at
from ..section_2_setup import eq_1_objective
from ..section_3_residual_partitioning import (
    NEGATIVE_CURVATURE, coefficients_below_activation, eq_2_bound_at_layer, eq_3_as_printed,
    eq_3_bound, eq_9_coefficients, quadratic, theorem_1)
from ..section_7_1_loss import coefficients_of_loss
from . import cases, reference
from .claims import CORRECTED, WITHOUT_PRODUCTS, in_case, is_bound
from .reference import Reading


@equation(PAPER, "1",
          statement="The objective adds up, over samples, a convex loss of the outputs that the "
                    "changed weights give. The package averages: its objective is 1/S of the "
                    "printed one, as in Algorithm 1. (Layers map y^(1) to y^(L), so that the "
                    "trained ones, P, are among the first L - 1; printed is a subset of [L].)",
          formula=r"\min_{\{\Delta w_{ij}^{(\ell)}\}} \mathcal{L} \qquad "
                  r"\mathcal{L} \equiv \sum_{s=1}^S f(\hat{\mathbf{y}}_s^{(L)} | \mathbf{x}_s)",
          kind="definition", verdict="definition",
          implements=(eq_1_objective, SquaredError.value, SoftmaxCrossEntropy.value),
          uses=())
def equation_1(rng):
    claims = []
    for name in cases.LOSSES:
        at = cases.evaluation(rng, loss=name)
        p, q = rng.normal(size=(2, *at.outputs.shape)) * 3
        ends = [reference.losses(name, end, at.y) for end in (p, q)]
        claims += in_case(
            name, Equal("S times the package's objective against the sum of f over samples",
                        at.samples * at.loss, sum(reference.losses(name, at.outputs, at.y)), 1e-13),
            Equal("sum of f over samples, one by one",
                  eq_1_objective(at.loss_function.value(at.outputs, at.y)),
                  sum(reference.losses(name, at.outputs, at.y)), 1e-13),
            AtMost("f halfway between two outputs against the mean of f at both",
                   at.loss_function.value((p + q) / 2, at.y), (ends[0] + ends[1]) / 2))
    return [*claims, Case(x=at.x, y=at.y, outputs=at.outputs, objective=at.loss)]


# -- the bound as a whole --------------------------------------------------------------------------

def of_weights(at, built, k, delta):
    """The quadratics of the weights of the layer at place k, (out, k); none of an activation."""
    if k == len(built.W_dot) or built.W_dot[k] is None:
        return np.zeros((0, 0))
    layer, piece = at.network.layers[k], delta[at.network.slices[k]]
    dw = np.zeros_like(built.W_dot[k])
    if layer.trainable:
        weight, bias = reference.weights_and_biases(layer, piece)
        dw[...] = weight if layer.bias is None else np.hstack([bias[:, None], weight])
    return quadratic(built.W_dot[k], built.W_ddot[k], dw)


def of_all_weights(at, built, delta):
    """:func:`of_weights` for every layer."""
    return [of_weights(at, built, k, delta) for k in range(len(built.W_dot))]


def chain_of_bounds(at, built, delta):
    """L~, L~_L, ..., L~_1 at a step, minus the loss at the point, layer by layer."""
    values, W = [reference.model(at, delta) - at.loss], []
    for k, (first, second) in reversed(list(enumerate(reference.changes(at, delta)))):
        W.append(of_weights(at, built, k, delta))
        Y = built.Y_dot[k] * (first + second / 2) + built.Y_ddot[k] * first**2 / 2
        values.append(eq_2_bound_at_layer(at.loss, Y * (k > 0), W) - at.loss)
    return np.array(values)


def bias_missed(rng):
    """As printed, j starts at 1: the model after a step of one bias, uphill."""
    at = cases.evaluation(rng)
    delta = np.zeros(at.network.size)
    delta[-1] = 1.0 if at.gradient[-1] >= 0 else -1.0
    printed = at.loss + eq_3_as_printed(of_all_weights(at, cases.built(at), delta))
    return Printed(AtMost("model against sums from j = 1, one bias moved",
                          reference.model(at, delta), printed))


def products_missed():
    """The true model of y = w2 w1 x at zero along (1, 0, -1, 0) lies above the bound."""
    at, delta = cases.product_of_weights(), np.array([1.0, 0.0, -1.0, 0.0])
    return Counterexample(AtMost("w2 w1 x: true model against the bound",
                                 reference.model(at, delta, products=True),
                                 bound_at(at).value(delta)))


@equation(PAPER, "2",
          statement="At every layer the model is at most a sum of univariate quadratics. They "
                    "are in the changes of that layer's inputs and of all weights above.",
          kind="inequality", verdict="conditional",
          weight="misprint", condition=(WITHOUT_PRODUCTS, CORRECTED),
          implements=(eq_2_bound_at_layer, quadratic, eq_9_coefficients,
                      coefficients_below_activation, coefficients_of_loss), uses=("1",))
def equation_2(rng):
    claims = []
    for name, at in (cases.variety(rng, samples=3) | cases.rows(rng)).items():
        built = cases.built(at, cases.drawn(at, rng))
        rows = [chain_of_bounds(at, built, delta) for delta in cases.steps(rng, at.network.size, 8)]
        # the loss is subtracted from all of them, so that they are rounded on its scale
        rows = [row / (np.abs(row).max() + at.loss) for row in rows]
        claims.append(AtMost("model and bounds from the output down to the input, each against the "
                             "next",
                             [row[:-1] for row in rows], [row[1:] for row in rows], case=name))
    at = cases.tight(rng)
    rows = np.array([chain_of_bounds(at, cases.built(at), np.full(at.network.size, c))
                     for c in (1.0, -2.0)])
    claims.append(Equal("positive relu network, equal changes: bounds and model", rows[:, 1:],
                        rows[:, :1].repeat(rows.shape[1] - 1, axis=1), 1e-12))
    return [*claims, products_missed(), bias_missed(rng),
            Case(x=at.x, y=at.y, theta=at.network.theta)]


@equation(PAPER, "3",
          statement="Taken down to the input, the bound is a sum of univariate quadratics of "
                    "single parameters, and the loss at the point.",
          formula=r"\tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_1 \equiv \sum_{\ell \in P} "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=1}^{m_\ell} \mathcal{W}_{ij}^{(\ell)}",
          corrected=r"\tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_1 \equiv \mathcal{L}(0) + "
                    r"\sum_{\ell \in P} \sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_\ell} "
                    r"\mathcal{W}_{ij}^{(\ell)}",
          kind="inequality", verdict="conditional",
          weight="misprint", condition=(WITHOUT_PRODUCTS, CORRECTED),
          implements=(eq_3_bound, quadratic, eq_3_as_printed,
                      Stated(theorem_1, "W_dot", "W_ddot"), Bound.value, bounded_hessian),
          uses=("2", "theorem-1", "18"))
def equation_3(rng):
    claims = []
    for name, at in (cases.variety(rng, samples=3) | cases.rows(rng)).items():
        fast, built = bound_at(at, "pairwise"), cases.built(at)
        steps = cases.steps(rng, at.network.size, 6)
        models, H = [reference.model(at, delta) for delta in steps], cases.bounded(at)
        least = [reference.least_eigenvalue(one.curvature, H) / one.curvature.max()
                 for one in (fast, built)]
        W_dot, W_ddot = reference.algorithm(at)
        claims += in_case(
            name, AtMost("model against the value of the bound", models,
                         [fast.value(step) for step in steps], scale=models),
            Equal("W_dot and W_ddot against loops", [built.gradient, built.curvature],
                  [W_dot, W_ddot], 1e-12),
            AtMost("0 against least eigenvalues of diag(W_ddot) - bounded Hessian, over max W_ddot",
                   0.0, least, scale=1.0),
            Equal("bounded Hessian along steps against differences of the model",
                  [v @ H @ v for v in steps],
                  [value + reference.model(at, -v) - 2 * at.loss
                   for v, value in zip(steps, models)], 1e-10))
    at, none = cases.tight(rng), np.zeros(at.network.size)
    built = cases.built(at)
    steps = [np.full(at.network.size, c) for c in (1.0, -2.0, 0.0, 50.0)]
    claims += [Equal("positive relu network, all changes alike: value of the bound against the "
                     "model", [bound_at(at).value(step) for step in steps],
                     [reference.model(at, step) for step in steps], 1e-12),
               Equal("the same, loss and sum over parameters one by one",
                     [eq_3_bound(at.loss, of_all_weights(at, built, step)) for step in steps],
                     [reference.model(at, step) for step in steps], 1e-12)]
    small, W = cases.product_of_weights(), of_all_weights(at, built, steps[1])
    from_1 = sum(W_l[i, j] for W_l in W for i, j in np.ndindex(W_l.shape) if j)
    return [*claims, products_missed(), bias_missed(rng),
            Equal("as printed, sums from j = 1 by loops", eq_3_as_printed(W), from_1, 1e-13),
            Counterexample(is_bound(
                "w2 w1 x at zero: 0 against the least eigenvalue of diag(W_ddot) - true Hessian",
                bound_at(small).curvature, cases.true_hessian(small))),
            Printed(AtMost("no step: the model, L(0), against the sum without it", at.loss,
                           eq_3_bound(0.0, of_all_weights(at, built, none)), scale=at.loss)),
            Case(x=at.x, y=at.y, theta=at.network.theta, W_dot=W_dot, W_ddot=W_ddot)]


@equation(PAPER, "theorem-1",
          statement="At every layer there is an upper bound that is a sum of convex quadratics of "
                    "single variables. (The proof needs a step through activations, which the "
                    "appendix announces and does not contain: the last claims are that step.)",
          formula=r"\forall \ell \in [L]: \quad \tilde{\mathcal{L}} \leq \tilde{\mathcal{L}}_\ell, "
                  r"\qquad \ddot{\mathcal{Y}}_{sj}^{(\ell)} \geq 0, \quad "
                  r"\ddot{\mathcal{W}}_{ij}^{(\ell)} \geq 0",
          where="Section 3, and the sentence after it on what the appendix treats",
          kind="inequality",
          verdict="conditional", ours=True, condition=(WITHOUT_PRODUCTS, CORRECTED),
          implements=(eq_2_bound_at_layer, Stated(theorem_1, "W_ddot"),
                      coefficients_below_activation),
          uses=("2", "8", "12", "17", "41"))
def theorem_1(rng):
    claims = []
    for name, at in (cases.rows(rng) | {"bent unit": cases.bent_unit()}).items():
        H = cases.bounded(at)
        for way, correct in NEGATIVE_CURVATURE.items():
            built = cases.built(at, cases.drawn(at, rng), correct=correct)
            best = cases.built(at, correct=correct).curvature
            convex = np.concatenate([W.ravel() for W in built.W_ddot + built.Y_ddot
                                     if W is not None])
            claims += in_case(
                f"{name}, {way}", Equal("W_ddot at the fractions of (10) against loops", best,
                                        reference.algorithm(at, Reading(way=way))[1], 1e-12),
                AtMost("0 against all W_ddot and Y_ddot", 0.0, convex),
                is_bound("0 against the least eigenvalue of diag(W_ddot) - bounded Hessian",
                         built.curvature, H))
    tight, bent = cases.tight(rng), cases.bent_unit()
    ones, built = np.ones(tight.network.size), cases.built(tight)
    bare = cases.built(bent, correct=cases.uncorrected).curvature
    return [*claims, *activation_step(rng), products_missed(),
            Equal("positive relu network, all changes one: value of the bound against the model",
                  tight.loss + built.gradient @ ones + built.curvature @ ones / 2,
                  reference.model(tight, ones), 1e-12),
            Equal("the same, at every layer: bounds against the model",
                  chain_of_bounds(tight, built, ones)[1:] + tight.loss,
                  np.full(len(tight.saved) + 1, reference.model(tight, ones)), 1e-12),
            Counterexample(AtMost("bent unit, no correction: 0 against all W_ddot", 0.0, bare)),
            Counterexample(is_bound("bent unit, no correction: 0 against the least eigenvalue",
                                    bare, cases.bounded(bent))),
            Case(x=bent.x, y=bent.y, theta=bent.network.theta)]


def activation_step(rng):
    """The quadratic above an activation, at the second-order change, against the one below."""
    Y_dot, slope, curvature, d = rng.normal(size=(4, 50))
    Y_ddot = rng.uniform(0.1, 2.0, 50)
    above = Y_dot * (slope * d + curvature * d**2 / 2) + Y_ddot * (slope * d) ** 2 / 2
    claims, upwards = [], Y_ddot * slope**2 + Y_dot * curvature > 0
    for way, correct in NEGATIVE_CURVATURE.items():
        first, second = coefficients_below_activation(Y_dot, Y_ddot, slope, curvature, correct)
        below = first * d + second * d**2 / 2
        claims += in_case(
            way, AtMost("a quadratic above an activation against the one below it", above, below),
            Equal("the same where nothing is corrected", above[upwards], below[upwards], 1e-12))
    return claims
