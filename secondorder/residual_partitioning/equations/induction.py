"""The proof of Theorem 2 through the affine layers: Eqs. (25) to (39).

The sum of all second coefficients of the parameters is carried upwards through the network. With the optimal fractions
below, it is a weighted sum of squared total gradients at the layer that has been reached, plus a constant.
"""

import numpy as np

from ...ledger import Case, Counterexample, Equal, Printed, equation
from .. import PAPER, bounding, partitions, total_gradient
from . import cases, fractions

SIZES = (3, 3, 2, 3)  # three outputs: with two, both second derivatives of the softmax are the same
EXPANSION = ("no absolute value is taken below the activations, or none of its arguments is negative (as with "
             "piecewise-linear activations)")


def curved(rng, **options):
    """A small network with a curved activation, evaluated on three samples."""
    activation, loss = rng.choice(["tanh", "softplus", "sigmoid"]), rng.choice(["squared", "softmax"])
    return cases.evaluation(rng, activation, loss, samples=3, sizes=SIZES, scale=1.5, **options)


def negative_arguments(rng):
    """Softplus, positive weights, outputs far below their targets: what is below the last activation is negative."""
    start = cases.evaluation(rng, "softplus", samples=3, sizes=SIZES, positive=True)
    return fractions.with_residual(start, -1000.0)


def rest(evaluation, explicit, below):
    """Left side of (25) minus the first part of its right side, after `below` layers."""
    u = fractions.total_gradients_by_loops(evaluation)[below]
    weighted = sum(explicit.Y_ddot[below][s, i] * u[s, i] ** 2 for s, i in np.ndindex(u.shape))
    return fractions.sum_up_to(evaluation, explicit, below) - weighted


def rests(evaluation, rng, negative_curvature="none"):
    """`rest` after every layer but the last, for three random choices above, (layers, 3); and a scale."""
    count = len(evaluation.network.layers)
    drawn = [[fractions.optimal_up_to(evaluation, below, rng, negative_curvature) for _ in range(3)]
             for below in range(1, count)]
    found = np.array([[rest(evaluation, e, below) for e in row] for below, row in enumerate(drawn, 1)])
    return found, max(np.abs(e.curvature).sum() for row in drawn for e in row)


def constants(evaluation):
    """The constant of (25) after every layer but the last, by loops, (layers, 3)."""
    count = len(evaluation.network.layers)
    return np.array([3 * [fractions.constant_of_curvature(evaluation, below)] for below in range(1, count)])


@equation(PAPER, "25",
          statement="With optimal fractions up to a layer, the second coefficients below sum to a constant plus Y_ddot "
                    "u^2 above.",
          formula=r"\sum_{\ell' \in P, \ell' \leq \ell} \sum_{i=1}^{m_{\ell'+1}} \sum_{j=0}^{m_{\ell'}} "
                  r"\ddot{W}_{ij}^{(\ell')} = "
                  r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} u_{si}^{(\ell+1)2} + \text{const}",
          kind="identity", verdict="conditional", condition=EXPANSION,
          implements=(bounding.explicit_bound, partitions.optimal))
def equation_25(rng):
    claims = []
    for what, made in (("all layers trained", curved(rng)), ("one layer fixed", curved(rng, fixed=(1,)))):
        found, scale = rests(made, rng)
        claims.append(Equal(f"the difference of both sides is the same constant for three choices above, {what}", found,
                            constants(made), tolerance=1e-11, scale=scale))
    linear = cases.evaluation(rng, "relu", "squared", samples=3, sizes=SIZES)
    found, scale = rests(linear, rng, "abs")
    claims.append(Equal("relu, with the absolute value: the constant is zero", found, np.zeros_like(found),
                        tolerance=1e-11, scale=scale))
    found, scale = rests(negative_arguments(rng), rng, "abs")
    claims.append(Counterexample(Equal("softplus, absolute value of negative numbers: unchanged by the choice above",
                                       found[3, 1:], found[3, :1].repeat(2), tolerance=1e-11, scale=scale)))
    return [*claims, Case(theta=made.network.theta, constants=constants(made)[:, 0],
                          u_L=fractions.total_gradients_by_loops(made)[-1])]


@equation(PAPER, "26",
          statement="The sum over the layers up to an affine one is the sum up to the layer before, plus that layer's "
                    "own part.",
          formula=r"""\begin{aligned}
                  \sum_{\ell' \in P, \ell' \leq \ell} \sum_{i=1}^{m_{\ell'+1}}
                  \sum_{j=0}^{m_{\ell'}} \ddot{W}_{ij}^{(\ell')} =
                  &\sum_{\ell' \in P, \ell' \leq \ell-1} \sum_{i=1}^{m_{\ell'+1}}
                  \sum_{j=0}^{m_{\ell'}} \ddot{W}_{ij}^{(\ell')} \\
                  &+ \sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_{\ell}} \ddot{W}_{ij}^{(\ell)}
                  \end{aligned}""",
          kind="identity", verdict="holds", implements=(bounding.explicit_bound, bounding.flatten))
def equation_26(rng):
    made = curved(rng)
    explicit = fractions.optimal_up_to(made, 0, rng)
    whole, parts = [], []
    for k in range(2, len(made.network.layers), 2):
        whole.append(fractions.sum_up_to(made, explicit, k + 1))
        parts.append(fractions.sum_up_to(made, explicit, k) + own_part_by_loops(made, explicit, k))
    first = own_part_by_loops(made, explicit, 0)
    return [Equal("sums up to the second and third affine layer", whole, parts, tolerance=1e-12),
            Equal("sum up to the first affine layer: nothing comes before it", fractions.sum_up_to(made, explicit, 1),
                  first, tolerance=1e-12), shown(explicit, 4)]


def shown(explicit, k):
    """A live case for the reader: the arrays around the affine layer at place k."""
    eps, phi = explicit.partitions[k]
    return Case(y=explicit.y[k], u=explicit.u[k], u_above=explicit.u[k + 1], Y_ddot_above=explicit.Y_ddot[k + 1],
                eps=eps, phi=phi, W_ddot=explicit.W_ddot[k], Y_ddot=explicit.Y_ddot[k])


def own_part_by_loops(evaluation, explicit, k):
    """sum_ij W_ddot_ij of the affine layer at place k, from Eq. (9) in plain loops, bias included."""
    y = evaluation.saved[k].input
    eps, above, total = explicit.partitions[k].eps, explicit.Y_ddot[k + 1], 0.0
    for s, i, j in np.ndindex(eps.shape):
        total += above[s, i] * (1.0 if j == 0 else y[s, j - 1] ** 2) / eps[s, i, j]
    return total


@equation(PAPER, "27",
          statement="The induction step starts from the claim for the layer before, with the fractions of this layer "
                    "still free.",
          formula=r"= \sum_{s=1}^S \sum_{j=1}^{m_{\ell}} \ddot{Y}_{sj}^{(\ell)} u_{sj}^{(\ell)2} + "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_{\ell}} \ddot{W}_{ij}^{(\ell)} + \text{const}",
          kind="proof-step", verdict="conditional", condition=EXPANSION,
          implements=(bounding.affine, bounding.explicit_bound))
def equation_27(rng):
    def difference(made, negative_curvature):
        found, scale = [], 0.0
        for k in (2, 4):
            for _ in range(3):
                explicit = fractions.optimal_up_to(made, k, rng, negative_curvature)
                u = fractions.total_gradients_by_loops(made)[k]
                right = np.sum(explicit.Y_ddot[k] * u**2) + own_part_by_loops(made, explicit, k)
                found.append(fractions.sum_up_to(made, explicit, k + 1) - right)
                scale = max(scale, np.abs(explicit.curvature).sum())
        return np.array(found), scale

    made = curved(rng)
    found, scale = difference(made, "none")
    constant = np.repeat([fractions.constant_of_curvature(made, k) for k in (2, 4)], 3)
    broken, large = difference(negative_arguments(rng), "abs")
    return [Equal("difference of both sides for random fractions of this layer and above", found, constant,
                  tolerance=1e-11, scale=scale),
            Counterexample(Equal("absolute value of negative numbers: unchanged by the fractions", broken[4:],
                                 broken[3:4].repeat(2), tolerance=1e-11, scale=large)),
            shown(fractions.optimal_up_to(made, 2, rng), 2)]


# -- the first affine layer -------------------------------------------------------------------------------------------

@equation(PAPER, "28",
          statement="At the first layer the quantity to minimise is the layer's own sum plus Y_ddot u^2 of the "
                    "network's inputs.",
          formula=r"\sum_{s=1}^S \sum_{j=1}^{m_{\ell}} \ddot{Y}_{sj}^{(\ell)} u_{sj}^{(\ell)2} + "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_{\ell}} \ddot{W}_{ij}^{(\ell)}",
          kind="proof-step", verdict="holds", implements=(bounding.affine, total_gradient.total_gradients))
def equation_28(rng):
    made, left, right = curved(rng), [], []
    for _ in range(3):
        explicit = fractions.optimal_up_to(made, 0, rng)
        anything = rng.normal(size=made.x.shape)  # Y_ddot of the inputs is not defined; its factor u is zero
        left.append(np.sum(anything * explicit.u[0] ** 2) + explicit.W_ddot[0].sum())
        right.append(own_part_by_loops(made, explicit, 0))
    totals = [fractions.sum_up_to(made, explicit, 1)]
    return [Equal("the quantity, whatever Y_ddot of the inputs may be", left, right, tolerance=1e-12),
            Equal("it is the whole sum of (26), without a constant", left[-1:], totals, tolerance=1e-12),
            shown(explicit, 0)]


@equation(PAPER, "29",
          statement="The inputs of the network do not move, so that only the first layer's own sum remains.",
          formula=r"= \sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_{\ell}} \ddot{W}_{ij}^{(\ell)}",
          kind="identity", verdict="holds", implements=(total_gradient.total_gradients, bounding.affine))
def equation_29(rng):
    made = curved(rng)
    explicit = fractions.optimal_up_to(made, 0, rng)
    return [Equal("u of the inputs against zero, on the scale of u of the outputs", explicit.u[0],
                  np.zeros_like(made.x), tolerance=1e-15, scale=explicit.u[-1]),
            Equal("W_ddot of the first layer, by loops", explicit.W_ddot[0].sum() + np.sum(explicit.u[0] ** 2),
                  own_part_by_loops(made, explicit, 0), tolerance=1e-12), shown(explicit, 0)]


@equation(PAPER, "30",
          statement="The first layer's sum is Y_ddot times the sum of y^2 / eps, for any fractions.",
          formula=r"= \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} "
                  r"\sum_{j=0}^{m_{\ell}} \frac{y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}}",
          kind="identity", verdict="holds", implements=(bounding.affine,))
def equation_30(rng):
    a = cases.affine(rng, first=True)
    made = bounding.affine(a.layer, a.y, a.Y_dot, a.Y_ddot, a.partition)
    x = fractions.terms_by_loops(a.layer, a.y, a.u)
    bracket = fractions.bracket_by_loops(x, np.concatenate(a.partition, axis=2))
    return [Equal("sum of W_ddot", made.W_ddot.sum(), float(np.sum(a.Y_ddot * bracket)), tolerance=1e-12),
            Case(Y_ddot=a.Y_ddot, y=a.y, eps=a.partition.eps, W_ddot=made.W_ddot)]


@equation(PAPER, "31",
          statement="Of the first layer's fractions, those proportional to |y| minimise its sum; the bias counts among "
                    "them.",
          formula=r"\varepsilon_{sij}^{*(\ell)} \equiv \frac{|y_{sj}^{(\ell)}|}{\sum_{j'=1}^{m_{\ell}} "
                  r"|y_{sj'}^{(\ell)}|}",
          corrected=r"\varepsilon_{sij}^{*(\ell)} \equiv \frac{|y_{sj}^{(\ell)}|}{\sum_{j'=0}^{m_{\ell}} "
                    r"|y_{sj'}^{(\ell)}|}",
          kind="optimality", verdict="erratum", implements=(partitions.optimal,))
def equation_31(rng):
    a = cases.affine(rng, first=True)
    eps = partitions.optimal(a.layer, a.y, a.u).eps
    x = fractions.terms_by_loops(a.layer, a.y, a.u)
    least, found = fractions.minimise_over_fractions(fractions.weighted_squares(a.Y_ddot, x), [x != 0], rng)
    value = float(bounding.affine(a.layer, a.y, a.Y_dot, a.Y_ddot,
                                  partitions.Partition(eps, 0 * a.partition.phi)).W_ddot.sum())
    printed = np.abs(x[:, :, :4]) / np.abs(a.y).sum(axis=1)[:, None, None]
    ones = np.ones(eps.shape[:2])
    return [Equal("fractions against the numerical minimiser of (30)", eps, found[0][:, :, :4], tolerance=1e-4),
            Equal("least value", value, least, tolerance=1e-8),
            Equal("they sum to one", eps.sum(axis=2), ones, tolerance=1e-12),
            Printed(Equal("with a denominator that starts at j' = 1 they sum to one", printed.sum(axis=2), ones,
                          tolerance=1e-3)),
            Case(y=a.y, eps=eps, printed=printed)]


@equation(PAPER, "32",
          statement="The optimal fractions of the first layer have the total gradient of its outputs as denominator.",
          formula=r"\varepsilon_{sij}^{*(\ell)} \equiv \frac{|y_{sj}^{(\ell)}|}{u_{si}^{(\ell+1)}}",
          kind="identity", verdict="holds", implements=(partitions.optimal, total_gradient.affine))
def equation_32(rng):
    a = cases.affine(rng, first=True)
    eps, u = partitions.optimal(a.layer, a.y, a.u).eps, total_gradient.affine(a.layer, a.y, a.u)
    loops = np.zeros_like(eps)
    for s, i, j in np.ndindex(eps.shape):
        loops[s, i, j] = (1.0 if j == 0 else abs(a.y[s, j - 1])) / (1.0 + sum(abs(y) for y in a.y[s]))
    numerators = np.abs(fractions.terms_by_loops(a.layer, a.y, a.u)[:, :, : eps.shape[2]])
    return [Equal("fractions, by loops", eps, loops, tolerance=1e-13),
            Equal("|y| over the total gradient", numerators / u[:, :, None], loops, tolerance=1e-13),
            Case(y=a.y, u_above=u, eps=eps)]


@equation(PAPER, "33",
          statement="At the optimal fractions the first layer's sum is Y_ddot times the squared total gradient of its "
                    "outputs.",
          formula=r"""\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)}
                  \sum_{j=0}^{m_{\ell}} \frac{y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}} =
                  \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} u_{si}^{(\ell+1)2}""",
          kind="identity", verdict="holds", implements=(bounding.affine, partitions.optimal, total_gradient.affine))
def equation_33(rng):
    return at_the_optimum(cases.affine(rng, first=True))


def at_the_optimum(a):
    """Claims that the quantity of (28) and (34) at the optimal fractions is sum Y_ddot u^2."""
    best = partitions.optimal(a.layer, a.y, a.u)
    made = bounding.affine(a.layer, a.y, a.Y_dot, a.Y_ddot, best)
    u = np.abs(fractions.terms_by_loops(a.layer, a.y, a.u)).sum(axis=2)
    quantity = float(made.W_ddot.sum() + np.sum(made.Y_ddot * a.u**2))
    return [Equal("the sum at the optimal fractions", quantity, float(np.sum(a.Y_ddot * u**2)), tolerance=1e-12),
            Equal("total gradient, by loops", total_gradient.affine(a.layer, a.y, a.u), u, tolerance=1e-13),
            Case(y=a.y, u=a.u, u_above=u, Y_ddot_above=a.Y_ddot, eps=best.eps, phi=best.phi)]


# -- the other affine layers ------------------------------------------------------------------------------------------

@equation(PAPER, "34",
          statement="Above the first layer the quantity to minimise has two parts: what stays in the layer and what "
                    "goes below it.",
          formula=r"\sum_{s=1}^S \sum_{j=1}^{m_\ell} \ddot{Y}_{sj}^{(\ell)} u_{sj}^{(\ell)2} + "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_\ell} \ddot{W}_{ij}^{(\ell)}",
          kind="proof-step", verdict="holds", implements=(bounding.affine, bounding.explicit_bound))
def equation_34(rng):
    made = curved(rng)
    u = fractions.total_gradients_by_loops(made)[2]
    best, drawn = bounding.partitions_of(made), bounding.partitions_of(made, rng)
    quantities, totals = [], []
    for own in (best[2], drawn[2]):
        explicit = bounding.explicit_bound(made, best[:2] + [own] + drawn[3:], negative_curvature="none")
        quantities.append(float(np.sum(explicit.Y_ddot[2] * u**2)) + own_part_by_loops(made, explicit, 2))
        totals.append(fractions.sum_up_to(made, explicit, 3))
    return [Equal("another choice of the layer's fractions changes the whole sum by what it changes the quantity",
                  totals[1] - totals[0], quantities[1] - quantities[0], tolerance=1e-10), shown(explicit, 2)]


@equation(PAPER, "35",
          statement="Both parts of that quantity, with the coefficients of Eq. (9) written out.",
          formula=r"""\begin{aligned}
                  = &\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \sum_{j=1}^{m_\ell} \ddot{Y}_{si}^{(\ell+1)}
                  \frac{w_{ij}^{(\ell)2}}{\varphi_{sij}^{(\ell)}} u_{sj}^{(\ell)2} \\
                  &+ \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_\ell} \ddot{Y}_{si}^{(\ell+1)}
                  \frac{y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}}
                  \end{aligned}""",
          kind="identity", verdict="holds", implements=(bounding.affine,))
def equation_35(rng):
    a = cases.affine(rng)
    made = bounding.affine(a.layer, a.y, a.Y_dot, a.Y_ddot, a.partition)
    passed_on, kept = np.zeros_like(a.u), np.zeros_like(made.W_ddot)
    for s, i, j in np.ndindex(a.partition.phi.shape):
        passed_on[s, j] += a.Y_ddot[s, i] * a.layer.weight[i, j] ** 2 / a.partition.phi[s, i, j] * a.u[s, j] ** 2
    for s, i, j in np.ndindex(a.partition.eps.shape):
        kept[i, j] += a.Y_ddot[s, i] * (1.0 if j == 0 else a.y[s, j - 1] ** 2) / a.partition.eps[s, i, j]
    return [Equal("part that goes below, sample by sample and unit by unit", made.Y_ddot * a.u**2, passed_on,
                  tolerance=1e-12),
            Equal("part of every parameter", made.W_ddot, kept, tolerance=1e-12),
            Case(Y_ddot_above=a.Y_ddot, y=a.y, u=a.u, phi=a.partition.phi, passed_on=passed_on, kept=kept)]


@equation(PAPER, "36",
          statement="Grouped by sample and output, the fractions of each output stand in one bracket.",
          formula=r"""= \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} \left(
                  \sum_{j=1}^{m_\ell} \frac{(w_{ij}^{(\ell)} u_{sj}^{(\ell)})^2}{\varphi_{sij}^{(\ell)}} +
                  \sum_{j=0}^{m_\ell} \frac{y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}} \right)""",
          kind="identity", verdict="holds", implements=(bounding.affine, bounding.squared_change_bound))
def equation_36(rng):
    a = cases.affine(rng)
    made = bounding.affine(a.layer, a.y, a.Y_dot, a.Y_ddot, a.partition)
    x = fractions.terms_by_loops(a.layer, a.y, a.u)
    bracket = fractions.bracket_by_loops(x, np.concatenate(a.partition, axis=2))
    largest = bounding.squared_change_bound(a.layer, a.y, np.ones_like(a.dW), a.u, a.partition)
    return [Equal("both parts together", float(np.sum(made.Y_ddot * a.u**2) + made.W_ddot.sum()),
                  float(np.sum(a.Y_ddot * bracket)), tolerance=1e-12),
            Equal("the bracket is (7) for changes of 1 above and u below", largest, bracket, tolerance=1e-12),
            Case(Y_ddot_above=a.Y_ddot, bracket=bracket)]


@equation(PAPER, "37",
          statement="Fractions proportional to |y| and |w| u minimise the layer's quantity.",
          formula=r"""\begin{aligned}
                  \varepsilon_{sij}^{*(\ell)} &\equiv \frac{|y_{sj}^{(\ell)}|}
                  {\sum_{j'=0}^{m_\ell} |y_{sj'}^{(\ell)}| +
                  \sum_{j'=1}^{m_\ell} |w_{ij'}^{(\ell)}| |u_{sj'}^{(\ell)}|} \\
                  \varphi_{sij}^{*(\ell)} &\equiv \frac{|w_{ij}^{(\ell)}| |u_{sj}^{(\ell)}|}
                  {\sum_{j'=0}^{m_\ell} |y_{sj'}^{(\ell)}| + \sum_{j'=1}^{m_\ell} |w_{ij'}^{(\ell)}| |u_{sj'}^{(\ell)}|}
                  \end{aligned}""",
          kind="optimality", verdict="holds", implements=(partitions.optimal,))
def equation_37(rng):
    a = cases.affine(rng, samples=3)
    best = np.concatenate(partitions.optimal(a.layer, a.y, a.u), axis=2)
    x = fractions.terms_by_loops(a.layer, a.y, a.u)
    closed = np.abs(x) / np.array([[[sum(abs(t) for t in row)] for row in rows] for rows in x])
    least, found = fractions.minimise_over_fractions(fractions.weighted_squares(a.Y_ddot, x), [x != 0], rng)
    value = float(np.sum(a.Y_ddot * fractions.bracket_by_loops(x, best)))
    return [Equal("closed form, by loops", best, closed, tolerance=1e-13),
            Equal("against the numerical minimiser of (36)", best, found[0], tolerance=1e-4),
            Equal("least value", value, least, tolerance=1e-8), Case(y=a.y, u=a.u, eps_and_phi=best)]


@equation(PAPER, "38",
          statement="The denominators are the total gradient of the layer's outputs.",
          formula=r"\varepsilon_{sij}^{*(\ell)} \equiv \frac{|y_{sj}^{(\ell)}|}{u_{si}^{(\ell+1)}} \quad "
                  r"\varphi_{sij}^{*(\ell)} \equiv \frac{|w_{ij}^{(\ell)}| |u_{sj}^{(\ell)}|}{u_{si}^{(\ell+1)}}",
          kind="identity", verdict="holds", implements=(partitions.optimal, total_gradient.total_gradients))
def equation_38(rng):
    made = curved(rng)
    u, best = total_gradient.total_gradients(made.network.layers, made.saved), bounding.partitions_of(made)
    claims = []
    for k in (2, 4):
        x = np.abs(fractions.terms_by_loops(made.network.layers[k], made.saved[k].input, u[k]))
        p = np.concatenate(best[k], axis=2)
        claims += [Equal(f"fractions of layer {k + 1}", p, x / u[k + 1][:, :, None], tolerance=1e-12),
                   Equal(f"they sum to one, layer {k + 1}", p.sum(axis=2), np.ones_like(u[k + 1]), tolerance=1e-12)]
    return [*claims, Case(y=made.saved[k].input, u=u[k], u_above=u[k + 1], eps_and_phi=p)]


@equation(PAPER, "39",
          statement="At the optimal fractions the layer's quantity is Y_ddot times the squared total gradient of its "
                    "outputs.",
          formula=r"""\begin{aligned}
                  &\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} \left(
                  \sum_{j=1}^{m_\ell} \frac{(w_{ij}^{(\ell)} u_{sj}^{(\ell)})^2}{\varphi_{sij}^{(\ell)}} +
                  \sum_{j=0}^{m_\ell} \frac{y_{sj}^{(\ell)2}}{\varepsilon_{sij}^{(\ell)}} \right) \\
                  &= \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} u_{si}^{(\ell+1)2}
                  \end{aligned}""",
          kind="identity", verdict="holds", implements=(bounding.affine, partitions.optimal, total_gradient.affine))
def equation_39(rng):
    return at_the_optimum(cases.affine(rng))
