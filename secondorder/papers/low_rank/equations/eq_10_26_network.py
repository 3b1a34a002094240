"""The network and Table 1, (10)-(17); Jacobians between layers, (18)-(26)."""

import numpy as np

from ....ledger import Case, Equal, Printed, PrintedShape, Property, equation
from ....nets import ReLU, SoftmaxCrossEntropy
from ....nets.losses.classes import softmax
from .. import PAPER
from .. import eq_10_26_network as eq
from ..layers import sample
from . import reference
from .cases import (CLEAR, NetworkCase, against_jets, all_layers, at_each, compared, network_case,
                    once, outside, pairs, rows, stacked)
from .conditions import IN_ORDER


@equation(PAPER, "10", "12", "13",
          statement="Layer by layer: v^(0) = x, an activation of weighted sums, and weighted sums "
                    "for the output.",
          kind="definition", verdict="holds",
          implements=(eq.eq_10_layer, eq.eq_13_output, sample), uses=())
def equations_10_12_and_13(rng):
    claims = compared(rng, ("v of all layers against loops", lambda s: stacked(s.v), outputs, once),
                      ("(13) against loops", lambda s: eq.eq_13_output(s.u, s.v[s.n]),
                       lambda c: reference.values(c.p), once))
    case = network_case(rng, "tanh")
    first = eq.eq_10_layer(case.sample.w[1], case.sample.v[0], np.tanh)
    return [Equal("(10), one layer against loops", first, reference.values(case.v[1]), 1e-13),
            *claims,
            Equal("(12), v^(0) against x", case.sample.v[0], case.evaluation.x[0].copy(), 1e-15)]


def outputs(case):
    """v^(0), ..., v^(n) by jets."""
    return stacked(map(reference.values, case.v))


@equation(PAPER, "11", "17",
          statement="The ReLU and, off 0, its slope; at 0, where there is none, the package takes "
                    "0.",
          kind="definition", verdict="holds",
          implements=(eq.eq_11_relu, eq.eq_17_relu_slope, ReLU.value, ReLU.slope), uses=())
def equations_11_and_17(rng):
    f, h = ReLU(), 1e-3
    z = rng.uniform(0.1, 2, 8) * np.array([-1, 1] * 4)
    larger, quotient = [max(value, 0.0) for value in z], (f.value(z + h) - f.value(z - h)) / (2 * h)
    return [Equal("A (11) against the larger of z and 0", eq.eq_11_relu(z), larger, 1e-15),
            Equal("A' (17) against a difference quotient", eq.eq_17_relu_slope(z), quotient, 1e-12),
            Equal("the package's ReLU against the larger of z and 0", f.value(z), larger, 1e-15),
            Equal("its slope against a difference quotient", f.slope(z), quotient, 1e-12),
            Property("its slope at 0", float(f.slope(np.zeros(1))[0]), 0.0),
            Case(z=z)]


@equation(PAPER, "14",
          statement="The softmax of the output.",
          kind="definition", verdict="holds", implements=(eq.eq_14_softmax, softmax), uses=())
def equation_14(rng):
    p = rng.normal(size=(2, 4)) * 3
    left, by_hand = (softmax(p),
                     [[np.exp(a) / sum(np.exp(b) for b in row) for a in row] for row in p])
    return [Equal("the formula, by loops", [eq.eq_14_softmax(row) for row in p], by_hand, 1e-14),
            Equal("the package's, by loops", left, by_hand, 1e-14),
            Case(p=p, y_hat=left)]


@equation(PAPER, "15",
          statement="The cross-entropy of labels and softmax.",
          kind="definition", verdict="holds",
          implements=(eq.eq_15_cross_entropy, SoftmaxCrossEntropy.value), uses=("14",))
def equation_15(rng):
    p, y = rng.normal(size=(3, 4)), rng.dirichlet(np.ones(4), 3)
    by_hand = [sum(-t * np.log(np.exp(a) / sum(np.exp(row))) for t, a in zip(target, row))
               for target, row in zip(y, p)]
    return [Equal("the formula, of a softmax, by loops",
                  [*map(eq.eq_15_cross_entropy, y, softmax(p))], by_hand, 1e-14),
            Equal("against its formula", SoftmaxCrossEntropy().value(p, y), by_hand, 1e-14),
            Case(p=p, y=y)]


@equation(PAPER, "16",
          statement="The objective is the mean of f over the samples.",
          kind="definition", verdict="holds",
          implements=eq.eq_16_objective, uses=("15",))
def equation_16(rng):
    claims = []
    for row in rows(rng):
        net, loss, x, y = row.model
        alone = [net.evaluate(loss, x[b : b + 1], y[b : b + 1]).losses[0] for b in range(len(x))]
        mean = sum(map(float, alone)) / len(x)
        claims += [row.equal("F against the f of samples one by one", eq.eq_16_objective(alone),
                             mean),
                   row.equal("the evaluation's F against them", row.at.loss, mean)]
    return [*claims, Case(f=alone)]


@equation(PAPER, "table-1",
          statement="The nomenclature: n, x, v, w, A, u, p, labels, f and F, as one object at one "
                    "sample.",
          kind="definition", verdict="definition", implements=sample,
          uses=("10", "14", "15", "16"))
def table_1(rng):
    def in_z(case, order):
        """Of every layer the derivatives of v^(k),j in z^(k),j alone, of first or second order."""
        return stacked(np.einsum("jj->j" if order == 1 else "jjj->j",
                                 case.d(case.v[k], *[("z", k)] * order))
                       for k in range(1, case.sample.n + 1))

    return compared(
        rng, ("v, against jets", lambda s: stacked(s.v), outputs, once),
        ("slopes, against jets", lambda s: stacked(s.slope[1:]), lambda c: in_z(c, 1), once),
        ("second derivatives, against jets", lambda s: stacked(s.bend[1:]), lambda c: in_z(c, 2),
         once),
        ("f_p, against jets", lambda s: s.f_p, lambda c: c.in_p()[0], once),
        ("f_pp, against jets", lambda s: s.f_pp, lambda c: c.in_p()[1], once),
        scale=lambda c: 1.0)


@equation(PAPER, "18",
          statement="A layer's outputs change with the weights of the layers up to it, one "
                    "layer's Jacobian at a time.",
          kind="identity", verdict="holds", implements=eq.eq_18_dv_dw,
          uses=("10",))
def equation_18(rng):
    return first_derivatives(rng, eq.eq_18_dv_dw)


def first_derivatives(rng, rule):
    return compared(rng, ("all pairs of layers, against jets", rule,
                          lambda c, k, l: c.d(c.v[k], ("w", l)), pairs))


@equation(PAPER, "24",
          statement="The same as an outer product of eta and the inputs of the layer.",
          kind="identity", verdict="holds", implements=eq.eq_24_dv_dw,
          uses=("18", "20", "21", "23"))
def equation_24(rng):
    return first_derivatives(rng, eq.eq_24_dv_dw)


@equation(PAPER, "19", "20", "70",
          statement="gamma holds a layer's slopes on its diagonal; beta, gamma times the weights, "
                    "is its Jacobian.",
          kind="definition", verdict="holds",
          implements=(eq.eq_19_gamma, eq.eq_20_beta), uses=("10",))
def equations_19_20_and_70(rng):
    def beta(case, k):
        return case.alpha(k, k - 1)

    return compared(
        rng, ("gamma (19) against d v / d z", eq.eq_19_gamma, lambda c, k: c.eta(k, k), all_layers),
        ("beta (20) against d v^(k) / d v^(k-1)", eq.eq_20_beta, beta, all_layers),
        ("alpha^(k,k-1) (70) against the same", lambda s, k: eq.eq_21_alpha(s, k, k - 1), beta,
         all_layers))


@equation(PAPER, "21",
          statement="alpha, the ordered product of the Jacobians between two layers, is the "
                    "Jacobian of one layer's outputs in the other's. The print has the running "
                    "index i on the left for l, and other indices for k = l.",
          kind="definition", verdict="erratum", weight="misprint", implements=eq.eq_21_alpha,
          uses=("20",))
def equation_21(rng):
    # the printed index i at the end of the product, i = k, where it can be: layers of one width
    right = network_case(rng, "tanh", sizes=(3, 3, 3, 3)).alpha(2, 0)
    at_the_end = np.broadcast_to(np.diag(right)[:, None], right.shape).copy()
    return [*compared(rng, ("all pairs of layers, against jets; 0 for k < l", eq.eq_21_alpha,
                            NetworkCase.alpha, lambda n: pairs(n, 0))),
            PrintedShape("free indices of the left side, and of the product", ("j_i", "j_k"),
                         ("j_l", "j_k")),
            Printed(Equal("left side with its index i at the end of the product, i = k: an entry "
                          "alpha^(2,0) from j_2 to j_2, for every j_0", at_the_end, right, CLEAR))]


@equation(PAPER, "22",
          statement="Jacobians compose.",
          condition=IN_ORDER,
          kind="identity", verdict="conditional",
          implements=(eq.eq_22_chain, eq.eq_21_alpha), uses=("21",))
def equation_22(rng):
    return in_a_chain(rng, eq.eq_22_chain, "m <= l <= k",
                      [(k, l, m) for k, l, m in np.ndindex(4, 4, 4) if m <= l <= k],
                      "k >= m but l not between them",
                      [(k, l, m) for k, l, m in np.ndindex(4, 4, 4) if k >= m and not m <= l <= k])


def in_a_chain(rng, product, condition, inside, elsewhere, others):
    """Claims on a product through layer l that is alpha^(k,m) at `inside`, and not at `others`."""
    def right(case, k, l, m):
        return case.alpha(k, m)

    case = network_case(rng, "tanh")
    return [*compared(rng, (f"{condition}, against jets", product, right, lambda n: inside)),
            Equal(f"{condition}, alpha on both sides", at_each(product, case.sample, inside),
                  at_each(lambda s, k, l, m: eq.eq_21_alpha(s, k, m), case.sample, inside),
                  case.tolerance),
            outside(elsewhere, product, right, others, case)]


@equation(PAPER, "23",
          statement="eta is the Jacobian of one layer's outputs in another's arguments; its "
                    "slopes belong to the lower layer, not to the upper one.",
          kind="definition", verdict="erratum", weight="misprint",
          implements=(eq.eq_23_eta, eq.eq_23_as_printed), uses=("19", "21"))
def equation_23(rng):
    square, uneven = network_case(rng, "tanh", sizes=(4, 4, 4, 4, 3)), network_case(rng).sample
    below = [(k, l) for k, l in pairs(3) if k > l]
    printed = at_each(eq.eq_23_as_printed, square.sample, below)
    literal = at_each(lambda c, k, l: c.alpha(k, l) @ np.diag(c.sample.slope[k]), square, below)
    return [*compared(rng, ("corrected, against jets", eq.eq_23_eta, NetworkCase.eta, pairs)),
            PrintedShape("columns of alpha^(2,1) and rows of gamma^(2)",
                         (len(uneven.v[1]),), (len(uneven.v[2]),)),
            Equal("layers of one width: the printed form is what it says", printed, literal, 1e-11),
            Printed(Equal("layers of one width, as printed, against jets", printed,
                          at_each(NetworkCase.eta, square, below), CLEAR))]


@equation(PAPER, "25",
          statement="The output changes with its own weights; below the line the print repeats "
                    "the index above it.",
          kind="identity", verdict="erratum", weight="misprint", implements=eq.eq_25_dp_du,
          uses=("13",))
def equation_25(rng):
    def right(case):
        return case.d(case.p, ("w", case.sample.n + 1))

    case = network_case(rng, "relu")
    left = eq.eq_25_dp_du(case.sample)
    repeated = np.einsum("jjk->jk", right(case))  # what stands on the left, j not summed
    return [*against_jets(rng, eq.eq_25_dp_du, right, once),
            PrintedShape("free indices of the left side, and of the right", ("j", "k"),
                         ("j", "k", "l")),
            Printed(Equal("the left side as printed, for every l, against the right",
                          np.broadcast_to(repeated[:, None, :], left.shape).copy(), left, CLEAR))]


@equation(PAPER, "26",
          statement="The output changes with the last layer by its weights.",
          kind="identity", verdict="holds", implements=eq.eq_26_dp_dv, uses=("13",))
def equation_26(rng):
    return against_jets(rng, eq.eq_26_dp_dv, lambda c: c.d(c.p, ("v", c.sample.n)), once)
