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
          kind="definition", verdict="definition",
          implements=(eq_1_objective, SquaredError.value, SoftmaxCrossEntropy.value), uses=())
def equation_1(rng):
    claims = []
    for name in cases.LOSSES:
        at = cases.evaluation(rng, loss=name)
        f, total = at.loss_function.value, sum(reference.losses(name, at.outputs, at.y))
        p, q = rng.normal(size=(2, *at.outputs.shape)) * 3
        ends = [reference.losses(name, end, at.y) for end in (p, q)]
        claims += in_case(
            name, Equal("S times the package's objective against the sum of f over samples",
                        at.samples * at.loss, total, 1e-13),
            Equal("sum of f over samples, one by one", eq_1_objective(f(at.outputs, at.y)), total,
                  1e-13),
            AtMost("f halfway between two outputs against the mean of f at both",
                   f((p + q) / 2, at.y), (ends[0] + ends[1]) / 2))
    return [*claims, Case(x=at.x, y=at.y, outputs=at.outputs, objective=at.loss)]


# -- the bound as a whole --------------------------------------------------------------------------

def of_weights(at, built, delta):
    """The quadratics of the weights at a step, layer by layer: (out, k), or none."""
    W = []
    for layer, where, *coefficients in zip(at.network.layers, at.network.slices, built.W_dot,
                                           built.W_ddot):
        weight, *bias = layer.split(delta[where]) if layer.size else [np.zeros((0, 0))]
        dw = np.hstack([*(b[:, None] for b in bias), weight])
        W.append(quadratic(*coefficients, dw) if layer.size else dw)
    return W


def chain_of_bounds(at, built, delta):
    """L~, L~_L, ..., L~_1 at a step, minus the loss at the point, layer by layer."""
    values, W = [reference.model(at, delta) - at.loss], of_weights(at, built, delta)
    for k, (first, second) in reversed(list(enumerate(reference.changes(at, delta)))):
        Y = built.Y_dot[k] * (first + second / 2) + built.Y_ddot[k] * first**2 / 2
        values.append(eq_2_bound_at_layer(at.loss, Y * (k > 0), W[k:]) - at.loss)
    return np.array(values)


def bias_missed(rng):
    """As printed, j starts at 1: the model after a step of one bias, uphill."""
    at = cases.evaluation(rng)
    delta = np.zeros(at.network.size)
    delta[-1] = 1.0 if at.gradient[-1] >= 0 else -1.0
    printed = at.loss + eq_3_as_printed(of_weights(at, cases.built(at), delta))
    return Printed(AtMost("model against sums from j = 1, one bias moved",
                          reference.model(at, delta), printed))


def products_missed():
    """The true model of y = w2 w1 x at zero along (1, 0, -1, 0) lies above the bound."""
    at, delta = cases.product_of_weights(), np.array([1.0, 0.0, -1.0, 0.0])
    return AtMost("w2 w1 x: true model against the bound",
                  reference.model(at, delta, products=True), bound_at(at).value(delta))


@equation(PAPER, "2",
          statement="At every layer the model is at most a sum of univariate quadratics. They "
                    "are in the changes of that layer's inputs and of all weights above.",
          kind="inequality", verdict="conditional", weight="misprint",
          condition=(WITHOUT_PRODUCTS, CORRECTED),
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
                             "next", [row[:-1] for row in rows], [row[1:] for row in rows],
                             case=name))
    at = cases.tight(rng)
    rows = np.array([chain_of_bounds(at, cases.built(at), np.full(at.network.size, c))
                     for c in (1.0, -2.0)])
    claims.append(Equal("positive relu network, equal changes: bounds and model", rows[:, 1:],
                        rows[:, :1].repeat(rows.shape[1] - 1, axis=1), 1e-12))
    return [*claims, Counterexample(products_missed()), bias_missed(rng),
            Case(x=at.x, y=at.y, theta=at.network.theta)]


@equation(PAPER, "3",
          statement="Taken down to the input, the bound is a sum of univariate quadratics of "
                    "single parameters, and the loss at the point.",
          kind="inequality", verdict="conditional", weight="misprint",
          condition=(WITHOUT_PRODUCTS, CORRECTED),
          implements=(eq_3_bound, quadratic, eq_3_as_printed,
                      Stated(theorem_1, "W_dot", "W_ddot"), Bound.value, bounded_hessian),
          uses=("2", "theorem-1", "18"))
def equation_3(rng):
    claims = []
    for name, at in (cases.variety(rng, samples=3) | cases.rows(rng)).items():
        bound, built = bound_at(at, "pairwise"), cases.built(at)
        steps = cases.steps(rng, at.network.size, 6)
        models, H = [reference.model(at, delta) for delta in steps], cases.bounded(at)
        W_dot, W_ddot = reference.algorithm(at)
        claims += in_case(
            name, AtMost("model against the value of the bound", models,
                         [bound.value(step) for step in steps], scale=models),
            Equal("W_dot and W_ddot against loops", [built.gradient, built.curvature],
                  [W_dot, W_ddot], 1e-12),
            Equal("bounded Hessian along steps against differences of the model",
                  [v @ H @ v for v in steps],
                  [value + reference.model(at, -v) - 2 * at.loss
                   for v, value in zip(steps, models)], 1e-10))
    at = cases.tight(rng)
    steps = np.array([[1.0], [-2.0], [0.0], [50.0]]) * np.ones(at.network.size)
    models = [reference.model(at, step) for step in steps]
    W = [of_weights(at, cases.built(at), step) for step in steps]
    from_1 = sum(W_l[i, j] for W_l in W[1] for i, j in np.ndindex(W_l.shape) if j)
    small = cases.product_of_weights()
    return [*claims, Counterexample(products_missed()), bias_missed(rng),
            Equal("positive relu network, all changes alike: value of the bound against the "
                  "model", [bound_at(at).value(step) for step in steps], models, 1e-12),
            Equal("the same, loss and sum over parameters one by one",
                  [eq_3_bound(at.loss, W_at) for W_at in W], models, 1e-12),
            Equal("as printed, sums from j = 1 by loops", eq_3_as_printed(W[1]), from_1, 1e-13),
            Counterexample(is_bound(
                "w2 w1 x at zero: 0 against the least eigenvalue of diag(W_ddot) - true Hessian",
                bound_at(small).curvature, cases.true_hessian(small))),
            Printed(AtMost("no step: the model, L(0), against the sum without it", at.loss,
                           eq_3_bound(0.0, W[2]), scale=at.loss)),
            Case(x=at.x, y=at.y, theta=at.network.theta, W_dot=W_dot, W_ddot=W_ddot)]


@equation(PAPER, "theorem-1",
          statement="At every layer there is an upper bound that is a sum of convex quadratics of "
                    "single variables. (The proof needs a step through activations, which the "
                    "appendix announces and does not contain: the last claims are that step.)",
          where="Section 3, and the sentence after it on what the appendix treats",
          kind="inequality", verdict="conditional", ours=True,
          condition=(WITHOUT_PRODUCTS, CORRECTED),
          implements=(eq_2_bound_at_layer, Stated(theorem_1, "W_ddot"),
                      coefficients_below_activation),
          uses=("2", "8", "12", "17", "41"))
def theorem_1_check(rng):
    claims = []
    for name, at in (cases.rows(rng) | {"bent unit": cases.bent_unit()}).items():
        for way, correct in NEGATIVE_CURVATURE.items():
            built = cases.optimal_up_to(at, 0, rng, correct)  # all fractions are drawn
            convex = [W.ravel() for W in built.W_ddot + built.Y_ddot if W is not None]
            claims += in_case(
                f"{name}, {way}", Equal("W_ddot at the fractions of (10) against loops",
                                        cases.built(at, correct=correct).curvature,
                                        reference.algorithm(at, Reading(way=way))[1], 1e-12),
                AtMost("0 against all W_ddot and Y_ddot", 0.0, np.concatenate(convex)),
                is_bound("0 against the least eigenvalue of diag(W_ddot) - bounded Hessian",
                         built.curvature, cases.bounded(at)))
    tight, bent = cases.tight(rng), cases.bent_unit()
    ones, built = np.ones(tight.network.size), cases.built(tight)
    model, bare = reference.model(tight, ones), cases.built(bent, correct=cases.kept).curvature
    return [*claims, *activation_step(rng), Counterexample(products_missed()),
            Equal("positive relu network, all changes one: bounds of all layers against the model",
                  chain_of_bounds(tight, built, ones)[1:] + tight.loss,
                  np.full(len(tight.saved) + 1, model), 1e-12),
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


@equation(PAPER, "u-second-order-model",
          statement="The bound is said to lie above the loss's own second-order model, so that "
                    "what minimising it gains is gained there, too. It does not: (4) leaves out "
                    "the product of a change of weight and a change of unit, which is of second "
                    "order. It lies above the model without these products.",
          where="Section 1, the paragraph that introduces the method; Theorem 1",
          kind="claim", verdict="erratum", weight="substance", ours=True, unnumbered=True,
          condition=CORRECTED, uses=("4", "theorem-1"), implements=(bound_at,))
def second_order_model(rng):
    claims = []
    for name, at in cases.variety(rng, samples=3).items():
        W_ddot = reference.algorithm(at)[1]
        claims += in_case(
            name, Equal("curvature of the bound against loops", bound_at(at, "jensen").curvature,
                        W_ddot, 1e-12),
            is_bound("0 against the least eigenvalue of bound minus model without products",
                     W_ddot, cases.bounded(at)))
    at = cases.one_unit((0.5, 0.0, 0.5, 0.0), -2.0)
    g, curvature, H = at.gradient, bound_at(at).curvature, cases.true_hessian(at)
    return [*claims, Printed(products_missed()),
            Printed(is_bound("w2 w1 x, both 1/2, target -2: 0 against the least eigenvalue of "
                             "bound minus true Hessian", curvature, H)),
            Printed(AtMost("the same: the true model where the bound is least against the bound",
                           reference.model(at, -g / curvature, products=True),
                           at.loss - g**2 @ (1 / curvature) / 2)),
            Case(theta=at.network.theta, W_dot=g, W_ddot=curvature, true_hessian=H)]
