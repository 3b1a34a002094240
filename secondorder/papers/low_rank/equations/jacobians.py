"""Jacobians between layers and how they change where activations do not bend, (18)-(33)."""

from functools import partial

import numpy as np

from ....ledger import (Case, Counterexample, Equal, Printed, PrintedShape, Property, equation)
from ....nets import ReLU
from .. import PAPER, first_derivatives, printed, quantities, relu
from . import reference
from .cases import (CLEAR, IN_ORDER, STRAIGHT, TOLERANCE, jacobian_in_argument, jacobian_in_output,
                    kinds, network_case, pairs, stacked)


@equation(
    PAPER, "18",
    statement="A layer's outputs change with the weights of the layers up to it, one layer's "
              "Jacobian at a time.",
    formula=r"\frac{\partial v^{(k),j}}{\partial w_t^{(l),s}} = \begin{cases} 0 & l > k \\ "
            r"\delta_s^j \mathcal{A}'(w_i^{(k),j} v^{(k-1),i}) v^{(k-1),t} & l = k \\ "
            r"\mathcal{A}'(w_i^{(k),j} v^{(k-1),i}) w_q^{(k),j} "
            r"\frac{\partial v^{(k-1),q}}{\partial w_t^{(l),s}} & l < k \end{cases}",
    kind="identity",
    verdict="holds",
    implements=(first_derivatives.dv_dw_recursion,),
)
def output_by_recursion(rng):
    return _against_jets(rng, first_derivatives.dv_dw_recursion)


@equation(
    PAPER, "24",
    statement="The same as an outer product of eta and the inputs of the layer.",
    formula=r"\frac{\partial v^{(k),j}}{\partial w_t^{(l),s}} = \begin{cases} 0 & l > k \\ "
            r"\eta_s^{(k,l),j} v^{(l-1),t} & l \leq k \end{cases}",
    kind="identity",
    verdict="holds",
    implements=(first_derivatives.dv_dw,),
)
def output_by_eta(rng):
    return _against_jets(rng, first_derivatives.dv_dw)


def _against_jets(rng, rule):
    claims = []
    for activation in ("relu", "tanh"):
        for name, case in kinds(rng, activation):
            all_pairs = pairs(case.sample.n)
            claims.append(Equal("all pairs of layers, against jets",
                                stacked(rule(case.sample, k, l) for k, l in all_pairs),
                                stacked(case.first(case.v[k], l) for k, l in all_pairs),
                                TOLERANCE, case=name))
    return [*claims, case.live()]


@equation(
    PAPER, "19", "20", "70",
    statement="gamma holds a layer's slopes on its diagonal; beta, gamma times the weights, is "
              "its Jacobian.",
    formula=r"\begin{gathered} \gamma_s^{(k),j} \equiv \delta_s^j \mathcal{A}' \left( w_i^{(k),j} "
            r"v^{(k-1),i} \right) \\ \beta_i^{(k),j} \equiv \mathcal{A}' \left( w_l^{(k),j} "
            r"v^{(k-1),l} \right) w_i^{(k),j} = \gamma_s^{(k),j} w_i^{(k),s} \\ "
            r"\alpha_a^{(r,r-1),b} = \beta_a^{(r),b} = \gamma_s^{(r),b} w_a^{(r),s} "
            r"\end{gathered}",
    kind="definition",
    verdict="holds",
    implements=(quantities.gamma, quantities.beta, quantities.alpha),
)
def one_layer(rng):
    claims = []
    for activation, case in (("relu", network_case(rng, "relu")), *kinds(rng, "softplus")):
        s, layers = case.sample, range(1, case.sample.n + 1)
        jacobians = stacked(jacobian_in_output(case, k, k - 1) for k in layers)
        claims += [Equal("gamma against d v / d z",
                         stacked(quantities.gamma(s, k) for k in layers),
                         stacked(jacobian_in_argument(case, k, k) for k in layers), TOLERANCE,
                         case=activation),
                   Equal("beta against d v^(k) / d v^(k-1)",
                         stacked(quantities.beta(s, k) for k in layers), jacobians, TOLERANCE,
                         case=activation),
                   Equal("alpha^(k,k-1) against the same",
                         stacked( quantities.alpha(s, k, k - 1) for k in layers), jacobians,
                         TOLERANCE, case=activation)]
    return [*claims, case.live()]


@equation(
    PAPER, "21",
    statement="alpha, the ordered product of the Jacobians between two layers (as the chain of "
              "indices says), is the Jacobian of one layer's outputs in the other's; the print "
              "has the running index i on the left for l, and other indices for k = l.",
    formula=r"\alpha_{j_i}^{(k,l),j_k} \equiv \begin{cases} \prod_{i=l+1}^k "
            r"\beta_{j_{i-1}}^{(i),j_i} & k > l \\ \delta_j^i & k = l \\ 0 & k < l \end{cases}",
    corrected=r"\alpha_{j_l}^{(k,l),j_k} \equiv \begin{cases} \prod_{i=l+1}^k "
              r"\beta_{j_{i-1}}^{(i),j_i} & k > l \\ \delta_{j_l}^{j_k} & k = l \\ 0 & k < l "
              r"\end{cases}",
    kind="definition",
    verdict="erratum",
    weight="misprint",
    implements=(quantities.alpha,),
)
def chain_of_layers(rng):
    case = network_case(rng, "tanh")
    s = case.sample
    ordered = [(k, l) for k, l in pairs(s.n, 0) if k >= l]
    zero = [quantities.alpha(s, k, l) for k, l in pairs(s.n, 0) if k < l]
    return [Equal("k >= l, against jets", stacked(quantities.alpha(s, k, l) for k, l in ordered),
                  stacked(jacobian_in_output(case, k, l) for k, l in ordered), TOLERANCE),
            Property("k < l: zero", not stacked(zero).any()),
            PrintedShape("free indices of the left side, and of the product", ("j_i", "j_k"),
                         ("j_l", "j_k")),
            Printed(Equal("left side with its index i at the end of the product, i = k: an entry "
                          "alpha^(2,0) from j_2 to j_2, for every j_0", *_at_the_end(rng), CLEAR)),
            case.live()]


def _at_the_end(rng):
    """alpha^(2,0) with j_2 twice, for every j_0, and alpha^(2,0), between layers of one width."""
    square = network_case(rng, "tanh", sizes=(3, 3, 3, 3))
    right = jacobian_in_output(square, 2, 0)
    return np.broadcast_to(np.diag(right)[:, None], right.shape).copy(), right


@equation(
    PAPER, "22",
    statement="Jacobians compose.",
    formula=r"\alpha_{j_l}^{(k,l),j_k} \alpha_{j_m}^{(l,m),j_l} = \alpha_{j_m}^{(k,m),j_k}",
    kind="identity",
    verdict="conditional",
    condition=IN_ORDER,
    implements=(quantities.alpha,),
)
def composition(rng):
    case = network_case(rng, "tanh")
    s = case.sample
    triples = [(k, l, m) for k, l in pairs(s.n, 0) for m in range(s.n + 1)]
    inside = [(k, l, m) for k, l, m in triples if m <= l <= k]
    outside = [(k, l, m) for k, l, m in triples if not m <= l <= k and k >= m]

    def both(chosen):
        return (
            stacked(quantities.alpha(s, k, l) @ quantities.alpha(s, l, m) for k, l, m in chosen),
            stacked(quantities.alpha(s, k, m) for k, l, m in chosen))

    product, whole = both(inside)
    return [Equal("inside", product, whole, TOLERANCE),
            Equal("the whole against jets",
                  whole, stacked(jacobian_in_output(case, k, m) for k, l, m in inside), TOLERANCE),
            Counterexample(Equal("k >= m but l not between them", *both(outside), CLEAR)),
            case.live()]


@equation(
    PAPER, "23",
    statement="eta is the Jacobian of one layer's outputs in another's arguments; its slopes are "
              "those of the lower layer, not of the upper one.",
    formula=r"\eta_i^{(k,l),j} \equiv \alpha_s^{(k,l),j} \gamma_i^{(k),s}",
    corrected=r"\eta_i^{(k,l),j} \equiv \alpha_s^{(k,l),j} \gamma_i^{(l),s}",
    kind="definition",
    verdict="erratum",
    weight="misprint",
    implements=(quantities.eta, printed.eta_as_printed),
)
def eta_definition(rng):
    case, square = network_case(rng, "tanh"), network_case(rng, "tanh", sizes=(4, 4, 4, 4, 3))
    s, n = case.sample, case.sample.n
    ordered = [(k, l) for k, l in pairs(n) if k >= l]
    below = [(k, l) for k, l in ordered if k > l]
    made = stacked(printed.eta_as_printed(square.sample, k, l) for k, l in below)
    literal = stacked(reference.alpha(square.ws, square.sample.v[0], "tanh", k,
                                      l) @ np.diag(square.sample.slope[k]) for k, l in below)
    return [Equal("corrected, against jets", stacked(quantities.eta(s, k, l) for k, l in ordered),
                  stacked(jacobian_in_argument(case, k, l) for k, l in ordered), TOLERANCE),
            PrintedShape("columns of alpha^(2,1) and rows of gamma^(2)",
                         (len(s.v[1]),), (len(s.v[2]),)),
            Equal("layers of one width: the printed form is what it says", made, literal,
                  TOLERANCE),
            Printed(Equal("layers of one width, as printed, against jets", made,
                          stacked(jacobian_in_argument(square, k, l) for k, l in below), CLEAR)),
            case.live()]


@equation(
    PAPER, "25",
    statement="The output changes with its own weights; below the line the print repeats the "
              "index above it.",
    formula=r"\frac{\partial p^j}{\partial u_k^j} = \delta_l^j v^{(n),k}",
    corrected=r"\frac{\partial p^j}{\partial u_k^l} = \delta_l^j v^{(n),k}",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(first_derivatives.dp_du,),
)
def output_in_its_weights(rng):
    case = network_case(rng, "relu")
    made, right = first_derivatives.dp_du(case.sample), case.first(case.p, case.sample.n + 1)
    repeated = np.einsum("jjk->jk", right)  # what stands on the left, j not summed
    biased = network_case(rng, "relu", bias=True)
    return [Equal("against jets", made, right, TOLERANCE),
            Equal("with biases, against jets", first_derivatives.dp_du(biased.sample),
                  biased.first(biased.p, biased.sample.n + 1), TOLERANCE),
            PrintedShape("free indices of the left side, and of the right", ("j", "k"),
                         ("j", "k", "l")),
            Printed(Equal("the left side as printed, for every l, against the right",
                          np.broadcast_to(repeated[:, None, :], made.shape).copy(), made, CLEAR)),
            case.live()]


@equation(
    PAPER, "26",
    statement="The output changes with the last layer by its weights.",
    formula=r"\frac{\partial p^j}{\partial v^{(n),i}} = u_i^j",
    kind="identity",
    verdict="holds",
    implements=(first_derivatives.dp_dv,),
)
def output_in_the_last_layer(rng):
    case = network_case(rng, "relu")
    start = reference.variables(reference.values(case.v[-1]))[0]
    return [Equal("against jets", first_derivatives.dp_dv(case.sample),
                  reference.firsts(reference.affine(case.ws[-1], start)), TOLERANCE),
            case.live()]


@equation(
    PAPER, "28",
    statement="The gradient in a hidden layer's weights: what arrives from above times the inputs.",
    formula=r"\frac{\partial f}{\partial w_j^{(k),i}} = \frac{\partial f}{\partial p^l} "
            r"\frac{\partial p^l}{\partial v^{(n),m}} "
            r"\frac{\partial v^{(n),m}}{\partial w_j^{(k),i}} = \frac{\partial f}{\partial p^l} "
            r"u_m^l \eta_i^{(n,k),m} v^{(k-1),j}",
    kind="identity",
    verdict="holds",
    implements=(first_derivatives.df_dw,),
)
def gradient_w(rng):
    claims = []
    for activation, loss in (("relu", "softmax"), ("tanh", "squared")):
        for name, case in kinds(rng, activation, loss):
            layers = range(1, case.sample.n + 1)
            claims.append(Equal("against jets",
                                stacked(first_derivatives.df_dw(case.sample, k) for k in layers),
                                stacked(case.first(case.f, k) for k in layers), TOLERANCE,
                                case=name))
    return [*claims, case.live()]


@equation(
    PAPER, "29", "31",
    statement="A ReLU and its slopes do not bend. At 0 the slope jumps: a point mass that no "
              "pointwise formula sees, so that it is not removable.",
    formula=r"\begin{gathered} \mathcal{A}''(z) = 0 \\ \frac{\partial \gamma_s^{(k),j}}{\partial "
            r"(\cdot)} = 0 \end{gathered}",
    kind="identity",
    verdict="conditional",
    condition=STRAIGHT,
    implements=(ReLU.slope,),
)
def no_bend(rng):
    f, z, h = ReLU(), rng.uniform(0.1, 2, 6) * np.array([-1, 1] * 3), 1e-3
    case = network_case(rng, "relu")
    def slope(ws):
        return reference.gamma(ws, case.sample.v[0], "relu", 3)
    moved = [reference.derivative(slope, case.ws, q) for q in range(1, 4)]
    quotient = (f.slope(z + h) - f.slope(z - h)) / (2 * h)
    at_zero = (f.slope(np.array([h])) - f.slope(np.array([-h]))) / (2 * h)
    return [Equal("difference quotient of the slope off 0, beside the slope", quotient,
                  np.zeros(6), 1e-12, scale=f.slope(np.abs(z))),
            Equal("derivatives of gamma^(3), beside gamma",
                  stacked(moved), np.zeros(stacked(moved).size), 1e-12, scale=case.sample.slope[3]),
            Equal("slopes against the sign of z", f.slope(z), 1.0 * (z > 0), 1e-15),
            Counterexample(Equal("at 0 the quotient is 1 / (2 h)", at_zero, np.zeros(1), CLEAR)),
            Case(z=z)]


@equation(
    PAPER, "30",
    statement="How Jacobians change with weights: one factor of the product at a time.",
    formula=r"\frac{\partial \alpha_q^{(n,k),m}}{\partial w_t^{(r),s}} = \alpha_a^{(n,r),m} "
            r"\mathcal{A}'(w_p^{(r),a} v^{(r-1),p}) \delta_s^a \delta_b^t \alpha_q^{(r-1,k),b} = "
            r"\eta_s^{(n,r),m} \alpha_q^{(r-1,k),t}",
    kind="identity",
    verdict="conditional",
    condition=STRAIGHT,
    implements=(relu.dalpha_dw,),
)
def change_of_alpha(rng):
    return _against_complex_steps(
        rng, relu.dalpha_dw, lambda ws, x, a, n, k: reference.alpha(ws, x, a, n, k))


@equation(
    PAPER, "32",
    statement="eta changes with alpha alone.",
    formula=r"\frac{\partial \eta_i^{(n,k),m}}{\partial w_t^{(r),s}} = "
            r"\frac{\partial \alpha_q^{(n,k),m}}{\partial w_t^{(r),s}} \gamma_i^{(k),q}",
    kind="identity",
    verdict="conditional",
    condition=STRAIGHT,
    implements=(relu.deta_dw,),
)
def change_of_eta(rng):
    def eta(ws, x, a, n, k):
        return reference.alpha(ws, x, a, n, k) @ reference.gamma(ws, x, a, k)

    return _against_complex_steps(rng, relu.deta_dw, eta)


def _against_complex_steps(rng, rule, function):
    found = {}
    for activation in ("relu", "tanh"):
        case = network_case(rng, activation)
        s, n = case.sample, case.sample.n
        found[activation] = (stacked(rule(s, n, k, r) for k, r in pairs(n)),
                             stacked(reference.derivative(partial(_of_weights, function, case, k),
                                                          case.ws, r) for k, r in pairs(n)))
    return [Equal("ReLU, all pairs of layers, against complex steps", *found["relu"], TOLERANCE),
            Counterexample(Equal("tanh", *found["tanh"], CLEAR)),
            case.live()]


def _of_weights(function, case, k, ws):
    return function(ws, case.sample.v[0], case.activation, case.sample.n, k)


@equation(
    PAPER, "33",
    statement="Second derivatives of the last layer's outputs: an outer product of two eta and "
              "the inputs of the lower layer.",
    formula=r"\begin{aligned} \frac{\partial^2 v^{(n),m}}{\partial w_j^{(k),i} \partial "
            r"w_t^{(r),s}} &= \begin{cases} \frac{\partial \alpha_q^{(n,k),m}}{\partial "
            r"w_t^{(r),s}} \gamma_i^{(k),q} v^{(k-1),j} & r > k \\ 0 & r = k \\ \eta_i^{(n,k),m} "
            r"\frac{\partial v^{(k-1),j}}{\partial w_t^{(r),s}} & r < k \end{cases} \\ &= "
            r"\begin{cases} \eta_s^{(n,r),m} \eta_i^{(r-1,k),t} v^{(k-1),j} & r > k \\ 0 & r = k "
            r"\\ \eta_i^{(n,k),m} \eta_s^{(k-1,r),j} v^{(r-1),t} & r < k \end{cases} "
            r"\end{aligned}",
    kind="identity",
    verdict="conditional",
    condition=STRAIGHT,
    implements=(relu.d2v_dw_dw,),
)
def second_derivatives_of_outputs(rng):
    found, claims = {}, []
    for name, case in kinds(rng, "relu"):
        claims.append(Equal("ReLU, biases, layers without activation: against jets", stacked(
            relu.d2v_dw_dw(case.sample, k, r) for k, r in pairs(3)), stacked(
            case.second(case.v[3], k, r) for k, r in pairs(3)), TOLERANCE, case=name))
    for activation in ("relu", "tanh"):
        case = network_case(rng, activation)
        s, n = case.sample, case.sample.n
        found[activation] = (stacked(relu.d2v_dw_dw(s, k, r) for k, r in pairs(n)),
                             stacked(case.second(case.v[n], k, r) for k, r in pairs(n)))
    return [*claims, Equal("ReLU, all pairs of layers, against jets", *found["relu"], TOLERANCE),
            Counterexample(Equal("tanh", *found["tanh"], CLEAR)),
            case.live()]


