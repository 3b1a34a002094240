"""Who runs: every method with its own options, the numbers that are tuned, and what it takes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import secondorder as so
from secondorder.optimizers.norms import norm

HALF_DECADE = 10**0.5
PLACES = tuple(range(-5, 7))  # half decades around a method's default: twelve rates
FOUR = (-1, 0, 1, 2)  # of those that have a second number
LARGEST_KERNEL = 1000  # samples times outputs, for the Moore-Penrose inverse
WIDE = 500  # inputs from which on KFAC's first layer takes their mean only


@dataclass(frozen=True)
class Entrant:
    """One method. A "paper" is a method of the papers, a "rival" another one with curvature."""

    key: str
    title: str
    kind: str  # "first order", "paper", "rival", "control"
    default: float  # the middle of the grid: its default rate, or sigma
    make: Callable  # (network, loss, first, second) -> Optimizer
    tunes: str = "rate"  # what the first number is
    second: tuple = ()  # values of a second number (alpha, damping), its default in the middle

    def first(self, place):
        """The first number at a place of the grid."""
        return float(f"{self.default * HALF_DECADE**place:.4g}")

    @property
    def places(self):
        """The places of the grid that are tried first."""
        return FOUR if self.second else PLACES


class SquareRootStep(so.SGD):
    """The cubic model without curvature: with h = 0 its minimiser along -g is a step of

        sqrt(2 / (sigma |g|)) (-g)

    The rate stands for sqrt(2 / sigma).
    """

    def direction(self, evaluation):
        g = self.gradient(evaluation)
        size = float(norm(g))
        return -g / size**0.5 if size else -g


class UnitStep(so.SGD):
    """A step of the length of the rate: -g / |g|."""

    def direction(self, evaluation):
        g = self.gradient(evaluation)
        size = float(norm(g))
        return -g / size if size else -g


def residual_partitioning(network, loss, rate, second):
    return so.ResidualPartitioning(network, loss, learning_rate=rate)


def cubic(base):
    """Cubic steps around a base, whose own rate plays no part in the length."""
    return lambda network, loss, sigma, second: so.CubicRegularization(base(network, loss),
                                                                       sigma=sigma)


def ea_cg(network, loss, rate, alpha):
    return so.EACG(network, loss, learning_rate=rate, curvature="pch-1", alpha=alpha)


def kfac(network, loss, rate, alpha):
    inputs = int(np.prod(getattr(network.layers[0], "weight", np.empty(0)).shape[1:]))
    return so.EACG(network, loss, learning_rate=rate, curvature="fisher-sampled", rng=0,
                   solver="kfi-rank-one" if inputs >= WIDE else "kfi", alpha=alpha)


def truncated_newton(network, loss, rate, damping):
    return so.TruncatedNewton(network, loss, learning_rate=rate, max_cg=10, damping=damping)


def gauss_newton(network, loss, rate, second):
    """The paper's right inverse where the network is reversible, else Moore-Penrose's."""
    if isinstance(network, so.reversible_gauss_newton.RevMLP):
        return so.GaussNewton(network, loss, learning_rate=rate, pseudo_inverse="truncate",
                              measure=False)
    return so.GaussNewton(network, loss, learning_rate=rate, inverse="moore-penrose",
                          pseudo_inverse="exact", measure=False)


def square_root(network, loss, sigma, second):
    return SquareRootStep(network, loss, learning_rate=float(np.sqrt(2 / sigma)))


def plain(method, **options):
    return lambda network, loss, rate, second: method(network, loss, learning_rate=rate, **options)


ALPHAS = (0.0158, 0.05, 0.158)
ENTRANTS = {entrant.key: entrant for entrant in (
    Entrant("momentum", "SGD, momentum 0.9", "first order", 0.01, plain(so.Momentum, momentum=0.9)),
    Entrant("adam", "Adam", "first order", 0.001, plain(so.Adam)),
    Entrant("partitioning", "residual partitioning", "paper", 1.0, residual_partitioning),
    Entrant("cubic-sgd", "cubic steps around SGD", "paper", 100.0, cubic(so.SGD), "sigma"),
    Entrant("cubic-adam", "cubic steps around Adam", "paper", 100.0, cubic(so.Adam), "sigma"),
    Entrant("ea-cg", "EA-CG, PCH-1", "paper", 0.1, ea_cg, second=ALPHAS),
    Entrant("gauss-newton", "exact Gauss-Newton", "paper", 1.0, gauss_newton),
    Entrant("kfac", "KFAC", "rival", 0.1, kfac, second=ALPHAS),
    Entrant("truncated-newton", "truncated Newton", "rival", 1.0, truncated_newton,
            second=(0.1, 1.0, 10.0)),  # the first damping
    Entrant("square-root", "cubic steps without curvature", "control", 100.0, square_root,
            "sigma"),
    Entrant("unit", "gradient over its norm", "control", 0.01, plain(UnitStep)),
)}


def obstacle(entrant, problem, network, samples):
    """Why a method cannot run on a problem with so many samples a step; "" if it can."""
    reversible = isinstance(network, so.reversible_gauss_newton.RevMLP)
    if entrant.key == "gauss-newton" and not reversible:
        size = samples * int(np.prod(network.output_shape))
        if size > LARGEST_KERNEL:
            return f"its kernel would have {size} rows, more than {LARGEST_KERNEL}"
    try:
        entrant.make(network.copy(), problem.loss, entrant.default,
                     entrant.second[1] if entrant.second else None)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""
