"""Second derivatives for any activation, (66)-(80)."""

import numpy as np

from ....ledger import Counterexample, Equal, Printed, PrintedShape, equation
from .. import PAPER
from .. import eq_66_80_any_activation as eq
from ..eq_01_07_low_rank import eq_3_uu, eq_4_uw
from ..eq_10_26_network import eq_21_alpha
from ..layers import sample
from . import reference
from .cases import (CLEAR, CURVED, NetworkCase, all_layers, compared, network_case, once, pairs,
                    scale_of_outputs, stacked)
from .conditions import INSIDE, ONE_SAMPLE
from .eq_10_26_network import in_a_chain
from .eq_29_33_second_derivatives import from_the_top


def curved(rng, rule, right, places):
    """Claims on a rule for curved activations."""
    return compared(rng, ("all layers, against jets", rule, right, places), activations=CURVED)


@equation(PAPER, "66",
          statement="How a layer's slopes change with the weights up to it, with second "
                    "derivatives of the activation.",
          kind="identity", verdict="holds", implements=eq.eq_66_dgamma, uses=("19", "24"))
def equation_66(rng):
    return curved(rng, eq.eq_66_dgamma, dgamma, pairs)


def dgamma(case, l, q):
    return case.d(case.v[l], ("z", l), ("w", q))


@equation(PAPER, "68",
          statement="How a layer's slopes change with the weights up to it.",
          kind="identity", verdict="holds", implements=eq.eq_68_dgamma, uses=("66", "67"))
def equation_68(rng):
    return curved(rng, eq.eq_68_dgamma, dgamma, pairs)


@equation(PAPER, "67",
          statement="lambda holds a layer's second derivatives where all three indices agree.",
          kind="definition", verdict="holds", implements=eq.eq_67_lambda, uses=())
def equation_67(rng):
    return curved(rng, eq.eq_67_lambda, lambda c, l: c.d(c.v[l], ("z", l), ("z", l)), all_layers)


@equation(PAPER, "69",
          statement="One layer taken out of a chain of Jacobians.",
          condition=INSIDE,
          kind="identity", verdict="conditional",
          implements=(eq.eq_69_split, eq_21_alpha),
          uses=("22",))
def equation_69(rng):
    triples = [(k, r + 1, l) for k, r, l in np.ndindex(4, 3, 4)]
    return in_a_chain(rng, eq.eq_69_split, "l < r <= k",
                      [(k, r, l) for k, r, l in triples if l < r <= k],
                      "k >= l but r not between",
                      [(k, r, l) for k, r, l in triples if k >= l and not l < r <= k])


@equation(PAPER, "71",
          statement="How a layer's Jacobian changes with the weights up to it.",
          kind="identity", verdict="holds", implements=eq.eq_71_dbeta, uses=("19", "68"))
def equation_71(rng):
    return curved(rng, eq.eq_71_dbeta, lambda c, r, q: c.d(c.v[r], ("v", r - 1), ("w", q)), pairs)


@equation(PAPER, "72",
          statement="How Jacobians between layers change: the sum over the layers between, of "
                    "how the Jacobian of each of them changes.",
          kind="identity", verdict="holds",
          implements=eq.eq_72_dalpha, uses=("21", "69", "71"))
def equation_72(rng):
    return curved(rng, eq.eq_72_dalpha, lambda c, k, l, q: c.d(c.v[k], ("v", l), ("w", q)),
                  lambda n: [(k, l, q) for k, l in pairs(n, 0) for q in range(1, n + 1)])


@equation(PAPER, "73",
          statement="How eta changes, by the product rule on alpha and gamma.",
          kind="identity", verdict="holds", implements=eq.eq_73_deta, uses=("23",))
def equation_73(rng):
    return curved(rng, eq.eq_73_deta, deta, from_the_top)


def deta(case, n, k, q):
    return case.d(case.v[n], ("z", k), ("w", q))


@equation(PAPER, "74", "75",
          statement="How eta changes, by cases; for q < k the sum must have the lower layer's eta "
                    "and inputs, not layer k's.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_74_75_deta, eq.eq_74_75_as_printed),
          uses=("23", "68", "72", "73"))
def equations_74_and_75(rng):
    def printed(sample, k, q):
        return eq.eq_74_75_as_printed(sample, sample.n, k, q)

    # (74), (75)
    return [*curved(rng, eq.eq_74_75_deta, deta, from_the_top),
            *as_printed(rng, printed, lambda c, k, q: deta(c, c.sample.n, k, q), too_much)]


def too_much(case, k, q):
    """What the printed sum over r has too much, indices j, l, s, t."""
    n, v, total = case.sample.n, [reference.values(v) for v in case.v], 0
    for r in range(k + 1, n + 1):
        bent = case.alpha(n, r) * np.einsum("bbb->b", case.d(case.v[r], ("z", r), ("z", r)))
        own, lower = (case.d(case.z[r], ("z", below)) for below in (k, q))
        total = (total + np.einsum("jb,bs,bl,t->jlst", bent, own, own, v[k - 1])
                 - np.einsum("jb,bs,bl,t->jlst", bent, lower, own, v[q - 1]))
    return total


def as_printed(rng, rule, right, extra):
    """Claims on the third case as printed: its value for layers of one width, k < n, is the
    derivative and `extra`; for other widths its shape is wrong.
    """
    square, uneven = network_case(rng, sizes=(3, 3, 3, 3, 2)), network_case(rng).sample
    below = [(k, q) for k, q in pairs(square.sample.n - 1) if q < k]
    printed = stacked(rule(square.sample, k, q) for k, q in below)
    expected = stacked(right(square, k, q) for k, q in below)
    return [Equal("the printed form is what it says", printed,
                  expected + stacked(extra(square, k, q) for k, q in below), square.tolerance),
            Printed(Equal("q < k < n, layers of one width, as printed", printed, expected, CLEAR)),
            PrintedShape("s and t of the printed sum, k = 2, and of the derivative in w^(1)",
                         (len(uneven.v[2]), len(uneven.v[1])), uneven.w[1].shape)]


@equation(PAPER, "76",
          statement="Second derivatives of the last layer's outputs, by the product rule on eta "
                    "and v.",
          kind="identity", verdict="holds", implements=eq.eq_76_d2v, uses=("24",))
def equation_76(rng):
    return second_derivatives(rng, eq.eq_76_d2v)


def d2v(case, k, q):
    return case.d(case.v[case.sample.n], ("w", k), ("w", q))


def second_derivatives(rng, rule):
    return compared(rng, ("all pairs of layers, against jets", rule, d2v, pairs))


@equation(PAPER, "77",
          statement="The same written out; for q < k with the slip of (75).",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_77_d2v, eq.eq_77_as_printed), uses=("24", "75", "76"))
def equation_77(rng):
    def extra(case, k, q):
        return np.einsum("jlst,i->jlist", too_much(case, k, q), case.sample.v[k - 1])

    return [*second_derivatives(rng, eq.eq_77_d2v),
            *as_printed(rng, eq.eq_77_as_printed, d2v, extra)]


# -- the objective ---------------------------------------------------------------------------------


def blocks_of(rng, rule, places):
    """Blocks of one sample against jets; and from averages over two samples, which is not the mean
    of the blocks.
    """
    def mean(samples):
        return np.mean([stacked(rule(s, *at) for at in places(3)) for s in samples], axis=0)

    at = network_case(rng, samples=2).evaluation
    samples = [sample(at, b) for b in range(2)]
    f_p, f_pp = (np.mean([getattr(s, name) for s in samples], axis=0) for name in ("f_p", "f_pp"))
    mixed = [s._replace(f_p=f_p, f_pp=f_pp) for s in samples]
    return [*compared(rng, ("one sample, against jets", rule, NetworkCase.block, places),
                      scale=scale_of_outputs),
            Counterexample(Equal("derivatives of F = E[f] in front of each of two samples' "
                                 "outputs, against the mean of the blocks", mean(mixed),
                                 mean(samples), CLEAR))]


@equation(PAPER, "78",
          statement="The block of the output weights, as (34).",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional", implements=eq_3_uu, uses=("25",))
def equation_78(rng):
    return blocks_of(rng, eq_3_uu, once)


@equation(PAPER, "79",
          statement="The blocks between output and hidden weights, as (35).",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional", implements=eq_4_uw, uses=("24", "25", "26"))
def equation_79(rng):
    return blocks_of(rng, eq_4_uw, all_layers)


@equation(PAPER, "80",
          statement="The blocks between hidden weights, with the second derivatives of the "
                    "outputs.",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional", implements=eq.eq_80_ww,
          uses=("24", "26", "28", "77"))
def equation_80(rng):
    return blocks_of(rng, eq.eq_80_ww, pairs)
