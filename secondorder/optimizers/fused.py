"""Which whole steps are compiled, and what such a step reports.

The literal form of a step is the method's formula, `direction`, and the step around it,
`stepping.moved_by_formula`: an array an operation. The compiled form goes through parameters,
gradient and memory once; see :mod:`secondorder.compiled.updates`. The literal one runs where a
subclass changes something of it, where it is asked for, and where a step's sums say that something
is not finite or not to be told.
"""

import functools
import math

import numpy as np

from .memory import spares


class Undecided(Exception):
    """A sum of a compiled step is not finite, or lost its squares; nothing has been moved."""


class Fused:
    """The compiled form of a method's step; a class names it ``fused = Fused(...)``.

    Parameters
    ----------
    name : str
        Of a function in :mod:`secondorder.compiled.updates`, called with what all of them take,
        memory, successors of the memory, numbers.
    memory : sequence of str
        Those of the method's `state_names` that are arrays, in the order of that function.
    numbers : callable, optional
        Method -> the numbers that it takes.
    counts : sequence of str
        Those of the `state_names` that a step makes larger by 1.
    """

    def __init__(self, name, memory=(), numbers=None, counts=()):
        self.name, self.memory, self.numbers, self.counts = name, memory, numbers, counts

    def step(self, method, evaluation, rate):
        """Advance the memory; returns the new parameters and what every step reports.

        Raises
        ------
        Undecided
            Memory is as it was then.
        """
        return self._advanced(whole_step, method, evaluation, rate)

    def direction(self, method, evaluation):
        """The direction alone, in an array of the method's own, likewise."""
        return self._advanced(direction, method, evaluation)

    def _advanced(self, run, method, *at):
        """What `run` gives, and the memory made its successor."""
        old = list(map(functools.partial(getattr, method), self.memory))
        new = spares(method, self.memory) if old else []
        numbers = () if self.numbers is None else self.numbers(method)
        result = run(method, *at, getattr(_updates(), self.name), *old, *new,
                     *map(method._network.dtype.type, numbers))
        for name, array in zip(self.memory, new):
            setattr(method, name, array)
        for name in self.counts:
            setattr(method, name, getattr(method, name) + 1)
        return result


@functools.cache
def _updates():
    from ..compiled import updates  # here, so that numba is loaded by the first step

    return updates


def whole_step(method, evaluation, rate, update, *own):
    """Run a compiled step, beside the parameters, which stay.

    Parameters
    ----------
    method : Optimizer
    evaluation : Evaluation
    rate : float
    update : callable
        Compiled, see :mod:`secondorder.compiled.updates`.
    *own : arrays and numbers
        What it takes after those that all of them take.

    Returns
    -------
    (P,) array, dict
        The new parameters; what every step reports.

    Raises
    ------
    Undecided
    """
    # nobody else sees what is in this method's own arrays: the new parameters may go where the
    # gradient was
    own_arrays = evaluation.workspace is method._workspace
    moved = evaluation.gradient_sum if own_arrays else method._array("moved")
    of_gradient, of_theta, of_direction = _run(method, evaluation, moved, 1, rate, update, own)
    objective = evaluation.loss + (method.l2 / 2 * of_theta if method.l2 else 0.0)
    direction_norm = math.sqrt(of_direction)
    return moved, {"loss": evaluation.loss, "objective": objective,
                   "gradient_norm": math.sqrt(of_gradient), "direction_norm": direction_norm,
                   "step_norm": rate * direction_norm, "learning_rate": rate}


def direction(method, evaluation, update, *own):
    """The direction alone, (P,), of a compiled step, in an array of the method's own."""
    out = method._array("direction")
    _run(method, evaluation, out, 0, 1, update, own)
    return out


def _run(method, evaluation, moved, keep, rate, update, own):
    """Sums of squares of gradient, parameters and direction; `Undecided` unless they say all."""
    theta, total, sums = method._network.theta, evaluation.gradient_sum, np.zeros(5)
    # the loop over float32 computes in float32
    numbers = map(theta.dtype.type, (evaluation.samples, method.l2, keep, rate))
    update(total, theta, moved, *numbers, sums, *own)
    of_gradient, of_theta, of_direction, *others = sums.tolist()
    least = min(of_gradient, of_direction, of_theta if method.l2 else math.inf)
    if not (math.isfinite(sum(others) + of_gradient + of_theta + of_direction)
            and least >= theta.size * _squares_lost(theta.dtype)):
        if moved is total:
            del evaluation.gradient_sum  # to be made again
        raise Undecided
    return of_gradient, of_theta, of_direction


@functools.cache
def _squares_lost(dtype):
    """From here on a square that is too small for the dtype is no loss to the sum."""
    numbers = np.finfo(dtype)
    return float(numbers.tiny) / float(numbers.eps)


@functools.lru_cache(maxsize=256)
def twin(cls, *sources):
    """`fused` of an optimizer's class; None where a subclass overrides one of the `sources`, which
    it is the twin of.
    """
    def place(name):
        """How far from `cls`, in its MRO, the class stands that defines `name`."""
        return next(i for i, c in enumerate(cls.__mro__) if name in vars(c))

    return cls.fused if all(place("fused") <= place(source) for source in sources) else None
