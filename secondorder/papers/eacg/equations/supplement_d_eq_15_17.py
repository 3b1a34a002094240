"""Supplement D: Eq. (15)-(17), the steps of the proof of (7)."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Printed, PrintedShape, equation
from ....nets.layers.activation_functions import activation_function
from .. import PAPER, supplement_d_eq_15_17 as eq
from ..eq_05_07_expectation import ehht, ele_cov
from . import cases, reference

MONOTONE = {"sigmoid": 0.25, "tanh": 1.0, "softplus": 1.0}  # activations with 0 <= h' <= L, and L
LIPSCHITZ = MONOTONE | {"sin": 1.0}


def step(rng, activation="sigmoid", samples=6):
    """W, H, slope of one step down, and the case."""
    case = cases.case(rng, activation, "softmax", samples=samples, name=activation)
    return case.weights(2), case.exact()[1], case.layer(2).dh, case


def outer_products(slope):
    """h'_i h'_i^T (S, m, m)."""
    return np.array([np.outer(row, row) for row in slope])


def carried_by_loops(W, H):
    """W^T H_i W (S, m, m)."""
    return np.array([W.T @ one @ W for one in H])


def covariance_by_loops(X, Y):
    """Covariance (1/S) of X and Y (S, m, m), entry by entry."""
    out, S = np.empty(X.shape[1:]), len(X)
    for u, v in np.ndindex(out.shape):
        x, y = X[:, u, v], Y[:, u, v]
        out[u, v] = sum(x * y) / S - sum(x) / S * sum(y) / S
    return out


@equation(PAPER, "15",
          where="Supplement D",
          statement="The exact mean minus (6), fed with the exact mean above, is an element-wise "
                    "covariance: of what is carried down and of the slopes' products. The "
                    "diagonal terms cancel. A bracket closes early: the covariance with h' alone "
                    "does not conform. (7) has it right.",
          kind="identity", verdict="erratum", weight="extraction",
          implements=(eq.eq_15_expectation_error, ele_cov), uses=("4b", "6"))
def equation_15(rng):
    claims = []
    for activation, samples in zip(LIPSCHITZ, (6, 11, 2, 9)):
        W, H, slope, case = step(rng, activation, samples)
        layer = case.layer(2)
        exact, by_6 = (np.mean(reference.steps_down(W, matrices, layer.g, slope, layer.ddh), axis=0)
                       for matrices in (H, [H.mean(axis=0)] * len(H)))
        mine, X = eq.eq_15_expectation_error(W, H, slope), carried_by_loops(W, H)
        claims += [case.equal("exact mean minus (6)", mine, exact - by_6, 1e-11, scale=exact),
                   case.equal("covariance by loops", mine,
                              covariance_by_loops(X, outer_products(slope)), 1e-11, scale=exact)]
    return [*claims, does_not_conform(W, H, slope), Case(W=W, H=H, slope=slope)]


def does_not_conform(W, H, slope):
    """The bracket of the print closes before the outer product: Ele-Cov(W^T H W, h') h'^T."""
    return PrintedShape("an instance of W^T H W and of h' alone, whose covariance is taken",
                        carried_by_loops(W, H)[0].shape, slope[0].shape)


@equation(PAPER, "16",
          where="Supplement D",
          statement="Cauchy-Schwarz: a squared covariance is at most the product of the "
                    "variances, entry by entry. A bracket closes early, as in (15).",
          kind="inequality", verdict="erratum", weight="extraction",
          implements=(eq.eq_16_covariance_bound, eq.eq_17_variance), uses=("15",))
def equation_16(rng):
    claims = []
    for activation, samples in zip(LIPSCHITZ, (6, 11, 2, 9)):
        W, H, slope, case = step(rng, activation, samples)
        bound, outer = eq.eq_16_covariance_bound(W, H, slope), outer_products(slope)
        X, of_slopes = carried_by_loops(W, H), covariance_by_loops(outer, outer)
        left = np.sum(eq.eq_15_expectation_error(W, H, slope) ** 2)
        claims += [case.equal("the right side by loops", bound,
                              np.sum(covariance_by_loops(X, X) * of_slopes), 1e-10),
                   case.equal("variance of the slopes' products", eq.eq_17_variance(outer),
                              of_slopes, 1e-10),
                   AtMost("left against right side", left, bound, case=activation)]
    # no slack where the H_i are in proportion to h'_i h'_i^T
    W, slope = np.eye(3), 1 + np.arange(4.0)[:, None] * np.ones(3)
    H = outer_products(slope)
    return [*claims,
            does_not_conform(W, H, slope),
            Equal("equality where both are in proportion",
                  np.sum(eq.eq_15_expectation_error(W, H, slope) ** 2),
                  eq.eq_16_covariance_bound(W, H, slope), 1e-12),
            Case(W=W, H=H, slope=slope)]


@equation(PAPER, "17",
          where="Supplement D",
          statement="The variance of a product of slopes is at most L^4. The printed bracket "
                    "squares each factor's mean; what is subtracted is the squared mean of the "
                    "product.",
          kind="inequality", verdict="erratum", weight="extraction",
          implements=eq.eq_17_variance, uses=())
def equation_17(rng):
    claims = []
    for activation, L in LIPSCHITZ.items():
        _, _, slope, case = step(rng, activation, 30)
        mine = eq.eq_17_variance(outer_products(slope))
        second = np.einsum("su,sv->uv", slope**2, slope**2) / len(slope)
        mean = np.einsum("su,sv->uv", slope, slope) / len(slope)
        misread = np.outer(slope.mean(axis=0), slope.mean(axis=0)) ** 2
        claims += [case.equal("variance", mine, second - mean**2, 1e-10),
                   AtMost("second moment against L^4", second, L**4, case=activation),
                   AtMost("variance against the second moment", mine, second, case=activation),
                   Printed(case.equal("means of the factors", second - misread, mine, 1e-10))]
    half = np.array([[1.0], [0.0]]) * np.ones(2)  # slopes 0 and L half the time: Var = L^4 / 4
    return [*claims,
            Equal("slopes of 0 and 1, half and half: a quarter of L^4",
                  eq.eq_17_variance(outer_products(half)), np.full((2, 2), 0.25), 1e-12),
            Equal("sigmoids at 0: a second moment of L^4",
                  ehht(activation_function("sigmoid").slope(np.zeros((7, 2))) ** 2),
                  np.full((2, 2), 0.00390625), 1e-15),
            Case(slope=slope)]
