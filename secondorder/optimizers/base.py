"""The contract that all optimizers share."""

import inspect
import math
from functools import partial
from operator import setitem

import numpy as np

from ..checks import (check_l2, check_loss, instance_of, memory_names, names_of_its_own,
                      positive_number)
from ..compiled import forms
from ..nets import Network, Workspace
from . import guards, memory
from .fused import Undecided, twin
from .schedules import schedule_of
from .settings import arguments


_SQUARES_LOST = 1e-280  # a sum of squares below this may have lost some to underflow


def norm(v):
    """Euclidean norm of a vector as a float; finite wherever float64 can hold it.

    Squares are summed in float64. Where they overflow, or vanish, the vector is scaled by its
    largest entry first.
    """
    total = _squares(v)
    if _SQUARES_LOST < total < np.inf or not v.size:
        return math.sqrt(total)
    largest = float(np.abs(v).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.linalg.norm(v.astype(np.float64) / largest))


def _squares(v):
    """sum_i v_i^2 in float64, which may overflow."""
    if forms.is_literal():
        with np.errstate(over="ignore"):
            return float(np.sum(np.square(v, dtype=np.float64)))
    from ..checks import loops  # here, so that numba is loaded by the first step, not by an import

    return loops.squares(v)


# what the base keeps of every optimizer, and its methods that are not for overriding
KEPT = ("network", "base", "loss", "steps", "details", "schedule", "_network", "_workspace",
        "_trials", "_spares", "_busy", "_given")
RESERVED = ("network", "loss", "steps", "details", *KEPT[6:], "evaluate", "gradient", "objective",
            "penalty", "_step", "_moved", "_moved_by_formula", "_proposed", "_computed",
            "_objective", "_objective_after", "_halved", "_reports", "_array", "_spare")


class Optimizer:
    """Base of all optimizers: a method bound to one network and one loss.

    The objective is the mean loss of a batch plus (l2 / 2) |theta|^2, biases included. One step is

        theta <- theta + learning_rate * direction

    Parameters
    ----------
    network : Network
        With at least one trainable parameter, real dtype. Its parameters may be changed by anybody
        between two steps.
    loss : Loss
    learning_rate : float or callable
        Positive number, or a schedule: a function of the number of steps taken so far.
    l2 : float
        Strength of the penalty, not negative.

    Attributes
    ----------
    network, loss, l2
        As given.
    steps : int
        Number of steps taken.
    details : dict
        The method's own numbers of the last step or call of `direction`; they become part of what
        `step` returns.
    base : Optimizer or None
        The method that this one wraps (see :class:`Wrapper`).
    depends_on_rate : bool
        Whether `direction` depends on the learning rate (beside parameters, batch and memory). It
        is then the rate that the method's own schedule gives for the step, whoever decides how far
        the step goes.

    Raises
    ------
    TypeError, ValueError
        Something that is not a network, a network without parameters, a loss that is a class or
        lacks a method, a bad rate or penalty. Where a subclass is defined: a name that every
        optimizer uses itself, such as `steps` or `gradient`, for something else or in
        `state_names`.

    Notes
    -----
    **For those who write a method.** Derive from this class; five names are all there is to know.

    ``_direction(evaluation)`` is the formula, and the only one that must be defined: it returns
    what is added at learning rate 1, a new (P,) array of the network's dtype. What it gets is an
    :class:`~secondorder.nets.Evaluation` of ``self.network`` at its present parameters with
    ``self.loss``; arguments are checked before. ``self.learning_rate`` is the rate of this step; a
    method that uses it here says ``depends_on_rate = True``.

    ``self._gradient(evaluation)`` is the gradient of the objective, penalty included: (P,),
    read-only, made once an evaluation.

    ``state_names`` lists the attributes that the method carries from step to step: arrays, numbers,
    or None (an array that is made later). **Memory is replaced, not written into**, never
    ``self.total += g`` but::

        self.total = self.total + g

    Then a step that fails leaves it as it was, and a run goes on bit for bit from a checkpoint. An
    array of it that overflows is such a failure.

    ``self.details.update(damping=0.1)`` reports plain numbers, booleans or strings; `step` empties
    it first and makes it part of its result.

    ``change(evaluation, direction, rate)`` returns what a step adds to the parameters, where that
    is more than rate times direction: halvings, a search along the line.

    *Copy what you keep.* `step` evaluates every batch in the same arrays: ``evaluation.outputs``,
    ``deltas``, ``saved`` and ``gradient`` hold other numbers as soon as the next step begins. The
    evaluations that :meth:`evaluate` returns are arrays of their own.

    *Speed.* ``fused = Fused(...)`` names a compiled loop that does in one pass what
    ``_direction`` and the step do; it runs in their place, unless a subclass overrides one. See
    :mod:`secondorder.optimizers.fused`. What a checkpoint compares are the arguments that an
    optimizer was made with; nothing has to be done for that.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        names_of_its_own(cls, Optimizer, RESERVED)
        memory_names(cls, Optimizer, (*KEPT, "method"))

    state_names = ()
    added = {}  # arguments that older checkpoints do not know, and the value that changes nothing
    depends_on_rate = False
    fused = base = None

    def __new__(cls, *positional, **named):
        instance = super().__new__(cls)
        instance._given = arguments(cls, positional, named)  # what a resumed run is compared with
        return instance

    def __init__(self, network, loss, learning_rate, l2=0.0):
        instance_of(network, Network, "network").require_parameters()
        if network.dtype.kind != "f":
            raise ValueError("network must hold real parameters to be trained, got "
                             f"{network.dtype}")
        self._network, self.loss, self.l2 = network, check_loss(loss), check_l2(l2)
        self.learning_rate = learning_rate
        self.steps = 0
        self.details = {}
        self._workspace, self._trials = Workspace(), Workspace()
        self._spares, self._busy = {}, {}  # see `memory`

    @property
    def network(self):
        """The network that is trained; an optimizer keeps the one that it was made with, since its
        memory fits no other.
        """
        return self._network

    @property
    def learning_rate(self):
        """Rate of the next step; assign a number or a schedule to change it."""
        return positive_number(self.schedule(self.steps), f"learning_rate at step {self.steps}")

    @learning_rate.setter
    def learning_rate(self, value):
        self.schedule = schedule_of(value)

    # -- a method's own parts ----------------------------------------------------------------------

    def _direction(self, evaluation):
        """The formula: what is added at learning rate 1; see the notes of the class."""
        raise TypeError(f"{type(self).__name__} does not define _direction(evaluation)")

    def _gradient(self, evaluation):
        """Gradient of the objective, read-only (P,); made once an evaluation."""
        return evaluation.objective_gradient(self.l2)

    def change(self, evaluation, direction, rate):
        """What the step adds to the parameters, (P,): rate * direction."""
        return np.multiply(direction, rate, out=self._array("change"))

    def observe(self, evaluation, change):
        """Be told the `change` (P,) that a wrapper is about to make of this method's direction."""

    # -- what can be asked at an evaluation --------------------------------------------------------

    def evaluate(self, x, y):
        """`Evaluation` of the network on a batch: x (S, *input_shape), y as the loss takes it."""
        return self.network.evaluate(self.loss, x, y)

    def gradient(self, evaluation):
        """Gradient of the objective, penalty included, (P,), as a new array."""
        guards.own_evaluation(self, evaluation)
        return self._gradient(evaluation).copy()

    def objective(self, evaluation):
        """Mean loss plus penalty at an evaluation, as a float."""
        guards.own_evaluation(self, evaluation)
        return self._objective(evaluation)

    def penalty(self):
        """(l2 / 2) |theta|^2 at the present parameters, as a float."""
        size = norm(self.network.theta) if self.l2 else 0.0
        return self.l2 / 2 * size * size

    def direction(self, evaluation):
        """What is added to the parameters at learning rate 1.

        It depends on the evaluation, on the method's memory, which it advances, and, where
        `depends_on_rate` says so, on the rate that applies to the next step. A caller who takes the
        direction and moves the parameters himself runs the same method.

        Parameters
        ----------
        evaluation : Evaluation
            Of this optimizer's network at its present parameters, with this optimizer's loss.

        Returns
        -------
        (P,) array
            New; later calls leave it alone.

        Raises
        ------
        TypeError, ValueError
            Something other than an evaluation, or one of another network or loss.
        RuntimeError
            If the parameters have changed since.
        """
        guards.own_evaluation(self, evaluation)
        return memory.whole(self, lambda: (self._computed(evaluation).copy(), ()))

    # -- one step ----------------------------------------------------------------------------------

    def step(self, x, y):
        """Take one step on a batch.

        Parameters
        ----------
        x : (S, *input_shape) array
        y : targets, in the form that the loss takes

        Returns
        -------
        dict
            ``loss`` (mean loss of the batch before the step), ``objective`` (with penalty),
            ``gradient_norm`` (of the objective), ``direction_norm``, ``step_norm``,
            ``learning_rate``, and the method's own numbers; those of a wrapped method as a dict
            under its class name.

        Raises
        ------
        ValueError, TypeError
            Wrong shapes, empty batch, NaN, labels out of range.
        FloatingPointError
            If outputs, losses or gradient are not finite, the new parameters would not be, or plain
            numbers overflow on the way; parameters and memory stay as they were.

        Notes
        -----
        A step that an interrupt (Ctrl-C, the handler of a signal) ends has been or has not been:
        parameters, memory and `steps` are those before it, or those after it.
        """
        with guards.overflow_named(self):
            return memory.whole(self, lambda: self._step(self._own_evaluation(x, y)))

    def step_from(self, evaluation):
        """`step` from an evaluation at the present parameters, for those who made one already."""
        guards.own_evaluation(self, evaluation)
        with guards.overflow_named(self):
            return memory.whole(self, lambda: self._step(evaluation))

    def _own_evaluation(self, x, y):
        """An evaluation for this method alone: its arrays are those of the step before."""
        return self.network.evaluate(self.loss, x, y, self._workspace)

    def _step(self, evaluation):
        """What a step reports, and the calls that settle it; see `memory`."""
        for method in memory.wrapped(self):
            method.details = {}
        with np.errstate(over="ignore", invalid="ignore"):
            moved, info = self._moved(evaluation, self.learning_rate)
        info |= self._reports()
        return info, [partial(setitem, self.network.theta, ..., moved), *self._settling(info)]

    def _settling(self, info):
        """The calls by which a step that reports `info` is counted."""
        return [partial(setattr, method, "steps", method.steps + 1)
                for method in memory.wrapped(self)]

    def _moved(self, evaluation, rate):
        """The new parameters, in an array of their own, and what every step reports; in one
        compiled pass where there is one.
        """
        fused = twin(type(self), "direction", "_direction", "change")
        if fused is not None:
            try:
                return fused.step(self, evaluation, rate)
            except Undecided:  # the formula finds out what it is
                memory.put_back(self)
        return self._moved_by_formula(evaluation, rate)

    def _moved_by_formula(self, evaluation, rate):
        """theta + change, or raise."""
        memory.keep_theta(self, self._array("start"))  # a `change` may try other parameters
        info = {"loss": evaluation.loss, "objective": self._objective(evaluation),
                "gradient_norm": self._gradient_norm(evaluation)}
        direction = self._proposed(evaluation)
        info["direction_norm"] = norm(direction)
        change = self.change(evaluation, direction, rate)
        if self.base is not None:
            self.base.observe(evaluation, change)
        moved = np.add(self.network.theta, change, out=self._array("moved"))
        guards.finite_step(self, moved, direction)
        return moved, info | {"step_norm": norm(change), "learning_rate": rate}

    def _proposed(self, evaluation):
        """The direction at an evaluation that is known to fit: what steps and wrappers ask for."""
        if type(self).direction is Optimizer.direction:
            return self._computed(evaluation)
        return guards.own_direction(self, self.direction(evaluation))  # a subclass overrode it

    def _computed(self, evaluation):
        """What the formula gives, by its compiled form where there is one."""
        fused = twin(type(self), "_direction")
        if fused is not None:
            try:
                return guards.own_direction(self, fused.direction(self, evaluation))
            except Undecided:
                pass
        return guards.own_direction(self, self._direction(evaluation))

    def _objective(self, evaluation):
        return evaluation.loss + self.penalty()

    def _objective_after(self, evaluation, s):
        """Objective of the same batch at theta + s, or inf where it overflows."""
        network, start = self.network, self._array("before a trial")
        start[...] = network.theta
        try:
            np.add(start, s, out=network.theta)
            after = network.evaluate(self.loss, evaluation.x, evaluation.y, self._trials).loss
            after += self.penalty()
        # the outputs or the loss overflow: as bad as a step can be
        except (FloatingPointError, OverflowError):
            after = np.inf
        finally:
            network.theta[...] = start
        return after if np.isfinite(after) else np.inf

    def _halved(self, evaluation, s, after, most):
        """Halve `s` in its place until the objective, which is `after` at theta + s, does not rise.

        Returns how often, at most `most` times, and whether that was enough, up to rounding.
        """
        before, halvings = self._objective(evaluation), 0
        rounding = 4 * float(np.finfo(s.dtype).eps) * abs(before)
        while before - after < -rounding and halvings < most:
            halvings += 1
            s *= 0.5
            after = self._objective_after(evaluation, s)
        return halvings, before - after >= -rounding

    def _gradient_norm(self, evaluation):
        """What a step reports; a method that needs no gradient may leave it unmeasured, as NaN."""
        return norm(self._gradient(evaluation))

    def _reports(self):
        """The method's own numbers, and those of the method that it wraps under that one's name."""
        if self.base is None:
            return self.details
        return self.details | {type(self.base).__name__: self.base._reports()}

    def _array(self, name):
        """A (P,) array of this optimizer's own, the same one at every call."""
        return self._workspace.of(self)(name, self.network.theta.shape, self.network.dtype)

    def _spare(self, name):
        """An array for the successor of the memory `name`; the two take turns."""
        return memory.spare(self, name)

    # -- memory, saved and restored ----------------------------------------------------------------

    def state_dict(self):
        """What has to be kept, beside the parameters and the settings, to go on bit for bit.

        Returns
        -------
        dict
            ``method`` (class name), ``steps``, a copy of every attribute in `state_names`, and, of
            a method that wraps another, that one's state as ``base``.
        """
        return memory.state_of(self)

    def load_state_dict(self, state):
        """Take over what `state_dict` of a like optimizer for a like network returned.

        Parameters
        ----------
        state : mapping
            Numbers may be arrays without axes, as they come back from ``numpy.load``.

        Raises
        ------
        ValueError, TypeError
            If it comes from another method, or a name, shape, dtype or number does not fit; nothing
            is changed then.
        """
        memory.take(self, memory.accepted(self, state))

    def check_state(self, state):
        """Raise unless `state` fits; a method that demands more of its numbers extends this."""
        memory.check(self, state)

    def __getstate__(self):
        return self.__dict__ | {"_spares": {}, "_busy": {}}

    def __repr__(self):
        settings = f"learning_rate={self.schedule!r}, l2={self.l2:g}"
        return f"{type(self).__name__}({settings})  # {self.steps} steps taken"


# help and signatures show what is to be given, not that __new__ takes anything
Optimizer.__new__.__signature__ = inspect.signature(Optimizer.__init__)
