"""Jacobians between layers and how they change where activations are straight, (18)-(33)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, PrintedShape, Property, equation
from ....nets import ReLU
from .. import PAPER, first_derivatives, quantities, relu
from . import reference
from .cases import (ACTIVATIONS, CLEAR, all_layers, compared, jacobian_in_argument,
                    jacobian_in_output, kinds, network_case, outside, pairs, stacked)
from .conditions import IN_ORDER, STRAIGHT


@equation(PAPER, "18",
          statement="A layer's outputs change with the weights of the layers up to it, one "
                    "layer's Jacobian at a time.",
          formula=r"""\frac{\partial v^{(k),j}}{\partial w_t^{(l),s}} = \begin{cases} 0 & l > k
                      \\
                      \delta_s^j \mathcal{A}'(w_i^{(k),j} v^{(k-1),i}) v^{(k-1),t} & l = k \\
                      \mathcal{A}'(w_i^{(k),j} v^{(k-1),i}) w_q^{(k),j} \frac{\partial
                      v^{(k-1),q}}{\partial w_t^{(l),s}} & l < k \end{cases}""",
          kind="identity", verdict="holds", implements=first_derivatives.dv_dw_recursion,
          uses=("10",))
def equation_18(rng):
    return first_derivatives_against_jets(rng, first_derivatives.dv_dw_recursion)


@equation(PAPER, "24",
          statement="The same as an outer product of eta and the inputs of the layer.",
          formula=r"""\frac{\partial v^{(k),j}}{\partial w_t^{(l),s}} = \begin{cases} 0 & l > k
                      \\
                      \eta_s^{(k,l),j} v^{(l-1),t} & l \leq k \end{cases}""",
          kind="identity", verdict="holds", implements=first_derivatives.dv_dw,
          uses=("18", "20", "21", "23"))
def equation_24(rng):
    return first_derivatives_against_jets(rng, first_derivatives.dv_dw)


def first_derivatives_against_jets(rng, rule):
    claims = compared("all pairs of layers, against jets", rule,
                      lambda case, k, l: case.first(case.v[k], l), pairs, kinds(rng, *ACTIVATIONS))
    return [*claims, network_case(rng, "tanh").live()]


@equation(PAPER, "19", "20", "70",
          statement="gamma holds a layer's slopes on its diagonal; beta, gamma times the weights, "
                    "is its Jacobian.",
          formula=r"""\begin{gathered} \gamma_s^{(k),j} \equiv \delta_s^j \mathcal{A}' \left(
                      w_i^{(k),j} v^{(k-1),i} \right) \tag{19} \\
                      \beta_i^{(k),j} \equiv \mathcal{A}' \left( w_l^{(k),j} v^{(k-1),l}
                      \right) w_i^{(k),j} = \gamma_s^{(k),j} w_i^{(k),s} \tag{20} \\
                      \alpha_a^{(r,r-1),b} = \beta_a^{(r),b} = \gamma_s^{(r),b} w_a^{(r),s} \tag{70}
                      \end{gathered}""",
          kind="definition", verdict="holds",
          implements=(quantities.gamma, quantities.beta, quantities.alpha), uses=("10",))
def equations_19_20_and_70(rng):
    claims, cases = [], list(kinds(rng, *ACTIVATIONS))
    for what, rule, right in (
            ("gamma against d v / d z", quantities.gamma,  # (19)
             lambda case, k: jacobian_in_argument(case, k, k)),
            ("beta against d v^(k) / d v^(k-1)", quantities.beta,  # (20)
             lambda case, k: jacobian_in_output(case, k, k - 1)),
            # (70)
            ("alpha^(k,k-1) against the same", lambda sample, k: quantities.alpha(sample, k, k - 1),
             lambda case, k: jacobian_in_output(case, k, k - 1))):
        claims += compared(what, rule, right, all_layers, cases)
    return [*claims, network_case(rng, "softplus").live()]


@equation(PAPER, "21",
          statement="alpha, the ordered product of the Jacobians between two layers, is the "
                    "Jacobian of one layer's outputs in the other's. The print has the running "
                    "index i on the left for l, and other indices for k = l.",
          kind="definition", verdict="erratum", weight="misprint", implements=quantities.alpha,
          uses=("20",))
def equation_21(rng):
    claims = compared("all pairs of layers, against jets; 0 for k < l", quantities.alpha,
                      jacobian_in_output, lambda n: pairs(n, 0), kinds(rng, *ACTIVATIONS))
    return [*claims,
            PrintedShape("free indices of the left side, and of the product", ("j_i", "j_k"),
                         ("j_l", "j_k")),
            Printed(Equal("left side with its index i at the end of the product, i = k: an entry "
                          "alpha^(2,0) from j_2 to j_2, for every j_0", *at_the_end(rng), CLEAR)),
            network_case(rng, "tanh").live()]


def at_the_end(rng):
    """alpha^(2,0) with j_2 twice, for every j_0, and alpha^(2,0), between layers of one width."""
    square = network_case(rng, "tanh", sizes=(3, 3, 3, 3))
    right = jacobian_in_output(square, 2, 0)
    return np.broadcast_to(np.diag(right)[:, None], right.shape).copy(), right


@equation(PAPER, "22",
          statement="Jacobians compose.",
          formula=r"\alpha_{j_l}^{(k,l),j_k} \alpha_{j_m}^{(l,m),j_l} = \alpha_{j_m}^{(k,m),j_k}",
          condition=IN_ORDER,
          kind="identity", verdict="conditional",
          implements=(quantities.alpha_composed, quantities.alpha), uses=("21",))
def equation_22(rng):
    case = network_case(rng, "tanh")
    triples = [(k, l, m) for k, l in pairs(3, 0) for m in range(4)]
    inside = [(k, l, m) for k, l, m in triples if m <= l <= k]
    others = [(k, l, m) for k, l, m in triples if not m <= l <= k and k >= m]

    def product(sample, k, l, m):
        return quantities.alpha_composed(sample, k, l, m)

    def right(case, k, l, m):
        return jacobian_in_output(case, k, m)

    claims = compared("m <= l <= k, against jets", product, right, lambda n: inside,
                      kinds(rng, *ACTIVATIONS))
    return [*claims,
            Equal("m <= l <= k, alpha on both sides",
                  stacked(product(case.sample, *at) for at in inside),
                  stacked(quantities.alpha(case.sample, k, m) for k, _, m in inside),
                  case.tolerance),
            outside("k >= m but l not between them", product, right, others, case),
            case.live()]


@equation(PAPER, "23",
          statement="eta is the Jacobian of one layer's outputs in another's arguments; its "
                    "slopes belong to the lower layer, not to the upper one.",
          formula=r"\eta_i^{(k,l),j} \equiv \alpha_s^{(k,l),j} \gamma_i^{(k),s}",
          corrected=r"\eta_i^{(k,l),j} \equiv \alpha_s^{(k,l),j} \gamma_i^{(l),s}",
          kind="definition", verdict="erratum", weight="misprint",
          implements=(quantities.eta, quantities.eta_as_printed), uses=("19", "21"))
def equation_23(rng):
    square = network_case(rng, "tanh", sizes=(4, 4, 4, 4, 3))
    s, below = network_case(rng, "tanh").sample, [(k, l) for k, l in pairs(3) if k > l]
    printed = stacked(quantities.eta_as_printed(square.sample, k, l) for k, l in below)
    literal = stacked(reference.alpha(square.ws, square.sample.v[0], "tanh", k, l)
                      @ np.diag(square.sample.slope[k]) for k, l in below)
    right = stacked(jacobian_in_argument(square, k, l) for k, l in below)
    claims = compared("corrected, against jets", quantities.eta, jacobian_in_argument, pairs,
                      kinds(rng, *ACTIVATIONS))
    return [*claims,
            PrintedShape("columns of alpha^(2,1) and rows of gamma^(2)",
                         (len(s.v[1]),), (len(s.v[2]),)),
            Equal("layers of one width: the printed form is what it says", printed, literal, 1e-11),
            Printed(Equal("layers of one width, as printed, against jets", printed, right, CLEAR)),
            square.live()]


@equation(PAPER, "25",
          statement="The output changes with its own weights; below the line the print repeats "
                    "the index above it.",
          formula=r"\frac{\partial p^j}{\partial u_k^j} = \delta_l^j v^{(n),k}",
          corrected=r"\frac{\partial p^j}{\partial u_k^l} = \delta_l^j v^{(n),k}",
          kind="identity", verdict="erratum", weight="misprint", implements=first_derivatives.dp_du,
          uses=("13",))
def equation_25(rng):
    case = network_case(rng, "relu")
    left = first_derivatives.dp_du(case.sample)
    # what stands on the left, j not summed
    repeated = np.einsum("jjk->jk", case.first(case.p, case.sample.n + 1))
    claims = compared("against jets", first_derivatives.dp_du,
                      lambda case: case.first(case.p, case.sample.n + 1), lambda n: [()],
                      kinds(rng, *ACTIVATIONS))
    return [*claims,
            PrintedShape("free indices of the left side, and of the right", ("j", "k"),
                         ("j", "k", "l")),
            Printed(Equal("the left side as printed, for every l, against the right",
                          np.broadcast_to(repeated[:, None, :], left.shape).copy(), left, CLEAR)),
            case.live()]


@equation(PAPER, "26",
          statement="The output changes with the last layer by its weights.",
          formula=r"\frac{\partial p^j}{\partial v^{(n),i}} = u_i^j",
          kind="identity", verdict="holds", implements=first_derivatives.dp_dv, uses=("13",))
def equation_26(rng):
    def right(case):
        start = reference.variables(reference.values(case.v[-1]))[0]
        return reference.firsts(reference.affine(case.ws[-1], start))

    claims = compared("against jets", first_derivatives.dp_dv, right, lambda n: [()],
                      kinds(rng, *ACTIVATIONS))
    case = network_case(rng, "relu")
    apart = not np.shares_memory(first_derivatives.dp_dv(case.sample),
                                 case.evaluation.network.theta)
    return [*claims, Property("it is no view of the network's weights", apart), case.live()]


@equation(PAPER, "28",
          statement="The gradient in a hidden layer's weights: what arrives from above times the "
                    "inputs.",
          formula=r"""\frac{\partial f}{\partial w_j^{(k),i}} = \frac{\partial f}{\partial p^l}
                      \frac{\partial p^l}{\partial v^{(n),m}} \frac{\partial
                      v^{(n),m}}{\partial w_j^{(k),i}} = \frac{\partial f}{\partial p^l} u_m^l
                      \eta_i^{(n,k),m} v^{(k-1),j}""",
          kind="identity", verdict="holds", implements=first_derivatives.df_dw, uses=("24", "26"))
def equation_28(rng):
    claims = compared("against jets", first_derivatives.df_dw,
                      lambda case, k: case.first(case.f, k), all_layers, kinds(rng, *ACTIVATIONS))
    return [*claims, network_case(rng, "tanh").live()]


@equation(PAPER, "29", "31",
          statement="The second derivative of a ReLU is zero, and its slopes do not change. At 0 "
                    "the slope jumps: a point mass that no pointwise formula sees, so that it is "
                    "not removable.",
          formula=r"""\begin{gathered} \mathcal{A}''(z) = 0 \tag{29} \\
                      \frac{\partial \gamma_s^{(k),j}}{\partial (\cdot)} = 0
                      \tag{31} \end{gathered}""",
          condition=STRAIGHT,
          kind="identity", verdict="conditional",
          implements=(relu.rectifier_second_derivative, relu.dgamma_dw, ReLU.slope),
          uses=("11", "19"))
def equations_29_and_31(rng):
    f, z, h = ReLU(), rng.uniform(0.1, 2, 6) * np.array([-1, 1] * 3), 1e-3
    quotient = (f.slope(z + h) - f.slope(z - h)) / (2 * h)
    at_zero = (f.slope(np.array([h])) - f.slope(np.array([-h]))) / (2 * h)
    claims = [Equal("A'' against the difference quotient of the slope, beside the slope",  # (29)
                    relu.rectifier_second_derivative(z), quotient, 1e-12, scale=f.slope(np.abs(z)))]
    # (31)
    claims += compared("derivatives of gamma against complex steps, beside gamma", relu.dgamma_dw,
                       lambda case, k, q: case.by_complex_steps(reference.gamma, q, k), pairs,
                       kinds(rng, "relu"), lambda case: case.sample.slope[1])
    return [*claims,
            Equal("slopes against the sign of z", f.slope(z), 1.0 * (z > 0), 1e-15),
            Counterexample(Equal("at 0 the quotient is 1 / (2 h)", at_zero, np.zeros(1), CLEAR)),
            Case(z=z)]


@equation(PAPER, "30",
          statement="How Jacobians change with weights: one factor of the product at a time.",
          formula=r"""\frac{\partial \alpha_q^{(n,k),m}}{\partial w_t^{(r),s}}
                      = \alpha_a^{(n,r),m} \mathcal{A}'(w_p^{(r),a} v^{(r-1),p}) \delta_s^a
                      \delta_b^t \alpha_q^{(r-1,k),b} = \eta_s^{(n,r),m} \alpha_q^{(r-1,k),t}""",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=relu.dalpha_dw,
          uses=("20", "21", "23", "31"))
def equation_30(rng):
    return straight_steps(rng, relu.dalpha_dw, reference.alpha)


@equation(PAPER, "32",
          statement="eta changes with alpha alone.",
          formula=r"""\frac{\partial \eta_i^{(n,k),m}}{\partial w_t^{(r),s}} = \frac{\partial
                      \alpha_q^{(n,k),m}}{\partial w_t^{(r),s}} \gamma_i^{(k),q}""",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=relu.deta_dw, uses=("23", "30", "31"))
def equation_32(rng):
    return straight_steps(rng, relu.deta_dw, reference.eta)


def straight_steps(rng, rule, function):
    """Claims: the rule against complex steps of `function` for ReLU; it must fail for tanh."""
    return straight_only(rng, "complex steps", rule,
                         lambda case, n, k, r: case.by_complex_steps(function, r, n, k),
                         lambda n: [(n, k, r) for k, r in pairs(n)])


def straight_only(rng, channel, rule, right, layers):
    """Claims: the rule against ``right(case, *at)`` for ReLU; it must fail for tanh."""
    curved = network_case(rng, "tanh")
    return [*compared(f"ReLU, all pairs of layers, against {channel}", rule, right, layers,
                      kinds(rng, "relu")),
            outside("tanh", rule, right, layers(3), curved), curved.live()]


@equation(PAPER, "33",
          statement="Second derivatives of the last layer's outputs: an outer product of two eta "
                    "and the inputs of the lower layer.",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=relu.d2v_dw_dw,
          uses=("24", "30", "32"))
def equation_33(rng):
    return straight_only(rng, "jets", relu.d2v_dw_dw,
                         lambda case, k, r: case.second(case.v[3], k, r), pairs)
