"""A method's formula as a compiled loop: the direction alone, or a whole step in one pass.

A loop goes through parameters, gradient and memory once, where the NumPy formula makes an array an
operation. It is what a step and `direction` run; the formula is what it is tested against, and
what runs where a subclass changes it, or where a step turns out not to be finite.
"""

import functools
import math

import numpy as np

from ..compiled import forms


class NotFinite(Exception):
    """Something on the way of a whole step was not finite; nothing has been moved."""


class Fused:
    """The compiled twin of a method's `_direction`; a class names it ``fused = Fused(...)``.

    Parameters
    ----------
    name : str
        Of a loop in `secondorder.optimizers.loops`, called with gradient, memory, successors of the
        memory, direction, numbers; and, with ``_step`` at its end, of the loop for a whole step.
    memory : sequence of str
        Those of the method's `state_names` that are arrays, in the order in which the loops take
        them.
    numbers : callable
        Method -> the numbers that the loops take.
    counts : sequence of str
        Those of the `state_names` that a step makes larger by 1.
    """

    def __init__(self, name, memory=(), numbers=lambda method: (), counts=()):
        self.name, self.memory, self.numbers, self.counts = name, memory, numbers, counts

    def direction(self, method, evaluation):
        """The direction, in an array of the method's own; advances its memory."""
        direction, (old, new) = method._array("direction"), self._memory(method)
        loop = getattr(_loops(), self.name)
        loop(method._gradient(evaluation), *old, *new, direction, *self._numbers(method))
        self._advance(method, new)
        return direction

    def step(self, method, evaluation, rate):
        """Advance the memory; returns the new parameters and what every step reports.

        Raises
        ------
        NotFinite
            Memory is as it was then.
        """
        loop, (old, new) = getattr(_loops(), f"{self.name}_step"), self._memory(method)
        moved, info, _ = whole_step(method, evaluation, rate, loop, *old, *new,
                                    *self._numbers(method))
        self._advance(method, new)
        return moved, info

    def _memory(self, method):
        """The arrays of the memory, and arrays for their successors."""
        return ([getattr(method, name) for name in self.memory],
                [method._spare(name) for name in self.memory])

    def _numbers(self, method):
        return _loops().scalars(method.network.dtype, *self.numbers(method))

    def _advance(self, method, new):
        for name, array in zip(self.memory, new):
            setattr(method, name, array)
        for name in self.counts:
            setattr(method, name, getattr(method, name) + 1)


def _loops():
    from . import loops  # here, so that numba is loaded by the first step, not by an import

    return loops


def whole_step(method, evaluation, rate, loop, *own):
    """Run a loop that takes a whole step, beside the parameters, which stay.

    Parameters
    ----------
    method : Optimizer
    evaluation : Evaluation
    rate : float
    loop : callable
        Compiled, see the whole steps in `secondorder.optimizers.loops`.
    *own : arrays and numbers
        What this loop takes after those that all of them take.

    Returns
    -------
    (P,) array, dict, float
        The new parameters; what every step reports; the largest entry of the direction.

    Raises
    ------
    NotFinite
    """
    loops = _loops()
    theta, total = method.network.theta, evaluation.gradient_sum
    # nobody else sees what is in this method's own arrays: the new parameters may go where the
    # gradient was
    own_arrays = evaluation.workspace is method._workspace
    moved = total if own_arrays else method._array("moved")
    sums, peaks = np.zeros(3), np.zeros(3, np.int64)
    loop(total, theta, moved, *loops.scalars(theta.dtype, evaluation.samples, method.l2, rate),
         sums, peaks, *own)
    if not (np.isfinite(sums).all()
            and all(math.isfinite(loops.number(p, theta.dtype)) for p in peaks)):
        del evaluation.gradient_sum  # to be made again
        raise NotFinite
    gradient_norm, size, direction_norm = map(math.sqrt, sums.tolist())
    objective = evaluation.loss + (method.l2 / 2 * size * size if method.l2 else 0.0)
    info = {"loss": evaluation.loss, "objective": objective, "gradient_norm": gradient_norm,
            "direction_norm": direction_norm, "step_norm": rate * direction_norm,
            "learning_rate": rate}
    return moved, info, loops.number(peaks[0], theta.dtype)


def twin(cls, *sources):
    """`fused` of an optimizer's class; None where a subclass overrides one of the `sources`, which
    it is the twin of, and where the literal form is asked for.
    """
    return None if forms.is_literal() else _fused(cls, *sources)


@functools.lru_cache(maxsize=256)
def _fused(cls, *sources):
    def place(name):
        """How far from `cls`, in its MRO, the class stands that defines `name`."""
        return next(i for i, c in enumerate(cls.__mro__) if name in vars(c))

    return cls.fused if all(place("fused") <= place(source) for source in sources) else None
