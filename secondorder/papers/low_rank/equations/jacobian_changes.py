"""How slopes and Jacobians change with the weights, appendix B.3, (66)-(73)."""

import numpy as np

from ....ledger import Case, Equal, equation
from .. import PAPER, quantities
from .. import curved_activations as curved
from . import reference
from .cases import (ACTIVATIONS, CURVED, all_layers, compared, kinds, network_case, outside,
                    pairs, stacked)
from .conditions import INSIDE


def by_complex_steps(rng, rules, function, layers):
    """Claims: the rules, by name, against complex steps of
    ``function(ws, x, activation, *layers)``; the last layer is that of the weights.
    """
    cases, claims = list(kinds(rng, *CURVED)), []
    for what, rule in rules.items():
        claims += compared(f"{what}, against complex steps", rule,
                           lambda case, *at: case.by_complex_steps(function, at[-1], *at[:-1]),
                           layers, cases)
    return [*claims, cases[0][1].live()]


@equation(PAPER, "66",
          statement="How a layer's slopes change with the weights up to it, with second "
                    "derivatives of the activation.",
          formula=r"""\frac{\partial \gamma_r^{(l),m}}{\partial w_t^{(q),s}} = \begin{cases} 0
                      & l < q \\
                      \delta_r^m \mathcal{A}'' \left( w_j^{(l),m} v^{(l-1),j} \right)
                      \delta_s^m v^{(l-1),t} & l = q \\
                      \delta_r^m \mathcal{A}'' \left( w_j^{(l),m} v^{(l-1),j} \right)
                      w_a^{(l),m} \eta_s^{(l-1,q),a} v^{(q-1),t} & l > q \end{cases}""",
          kind="identity", verdict="holds", implements=curved.dgamma_dw_explicit, uses=("19", "24"))
def equation_66(rng):
    return by_complex_steps(rng, {"all layers": curved.dgamma_dw_explicit}, reference.gamma, pairs)


@equation(PAPER, "68",
          statement="How a layer's slopes change with the weights up to it.",
          formula=r"""\frac{\partial \gamma_r^{(l),m}}{\partial w_t^{(q),s}} = \begin{cases} 0
                      & l < q \\
                      \lambda_{rs}^{(l),m} v^{(l-1),t} & l = q \\
                      \lambda_{rp}^{(l),m} w_a^{(l),p} \eta_s^{(l-1,q),a} v^{(q-1),t} & l > q
                      \end{cases}""",
          kind="identity", verdict="holds", implements=curved.dgamma_dw, uses=("66", "67"))
def equation_68(rng):
    return by_complex_steps(rng, {"all layers": curved.dgamma_dw}, reference.gamma, pairs)


@equation(PAPER, "67",
          statement="lambda holds a layer's second derivatives where all three indices agree.",
          formula=r"""\lambda_{rs}^{(l),m} \equiv \delta_r^m \delta_s^m
                      \mathcal{A}''(w_j^{(l),m} v^{(l-1),j})""",
          kind="definition", verdict="holds", implements=quantities.lambda_, uses=())
def equation_67(rng):
    def right(case, k):
        slope, z = reference.of_layer(case.activation, k)[1], reference.values(case.z[k])
        full = np.zeros(3 * (len(z),))  # only where all three indices agree
        for m in range(len(z)):
            full[m, m, m] = np.imag(slope(z[m] + 1e-30j)) / 1e-30
        return full

    claims = compared("against a complex step of the slope", quantities.lambda_, right, all_layers,
                      kinds(rng, *CURVED))
    return [*claims, Case(z=network_case(rng).sample.z[1])]


@equation(PAPER, "69",
          statement="One layer taken out of a chain of Jacobians.",
          formula=r"""\alpha_m^{(k,l),j} = \alpha_b^{(k,r),j} \alpha_a^{(r,r-1),b}
                      \alpha_m^{(r-1,l),a}""",
          condition=INSIDE,
          kind="identity", verdict="conditional",
          implements=(quantities.alpha_split, quantities.alpha, quantities.beta),
          uses=("22",))
def equation_69(rng):
    case = network_case(rng, "tanh")
    triples = [(k, l, r) for k, l in pairs(3, 0) for r in range(1, 4)]
    inside = [(k, l, r) for k, l, r in triples if l < r <= k]
    others = [(k, l, r) for k, l, r in triples if k >= l and not l < r <= k]

    def product(sample, k, l, r):
        return quantities.alpha_split(sample, k, r, l)

    def right(case, k, l, r):
        return reference.alpha(case.ws, case.sample.v[0], case.activation, k, l)

    claims = compared("l < r <= k, against plain products", product, right,
                      lambda n: inside, kinds(rng, *ACTIVATIONS))
    return [*claims,
            Equal("l < r <= k, alpha on both sides",
                  stacked(product(case.sample, *at) for at in inside),
                  stacked(quantities.alpha(case.sample, k, l) for k, l, _ in inside),
                  case.tolerance),
            outside("k >= l but r not between", product, right, others, case),
            Case(x=case.sample.v[0])]


@equation(PAPER, "71",
          statement="How a layer's Jacobian changes with the weights up to it.",
          formula=r"""\frac{\partial \beta_a^{(r),b}}{\partial w_t^{(q),s}} = \begin{cases} 0
                      & r < q \\
                      \lambda_{ps}^{(r),b} w_a^{(r),p} v^{(r-1),t} + \gamma_s^{(r),b}
                      \delta_a^t & r = q \\
                      \lambda_{dp}^{(r),b} w_a^{(r),d} w_m^{(r),p} \eta_s^{(r-1,q),m}
                      v^{(q-1),t} & r > q \end{cases}""",
          kind="identity", verdict="holds", implements=curved.dbeta_dw, uses=("19", "68"))
def equation_71(rng):
    def beta(ws, x, activation, r):
        return reference.alpha(ws, x, activation, r, r - 1)

    return by_complex_steps(rng, {"all layers": curved.dbeta_dw}, beta, pairs)


@equation(PAPER, "72",
          statement="How Jacobians between layers change: the sum over the layers between, of "
                    "how the Jacobian of each of them changes.",
          kind="identity", verdict="holds",
          implements=(curved.dalpha_dw, curved.dalpha_dw_by_cases), uses=("21", "69", "71"))
def equation_72(rng):
    def layers(n):
        return [(k, l, q) for k, l in pairs(n, 0) for q in range(1, n + 1)]

    return by_complex_steps(rng, {"first line": curved.dalpha_dw,
                                  "second line": curved.dalpha_dw_by_cases}, reference.alpha,
                            layers)


def from_the_top(n):
    return [(n, k, q) for k, q in pairs(n)]


@equation(PAPER, "73",
          statement="How eta changes, by the product rule on alpha and gamma.",
          formula=r"""\frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} = \frac{\partial
                      \alpha_m^{(n,k),j}}{\partial w_t^{(q),s}} \gamma_l^{(k),m}
                      + \alpha_m^{(n,k),j} \frac{\partial \gamma_l^{(k),m}}{\partial
                      w_t^{(q),s}}""",
          kind="identity", verdict="holds", implements=curved.deta_dw_product_rule, uses=("23",))
def equation_73(rng):
    return by_complex_steps(rng, {"all layers": curved.deta_dw_product_rule}, reference.eta,
                            from_the_top)
