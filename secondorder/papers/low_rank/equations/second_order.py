"""Second derivatives of the outputs and of the objective, appendix B.3, (74)-(80)."""

from dataclasses import replace

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, PrintedShape, equation
from .. import PAPER, quantities, relu
from .. import curved_activations as curved
from . import reference
from .cases import (ACTIVATIONS, CLEAR, all_layers, compared, kinds, network_case, pairs,
                    scale_of_outputs, second_of_objective, stacked)
from .conditions import ONE_SAMPLE
from .jacobian_changes import by_complex_steps, from_the_top


@equation(PAPER, "74", "75",
          statement="How eta changes, by cases; for q < k the sum must have the lower layer's eta "
                    "and inputs, not layer k's.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(curved.deta_dw_unreduced, curved.deta_dw, curved.sum_above,
                      curved.deta_dw_as_printed, curved.sum_above_as_printed),
          uses=("23", "68", "72", "73"))
def equations_74_and_75(rng):
    def right(case, k, q):
        return case.by_complex_steps(reference.eta, q, case.sample.n, k)

    def printed(sample, k, q):
        return curved.deta_dw_as_printed(sample, sample.n, k, q)

    return [*by_complex_steps(rng, {"(74)": curved.deta_dw_unreduced, "(75)": curved.deta_dw},
                              reference.eta, from_the_top),
            *as_printed(rng, printed, right, too_much)]


def too_much(case, k, q):
    """What the printed sum over r has too much, indices j, l, s, t, from plain products."""
    at = case.ws, case.sample.v[0], case.activation
    n, v, total = case.sample.n, [reference.values(v) for v in case.v], 0
    for r in range(k + 1, n + 1):
        second_derivative = reference.of_layer(case.activation, r)[2](reference.values(case.z[r]))
        above = reference.alpha(*at, n, r) * second_derivative
        own, lower = (case.ws[r] @ reference.eta(*at, r - 1, below) for below in (k, q))
        total = (total + np.einsum("jb,bs,bl,t->jlst", above, own, own, v[k - 1])
                 - np.einsum("jb,bs,bl,t->jlst", above, lower, own, v[q - 1]))
    return total


def as_printed(rng, rule, right, extra):
    """Claims on the third case as printed: its value for layers of one width, k < n, is the
    derivative and `extra`; for other widths its shape is wrong.
    """
    square, uneven = (network_case(rng, "tanh", sizes=sizes)
                      for sizes in ((3, 3, 3, 3, 2), (3, 4, 3, 4, 3)))
    below = [(k, q) for k, q in pairs(square.sample.n - 1) if q < k]
    printed = stacked(rule(square.sample, k, q) for k, q in below)
    expected = stacked(right(square, k, q) for k, q in below)
    s = uneven.sample
    return [Equal("the printed form is what it says", printed,
                  expected + stacked(extra(square, k, q) for k, q in below), square.tolerance),
            Printed(Equal("q < k < n, layers of one width, as printed", printed, expected, CLEAR)),
            PrintedShape("s and t of the printed sum, k = 2, and of the derivative in w^(1)",
                         (len(s.v[2]), len(s.v[1])), s.w[1].shape)]


@equation(PAPER, "76",
          statement="Second derivatives of the last layer's outputs, by the product rule on eta "
                    "and v.",
          formula=r"""\frac{\partial^2 v^{(n),j}}{\partial w_i^{(k),l} \partial w_t^{(q),s}}
                      = \begin{cases} \frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}}
                      v^{(k-1),i} & q \geq k \\
                      \frac{\partial \eta_l^{(n,k),j}}{\partial w_t^{(q),s}} v^{(k-1),i}
                      + \eta_l^{(n,k),j} \frac{\partial v^{(k-1),i}}{\partial w_t^{(q),s}} & q
                      < k \end{cases}""",
          kind="identity", verdict="holds", implements=curved.d2v_dw_dw_product_rule, uses=("24",))
def equation_76(rng):
    return second_derivatives(rng, curved.d2v_dw_dw_product_rule)


def second_of_outputs(case, k, q):
    """d2 v^(n) in the weights of layers k and q, by jets."""
    return case.second(case.v[case.sample.n], k, q)


def second_derivatives(rng, rule):
    """Claims: second derivatives of the outputs for all pairs of layers, against jets."""
    return [*compared("all pairs of layers, against jets", rule, second_of_outputs, pairs,
                      kinds(rng, *ACTIVATIONS)), network_case(rng).live()]


@equation(PAPER, "77",
          statement="The same written out; for q < k with the slip of (75).",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(curved.d2v_dw_dw, curved.d2v_dw_dw_as_printed), uses=("24", "75", "76"))
def equation_77(rng):
    def extra(case, k, q):
        return np.einsum("jlst,i->jlist", too_much(case, k, q), case.sample.v[k - 1])

    return [*second_derivatives(rng, curved.d2v_dw_dw),
            *as_printed(rng, curved.d2v_dw_dw_as_printed, second_of_outputs, extra)]


# -- the objective


def blocks_of(rng, rule, layers):
    """Blocks of one sample against jets; and from averages over two samples, which is not the mean
    of the blocks.
    """
    def mean(samples):
        return np.mean([stacked(rule(s, *at) for at in layers(3)) for s in samples], axis=0)

    two = network_case(rng, "tanh", samples=2)
    samples = [quantities.quantities(two.evaluation, b) for b in range(2)]
    f_p, f_pp = (np.mean([getattr(s, name) for s in samples], axis=0) for name in ("f_p", "f_pp"))
    mixed = [replace(s, f_p=f_p, f_pp=f_pp) for s in samples]
    return [*compared("one sample, against jets", rule, second_of_objective, layers,
                      kinds(rng, *ACTIVATIONS), scale_of_outputs),
            Counterexample(Equal("derivatives of F = E[f] in front of each of two samples' "
                                 "outputs, against the mean of the blocks", mean(mixed),
                                 mean(samples), CLEAR)),
            Case(x=two.evaluation.x)]


@equation(PAPER, "78",
          statement="The block of the output weights, as (34).",
          formula=r"""\frac{\partial^2 F}{\partial u_j^i \partial u_t^s} = \frac{\partial^2
                      F}{\partial p^k \partial p^l} \frac{\partial p^k}{\partial u_j^i}
                      \frac{\partial p^l}{\partial u_t^s} = \frac{\partial^2 F}{\partial p^i
                      \partial p^s} v^{(n),j} v^{(n),t}""",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional", implements=relu.block_uu, uses=("25",))
def equation_78(rng):
    return blocks_of(rng, relu.block_uu, lambda n: [()])


@equation(PAPER, "79",
          statement="The blocks between output and hidden weights, as (35).",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional", implements=relu.block_uw, uses=("24", "25", "26"))
def equation_79(rng):
    return blocks_of(rng, relu.block_uw, all_layers)


@equation(PAPER, "80",
          statement="The blocks between hidden weights, with the second derivatives of the "
                    "outputs.",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional", implements=curved.block_ww,
          uses=("24", "26", "28", "77"))
def equation_80(rng):
    return blocks_of(rng, curved.block_ww, pairs)
