"""What the paper claims in words: gradient, rates, decrease, reach, cost, curvature."""

from itertools import product

import numpy as np

from ....exact import finite_differences
from ....ledger import AtMost, Case, Counterexample, Equal, Stated, equation
from ....ledger.multiplication_counter import counted
from ....nets import Linear, Network, SquaredError
from .. import PAPER, Bound, ResidualPartitioning
from ..method import bound_at
from ..section_3_residual_partitioning import (
    NEGATIVE_CURVATURE, coefficients_below_activation, eq_9_coefficients, minimiser)
from ..section_4_partitioning_variables import eq_11_activation, eq_11_affine, theorem_2
from ..section_7_1_loss import coefficients_of_loss
from ..section_7_algorithm_1 import eq_41_carried
from . import cases, reference
from .claims import CORRECTED, FIRST_ORDER, WITHOUT_PRODUCTS, in_case, is_bound


def step_of(at, rate, **options):
    """The change that a step at that rate makes, (P,)."""
    return rate * ResidualPartitioning(at.network, at.loss_function, rate, **options).direction(at)


@equation(PAPER, "claim-gradient",
          statement="The first coefficient of a parameter is the gradient of the loss, whatever "
                    "the fractions.",
          where="Section 3.1, the paragraph after (9)", kind="claim", verdict="holds", ours=True,
          implements=(Stated(eq_9_coefficients, "W_dot", "Y_dot"),
                      Stated(coefficients_below_activation, "0"),
                      Stated(coefficients_of_loss, "0"), Stated(bound_at, "gradient")),
          uses=("9", "15", "18", "41"))
def claim_gradient(rng):
    claims = []
    smooth = cases.variety(rng, cases.SMOOTH, samples=4, scale=3.0)
    for name, at in (cases.rows(rng) | smooth).items():
        if name == "a dead unit":
            continue  # ReLU takes no complex numbers
        value = finite_differences.objective(at.network, at.loss_function, at.x, at.y)
        slope = finite_differences.complex_step(value, at.network.theta)
        drawn = cases.built(at, cases.drawn(at, rng))
        claims += in_case(
            name, Equal("W_dot of arbitrary fractions against a complex step", drawn.gradient,
                        slope, 1e-13),
            Equal("gradient of the bound against a complex step", bound_at(at).gradient, slope,
                  1e-13))
    return [*claims, Case(theta=at.network.theta, W_dot=drawn.gradient)]


@equation(PAPER, "claim-learning-rate",
          statement="A weight is updated at the rate 1 / W_ddot, which grows with the fraction the "
                    "weight was given.",
          where="Section 3.1, the paragraph after (9)", kind="claim", verdict="holds", ours=True,
          implements=(minimiser, Stated(eq_9_coefficients, "W_ddot"),
                      ResidualPartitioning.direction),
          uses=("3", "9"))
def claim_learning_rate(rng):
    at = cases.evaluation(rng)
    W_dot, W_ddot = reference.algorithm(at, reference.Reading(start="diagonal"))
    step = step_of(at, 1.0)
    a, (s, i, j) = cases.affine(rng), (rng.integers(4), rng.integers(2), rng.integers(4))
    more = a.eps.copy()
    more[s, i, j] *= 1.3
    one = a._replace(y=a.y[:1], Y_dot=a.Y_dot[:1], Y_ddot=a.Y_ddot[:1], eps=a.eps[:1],
                     phi=a.phi[:1])
    before, after, alone = (1 / case.below().W_ddot for case in (a, a._replace(eps=more), one))
    return [
        Equal("step at learning rate 1 against -W_dot / W_ddot", step, -W_dot / W_ddot, 1e-12),
        Equal("step of the formula against the optimizer's", minimiser(W_dot, W_ddot), step,
              1e-12),
        Equal("one sample: rate against eps / (Y_ddot y^2)", alone,
              a.eps[0] / (one.Y_ddot.T * one.y**2), 1e-12),
        AtMost("a larger fraction: rate before against rate after", before[i, j] * (1 + 1e-9),
               after[i, j]),
        Case(eps=a.eps, rates=before)]


@equation(PAPER, "claim-decrease",
          statement="The decrease that minimising the bound promises is achieved by the "
                    "second-order model as well.",
          where="Section 1, the paragraph that introduces the method", kind="claim",
          uses=("3", "claim-learning-rate"), verdict="conditional", ours=True,
          condition=(WITHOUT_PRODUCTS, "The learning rate lies between 0 and 2. The loss itself "
                                       "may rise."),
          implements=(Bound.value, ResidualPartitioning.direction))
def claim_decrease(rng):
    claims = []
    ats = cases.variety(rng, samples=3, scale=1.5) | cases.rows(rng)
    for (name, at), rate in product(ats.items(), (0.3, 1.0, 1.7)):
        W_dot, W_ddot = reference.algorithm(at)
        gain = sum(g**2 / h for g, h in zip(W_dot, W_ddot) if h)
        step, promised = step_of(at, rate, output="jensen"), at.loss - (rate - rate**2 / 2) * gain
        claims += in_case(
            f"{name}, rate {rate}",
            Equal("the bound at the step against what is promised, by loops",
                  bound_at(at, "jensen").value(step), promised, 1e-12),
            Equal("what the step says that it promises", at.loss
                  - cases.last_lines(W_dot, W_ddot, rate)[1], promised, 1e-12),
            AtMost("the model at the step against what is promised", reference.model(at, step),
                   promised))
    one = np.ones((1, 1))
    line = Network([Linear(1, 1, bias=False, init=0.0)]).evaluate(SquaredError(), one, one)
    at = cases.one_unit((0.1, 0.1), 1.0, bias=False)
    after = reference.losses("squared", reference.outputs(at, step_of(at, 1.0)), at.y)[0]
    return [*claims,
            Counterexample(AtMost("learning rate 3, one weight: the model against its value before",
                                  reference.model(line, step_of(line, 3.0)), line.loss)),
            Counterexample(AtMost("rate 1, w2 w1 x with small weights: the loss itself against its "
                                  "value before", after, at.loss)),
            Case(W_dot=W_dot, W_ddot=W_ddot)]


@equation(PAPER, "claim-total-gradient",
          statement="The total gradient says how far a unit can move: no further than u times the "
                    "largest change of a parameter.",
          where="Section 4, the sentence after (11)", kind="claim", verdict="conditional",
          ours=True, condition=FIRST_ORDER,
          implements=(eq_11_affine, eq_11_activation), uses=("4", "11"))
def claim_total_gradient(rng):
    claims = []
    ats = cases.variety(rng, (*cases.SMOOTH, "relu"), ("squared",), scale=3.0) | cases.rows(rng)
    for name, at in ats.items():
        u = np.hstack(theorem_2(at)[1])
        moved = [np.abs(np.hstack([change.first for change in reference.changes(at, delta)]))
                 / (np.abs(delta).max() or 1.0) for delta in cases.steps(rng, at.network.size, 12)]
        claims.append(AtMost("first-order change of every unit over max |dw|, largest of 12 steps, "
                             "against u", np.max(moved, axis=0), u, case=name))
    at = cases.evaluation(rng, "relu", positive=True)
    first = reference.changes(at, np.full(at.network.size, 0.3))[-1].first
    small, delta = cases.product_of_weights(), np.array([2.0, 0.0, 2.0, 0.0])
    u, reach = (theorem_2(one)[1][-1] for one in (at, small))
    return [*claims,
            Equal("positive network, all parameters changed alike: change over size of the step",
                  first / 0.3, u, 1e-12),
            Counterexample(AtMost("w2 w1 x at zero, step 2: the real change against u max |dw|",
                                  np.abs(reference.outputs(small, delta) - small.outputs),
                                  2.0 * reach)),
            Case(u=u)]


def multiply_adds(rng, sizes, samples, work):
    """Multiply-adds of every matrix product of work(evaluation), forward pass included."""
    net, log = cases.network(rng, "relu", sizes), []
    for layer in net.layers[::2]:
        dict.__setitem__(layer.parameters, "weight", counted(layer.weight, log))
    work(cases.evaluated(rng, net, samples=samples))
    return log


@equation(PAPER, "claim-complexity",
          statement="One step costs about as much as one of gradient descent: 6n - 3 matrix "
                    "products for n affine layers instead of 3n - 1, always less than twice.",
          where="Abstract, and Section 5, which reports 1.66 times the time of a step of SGD",
          kind="claim", verdict="holds", ours=True, uses=("algorithm-1",))
def claim_complexity(rng):
    S, sizes, depths = 5, [4, 7, 2, 5, 3], np.arange(1, 5)
    work = {"gradient": lambda at: at.gradient, "bound": bound_at,
            "cross": lambda at: bound_at(at, cross=True)}
    counts = {name: [len(multiply_adds(rng, [3] * (n + 1), S, run)) for n in depths]
              for name, run in work.items()}
    total = {name: sum(multiply_adds(rng, sizes, S, run)) for name, run in work.items()}
    products = S * np.array(sizes[1:]) * np.array(sizes[:-1])
    return [
        Equal("products of a gradient against 3n - 1", counts["gradient"], 3 * depths - 1, 1e-15),
        Equal("products of the bound against 6n - 3", counts["bound"], 6 * depths - 3, 1e-15),
        Equal("products with the terms of cross=True against 7n - 4", counts["cross"],
              7 * depths - 4, 1e-15),
        Equal("multiply-adds of the bound against 3 for the first layer and 6 for the others",
              total["bound"], 3 * products[0] + 6 * products[1:].sum(), 1e-15),
        AtMost("ratio of products against 2", np.divide(counts["bound"], counts["gradient"]), 2.0),
        Case(layers=depths, gradient=counts["gradient"], bound=counts["bound"])]


@equation(PAPER, "claim-negative-curvature",
          statement="Negative curvature from activations is corrected number by number, with no "
                    "eigenvalue computed.",
          where="Section 1, on the diagonal Hessian of the bound", kind="claim",
          verdict="conditional", ours=True, condition=(WITHOUT_PRODUCTS, CORRECTED),
          implements=(Stated(coefficients_below_activation, "1"), eq_41_carried),
          uses=("41", "algorithm-1"))
def claim_negative_curvature(rng):
    Y_dot, curvature = rng.normal(size=(2, 4, 3)) * 3
    Y_ddot, slope = rng.uniform(0.1, 1, size=(2, 4, 3))
    Y_dot[0], curvature[0], Y_dot[1], curvature[1] = 2.0, 3.0, 2.0, -3.0
    signed, bent, claims = Y_ddot * slope**2 + Y_dot * curvature, cases.bent_unit(), []
    for way, correct in (("abs", lambda v: max(v, -v)), ("max", lambda v: max(v, 0.0))):
        below = coefficients_below_activation(Y_dot, Y_ddot, slope, curvature,
                                              NEGATIVE_CURVATURE[way])[1]
        claims.append(Equal("below a unit, one number at a time", below,
                            [[correct(v) for v in row] for row in signed], 1e-14, case=way))
        for name, at in ({"bent unit": bent} | cases.variety(rng, cases.SMOOTH)).items():
            W_ddot = bound_at(at, negative_curvature=way).curvature
            claims += in_case(
                f"{name}, {way}", AtMost("0 against W_ddot", 0.0, W_ddot),
                is_bound("0 against the least eigenvalue of diag(W_ddot) - bounded Hessian",
                         W_ddot, cases.bounded(at)))
    W_ddot = cases.built(bent, correct=cases.kept).curvature
    return [*claims,
            Equal("bent unit, absolute value: W_ddot against loops", bound_at(bent).curvature,
                  reference.algorithm(bent)[1], 1e-13),
            AtMost("bent unit: least eigenvalue of bounded Hessian against -1",
                   np.linalg.eigvalsh(cases.bounded(bent))[0], -1.0),
            Counterexample(AtMost("bent unit, no correction: 0 against W_ddot", 0.0, W_ddot)),
            Case(theta=bent.network.theta, W_ddot=W_ddot)]
