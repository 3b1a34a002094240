"""Networks with any activation, appendix B.3, (66)-(80)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, PrintedShape, equation
from .. import PAPER, curved, printed, quantities, relu
from . import reference
from .cases import CLEAR, INSIDE, ONE_SAMPLE, TOLERANCE, kinds, network_case, pairs, stacked


def both(rng, sizes=None):
    """A case for every curved activation."""
    options = {} if sizes is None else {"sizes": sizes}
    return [network_case(rng, activation, **options) for activation in ("tanh", "softplus")]


def against_complex_steps(cases, rule, function, chosen):
    """One claim a case: the rule for the chosen layers against complex steps of `function(ws, x,
    activation, *layers)`.
    """
    claims = []
    for case in cases:
        x, right = case.sample.v[0], []
        for *of, q in chosen(case.sample.n):
            right.append(reference.derivative(lambda ws, of=of, case=case, x=x: function(
                ws, x, case.activation, *of), case.ws, q))
        left = [rule(case.sample, *layers) for layers in chosen(case.sample.n)]
        claims.append(Equal("all layers, against complex steps", stacked(left), stacked(right),
                            TOLERANCE, case=case.activation))
    return [*claims, Case(x=x, w_1=case.sample.w[1])]


@equation(
    PAPER, "66",
    statement="How a layer's slopes change with the weights up to it, with second derivatives of "
              "the activation.",
    formula=r"\frac{\partial \gamma_r^{(l),m}}{\partial w_t^{(q),s}} = \begin{cases} 0 & l < q \\ "
            r"\delta_r^m \mathcal{A}'' \left( w_j^{(l),m} v^{(l-1),j} \right) \delta_s^m "
            r"v^{(l-1),t} & l = q \\ \delta_r^m \mathcal{A}'' \left( w_j^{(l),m} v^{(l-1),j} "
            r"\right) w_a^{(l),m} \eta_s^{(l-1,q),a} v^{(q-1),t} & l > q \end{cases}",
    kind="identity",
    verdict="holds",
    implements=(curved.dgamma_dw_explicit,),
)
def change_of_gamma_explicitly(rng):
    return against_complex_steps(both(rng), curved.dgamma_dw_explicit, reference.gamma, pairs)


@equation(
    PAPER, "68",
    statement="How a layer's slopes change with the weights up to it.",
    formula=r"\frac{\partial \gamma_r^{(l),m}}{\partial w_t^{(q),s}} = \begin{cases} 0 & l < q \\ "
            r"\lambda_{rs}^{(l),m} v^{(l-1),t} & l = q \\ "
            r"\lambda_{rp}^{(l),m} w_a^{(l),p} \eta_s^{(l-1,q),a} v^{(q-1),t} & l > q \end{cases}",
    kind="identity",
    verdict="holds",
    implements=(curved.dgamma_dw,),
)
def change_of_gamma(rng):
    return against_complex_steps(both(rng), curved.dgamma_dw, reference.gamma, pairs)


@equation(
    PAPER, "67",
    statement="lambda holds a layer's second derivatives where all three indices agree.",
    formula=r"\lambda_{rs}^{(l),m} \equiv \delta_r^m \delta_s^m \mathcal{A}''(w_j^{(l),m} "
            r"v^{(l-1),j})",
    kind="definition",
    verdict="holds",
    implements=(quantities.lambda_,),
)
def lambda_definition(rng):
    claims, h = [], 1e-30
    for case in both(rng):
        made = [quantities.lambda_(case.sample, l) for l in range(1, case.sample.n + 1)]
        slope = reference.ACTIVATIONS[case.activation][1]
        right = []
        for l in range(1, case.sample.n + 1):
            z = reference.values(case.z[l])
            full = np.zeros(3 * (len(z),))  # only where all three indices agree
            for m in range(len(z)):
                full[m, m, m] = np.imag(slope(z[m] + 1j * h)) / h
            right.append(full)
        claims.append(Equal("against a complex step of the slope", stacked(made), stacked(right),
                            TOLERANCE, case=case.activation))
    return [*claims, Case(z=case.sample.z[1])]


@equation(
    PAPER, "69",
    statement="One layer taken out of a chain of Jacobians.",
    formula=r"\alpha_m^{(k,l),j} = \alpha_b^{(k,r),j} \alpha_a^{(r,r-1),b} \alpha_m^{(r-1,l),a}",
    kind="identity",
    verdict="conditional",
    condition=INSIDE,
    implements=(quantities.alpha, quantities.beta),
)
def one_taken_out(rng):
    case = network_case(rng, "tanh")
    s, n = case.sample, case.sample.n
    triples = [(k, l, r) for k, l in pairs(n, 0) for r in range(1, n + 1)]

    def sides(chosen):
        product = stacked(quantities.alpha(s, k, r) @ quantities.beta(s, r)
                          @ quantities.alpha(s, r - 1, l) for k, l, r in chosen)
        return product, stacked(reference.alpha(case.ws, s.v[0], "tanh", k,
                                                l) for k, l, r in chosen)

    ordered = [(k, l) for k, l in pairs(n, 0) if k >= l]
    return [Equal("alpha itself against plain products",
                  stacked(quantities.alpha(s, k, l) for k, l in ordered),
                  stacked(reference.alpha(case.ws, s.v[0], "tanh", k, l) for k, l in ordered),
                  TOLERANCE),
            Equal("inside", *sides([(k, l, r) for k, l, r in triples if l < r <= k]), TOLERANCE),
            Counterexample(Equal("k >= l but r not between", *sides(
                [(k, l, r) for k, l, r in triples if k >= l and not l < r <= k]), CLEAR)),
            Case(x=s.v[0])]


@equation(
    PAPER, "71",
    statement="How a layer's Jacobian changes with the weights up to it.",
    formula=r"\frac{\partial \beta_a^{(r),b}}{\partial w_t^{(q),s}} = \begin{cases} 0 & r < q \\ "
            r"\lambda_{ps}^{(r),b} w_a^{(r),p} v^{(r-1),t} + \gamma_s^{(r),b} \delta_a^t & r = q "
            r"\\ \lambda_{dp}^{(r),b} w_a^{(r),d} w_m^{(r),p} \eta_s^{(r-1,q),m} v^{(q-1),t} & r "
            r"> q \end{cases}",
    kind="identity",
    verdict="holds",
    implements=(curved.dbeta_dw,),
)
def change_of_beta(rng):
    return against_complex_steps(
        both(rng), curved.dbeta_dw, lambda ws, x, a, r: reference.alpha(ws, x, a, r, r - 1), pairs)


@equation(
    PAPER, "72",
    statement="How Jacobians between layers change: the sum over the layers between, and what "
              "each of them bends.",
    formula=r"\begin{gathered} \frac{\partial \alpha_m^{(k,l),j}}{\partial w_t^{(q),s}} = "
            r"\sum_{r=l+1}^k \alpha_b^{(k,r),j} \frac{\partial \beta_a^{(r),b}}{\partial "
            r"w_t^{(q),s}} \alpha_m^{(r-1,l),a} \\ = \begin{cases} 0 & k < q \\ \sum_{r=q+1}^k "
            r"\alpha_b^{(k,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,q),c} "
            r"v^{(q-1),t} \alpha_m^{(r-1,l),a} \\ \quad + \alpha_b^{(k,q),j} \left( "
            r"\lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} + \gamma_s^{(q),b} \delta_a^t \right) "
            r"\alpha_m^{(q-1,l),a} & l < q \leq k \\ \sum_{r=l+1}^k \alpha_b^{(k,r),j} "
            r"\lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} "
            r"\alpha_m^{(r-1,l),a} & q \leq l \end{cases} \end{gathered}",
    kind="identity",
    verdict="holds",
    implements=(curved.dalpha_dw, curved.dalpha_dw_by_cases),
)
def change_of_alpha(rng):
    def layers(n):
        return [(k, l, q) for k, l in pairs(n, 0) for q in range(1, n + 1)]

    first, second = ([claim for claim in against_complex_steps(
        both(rng), rule, reference.alpha, layers) if not isinstance(claim, Case)]
        for rule in (curved.dalpha_dw, curved.dalpha_dw_by_cases))
    case = network_case(rng, "tanh", plain=(2,))
    by_sum, by_cases = (stacked(rule(case.sample, *at) for at in layers(3))
                        for rule in (curved.dalpha_dw, curved.dalpha_dw_by_cases))
    steps = stacked(reference.derivative(lambda ws, k=k, l=l: reference.alpha(
        ws, case.sample.v[0], case.activation, k, l), case.ws, q) for k, l, q in layers(3))
    return [*named("first line", first), *named("second line", second),
            Equal("first line, a layer without activation: against complex steps", by_sum, steps,
                  TOLERANCE),
            Equal("second line, a layer without activation: against complex steps", by_cases,
                  steps, TOLERANCE), case.live()]


def named(line, claims):
    """The claims with the line of the display that they are about in front."""
    for claim in claims:
        claim.what = f"{line}, {claim.what}"
    return claims


def eta_from(ws, x, activation, n, k):
    return reference.alpha(ws, x, activation, n, k) @ reference.gamma(ws, x, activation, k)


def from_the_top(n):
    return [(n, k, q) for k, q in pairs(n)]


@equation(
    PAPER, "73",
    statement="How eta changes, by the product rule on alpha and gamma.",
    formula=r"\frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} = "
            r"\frac{\partial \alpha_m^{(n,k),j}}{\partial w_t^{(q),s}} \gamma_l^{(k),m} + "
            r"\alpha_m^{(n,k),j} \frac{\partial \gamma_l^{(k),m}}{\partial w_t^{(q),s}}",
    kind="identity",
    verdict="holds",
    implements=(curved.deta_dw_product_rule,),
)
def change_of_eta_by_the_product_rule(rng):
    return against_complex_steps(both(rng), curved.deta_dw_product_rule, eta_from, from_the_top)


ABOVE = (r"\sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
         r"\eta_s^{(r-1,%s),c} v^{(%s-1),t} \eta_l^{(r-1,k),a}")


@equation(
    PAPER,
    "74",
    "75",
    statement="How eta changes, by cases; for q < k the sum must have the lower layer's eta and "
              "inputs, not those "
    "of layer k.",
    formula=r"\begin{aligned} \frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} &= "
            r"\begin{cases} \sum_{r=q+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
            r"w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} \alpha_m^{(r-1,k),a} \gamma_l^{(k),m} \\ "
            r"\quad + \alpha_b^{(n,q),j} \left( \lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} + "
            r"\gamma_s^{(q),b} \delta_a^t \right) \alpha_m^{(q-1,k),a} \gamma_l^{(k),m} & q > k "
            r"\\ \sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
            r"\eta_s^{(r-1,k),c} v^{(k-1),t} \alpha_m^{(r-1,k),a} \gamma_l^{(k),m} \\ \quad + "
            r"\alpha_m^{(n,k),j} \lambda_{ls}^{(k),m} v^{(k-1),t} & q = k \\ \sum_{r=k+1}^n "
            r"\alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,k),c} "
            r"v^{(k-1),t} \alpha_m^{(r-1,k),a} \gamma_l^{(k),m} \\ \quad + \alpha_m^{(n,k),j} "
            r"\lambda_{lp}^{(k),m} w_a^{(k),p} \eta_s^{(k-1,q),a} v^{(q-1),t} & q < k \end{cases} "
            r"\\ &= \begin{cases} \sum_{r=q+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} "
            r"w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} \eta_l^{(r-1,k),a} \\ \quad "
            r"+ \alpha_b^{(n,q),j} \lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} "
            r"\eta_l^{(q-1,k),a} + \eta_s^{(n,q),j} \eta_l^{(q-1,k),t} & q > k \\ \sum_{r=k+1}^n "
            r"\alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,k),c} "
            r"v^{(k-1),t} \eta_l^{(r-1,k),a} \\ \quad + \alpha_m^{(n,k),j} \lambda_{ls}^{(k),m} "
            r"v^{(k-1),t} & q = k \\ \sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} "
            r"w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,k),c} v^{(k-1),t} \eta_l^{(r-1,k),a} \\ \quad "
            r"+ \alpha_m^{(n,k),j} \lambda_{lp}^{(k),m} w_a^{(k),p} \eta_s^{(k-1,q),a} "
            r"v^{(q-1),t} & q < k \end{cases} \end{aligned}",
    corrected=r"\begin{aligned} \frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} &= "
              r"\begin{cases} \sum_{r=q+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
              r"w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} \alpha_m^{(r-1,k),a} \gamma_l^{(k),m} "
              r"\\ \quad + \alpha_b^{(n,q),j} \left( \lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} "
              r"+ \gamma_s^{(q),b} \delta_a^t \right) \alpha_m^{(q-1,k),a} \gamma_l^{(k),m} & q > "
              r"k \\ \sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
              r"w_c^{(r),p} \eta_s^{(r-1,k),c} v^{(k-1),t} \alpha_m^{(r-1,k),a} \gamma_l^{(k),m} "
              r"\\ \quad + \alpha_m^{(n,k),j} \lambda_{ls}^{(k),m} v^{(k-1),t} & q = k \\ "
              r"\sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
              r"\eta_s^{(r-1,q),c} v^{(q-1),t} \alpha_m^{(r-1,k),a} \gamma_l^{(k),m} \\ \quad + "
              r"\alpha_m^{(n,k),j} \lambda_{lp}^{(k),m} w_a^{(k),p} \eta_s^{(k-1,q),a} "
              r"v^{(q-1),t} & q < k \end{cases} \\ &= \begin{cases} \sum_{r=q+1}^n "
              r"\alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
              r"\eta_s^{(r-1,q),c} v^{(q-1),t} \eta_l^{(r-1,k),a} \\ \quad + \alpha_b^{(n,q),j} "
              r"\lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} \eta_l^{(q-1,k),a} + "
              r"\eta_s^{(n,q),j} \eta_l^{(q-1,k),t} & q > k \\ \sum_{r=k+1}^n \alpha_b^{(n,r),j} "
              r"\lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} \eta_s^{(r-1,k),c} v^{(k-1),t} "
              r"\eta_l^{(r-1,k),a} \\ \quad + \alpha_m^{(n,k),j} \lambda_{ls}^{(k),m} v^{(k-1),t} "
              r"& q = k \\ \sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
              r"w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} \eta_l^{(r-1,k),a} \\ \quad + "
              r"\alpha_m^{(n,k),j} \lambda_{lp}^{(k),m} w_a^{(k),p} \eta_s^{(k-1,q),a} "
              r"v^{(q-1),t} & q < k \end{cases} \end{aligned}",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(curved.deta_dw_unreduced, curved.deta_dw, curved.bends_above, printed.deta_dw,
                printed.bends_above),
)
def change_of_eta(rng):
    claims = named("(74)", against_complex_steps(both(rng), curved.deta_dw_unreduced, eta_from,
                                                 from_the_top)[:-1])
    claims += named("(75)", against_complex_steps(both(rng), curved.deta_dw, eta_from,
                                                  from_the_top)[:-1])
    return [*claims, *as_printed(
        rng, printed.deta_dw, lambda case, k, q: reference.derivative(lambda ws: eta_from(
            ws, case.sample.v[0], case.activation, case.sample.n, k), case.ws, q), with_top=True),
            network_case(rng).live()]


def slip(case, k, q):
    """What the printed sum over r has too much, indices j, l, s, t, from plain products."""
    at = case.ws, case.sample.v[0], case.activation
    n, v, total = case.sample.n, [reference.values(v) for v in case.v], 0

    def eta(upper, lower):
        return reference.alpha(*at, upper, lower) @ reference.gamma(*at, lower)

    for r in range(k + 1, n + 1):
        bend = reference.ACTIVATIONS[case.activation][2](reference.values(case.z[r]))
        above, own = reference.alpha(*at, n, r) * bend, case.ws[r] @ eta(r - 1, k)
        wrong, right = (own, v[k - 1]), (case.ws[r] @ eta(r - 1, q), v[q - 1])
        for sign, (lower, below) in ((1, wrong), (-1, right)):
            total = total + sign * np.einsum("jb,bs,bl,t->jlst", above, lower, own, below)
    return total


def as_printed(rng, rule, right, with_top=False):
    """The third case as printed: its value for layers of one width, k < n, else its shape."""
    square, uneven = (network_case(rng, "tanh", sizes=sizes) for sizes in ((3, 3, 3, 3, 2),
                                                                           (3, 4, 3, 4, 3)))
    n = square.sample.n
    below = [(k, q) for k, q in pairs(n - 1) if q < k]
    literal = [rule(square.sample, *((n, k, q) if with_top else (k, q))) for k, q in below]
    s = uneven.sample
    too_much = [slip(square, k, q) for k, q in below]
    if not with_top:  # and the inputs of layer k
        too_much = [np.einsum("jlst,i->jlist", extra,
                              square.sample.v[k - 1]) for extra, (k, _) in zip(too_much, below)]
    return [Equal("the printed form is what it says", stacked(literal),
                  stacked(right(square, k, q) for k, q in below) + stacked(too_much), TOLERANCE),
            Printed(Equal("q < k < n, layers of one width, as printed", stacked(literal),
                          stacked(right(square, k, q) for k, q in below), CLEAR)),
            PrintedShape("s and t of the printed sum, k = 2, and of the derivative in w^(1)",
                         (len(s.v[2]), len(s.v[1])), s.w[1].shape)]


@equation(
    PAPER, "76",
    statement="Second derivatives of the last layer's outputs, by the product rule on eta and v.",
    formula=r"\frac{\partial^2 v^{(n),j}}{\partial w_i^{(k),l} \partial w_t^{(q),s}} = "
            r"\begin{cases} \frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} v^{(k-1),i} & "
            r"q \geq k \\ \frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} v^{(k-1),i} + "
            r"\eta_l^{(n,k),j} \frac{\partial v^{(k-1),i}}{\partial w_t^{(q),s}} & q < k "
            r"\end{cases}",
    kind="identity",
    verdict="holds",
    implements=(curved.d2v_dw_dw_product_rule,),
)
def second_derivatives_by_the_product_rule(rng):
    return all_pairs_against_jets(rng, curved.d2v_dw_dw_product_rule)


def all_pairs_against_jets(rng, rule):
    """One claim an activation: second derivatives of the outputs for all pairs of layers."""
    claims = []
    for name, case in [*kinds(rng, "tanh"), ("softplus", network_case(rng, "softplus"))]:
        n = case.sample.n
        left = stacked(rule(case.sample, k, q) for k, q in pairs(n))
        right = stacked(case.second(case.v[n], k, q) for k, q in pairs(n))
        claims.append(Equal("all pairs of layers, against jets", left, right, TOLERANCE,
                            case=name))
    return [*claims, Case(x=case.sample.v[0])]


@equation(
    PAPER,
    "77",
    statement="The same written out; for q < k with the slip of (75).",
    formula=r"\frac{\partial^2 v^{(n),j}}{\partial w_i^{(k),l} \partial w_t^{(q),s}} = "
            r"\begin{cases} \sum_{r=q+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
            r"w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} \eta_l^{(r-1,k),a} v^{(k-1),i} \\ + "
            r"\alpha_b^{(n,q),j} \lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} \eta_l^{(q-1,k),a} "
            r"v^{(k-1),i} + \eta_s^{(n,q),j} \eta_l^{(q-1,k),t} v^{(k-1),i} & q > k \\ "
            r"\sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
            r"\eta_s^{(r-1,k),c} v^{(k-1),t} \eta_l^{(r-1,k),a} v^{(k-1),i} \\ + "
            r"\alpha_m^{(n,k),j} \lambda_{ls}^{(k),m} v^{(k-1),t} v^{(k-1),i} & q = k \\ "
            r"\sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
            r"\eta_s^{(r-1,k),c} v^{(k-1),t} \eta_l^{(r-1,k),a} v^{(k-1),i} \\ + "
            r"\alpha_m^{(n,k),j} \lambda_{lp}^{(k),m} w_a^{(k),p} \eta_s^{(k-1,q),a} v^{(q-1),t} "
            r"v^{(k-1),i} + \eta_l^{(n,k),j} \eta_s^{(k-1,q),i} v^{(q-1),t} & q < k \end{cases}",
    corrected=r"\frac{\partial^2 v^{(n),j}}{\partial w_i^{(k),l} \partial w_t^{(q),s}} = "
              r"\begin{cases} \sum_{r=q+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
              r"w_c^{(r),p} \eta_s^{(r-1,q),c} v^{(q-1),t} \eta_l^{(r-1,k),a} v^{(k-1),i} \\ + "
              r"\alpha_b^{(n,q),j} \lambda_{ps}^{(q),b} w_a^{(q),p} v^{(q-1),t} "
              r"\eta_l^{(q-1,k),a} v^{(k-1),i} + \eta_s^{(n,q),j} \eta_l^{(q-1,k),t} v^{(k-1),i} "
              r"& q > k \\ \sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} "
              r"w_c^{(r),p} \eta_s^{(r-1,k),c} v^{(k-1),t} \eta_l^{(r-1,k),a} v^{(k-1),i} \\ + "
              r"\alpha_m^{(n,k),j} \lambda_{ls}^{(k),m} v^{(k-1),t} v^{(k-1),i} & q = k \\ "
              r"\sum_{r=k+1}^n \alpha_b^{(n,r),j} \lambda_{dp}^{(r),b} w_a^{(r),d} w_c^{(r),p} "
              r"\eta_s^{(r-1,q),c} v^{(q-1),t} \eta_l^{(r-1,k),a} v^{(k-1),i} \\ + "
              r"\alpha_m^{(n,k),j} \lambda_{lp}^{(k),m} w_a^{(k),p} \eta_s^{(k-1,q),a} "
              r"v^{(q-1),t} v^{(k-1),i} + \eta_l^{(n,k),j} \eta_s^{(k-1,q),i} v^{(q-1),t} & q < k "
              r"\end{cases}",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(curved.d2v_dw_dw, printed.d2v_dw_dw),
)
def second_derivatives_of_outputs(rng):
    def right(case, k, q):
        return case.second(case.v[case.sample.n], k, q)

    claims = all_pairs_against_jets(rng, curved.d2v_dw_dw)
    return [*claims, *as_printed(rng, printed.d2v_dw_dw, right)]


# -- the objective


def blocks_of(rng, rule, layers):
    """Blocks of one sample against jets; and from averages over two samples, which is not the mean
    of the blocks.
    """
    claims = []
    for name, case in [*kinds(rng, "tanh"), ("softplus", network_case(rng, "softplus"))]:
        n = case.sample.n
        scale = np.abs(case.sample.v_bar[n]).max() ** 2 * np.abs(case.sample.p).max()
        claims.append(Equal("one sample, against jets",
                            stacked(rule(case.sample, *at) for at in layers(n)),
                            stacked(case.second(case.f, *at) for at in _names(layers(n), n)),
                            TOLERANCE, scale=scale, case=name))
    two = network_case(rng, "tanh", samples=2)
    samples = [quantities.quantities(two.evaluation, b) for b in range(2)]
    f_p, f_pp = (np.mean([getattr(s, name) for s in samples], axis=0) for name in ("f_p", "f_pp"))
    right = np.mean([stacked(rule(s, *at) for at in layers(3)) for s in samples], axis=0)
    mixed = [type(s)(**(vars(s) | {"f_p": f_p, "f_pp": f_pp})) for s in samples]
    left = np.mean([stacked(rule(s, *at) for at in layers(3)) for s in mixed], axis=0)
    return [*claims, Counterexample(Equal("derivatives of F = E[f] in front of each of two "
                                          "samples' outputs, against the mean of the blocks", left,
                                          right, CLEAR)), Case(x=two.evaluation.x)]


def _names(layers, n):
    """Numbers of the two layers of a block; what is not given is the output."""
    return [(*([n + 1] * (2 - len(at))), *at) for at in layers]


@equation(
    PAPER, "78",
    statement="The block of the output weights, as (34).",
    formula=r"\frac{\partial^2 F}{\partial u_j^i \partial u_t^s} = "
            r"\frac{\partial^2 F}{\partial p^k \partial p^l} \frac{\partial p^k}{\partial u_j^i} "
            r"\frac{\partial p^l}{\partial u_t^s} = \frac{\partial^2 F}{\partial p^i \partial "
            r"p^s} v^{(n),j} v^{(n),t}",
    kind="identity",
    verdict="conditional",
    condition=ONE_SAMPLE,
    implements=(relu.block_uu,),
)
def block_uu(rng):
    return blocks_of(rng, relu.block_uu, lambda n: [()])


@equation(
    PAPER, "79",
    statement="The blocks between output and hidden weights, as (35).",
    formula=r"\begin{aligned} \frac{\partial^2 F}{\partial u_j^i \partial w_t^{(k),s}} &= "
            r"\frac{\partial F}{\partial p^i} \frac{\partial v^{(n),j}}{\partial w_t^{(k),s}} + "
            r"\frac{\partial^2 F}{\partial p^i \partial p^l} v^{(n),j} \frac{\partial "
            r"p^l}{\partial v^{(n),m}} \frac{\partial v^{(n),m}}{\partial w_t^{(k),s}} \\ &= "
            r"\frac{\partial F}{\partial p^i} \eta_s^{(n,k),j} v^{(k-1),t} + \frac{\partial^2 "
            r"F}{\partial p^i \partial p^l} v^{(n),j} u_m^l \eta_s^{(n,k),m} v^{(k-1),t} "
            r"\end{aligned}",
    kind="identity",
    verdict="conditional",
    condition=ONE_SAMPLE,
    implements=(relu.block_uw,),
)
def block_uw(rng):
    return blocks_of(rng, relu.block_uw, lambda n: [(k,) for k in range(1, n + 1)])


@equation(
    PAPER, "80",
    statement="The blocks between hidden weights, with the second derivatives of the outputs.",
    formula=r"\begin{aligned} \frac{\partial^2 F}{\partial w_i^{(k),l} \partial w_t^{(q),s}} &= "
            r"\frac{\partial^2 F}{\partial p^a \partial p^b} \frac{\partial p^a}{\partial "
            r"v^{(n),j}} \frac{\partial v^{(n),j}}{\partial w_i^{(k),l}} \frac{\partial "
            r"p^b}{\partial v^{(n),c}} \frac{\partial v^{(n),c}}{\partial w_t^{(q),s}} + "
            r"\frac{\partial F}{\partial p^m} \frac{\partial p^m}{\partial v^{(n),j}} "
            r"\frac{\partial^2 v^{(n),j}}{\partial w_i^{(k),l} \partial w_t^{(q),s}} \\ &= "
            r"\frac{\partial^2 F}{\partial p^a \partial p^b} u_j^a \eta_l^{(n,k),j} v^{(k-1),i} "
            r"u_c^b \eta_s^{(n,q),c} v^{(q-1),t} + \frac{\partial F}{\partial p^a} u_j^a "
            r"\frac{\partial^2 v^{(n),j}}{\partial w_i^{(k),l} \partial w_t^{(q),s}} "
            r"\end{aligned}",
    kind="identity",
    verdict="conditional",
    condition=ONE_SAMPLE,
    implements=(curved.block_ww,),
)
def block_ww(rng):
    return blocks_of(rng, curved.block_ww, pairs)
