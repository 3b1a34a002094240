"""Section 4, complexity: what a step costs, by counting the products of a real one."""

from types import SimpleNamespace

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Rate, equation
from ....ledger.multiplication_counter import counted
from .. import PAPER
from ..eq_16_17_right_inverse import order_of_cost
from ..method import right_inverse
from ..section_5_pseudo_inverse import times_pseudo_inverse
from . import cases


@equation(PAPER, "cost",
          where="Section 4, complexity",
          statement="A step takes the products of a gradient, and for every half-coupled layer a "
                    "Gram matrix and its factorisation: O(L n d^2 + L n^2 d).",
          formula=r"O(L n d^2 + L n^2 d)",
          kind="claim", verdict="conditional",
          condition="The bottleneck d' is of the order of d. With d' the cost is O(L (n d d' + "
                    "n^2 d' + n^3)).",
          implements=order_of_cost, uses=("16", "17"))
def cost(rng):
    d = np.array([8, 16, 32])
    grown = np.array([float(multiply_adds(rng, one, one, 4, 2)) for one in d])
    sizes = [(32, 32, 4, 2), (32, 128, 4, 2), (12, 64, 8, 2), (12, 64, 32, 2), (8, 8, 4, 1),
             (8, 8, 4, 3)]
    drawn = [tuple(int(v) for v in rng.integers((3, 2, 2), 12)) for _ in range(4)]
    drawn = [(2 * d, max(2 * d, 2 * n), n, L) for d, n, L in drawn]
    found = np.array([float(multiply_adds(rng, *one)) for one in sizes + drawn])
    orders = np.array([float(order_of_cost(L, n, d)) for d, _, n, L in drawn])
    return [Equal("products of forward pass and update against the count", found,
                  [float(exact_count(*one)) for one in sizes + drawn], 1e-12),
            AtMost("drawn sizes: what is counted against six times the order (and d' over d)",
                   found[6:], 6 * orders * [max(width / d, 1.0) for d, width, _, _ in drawn]),
            Equal("drawn sizes: the order in factors", orders,
                  [float(L * n * d * (d + n)) for d, _, n, L in drawn], 1e-14),
            AtMost("drawn sizes: the order against what is counted", orders, found[6:]),
            Rate("d' = d, n fixed: order in d", d, grown, order=2, tolerance=0.3),
            Counterexample(Equal("d' = 4 d: the cost without d' in it", found[1], found[0], 5e-2)),
            Case(d=d, multiply_adds=grown)]


def exact_count(d, bottleneck, n, blocks):
    """Forward 2 m, inverse tangents 2 m (not in the first half-coupled layer), Gram n^2 d',
    application m = n d' d/2.
    """
    halves, m = 2 * blocks, n * bottleneck * (d // 2)
    return halves * (5 * m + n * n * bottleneck) - 2 * m


def multiply_adds(rng, d, bottleneck, n, blocks):
    """Counted multiply-adds of matrix products of a forward pass and the update (factorisations
    excepted), where the features are well apart: else a step decomposes these themselves.
    """
    at, log = cases.small(rng, n, 1e3, d=d, blocks=blocks, bottleneck=max(bottleneck, n),
                          scale=0.1), []
    for half in at.net.couplings:
        for layer in (half.fixed, half.trained):
            dict.__setitem__(layer.parameters, "weight", counted(layer.weight, log))
    outputs, saved = at.net.chain.forward(at.x)
    for one in saved:  # the layers write into arrays of their own, which do not count
        one.inner[-1] = one.inner[-1]._replace(input=counted(one.inner[-1].input, log))
    right_inverse(SimpleNamespace(network=at.net, saved=saved), outputs - at.y,
                  times_pseudo_inverse)
    return sum(log)
