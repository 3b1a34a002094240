"""The proof of Theorem 2 through the affine layers: Eqs. (25) to (39).

The sum of all second coefficients of the parameters is carried upwards through the network. With
the optimal fractions below, it is a weighted sum of squared total gradients at the layer that has
been reached, plus a constant.
"""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Stated, equation
from .. import PAPER, coefficients, partitions, theorems, total_gradient
from ..explicit import explicit_bound, partitions_of
from . import cases, reference
from .claims import by_total_gradient, in_case, own_terms
from .conditions import NOT_NEGATIVE, NOTHING_CORRECTED
from .minimiser import minimise_over_fractions, weighted_squares


def shown(built, k):
    """A live case for the reader: the arrays around the affine layer at place k."""
    return Case(y=built.y[k], u=built.u[k], u_above=built.u[k + 1],
                Y_ddot_above=built.Y_ddot[k + 1], **built.partitions[k]._asdict(),
                W_ddot=built.W_ddot[k], Y_ddot=built.Y_ddot[k])


def trained(arrays):
    """Those of the trained affine layers."""
    return [W for W in arrays if W is not None]


def both_sides(at, rng, below, negative_curvature="none", own=False):
    """Left side of (25), its right side without the constant, each for three choices above; scale.

    With ``own`` the sides are those of (27): the layer's own sum stands on both.
    """
    drawn = [cases.optimal_up_to(at, below, rng, negative_curvature) for _ in range(3)]
    left = [theorems.sum_up_to(trained(built.W_ddot[:below + own])) for built in drawn]
    u = reference.total_gradients(at)[below]
    right = [theorems.quantity(built.Y_ddot[below], u, built.W_ddot[below]) if own
             else theorems.weighted_by_u(built.Y_ddot[below], u) for built in drawn]
    return np.array(left), np.array(right), max(np.abs(built.curvature).sum() for built in drawn)


@equation(PAPER, "25",
          statement="With optimal fractions up to a layer, the second coefficients below sum to a "
                    "constant plus Y_ddot u^2 above. (Constant means: independent of all fractions "
                    "above. Its value, which is not printed, is the sum of Y_dot sigma'' u^2 over "
                    "the activations up to there.)",
          formula=r"\sum_{\ell' \in P, \ell' \leq \ell} \sum_{i=1}^{m_{\ell'+1}} "
                  r"\sum_{j=0}^{m_{\ell'}} \ddot{W}_{ij}^{(\ell')} = "
                  r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} "
                  r"u_{si}^{(\ell+1)2} + \text{const}",
          kind="identity", verdict="conditional", condition=NOTHING_CORRECTED,
          implements=(theorems.sum_up_to, theorems.weighted_by_u, coefficients.affine,
                      coefficients.activation, partitions.optimal),
          uses=("27", "33", "39", "40", "43"))
def equation_25(rng):
    claims = []
    for what, way, at in (("all layers trained", "none", cases.curved(rng)),
                          ("one layer fixed", "none", cases.curved(rng, fixed=(1,))),
                          ("one sample", "none", cases.curved(rng, samples=1)),
                          ("eleven samples", "none", cases.curved(rng, samples=11)),
                          ("no bias", "none", cases.curved(rng, bias=False)),
                          ("negative coefficients kept", "none", cases.all_negative(rng)),
                          ("relu, with the absolute value", "abs",
                           cases.evaluation(rng, "relu", samples=3))):
        for below in range(1, len(at.saved)):
            left, right, scale = both_sides(at, rng, below, way)
            claims.append(Equal("left and right with its constant, for three choices above", left,
                                right + reference.constant(at, below), 1e-11, scale=scale,
                                case=f"{what}, layer {below}"))
    left, right, scale = both_sides(cases.all_negative(rng), rng, 4, "abs")
    claims.append(Counterexample(Equal("softplus, absolute value of negative numbers: one constant "
                                       "for three choices above", left[1:],
                                       right[1:] + (left - right)[0], 1e-11, scale=scale)))
    at = cases.curved(rng)
    return [*claims, Case(theta=at.network.theta, u_L=reference.total_gradients(at)[-1],
                          constants=[reference.constant(at, below) for below in range(1, 5)])]


@equation(PAPER, "26", "27",
          statement="The sum over the layers up to an affine layer is the sum up to the layer "
                    "before, plus the affine layer's own part. The induction step starts from "
                    "the claim for the layer before; the fractions of this layer are still free.",
          kind="proof-step", verdict="conditional", condition=NOTHING_CORRECTED,
          implements=(theorems.quantity, theorems.sum_up_to,
                      Stated(coefficients.affine, "W_ddot", "Y_ddot"),
                      Stated(explicit_bound, "curvature")), uses=())  # an induction begins
def equations_26_and_27(rng):
    at, claims = cases.curved(rng), []
    built = cases.optimal_up_to(at, 2, rng)
    for k in (2, 4):
        before, own = reference.sum_up_to(at, built, k), reference.own_sum(at, built, k)
        left, right, scale = both_sides(at, rng, k, own=True)
        claims += in_case(
            f"layer {k + 1}", Equal("(26): sum up to this layer",
                                    theorems.sum_up_to(trained(built.W_ddot[:k + 1])),
                                    before + own, 1e-12),
            Equal("(27): left and right with its constant, for three choices", left,
                  right + reference.constant(at, k), 1e-11, scale=scale))
    left, right, scale = both_sides(cases.all_negative(rng), rng, 4, "abs", own=True)
    return [*claims, Counterexample(Equal("absolute value of negative numbers: one constant for "
                                          "three choices", left[1:], right[1:] + (left - right)[0],
                                          1e-11, scale=scale)), shown(built, 2)]


# -- the first affine layer ------------------------------------------------------------------------

@equation(PAPER, "28", "29", "30",
          statement="At the first layer the inputs do not move. The quantity to minimise is the "
                    "layer's own sum, Y_ddot times the sum of y^2 / eps, for any fractions.",
          kind="proof-step", verdict="holds",
          implements=(theorems.quantity_of_first_layer, theorems.quantity,
                      Stated(coefficients.affine, "W_ddot")), uses=("11", "18", "27"))
def equations_28_to_30(rng):
    at, claims = cases.curved(rng), []
    for _ in range(3):
        built = cases.optimal_up_to(at, 0, rng)
        # Y_ddot of the inputs is not defined; its factor u is zero
        anything = rng.normal(size=at.x.shape)
        quantity = theorems.quantity(anything, built.u[0], built.W_ddot[0])
        y = total_gradient.input_with_bias(at.network.layers[0], at.x)
        claims += [Equal("(28): the quantity against the whole sum of (26), without a constant",
                         quantity, reference.sum_up_to(at, built, 1), 1e-12),
                   Equal("(29), (30): the layer's own sum against loops", built.W_ddot[0].sum(),
                         reference.own_sum(at, built, 0), 1e-12),
                   Equal("(30): Y_ddot times the sums of y^2 / eps against loops",
                         theorems.quantity_of_first_layer(built.Y_ddot[1], y,
                                                          built.partitions[0].eps),
                         reference.own_sum(at, built, 0), 1e-12),
                   Equal("(29): u of the inputs against zero, on the scale of u of the outputs",
                         built.u[0], np.zeros_like(at.x), 1e-15, scale=built.u[-1])]
    return [*claims, shown(built, 0)]


def quantity(a, partition):
    """sum_ij W_ddot_ij + sum_sj Y_ddot_sj u_sj^2: the left side of (34)."""
    below = a.below(partition)
    return float(theorems.quantity(below.Y_ddot, a.u, below.W_ddot))


def against_the_minimum(a, rng):
    """Fractions and value against a numerical minimiser; and with Y_ddot < 0, no minimum."""
    turned, terms = a._replace(Y_ddot=-a.Y_ddot), weighted_squares(a.Y_ddot, a.terms)
    least, (nearest,) = minimise_over_fractions(terms, [a.terms != 0], rng)
    return [Equal("fractions against the numerical minimiser", np.concatenate(a.best, axis=2),
                  nearest, 1e-4),
            Equal("least value", quantity(a, a.best), least, 1e-8),
            Counterexample(AtMost("with Y_ddot < 0: their value against that of other fractions",
                                  quantity(turned, a.best), quantity(turned, a.partition), 1e-3))]


@equation(PAPER, "31",
          statement="Of the first layer's fractions, those proportional to |y| minimise its sum; "
                    "the bias counts among them.",
          formula=r"\varepsilon_{sij}^{*(\ell)} \equiv "
                  r"\frac{|y_{sj}^{(\ell)}|}{\sum_{j'=1}^{m_{\ell}} |y_{sj'}^{(\ell)}|}",
          corrected=r"\varepsilon_{sij}^{*(\ell)} \equiv "
                    r"\frac{|y_{sj}^{(\ell)}|}{\sum_{j'=0}^{m_{\ell}} |y_{sj'}^{(\ell)}|}",
          kind="optimality", verdict="erratum", weight="misprint", condition=NOT_NEGATIVE,
          implements=(theorems.first_layer_fractions, Stated(partitions.optimal, "eps")),
          uses=("30", "lemma-3"))
def equation_31(rng):
    rows = {name: a for name, a in cases.affine_rows(rng, first=True).items() if a.layer.trainable}
    claims = [Equal("|y| over the sum of |y|, the same for every output, against loops",
                    theorems.first_layer_fractions(own_terms(a))[:, None, :].repeat(2, axis=1),
                    reference.shares(a.terms[:, :2, :a.y.shape[1] + 1]), 1e-13, case=name)
              for name, a in rows.items()]
    claims += [Equal("they sum to one", a.best.eps.sum(axis=2), np.ones(a.Y_dot.shape), 1e-12,
                    case=name)
              for name, a in cases.affine_rows(rng, first=True).items()]
    # small inputs: what is missing in the denominator, the 1 of the bias, is the larger part of it
    a = cases.affine(rng, first=True, size=0.3)
    printed = np.abs(a.terms[:, :, :4]) / np.abs(a.y).sum(axis=1)[:, None, None]
    return [*claims, *against_the_minimum(a, rng),
            Printed(Equal("with a denominator that starts at j' = 1 they sum to one",
                          printed.sum(axis=2), np.ones(a.Y_dot.shape), 1e-3)),
            Case(y=a.y, eps=a.best.eps, printed=printed)]


def at_the_optimum(rng, first):
    """Claims on the optimal fractions, and that the quantity is sum Y_ddot u^2 there."""
    claims = []
    for name, a in cases.affine_rows(rng, first=first).items():
        u = np.abs(a.terms).sum(axis=2)
        claims += in_case(
            name, Equal("fractions against |y| and |w| u over the total gradient",  # (32), (38)
                        np.concatenate(a.best, axis=2), np.abs(a.terms) / u[:, :, None], 1e-13),
            Equal("the formula against the fractions",
                  np.concatenate(by_total_gradient(a), axis=2), np.concatenate(a.best, axis=2),
                  1e-13),
            Equal("the quantity in terms of the fractions against the sum of Y_ddot u^2",
                  theorems.quantity_by_fractions(a.Y_ddot, own_terms(a), a.layer.weight, a.u,
                                                 by_total_gradient(a)),
                  np.sum(a.Y_ddot * u**2), 1e-12),
            Equal("sum of Y_ddot u^2, term by term", theorems.weighted_by_u(a.Y_ddot, u),
                  sum(h * v**2 for h, v in zip(a.Y_ddot.ravel(), u.ravel())), 1e-12),
            Equal("total gradient against its sums", total_gradient.affine(a.layer, a.y, a.u), u,
                  1e-13),
            Equal("the quantity against the sum of Y_ddot u^2", quantity(a, a.best),  # (33), (39)
                  np.sum(a.Y_ddot * u**2), 1e-12))
    return [*claims, Case(y=a.y, u=a.u, u_above=u, Y_ddot_above=a.Y_ddot, **a.best._asdict())]


@equation(PAPER, "32", "33",
          statement="The optimal fractions of the first layer have the total gradient of its "
                    "outputs as denominator. At them the layer's sum is Y_ddot times the squared "
                    "total gradient of its outputs.",
          kind="identity", verdict="holds",
          implements=(Stated(theorems.fractions_of_total_gradient, "eps"),
                      theorems.weighted_by_u, Stated(partitions.optimal, "eps"),
                      total_gradient.affine, Stated(coefficients.affine, "W_ddot")),
          uses=("11", "30", "31"))
def equations_32_and_33(rng):
    return at_the_optimum(rng, first=True)


# -- the other affine layers -----------------------------------------------------------------------

@equation(PAPER, "34", "35", "36",
          statement="Above the first layer the quantity to minimise has two parts: what goes "
                    "below the layer and what stays in it. With the coefficients of (9) written "
                    "out, the fractions of each sample and output stand in one bracket.",
          kind="proof-step", verdict="conditional", condition=NOTHING_CORRECTED,
          implements=(theorems.quantity_by_fractions, theorems.quantity,
                      Stated(coefficients.affine, "W_ddot", "Y_ddot"),
                      coefficients.squared_change_bound), uses=("9", "27"))
def equations_34_to_36(rng):
    def differences(at, k, way):
        """Changes of whole sum and quantity, if only the layer's own fractions change."""
        best, drawn, totals, quantities = partitions_of(at), partitions_of(at, rng), [], []
        for own in (best[k], drawn[k]):
            built = explicit_bound(at, best[:k] + [own] + drawn[k + 1:], negative_curvature=way)
            totals.append(reference.sum_up_to(at, built, k + 1))
            quantities.append(reference.weighted(at, built, k) + reference.own_sum(at, built, k))
        return totals[1] - totals[0], quantities[1] - quantities[0], max(totals)

    whole, part, scale = differences(cases.curved(rng), 2, "none")
    broken, but, large = differences(cases.all_negative(rng), 4, "abs")
    a = cases.affine(rng)
    below, p = a.below(), np.concatenate(a.partition, axis=2)
    parts = a.Y_ddot[:, :, None] * a.terms**2 / p
    own, passed_on = parts[:, :, :4].sum(axis=0), parts[:, :, 4:].sum(axis=1)
    bracket = reference.squares(a.terms, p)
    largest = coefficients.squared_change_bound(a.layer, a.y, np.ones_like(a.dW), a.u, a.partition)
    return [Equal("(34): the layer's fractions change the whole sum by what they change the "
                  "quantity", whole, part, 1e-10, scale=scale),
            Counterexample(Equal("(34) with the absolute value of negative numbers", broken, but,
                                 1e-6, scale=large)),
            Equal("(35): part that goes below, sample by sample and unit by unit",
                  below.Y_ddot * a.u**2, passed_on, 1e-12),
            Equal("(35): part of every parameter", below.W_ddot, own, 1e-12),
            Equal("(36): both parts together", quantity(a, a.partition),
                  np.sum(a.Y_ddot * bracket), 1e-12),
            Equal("(36): the right side, against the bracket by loops",
                  theorems.quantity_by_fractions(a.Y_ddot, own_terms(a), a.layer.weight, a.u,
                                                 a.partition), np.sum(a.Y_ddot * bracket), 1e-12),
            Equal("(36): the bracket is (7) for changes of 1 above and u below", largest, bracket,
                  1e-12),
            Case(Y_ddot_above=a.Y_ddot, y=a.y, u=a.u, bracket=bracket, passed_on=passed_on,
                 own=own)]


@equation(PAPER, "37",
          statement="Fractions proportional to |y| and |w| u minimise the layer's quantity.",
          kind="optimality", verdict="conditional", condition=NOT_NEGATIVE,
          implements=(Stated(theorems.fractions, "eps", "phi"),
                      Stated(partitions.optimal, "eps", "phi")), uses=("36", "lemma-3"))
def equation_37(rng):
    claims = [Equal("closed form against loops", np.concatenate(a.best, axis=2),
                    reference.shares(a.terms), 1e-13, case=name)
              for name, a in cases.affine_rows(rng).items()]
    claims += [Equal("the formula against loops",
                     np.concatenate(theorems.fractions(own_terms(a), a.layer.weight, a.u), axis=2),
                     reference.shares(a.terms), 1e-13, case=name)
               for name, a in cases.affine_rows(rng).items()]
    a = cases.affine(rng, samples=3)
    return [*claims, *against_the_minimum(a, rng), Case(y=a.y, u=a.u, **a.best._asdict())]


@equation(PAPER, "38", "39",
          statement="The denominators are the total gradient of the layer's outputs. At these "
                    "fractions the layer's quantity is Y_ddot times the squared total gradient "
                    "of its outputs.",
          kind="identity", verdict="holds",
          implements=(Stated(theorems.fractions_of_total_gradient, "eps", "phi"),
                      theorems.weighted_by_u, theorems.quantity_by_fractions,
                      Stated(partitions.optimal, "eps", "phi"), total_gradient.affine,
                      Stated(coefficients.affine, "W_ddot", "Y_ddot")), uses=("11", "36", "37"))
def equations_38_and_39(rng):
    return at_the_optimum(rng, first=False)
