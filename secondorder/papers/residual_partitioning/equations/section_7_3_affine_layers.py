"""The proof of Theorem 2 through the affine layers: Eqs. (25) to (39).

The sum of all second coefficients of the parameters is carried upwards through the network. With
the optimal fractions below, it is a weighted sum of squared total gradients at the layer that has
been reached, plus a constant.
"""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Stated, equation
from .. import PAPER
from ..section_2_setup import own_inputs
from ..section_3_residual_partitioning import (coefficients_below_activation, eq_7_jensen,
                                               eq_9_coefficients, theorem_1)
from ..section_4_partitioning_variables import eq_11_affine, theorem_2
from ..section_7_2_first_layer import eq_18_coefficients
from ..section_7_3_proof_of_theorem_2 import (
    eq_25_constant, eq_25_left, eq_25_right, eq_26_last_layer_apart, eq_27_two_parts,
    eq_28_two_parts, eq_29_first_layer, eq_30_first_layer, eq_31_as_printed,
    eq_31_fractions_of_first_layer, eq_32_fractions_of_first_layer, eq_33_least_of_first_layer,
    eq_34_two_parts, eq_35_by_weight, eq_36_by_output, eq_37_fractions, eq_38_fractions,
    eq_39_least_of_layer)
from . import cases, reference
from .claims import NOT_NEGATIVE, NOTHING_CORRECTED, in_case
from .reference import minimise_over_fractions, weighted_squares


def shown(built, k):
    """A live case for the reader: the arrays around the affine layer at place k."""
    eps, phi = built.partitions[k]
    return Case(u=built.u[k], u_above=built.u[k + 1], Y_ddot_above=built.Y_ddot[k + 1], eps=eps,
                phi=phi, W_ddot=built.W_ddot[k], Y_ddot=built.Y_ddot[k])


def trained(arrays):
    """Those of the affine layers."""
    return [W for W in arrays if W is not None]


def both_sides(at, rng, below, correct=cases.kept, own=False):
    """Left side of (25), its right side without the constant, each for three choices above; scale.

    With ``own`` the sides are those of (27): the layer's own sum stands on both.
    """
    drawn = [cases.optimal_up_to(at, below, rng, correct) for _ in range(3)]
    left = [eq_25_left(trained(built.W_ddot[:below + own])) for built in drawn]
    u = reference.total_gradients(at)[below]
    right = [eq_27_two_parts(built.Y_ddot[below], u, built.W_ddot[below]) if own
             else eq_25_right(built.Y_ddot[below], u) for built in drawn]
    return np.array(left), np.array(right), max(np.abs(built.curvature).sum() for built in drawn)


def no_constant(what, rng, own=False):
    """With the absolute value of negative numbers the rest is not the same for all choices."""
    left, right, scale = both_sides(cases.all_negative(rng), rng, 4, np.abs, own)
    return Counterexample(Equal(what, left[1:], right[1:] + (left - right)[0], 1e-11, scale=scale))


def constant(at, below):
    """The constant of (25) after the first `below` layers, activation by activation."""
    u = reference.total_gradients(at)
    return sum(eq_25_constant(at.deltas[k] / at.samples, saved.curvature, u[k])
               for k, saved in enumerate(at.saved[:below]) if hasattr(saved, "curvature"))


@equation(PAPER, "25",
          statement="With optimal fractions up to a layer, the second coefficients below sum to a "
                    "constant plus Y_ddot u^2 above. (Constant means: independent of all fractions "
                    "above. Its value, which is not printed, is the sum of Y_dot sigma'' u^2 over "
                    "the activations up to there.)",
          kind="identity", verdict="conditional", condition=NOTHING_CORRECTED,
          implements=(eq_25_left, eq_25_right, eq_25_constant, eq_9_coefficients,
                      coefficients_below_activation, theorem_2),
          uses=("27", "33", "39", "40", "43"))
def equation_25(rng):
    rows = {"all layers trained": {}, "one layer fixed": {"fixed": (1,)},
            "one sample": {"samples": 1}, "eleven samples": {"samples": 11},
            "no bias": {"bias": False}}
    ats = {name: cases.curved(rng, **row) for name, row in rows.items()}
    ats |= {"negative coefficients kept": cases.all_negative(rng),
            "relu, with the absolute value": cases.evaluation(rng, "relu", samples=3)}
    claims = []
    for what, at in ats.items():
        correct = np.abs if "relu" in what else cases.kept
        for below in range(1, len(at.saved)):
            left, right, scale = both_sides(at, rng, below, correct)
            claims.append(Equal("left and right with its constant, for three choices above", left,
                                right + constant(at, below), 1e-11, scale=scale,
                                case=f"{what}, layer {below}"))
    at = cases.curved(rng)
    return [*claims, no_constant("softplus, absolute value of negative numbers: one constant for "
                                 "three choices above", rng),
            Case(theta=at.network.theta, u_L=reference.total_gradients(at)[-1],
                 constants=[constant(at, below) for below in range(1, 5)])]


@equation(PAPER, "26", "27",
          statement="The sum over the layers up to an affine layer is the sum up to the layer "
                    "before, plus the affine layer's own part. The induction step starts from "
                    "the claim for the layer before; the fractions of this layer are still free.",
          kind="proof-step", verdict="conditional", condition=NOTHING_CORRECTED,
          implements=(eq_26_last_layer_apart, eq_27_two_parts,
                      Stated(eq_9_coefficients, "W_ddot", "Y_ddot"),
                      Stated(theorem_1, "W_ddot")), uses=())  # an induction begins
def equations_26_and_27(rng):
    at, claims = cases.curved(rng), []
    built = cases.optimal_up_to(at, 2, rng)
    for k in (2, 4):
        left, right, scale = both_sides(at, rng, k, own=True)
        claims += in_case(
            f"layer {k + 1}",
            Equal("(26): sum up to this layer",
                  eq_26_last_layer_apart(trained(built.W_ddot[:k + 1])),
                  reference.sum_up_to(at, built, k) + reference.own_sum(at, built, k), 1e-12),
            Equal("(27): left and right with its constant, for three choices", left,
                  right + constant(at, k), 1e-11, scale=scale))
    return [*claims, no_constant("absolute value of negative numbers: one constant for three "
                                 "choices", rng, own=True), shown(built, 2)]


# -- the first affine layer ------------------------------------------------------------------------

@equation(PAPER, "28", "29", "30",
          statement="At the first layer the inputs do not move. The quantity to minimise is the "
                    "layer's own sum, Y_ddot times the sum of y^2 / eps, for any fractions.",
          kind="proof-step", verdict="holds",
          implements=(eq_28_two_parts, eq_29_first_layer, eq_30_first_layer,
                      Stated(eq_18_coefficients, "1")), uses=("11", "18", "27"))
def equations_28_to_30(rng):
    at, claims = cases.curved(rng), []
    u, y = np.zeros_like(at.x), own_inputs(at.network.layers[0], at.x)
    for _ in range(3):
        built = cases.optimal_up_to(at, 0, rng)
        # Y_ddot of the inputs is not defined; its factor u is zero
        anything, eps, own = rng.normal(size=u.shape), built.partitions[0][0], \
            reference.own_sum(at, built, 0)
        W_ddot = eq_18_coefficients(y, built.Y_dot[1], built.Y_ddot[1], eps)[1]
        claims += [Equal("(28): the quantity against the whole sum of (26), without a constant",
                         eq_28_two_parts(anything, u, W_ddot),
                         reference.sum_up_to(at, built, 1), 1e-12),
                   Equal("(29): the layer's own sum against loops", eq_29_first_layer(W_ddot),
                         own, 1e-12),
                   Equal("(30): Y_ddot times the sums of y^2 / eps against loops",
                         eq_30_first_layer(built.Y_ddot[1], y, eps), own, 1e-12)]
    return [*claims, shown(built, 0)]


def quantity(a):
    """sum_ij W_ddot_ij + sum_sj Y_ddot_sj u_sj^2: the left side of (34)."""
    below = a.below()
    return float(eq_34_two_parts(below.Y_ddot, a.u, below.W_ddot))


def against_the_minimum(a, rng):
    """Fractions and value against a numerical minimiser; and with Y_ddot < 0, no minimum."""
    turned, best = a._replace(Y_ddot=-a.Y_ddot), a.at_best()
    least, (nearest,) = minimise_over_fractions(weighted_squares(a.Y_ddot, a.terms),
                                                [a.terms != 0], rng)
    return [Equal("fractions against the numerical minimiser", best.p, nearest, 1e-4),
            Equal("least value", quantity(best), least, 1e-8),
            Counterexample(AtMost("with Y_ddot < 0: their value against that of other fractions",
                                  quantity(turned.at_best()), quantity(turned), 1e-3))]


@equation(PAPER, "31",
          statement="Of the first layer's fractions, those proportional to |y| minimise its sum; "
                    "the bias counts among them.",
          kind="optimality", verdict="erratum", weight="misprint", condition=NOT_NEGATIVE,
          implements=(eq_31_fractions_of_first_layer, eq_31_as_printed), uses=("30", "lemma-3"))
def equation_31(rng):
    claims = []
    for name, a in cases.affine_rows(rng, first=True).items():
        eps = eq_31_fractions_of_first_layer(a.y)
        claims += in_case(
            name, Equal("|y| over the sum of |y|, the same for every output, against loops",
                        eps[:, None, :].repeat(2, axis=1),
                        reference.shares(a.terms[:, :, :a.y.shape[1]]), 1e-13),
            Equal("they sum to one", eps.sum(axis=1), np.ones(len(a.y)), 1e-12))
    # small inputs: what is missing in the denominator, the 1 of the bias, is the larger part of it
    a = cases.affine(rng, first=True, size=0.3)
    printed = eq_31_as_printed(a.y)
    return [*claims, *against_the_minimum(a, rng),
            Equal("as printed, by loops", printed,
                  [[abs(v) / sum(map(abs, row[1:])) for v in row] for row in a.y], 1e-13),
            Printed(Equal("with a denominator that starts at j' = 1 they sum to one",
                          printed.sum(axis=1), np.ones(len(a.y)), 1e-3)),
            Case(y=a.y, eps=a.at_best().eps, printed=printed)]


def at_the_optimum(rng, fractions, least, first):
    """Claims on the optimal fractions, and that the quantity is sum Y_ddot u^2 there."""
    claims = []
    for name, a in cases.affine_rows(rng, first=first).items():
        u_above = a.u_above
        eps, phi = fractions(a.y, a.w, a.u, u_above)
        a, value = a._replace(eps=eps, phi=phi), np.sum(a.Y_ddot * u_above**2)
        claims += in_case(
            name, Equal("fractions against |y| and |w| u over the total gradient",  # (32), (38)
                        a.p, np.abs(a.terms) / u_above[:, :, None], 1e-13),
            Equal("the quantity in terms of the fractions against the sum of Y_ddot u^2",
                  eq_36_by_output(a.Y_ddot, a.y, a.w, a.u, eps, phi), value, 1e-12),
            Equal("sum of Y_ddot u^2", least(a.Y_ddot, u_above), value, 1e-12),
            Equal("total gradient against its sums", eq_11_affine(a.y, a.w, a.u), u_above, 1e-13),
            Equal("the quantity against the sum of Y_ddot u^2", quantity(a),  # (33), (39)
                  value, 1e-12))
    return [*claims, Case(y=a.y, u=a.u, u_above=u_above, Y_ddot_above=a.Y_ddot, eps=eps, phi=phi)]


@equation(PAPER, "32", "33",
          statement="The optimal fractions of the first layer have the total gradient of its "
                    "outputs as denominator. At them the layer's sum is Y_ddot times the squared "
                    "total gradient of its outputs.",
          kind="identity", verdict="holds",
          implements=(Stated(eq_32_fractions_of_first_layer, "0"), eq_33_least_of_first_layer,
                      eq_11_affine, Stated(eq_9_coefficients, "W_ddot")),
          uses=("11", "30", "31"))
def equations_32_and_33(rng):
    return at_the_optimum(rng, eq_32_fractions_of_first_layer, eq_33_least_of_first_layer,
                          first=True)


# -- the other affine layers -----------------------------------------------------------------------

@equation(PAPER, "34", "35", "36",
          statement="Above the first layer the quantity to minimise has two parts: what goes "
                    "below the layer and what stays in it. With the coefficients of (9) written "
                    "out, the fractions of each sample and output stand in one bracket.",
          kind="proof-step", verdict="conditional", condition=NOTHING_CORRECTED,
          implements=(eq_34_two_parts, eq_35_by_weight, eq_36_by_output,
                      Stated(eq_9_coefficients, "W_ddot", "Y_ddot"), eq_7_jensen),
          uses=("9", "27"))
def equations_34_to_36(rng):
    def differences(at, k, correct):
        """Changes of whole sum and quantity, if only the layer's own fractions change."""
        best, others, totals, quantities = theorem_2(at)[0], cases.drawn(at, rng), [], []
        u = reference.total_gradients(at)[k]
        for own in (best[k], others[k]):
            built = cases.built(at, best[:k] + [own] + others[k + 1:], correct=correct)
            totals.append(reference.sum_up_to(at, built, k + 1))
            quantities.append(eq_34_two_parts(built.Y_ddot[k], u, built.W_ddot[k]))
        return totals[1] - totals[0], quantities[1] - quantities[0], max(totals)

    whole, part, scale = differences(cases.curved(rng), 2, cases.kept)
    broken, but, large = differences(cases.all_negative(rng), 4, np.abs)
    a = cases.affine(rng)
    below, parts = a.below(), a.Y_ddot[:, :, None] * a.terms**2 / a.p
    own, passed_on = parts[:, :, :4].sum(axis=0), parts[:, :, 4:].sum(axis=1)
    bracket, given = reference.squares(a.terms, a.p), (a.y, a.w, a.u, a.eps, a.phi)
    largest = eq_7_jensen(a.y, a.w, np.ones_like(a.dw), a.u, a.eps, a.phi)
    return [Equal("(34): the layer's fractions change the whole sum by what they change the "
                  "quantity", whole, part, 1e-10, scale=scale),
            Counterexample(Equal("(34) with the absolute value of negative numbers", broken, but,
                                 1e-6, scale=large)),
            Equal("(35): part that goes below", below.Y_ddot * a.u**2, passed_on, 1e-12),
            Equal("(35): part of every parameter", below.W_ddot, own, 1e-12),
            Equal("(35): the right side against its parts, by loops",
                  eq_35_by_weight(a.Y_ddot, *given), own.sum() + passed_on.sum(), 1e-12),
            Equal("(34): both parts together", quantity(a), np.sum(a.Y_ddot * bracket), 1e-12),
            Equal("(36): the right side, against the bracket by loops",
                  eq_36_by_output(a.Y_ddot, *given), np.sum(a.Y_ddot * bracket), 1e-12),
            Equal("(36): the bracket is (7) for changes of 1 above and u below", largest, bracket,
                  1e-12),
            Case(Y_ddot_above=a.Y_ddot, y=a.y, u=a.u, bracket=bracket, passed_on=passed_on,
                 own=own)]


@equation(PAPER, "37",
          statement="Fractions proportional to |y| and |w| u minimise the layer's quantity.",
          kind="optimality", verdict="conditional", condition=NOT_NEGATIVE,
          implements=(Stated(eq_37_fractions, "0", "1"),), uses=("36", "lemma-3"))
def equation_37(rng):
    claims = [Equal("closed form against loops",
                    np.concatenate(eq_37_fractions(a.y, a.w, a.u), axis=2),
                    reference.shares(a.terms), 1e-13, case=name)
              for name, a in cases.affine_rows(rng).items()]
    a = cases.affine(rng, samples=3)
    eps, phi = eq_37_fractions(a.y, a.w, a.u)
    return [*claims, *against_the_minimum(a, rng), Case(y=a.y, u=a.u, eps=eps, phi=phi)]


@equation(PAPER, "38", "39",
          statement="The denominators are the total gradient of the layer's outputs. At these "
                    "fractions the layer's quantity is Y_ddot times the squared total gradient "
                    "of its outputs.",
          kind="identity", verdict="holds",
          implements=(Stated(eq_38_fractions, "0", "1"), eq_39_least_of_layer, eq_36_by_output,
                      eq_11_affine, Stated(eq_9_coefficients, "W_ddot", "Y_ddot")),
          uses=("11", "36", "37"))
def equations_38_and_39(rng):
    return at_the_optimum(rng, eq_38_fractions, eq_39_least_of_layer, first=False)
