"""Which whole steps are compiled, and what such a step reports.

A compiled step goes through parameters, gradient and memory once; see
:mod:`secondorder.compiled.updates`. `stepping` says where the literal form runs instead.
"""

import functools
import math

import numpy as np

from .stepping import Undecided, spares


class Fused:
    """The compiled form of a method's step; a class names it ``fused = Fused(...)``.

    `name` is a function in :mod:`secondorder.compiled.updates`, called with what all of them take,
    the arrays that `memory` names, their successors, and ``numbers(method)``. A step makes the
    attributes `counts` larger by 1.
    """

    def __init__(self, name, memory=(), numbers=None, counts=()):
        self.name, self.memory, self.numbers, self.counts = name, memory, numbers, counts

    def step(self, method, evaluation, rate):
        """Advance the memory; returns the new parameters and what every step reports. At
        `Undecided` the memory is as it was.
        """
        old = [getattr(method, name) for name in self.memory]
        new = spares(method, self.memory) if old else []
        numbers = () if self.numbers is None else self.numbers(method)
        moved, info = whole_step(method, evaluation, rate, getattr(_updates(), self.name), *old,
                                 *new, *map(method._network.dtype.type, numbers))
        for name, array in zip(self.memory, new):
            setattr(method, name, array)
        for name in self.counts:
            setattr(method, name, getattr(method, name) + 1)
        return moved, info

    def direction(self, method, evaluation):
        """The direction alone, in an array of the method's own, likewise."""
        return self.step(method, evaluation, None)[0]


@functools.cache
def _updates():
    from ..compiled import updates  # here, so that numba is loaded by the first step

    return updates


def whole_step(method, evaluation, rate, update, *own):
    """Run a compiled step, `update` with its own arguments, beside the parameters, which stay.

    Returns the new parameters, or where `rate` is None the direction, in an array of the method's
    own; and what every step reports. Raises `Undecided`.
    """
    theta, total, sums, l2 = method._network.theta, evaluation.gradient_sum, np.zeros(5), method.l2
    if rate is None:
        moved, keep, rate = method._array("direction"), 0, 1
    else:  # nobody else sees what is in this method's own arrays: the new parameters may go where
        # the gradient was
        own_arrays = evaluation.workspace is method._workspace
        moved, keep = total if own_arrays else method._array("moved"), 1
    # the loop over float32 computes in float32
    numbers = map(theta.dtype.type, (evaluation.samples, l2, keep, rate))
    update(total, theta, moved, *numbers, sums, *own)
    of_gradient, of_theta, of_direction, *others = sums.tolist()
    least = min(of_gradient, of_direction, of_theta if l2 else math.inf)
    if not (math.isfinite(sum(others) + of_gradient + of_theta + of_direction)
            and least >= theta.size * _squares_lost(theta.dtype)):
        if moved is total:
            del evaluation.gradient_sum  # to be made again
        raise Undecided
    objective = evaluation.loss + (l2 / 2 * of_theta if l2 else 0.0)
    direction_norm = math.sqrt(of_direction)
    return moved, {"loss": evaluation.loss, "objective": objective,
                   "gradient_norm": math.sqrt(of_gradient), "direction_norm": direction_norm,
                   "step_norm": rate * direction_norm, "learning_rate": rate}


@functools.cache
def _squares_lost(dtype):
    """From here on a square that is too small for the dtype is no loss to the sum."""
    numbers = np.finfo(dtype)
    return float(numbers.tiny) / float(numbers.eps)
