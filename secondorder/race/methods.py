"""Who runs: seven methods, and the numbers that are tuned."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import secondorder as so

HALF_DECADE = 10**0.5
MOMENTUM = 0.9  # of SGD, EA-CG and KFI


class Point(NamedTuple):
    """Two tuned numbers, in half decades from their defaults; the second is 0 where there is none.
    """

    first: int
    second: int = 0


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    key, title : str
    make : callable
        Of network, loss and both tuned numbers; an optimizer.
    default : float
        Of the first tuned number, the middle of its grid.
    first, second : str
        What the tuned numbers are called; ``""`` where there is no second one.
    second_default, second_below : float
        The middle of the second grid, and what its numbers have to stay below.
    batch : int, optional
        Samples of a step, where they are not the problem's.
    """

    key: str
    title: str
    make: Callable
    default: float
    first: str = "rate"
    second: str = ""
    second_default: float = 1.0
    second_below: float = np.inf
    batch: int | None = None

    def numbers(self, point):
        """The tuned numbers at a point; the second is None where there is none."""
        first = rounded(self.default * HALF_DECADE**point.first)
        return first, (rounded(self.second_default * HALF_DECADE**point.second) if self.second
                       else None)

    def allows(self, point):
        """Whether the method takes the numbers of a point."""
        return not self.second or self.numbers(point)[1] < self.second_below

    def told(self, numbers):
        """Both numbers in words: "rate 0.1, alpha 0.02"."""
        return ", ".join(f"{name} {number:g}" for name, number in
                         zip((self.first, self.second), numbers) if number is not None)


def rounded(number):
    return float(f"{number:.3g}")


def momentum(network, loss, rate, _):
    return so.Momentum(network, loss, learning_rate=rate, momentum=MOMENTUM)


def adam(network, loss, rate, _):
    return so.Adam(network, loss, learning_rate=rate)


def partitioning(network, loss, rate, _):
    return so.ResidualPartitioning(network, loss, learning_rate=rate)


def cubic(network, loss, sigma, _):
    return so.CubicRegularization(so.SGD(network, loss), sigma=sigma)


def ea_cg(network, loss, rate, alpha):
    return so.EACG(network, loss, learning_rate=rate, alpha=alpha, momentum=MOMENTUM)


def kfi(network, loss, rate, alpha):
    return so.EACG(network, loss, learning_rate=rate, alpha=alpha, momentum=MOMENTUM,
                   curvature="fisher-sampled", solver="kfi", rng=0)


def truncated_newton(network, loss, rate, damping):
    return so.TruncatedNewton(network, loss, learning_rate=rate, damping=damping,
                              curvature="gauss-newton")


METHODS = {method.key: method for method in (
    Method("adam", "Adam", adam, 0.001),
    Method("momentum", "SGD, momentum 0.9", momentum, 0.01),
    Method("partitioning", "residual partitioning", partitioning, 1.0),
    Method("cubic", "cubic steps around SGD", cubic, 100.0, "sigma"),
    Method("ea-cg", "EA-CG, PCH-1", ea_cg, 0.1, second="alpha", second_default=0.02,
           second_below=1.0),
    Method("kfi", "KFI", kfi, 0.1, second="alpha", second_default=0.02, second_below=1.0),
    Method("truncated-newton", "truncated Newton", truncated_newton, 1.0, second="damping",
           batch=1000),
)}


def obstacle(method, problem):
    """Why a method cannot run on a problem; "" if it can."""
    try:
        method.make(problem.network(0), problem.loss, *method.numbers(Point(0)))
    except (TypeError, ValueError) as error:
        return str(error)
    return ""
