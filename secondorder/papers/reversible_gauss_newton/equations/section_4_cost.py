"""Section 4, complexity: what a step costs, by counting the products of a real one."""

from types import SimpleNamespace

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Rate, Stated, equation
from ....ledger.multiplication_counter import counted
from .. import PAPER
from ..eq_12_13_jacobian import to_theta
from ..eq_16_17_right_inverse import eq_55_step, order_of_cost
from ..method import right_inverse
from ..section_5_pseudo_inverse import times_pseudo_inverse
from . import cases, reference


@equation(PAPER, "cost",
          where="Section 4, complexity",
          statement="A step takes the products of a gradient, and for every half-coupled layer a "
                    "Gram matrix and its factorisation: O(L n d^2 + L n^2 d).",
          formula=r"O(L n d^2 + L n^2 d)",
          kind="claim", verdict="conditional",
          condition="The bottleneck d' is of the order of d. With d' the cost is O(L (n d d' + "
                    "n^2 d' + n^3)).",
          implements=(order_of_cost, Stated(times_pseudo_inverse, "product"), eq_55_step),
          uses=("16", "17"))
def cost(rng):
    sizes = np.array([8, 16, 32])
    grown = [float(multiply_adds(rng, d, d, 4, 2)) for d in sizes]
    formula = np.array([2 * (4 * d * d * (d // 2)) * 2.0 for d in sizes])
    expected = [exact_count(32, width, 4, 2) for width in (32, 64, 128)]
    measured = [multiply_adds(rng, 32, width, 4, 2) for width in (32, 64, 128)]
    per_batch = [multiply_adds(rng, 12, 64, n, 2) for n in (8, 16, 32)]
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    drawn = [tuple(int(v) for v in rng.integers((3, 2, 2), 12)) for _ in range(4)]
    drawn = [(2 * d, max(2 * d, 2 * n), n, L) for d, n, L in drawn]
    orders = np.array([float(order_of_cost(L, n, d)) for d, _, n, L in drawn])
    counts = np.array([float(multiply_adds(rng, d, width, n, L)) for d, width, n, L in drawn])
    wide = np.array([max(width / d, 1.0) for d, width, _, _ in drawn])
    depths = [float(multiply_adds(rng, 8, 8, 4, L)) for L in (1, 2, 3)]
    return [AtMost("drawn sizes: what is counted against six times the order (and d' over d)",
                   counts, 6 * orders * wide),
            Equal("drawn sizes: the order in factors", orders,
                  [float(L * n * d * (d + n)) for d, _, n, L in drawn], 1e-14),
            AtMost("drawn sizes: the order against what is counted", orders, counts),
            Equal("a block more costs what the one before it did", depths[2] - depths[1],
                  depths[1] - depths[0], 1e-12),
            Equal("products of forward pass and update against the count",
                  np.array(measured, float), np.array(expected, float), 1e-12),
            Equal("for larger batches: the Gram matrices enter with n^2",
                  np.array(per_batch, float),
                  np.array([exact_count(12, 64, n, 2) for n in (8, 16, 32)], float), 1e-12),
            Rate("d' = d, n fixed: order in d", sizes, grown, order=2, tolerance=0.3),
            Equal("it is the right direction that was counted",
                  to_theta(J.T, at.net).T @ cases.fast_direction(at), -at.eps, 1e-8),
            Counterexample(Equal("d' = 4 d: the cost without d' in it",
                                 float(measured[-1]), float(measured[0]), 5e-2)),
            Case(d=sizes, multiply_adds=grown, formula=formula)]


def exact_count(d, bottleneck, n, blocks):
    """Forward 2 m, inverse tangents 2 m (not in the first half-coupled layer), Gram n^2 d',
    application m = n d' d/2.
    """
    halves, m = 2 * blocks, n * bottleneck * (d // 2)
    return halves * (5 * m + n * n * bottleneck) - 2 * m


def multiply_adds(rng, d, bottleneck, n, blocks):
    """Counted multiply-adds of matrix products of a forward pass and the update (factorisations
    excepted).
    """
    log, (net, x, y) = [], well_apart(rng, d, bottleneck, n, blocks)
    for half in net.couplings:
        for layer in (half.fixed, half.trained):
            dict.__setitem__(layer.parameters, "weight", counted(layer.weight, log))
    outputs, saved = net.chain.forward(x)
    for one in saved:  # the layers write into arrays of their own, which do not count
        one.inner[-1] = one.inner[-1]._replace(input=counted(one.inner[-1].input, log))
    right_inverse(SimpleNamespace(network=net, saved=saved), outputs - y, times_pseudo_inverse)
    return sum(log)


def well_apart(rng, d, bottleneck, n, blocks):
    """A network and a batch whose features are well apart: where a Gram matrix has lost its digits,
    a step decomposes the features themselves.
    """
    while True:
        net = cases.network(rng, d=d, blocks=blocks, bottleneck=max(bottleneck, n), scale=0.1)
        x, y = rng.normal(size=(2, n, d))
        if reference.conditions(net, x).max() < 1e3:
            return net, x, y
