"""How Jacobians change where activations are straight, (29)-(33)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, equation
from ....nets import ReLU
from .. import PAPER
from .. import eq_29_33_second_derivatives as eq
from .cases import CLEAR, compared, network_case, outside, pairs
from .conditions import STRAIGHT


@equation(PAPER, "29", "31",
          statement="The second derivative of a ReLU is zero, and its slopes do not change. At 0 "
                    "the slope jumps: a point mass that no pointwise formula sees, so that it is "
                    "not removable.",
          condition=STRAIGHT,
          kind="identity", verdict="conditional",
          implements=(eq.eq_29_relu_bend, eq.eq_31_dgamma, ReLU.slope),
          uses=("11", "19"))
def equations_29_and_31(rng):
    f, z, h = ReLU(), rng.uniform(0.1, 2, 6) * np.array([-1, 1] * 3), 1e-3
    quotient = (f.slope(z + h) - f.slope(z - h)) / (2 * h)
    at_zero = (f.slope(np.array([h])) - f.slope(np.array([-h]))) / (2 * h)
    claims = [Equal("A'' against the difference quotient of the slope, beside the slope",  # (29)
                    eq.eq_29_relu_bend(z), quotient, 1e-12, scale=f.slope(np.abs(z)))]
    # (31)
    claims += compared(rng, ("derivatives of gamma against jets, beside gamma", eq.eq_31_dgamma,
                             lambda c, k, q: c.d(c.v[k], ("z", k), ("w", q)), pairs),
                       activations=("relu",), scale=lambda c: c.sample.slope[1])
    return [*claims,
            Equal("slopes against the sign of z", f.slope(z), 1.0 * (z > 0), 1e-15),
            Counterexample(Equal("at 0 the quotient is 1 / (2 h)", at_zero, np.zeros(1), CLEAR)),
            Case(z=z)]


@equation(PAPER, "30",
          statement="How Jacobians change with weights: one factor of the product at a time.",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=eq.eq_30_dalpha,
          uses=("20", "21", "23", "31"))
def equation_30(rng):
    return straight_only(rng, eq.eq_30_dalpha, lambda c, n, k, r: c.d(c.v[n], ("v", k), ("w", r)),
                         from_the_top)


def from_the_top(n):
    return [(n, k, r) for k, r in pairs(n)]


def straight_only(rng, rule, right, places):
    """Claims: the rule against ``right(case, *at)`` for ReLU; it must fail for tanh."""
    return [*compared(rng, ("ReLU, all pairs of layers, against jets", rule, right, places),
                      activations=("relu",)),
            outside("tanh", rule, right, places(3), network_case(rng, "tanh"))]


@equation(PAPER, "32",
          statement="eta changes with alpha alone.",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=eq.eq_32_deta, uses=("23", "30", "31"))
def equation_32(rng):
    return straight_only(rng, eq.eq_32_deta, lambda c, n, k, r: c.d(c.v[n], ("z", k), ("w", r)),
                         from_the_top)


@equation(PAPER, "33",
          statement="Second derivatives of the last layer's outputs: an outer product of two eta "
                    "and the inputs of the lower layer.",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=eq.eq_33_d2v,
          uses=("24", "30", "32"))
def equation_33(rng):
    return straight_only(rng, eq.eq_33_d2v, lambda c, k, r: c.d(c.v[3], ("w", k), ("w", r)), pairs)
