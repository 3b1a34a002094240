"""Who runs: seven methods, and the numbers that are tuned."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import secondorder as so

MOMENTUM = 0.9  # of SGD, EA-CG and KFI


class Point(NamedTuple):
    """Two tuned numbers, in half decades from their defaults; the second is 0 where there is none.
    """

    first: int
    second: int = 0


@dataclass(frozen=True)
class Method:
    """``make(network, loss, first, second)`` is an optimizer.

    `first` and `second` are what its tuned numbers are called (``""`` where there is no second
    one), `default` and `second_default` the middles of their grids. The second one stays below
    `second_below`. `batch` are the samples of a step, where they are not the problem's.
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
        first, second = (float(f"{default * 10**(place / 2):.3g}") for default, place in
                         zip((self.default, self.second_default), point))
        return first, second if self.second else None

    def allows(self, point):
        """Whether the method takes the numbers of a point."""
        return not self.second or self.numbers(point)[1] < self.second_below

    def told(self, numbers):
        """Both numbers in words: "rate 0.1, alpha 0.02"."""
        return ", ".join(f"{name} {number:g}" for name, number in
                         zip((self.first, self.second), numbers) if number is not None)


ALPHA = {"second": "alpha", "second_default": 0.02, "second_below": 1.0}
METHODS = {method.key: method for method in (
    Method("adam", "Adam", lambda network, loss, rate, _: so.Adam(
        network, loss, learning_rate=rate), 0.001),
    Method("momentum", "SGD, momentum 0.9", lambda network, loss, rate, _: so.Momentum(
        network, loss, learning_rate=rate, momentum=MOMENTUM), 0.01),
    Method("partitioning", "residual partitioning",
           lambda network, loss, rate, _: so.ResidualPartitioning(
               network, loss, learning_rate=rate), 1.0),
    Method("cubic", "cubic steps around SGD",
           lambda network, loss, sigma, _: so.CubicRegularization(
               so.SGD(network, loss), sigma=sigma), 100.0, "sigma"),
    Method("ea-cg", "EA-CG, PCH-1", lambda network, loss, rate, alpha: so.EACG(
        network, loss, learning_rate=rate, alpha=alpha, momentum=MOMENTUM), 0.1, **ALPHA),
    Method("kfi", "KFI", lambda network, loss, rate, alpha: so.EACG(
        network, loss, learning_rate=rate, alpha=alpha, momentum=MOMENTUM,
        curvature="fisher-sampled", solver="kfi", rng=0), 0.1, **ALPHA),
    Method("truncated-newton", "truncated Newton",
           lambda network, loss, rate, damping: so.TruncatedNewton(
               network, loss, learning_rate=rate, damping=damping, curvature="gauss-newton"),
           1.0, second="damping", batch=1000),
)}
