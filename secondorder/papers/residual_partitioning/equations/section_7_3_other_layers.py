"""The rest of the proof of Theorem 2, Eqs. (40) to (46): activation layers, and the loss."""

from itertools import product

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, PrintedShape, Stated, equation
from ....nets import Activation
from .. import PAPER, Bound
from ..method import bound_at
from ..section_3_residual_partitioning import coefficients_below_activation, theorem_1
from ..section_4_partitioning_variables import eq_11_activation
from ..section_7_1_loss import coefficients_of_loss
from ..section_7_3_proof_of_theorem_2 import (
    eq_40_unchanged, eq_41_as_printed, eq_41_below_activation, eq_42_below_activation,
    eq_43_above_activation, eq_44_as_printed, eq_44_bound_of_equal_changes, eq_45_at_outputs,
    eq_46_fractions_at_outputs)
from . import cases, reference
from .claims import NOTHING_CORRECTED, in_case
from .reference import minimise_over_fractions, weighted_squares
from .section_7_3_affine_layers import constant


# -- activation layers -----------------------------------------------------------------------------

@equation(PAPER, "40",
          statement="An activation layer has no parameters and adds nothing to the sum.",
          kind="identity", verdict="holds",
          implements=(eq_40_unchanged, Stated(theorem_1, "W_ddot")), uses=())
def equation_40(rng):
    claims = []
    for name, at in cases.rows(rng, activation="softplus", output="tanh").items():
        built, layers = cases.optimal_up_to(at, 0, rng), at.network.layers
        places = [k for k, layer in enumerate(layers) if not isinstance(layer, Activation)]
        own = [reference.own_sum(at, built, k) for k in places]
        after = [reference.sum_up_to(at, built, min(k + 2, len(layers))) for k in places]
        up_to = [eq_40_unchanged([W for W in built.W_ddot[:k + 2] if W is not None])
                 for k in places]
        claims += [Equal("sums up to the activation layers, from the affine layers' own parts",
                         sums, np.cumsum(own), 1e-12, case=name) for sums in (after, up_to)]
    return [*claims, Case(own_parts=own, sums_after=after, W_ddot=built.W_ddot[0])]


@equation(PAPER, "41", "42", "43",
          statement="Below an activation, second coefficients have a part with its slope squared "
                    "and a part with its curvature. The latter depends on no fraction; Y_ddot "
                    "u^2 after the activation does. The printed sum over i leaves j free; i = j.",
          kind="identity", verdict="conditional", weight="misprint", condition=NOTHING_CORRECTED,
          implements=(eq_41_below_activation, eq_41_as_printed, eq_42_below_activation,
                      eq_43_above_activation, Stated(coefficients_below_activation, "1"),
                      eq_11_activation), uses=("11",))
def equations_41_to_43(rng):
    return [claim for samples in (1, 3, 11) for claim in in_case(
        f"{samples} samples",
        *through_an_activation(cases.curved(rng, samples=samples, size=3.0), rng))]


def through_an_activation(at, rng):
    """(41) to (43) at the second activation layer of a chain."""
    f, y, u = at.network.layers[3].function, at.saved[3].input, reference.total_gradients(at)
    Y_dot, Y_ddot = 3 * rng.normal(size=y.shape), rng.uniform(0.1, 2, y.shape)
    slope, curvature = f.slope(y), f.curvature(y)

    def above(change):
        moved = f.value(y + change) - f.value(y)
        return Y_dot * moved + Y_ddot * moved**2 / 2

    def term(s, i, j):
        return (Y_ddot[s, i] * slope[s, j] ** 2 + Y_dot[s, i] * curvature[s, j]) * u[3][s, j] ** 2

    second = (above(1e-4) - 2 * above(0.0) + above(-1e-4)) / 1e-8
    below = coefficients_below_activation(Y_dot, Y_ddot, slope, curvature, cases.kept)[1]
    loops = sum(term(s, j, j) for s, j in np.ndindex(y.shape))
    printed = sum(term(s, i, j) for s, i, j in np.ndindex(*y.shape, y.shape[1]))
    as_printed = eq_41_as_printed(Y_dot, Y_ddot, slope, curvature, u[3])
    size, size_below = (np.sum(np.abs(a) * u[3] ** 2) for a in (Y_ddot * slope**2, below))
    drawn = [cases.optimal_up_to(at, 0, rng) for _ in range(3)]
    left = [reference.weighted(at, built, 3) for built in drawn]
    with_slope = [eq_42_below_activation(built.Y_ddot[4], slope, u[3]) for built in drawn]
    right = [eq_43_above_activation(built.Y_ddot[4], u[4]) for built in drawn]
    # all second coefficients below are -1
    negative = -(1 + Y_ddot * slope**2) / curvature, Y_ddot, slope, curvature
    of_this_layer = constant(at, 4) - constant(at, 3)
    scale = max(map(abs, left + right)) + abs(of_this_layer)
    return [Equal("(41): second coefficients against second differences of the quadratic above",
                  below, second, 1e-5),
            Equal("(41): the right side against loops",
                  eq_41_below_activation(Y_dot, Y_ddot, slope, curvature, u[3]), loops,
                  1e-12, scale=size_below),
            Equal("(41), as printed, against loops", as_printed, printed, 1e-12,
                  scale=np.abs(as_printed) + size),
            Printed(Equal("(41): summed over i as well", as_printed, loops, 1e-6)),
            Equal("(42): both sides for three choices of all fractions, with the value of the "
                  "constant", left, np.array(with_slope) + of_this_layer, 1e-11, scale=scale),
            Equal("(43): both sides for three choices of all fractions, with the value of the "
                  "constant", left, np.array(right) + of_this_layer, 1e-11, scale=scale),
            Equal("(43): total gradient after it", eq_11_activation(slope, u[3]), u[4], 1e-13),
            Counterexample(Equal("(41) with the absolute value of negative numbers",
                                 np.sum(coefficients_below_activation(*negative)[1] * u[3] ** 2),
                                 eq_41_below_activation(*negative, u[3]), 1e-6)),
            Case(y=y, slope=slope, curvature=curvature, u=u[3], u_above=u[4], left=left,
                 right=right, constant=of_this_layer)]


# -- the loss --------------------------------------------------------------------------------------

def total_and_outputs(at):
    """Sum of all second coefficients, that of Y_ddot u^2 at the outputs, the latter with the
    constant, and the bound's arrays.
    """
    built = cases.built(at, phi=1.0)
    at_outputs = reference.weighted(at, built, -1)
    return (float(eq_44_as_printed(built.W_ddot[::2])), at_outputs,
            at_outputs + constant(at, len(at.saved)), built)


@equation(PAPER, "44",
          statement="If every parameter changes by the same amount, the bound grows with the sum "
                    "of all second coefficients. Up to a constant, this sum is Y_ddot u^2 at the "
                    "outputs. (The printed sums have limits of a layer l' over which no sum "
                    "runs. (25) is printed at l = L, where there is no layer; l = L - 1 is "
                    "meant.)",
          kind="identity", verdict="erratum", weight="misprint", condition=NOTHING_CORRECTED,
          implements=(eq_44_bound_of_equal_changes, eq_44_as_printed, Bound.value,
                      Stated(theorem_1, "W_ddot")), uses=("3", "25"))
def equation_44(rng):
    claims = []
    for samples in (1, 3, 11):
        at = cases.all_positive(rng, samples=samples)
        summed, at_outputs, total, built = total_and_outputs(at)
        c = rng.uniform(0.5, 1.5)
        step = c * rng.choice([-1.0, 1.0], size=at.network.size)
        first = reference.changes(at, step)[-1].first
        slope = np.sum(at.loss_function.gradient(at.outputs, at.y) * first) / at.samples
        value = bound_at(at).value(step)
        claims += in_case(
            f"{samples} samples",
            Equal("bound at a step with all changes +c or -c", value,
                        at.loss + slope + c**2 / 2 * total, 1e-12),
            Equal("the same as the corrected form says it",
                  eq_44_bound_of_equal_changes(at.loss, [built.gradient], built.W_ddot[::2], [step],
                                               c), value, 1e-12),
            Equal("sum of all second coefficients, with the constant", summed, total, 1e-12))
    broken, _, right, _ = total_and_outputs(cases.all_negative(rng))
    return [*claims,
            Counterexample(Equal("the same with absolute values of negative numbers", broken, right,
                                 1e-3)),
            Printed(Equal("the bound is the sum of the second coefficients", value, summed, 1e-6)),
            Printed(Equal("without the constant", summed, at_outputs, 1e-6)),
            PrintedShape("limits of i and j read at the last layer l', and W_ddot of the first "
                         "layer", built.W_ddot[-1].shape, built.W_ddot[0].shape),
            Case(W_ddot=built.curvature, Y_ddot_L=built.Y_ddot[-1], u_L=built.u[-1], c=c,
                 bound=value, sum_of_W_ddot=summed, sum_of_Y_ddot_u2=at_outputs)]


@equation(PAPER, "45",
          statement="At the outputs, the second coefficients are the loss's second derivatives "
                    "over the fractions.",
          kind="identity", verdict="holds",
          implements=(eq_45_at_outputs, Stated(coefficients_of_loss, "1")), uses=("15",))
def equation_45(rng):
    claims = []
    for (loss, samples) in product(("softmax", "squared", "steep"), (3, 1, 11)):
        at = cases.evaluation(rng, "tanh", loss, samples, sizes=(3, 3, 2, 3))
        u, p, y, f = reference.total_gradients(at)[-1], at.outputs, at.y, at.loss_function.value
        phi, gap = fractions_apart(u, rng)
        Y_ddot = cases.built(at, phi=phi).Y_ddot[-1]
        second = np.stack([(f(p + e, y) - 2 * f(p, y) + f(p - e, y)) / 1e-8
                           for e in 1e-4 * np.eye(3)], axis=1) / samples
        f_ii = at.loss_function.hessian_diagonal(p, y) / samples
        claims += in_case(
            f"{loss}, {samples} samples",
            Equal("coefficients at the outputs against second differences of the loss", Y_ddot,
                  second / phi, 1e-5),
            Equal("the right side, with second derivatives of the loss, against the left",
                  eq_45_at_outputs(f_ii, phi, u), np.sum(Y_ddot * u**2), 1e-12),
            AtMost("0.01 against the largest difference of these fractions from those "
                   "proportional to u", 0.01, gap))
    return [*claims, Case(outputs=p, u_L=u, phi=phi, Y_ddot_L=Y_ddot)]


def fractions_apart(u, rng):
    """Random fractions (S, C) at the outputs, and how far they are from those proportional to u;
    for one sample they may be those by chance, and are drawn again.
    """
    natural, gap = u / u.sum(axis=1, keepdims=True), 0.0
    while gap < 0.02:
        phi = cases.arbitrary_fractions(u, rng)
        gap = np.abs(phi - natural).max()
    return phi, gap


@equation(PAPER, "46",
          statement="Fractions at the outputs that are proportional to u sqrt(f_ii) minimise the "
                    "sum. They belong to layer L; printed is l.",
          kind="optimality", verdict="erratum", weight="misprint",
          implements=(eq_46_fractions_at_outputs, Stated(coefficients_of_loss, "1")),
          uses=("45", "lemma-3"))
def equation_46(rng):
    claims = []
    for samples in (1, 11, 5):
        at = cases.evaluation(rng, "softplus", "softmax", samples, sizes=(3, 3, 4))
        u = reference.total_gradients(at)[-1]
        f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
        phi, x = eq_46_fractions_at_outputs(f_ii, u), u * np.sqrt(f_ii)
        least, (nearest,) = minimise_over_fractions(weighted_squares(np.ones(samples), x), [u > 0],
                                                    rng)
        value = np.sum(coefficients_of_loss(f_ii, f_ii, phi)[1] * u**2)
        claims += in_case(
            f"{samples} samples",
            Equal("fractions against the numerical minimiser of (45)", phi, nearest, 1e-4),
            Equal("fractions against their closed form", phi, reference.shares(x), 1e-13),
            Equal("least value", value, least, 1e-8),
            PrintedShape("fractions at layer 1 and at the outputs", at.saved[0].output.shape,
                         phi.shape),
            Case(u_L=u, f_ii=f_ii, phi=phi))
    return claims
