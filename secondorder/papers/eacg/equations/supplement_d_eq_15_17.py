"""Supplement D: Eq. (15)-(17), the steps of the proof of (7)."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Printed, PrintedShape
from .. import supplement_d_eq_15_17 as eq
from . import cases, reference
from .cases import equation
from .reference import covariance, outer

MONOTONE = {"sigmoid": 0.25, "tanh": 1.0, "softplus": 1.0}  # activations with 0 <= h' <= L, and L
LIPSCHITZ = MONOTONE | {"sin": 1.0}


def steps(rng, samples=11):
    """W, H, slope of one step down, and the case, for every activation."""
    for activation in LIPSCHITZ:
        case = cases.case(rng, activation, "softmax", samples=samples, name=activation)
        yield case.weights(2), case.exact()[1], case.layer(2).dh, case


def does_not_conform(W, H, slope):
    """The bracket of the print closes before the outer product: Ele-Cov(W^T H W, h') h'^T."""
    return PrintedShape("an instance of W^T H W and of h' alone, whose covariance is taken",
                        (W.T @ H[0] @ W).shape, slope[0].shape)


@equation(
    "15", where="Supplement D", kind="identity", verdict="erratum", weight="extraction",
    uses=("4b", "6"),
    statement="The exact mean minus (6), fed with the exact mean above, is an element-wise "
              "covariance: of what is carried down and of the slopes' products. The diagonal terms "
              "cancel. A bracket closes early: the covariance with h' alone does not conform. (7) "
              "has it right.",
    implements=eq.eq_15_expectation_error)
def equation_15(rng):
    for W, H, slope, case in steps(rng):
        layer, means = case.layer(2), [H.mean(axis=0)] * len(H)
        exact, by_6 = (reference.steps_down(W, one, layer.h_bar, slope, layer.ddh).mean(axis=0)
                       for one in (H, means))
        yield case.equal("exact mean minus (6)", eq.eq_15_expectation_error(W, H, slope),
                         exact - by_6, 1e-11, scale=exact)
    yield does_not_conform(W, H, slope)
    yield Case(W=W, H=H, slope=slope)


@equation(
    "16", where="Supplement D", kind="inequality", verdict="erratum", weight="extraction",
    uses=("15",),
    statement="Cauchy-Schwarz: a squared covariance is at most the product of the variances, entry "
              "by entry. A bracket closes early, as in (15).",
    implements=eq.eq_16_covariance_bound)
def equation_16(rng):
    def left(*step):
        return np.sum(eq.eq_15_expectation_error(*step) ** 2)

    for W, H, slope, case in steps(rng):
        bound, X, Y = eq.eq_16_covariance_bound(W, H, slope), W.T @ H @ W, outer(slope)
        yield case.equal("the right side by loops", bound,
                         np.sum(covariance(X, X) * covariance(Y, Y)), 1e-10)
        yield AtMost("left against right side", left(W, H, slope), bound, case=case.name)
    yield does_not_conform(W, H, slope)
    slope = 1 + np.arange(4.0)[:, None] * np.ones(3)
    one = np.eye(3), outer(slope), slope  # H_i in proportion to h'_i h'_i^T: no slack
    yield Equal("equality where both are in proportion", left(*one),
                eq.eq_16_covariance_bound(*one), 1e-12)
    yield Case(W=W, H=H, slope=slope)


@equation(
    "17", where="Supplement D", kind="inequality", verdict="erratum", weight="extraction", uses=(),
    statement="The variance of a product of slopes is at most L^4. The printed bracket squares "
              "each factor's mean; what is subtracted is the squared mean of the product.",
    implements=eq.eq_17_variance)
def equation_17(rng):
    for _, _, slope, case in steps(rng, 30):
        mine, L = eq.eq_17_variance(outer(slope)), LIPSCHITZ[case.name]
        second = np.einsum("su,sv->uv", slope**2, slope**2) / len(slope)
        mean = np.einsum("su,sv->uv", slope, slope) / len(slope)
        misread = np.outer(slope.mean(axis=0), slope.mean(axis=0)) ** 2
        yield case.equal("variance", mine, second - mean**2, 1e-10)
        yield AtMost("second moment against L^4", second, L**4, case=case.name)
        yield Printed(case.equal("means of the factors", second - misread, mine, 1e-10))
    half = np.array([[1.0], [0.0]]) * np.ones(2)  # slopes 0 and L half the time: Var = L^4 / 4
    yield Equal("slopes of 0 and 1, half and half: a quarter of L^4",
                eq.eq_17_variance(outer(half)), np.full((2, 2), 0.25), 1e-12)
    yield Case(slope=slope)
