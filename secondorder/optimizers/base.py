"""The contract that all optimizers share."""

import contextlib
import math
import numbers

import numpy as np

from ..checks import check_l2, check_loss, instance_of, positive_number, whole_number
from ..nets import Evaluation, Network, Workspace
from .schedules import schedule_of

CHUNK = 8192  # entries converted to float64 at a time, so that no large array is made only to be thrown away


def norm(v):
    """Euclidean norm of a vector as a float; summed in float64, so that squares of float32 entries do not overflow."""
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, v.size, CHUNK):
            part = v[start:start + CHUNK].astype(np.float64, copy=False)
            total += float(np.dot(part, part))
    return math.sqrt(total)


def _alike(one, other):
    """Whether two losses are one, or of one class with the same settings."""
    if one is other:
        return True
    mine, theirs = (getattr(loss, "__dict__", {}) for loss in (one, other))
    return type(one) is type(other) and mine.keys() == theirs.keys() and all(
        np.array_equal(mine[name], theirs[name]) for name in mine)


class Optimizer:
    """Base of all optimizers: a method bound to one network and one loss.

    The objective is the mean loss of a batch plus (l2 / 2) |theta|^2, biases included. One step is

        theta <- theta + learning_rate * direction

    Parameters
    ----------
    network : Network
        With at least one trainable parameter, real dtype. Its parameters may be changed by anybody between two steps.
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
        The method's own numbers of the last call of `direction`; they become part of what `step` returns.

    Raises
    ------
    TypeError, ValueError
        Something that is not a network, a network without parameters, a loss that is a class or lacks a method, a bad
        rate or penalty.

    Notes
    -----
    A method is a subclass that

    - defines ``direction(evaluation)``, which returns a new (P,) array, what is added at learning rate 1, and may fill
      ``self.details`` with plain numbers, booleans or strings worth telling (`step` empties it first). The rate that
      applies is ``self.learning_rate``;
    - lists in `state_names` the attributes that carry its memory from step to step: arrays, numbers, or None (an array
      that is made later);
    - may override ``change(evaluation, direction, rate)`` where the step is more than rate times direction.

    A call of `direction` advances the method's memory (moments, accumulators), so that a caller who takes the direction
    and moves the parameters himself runs the same method.

    *Copy what you keep.* `step` evaluates every batch in the same arrays: ``evaluation.outputs``, ``deltas`` and
    ``saved`` hold other numbers as soon as the next step begins. A method that remembers any of them from step to step
    keeps a copy (``evaluation.outputs.copy()``). Its ``gradient`` and the evaluations that :meth:`evaluate` returns are
    arrays of their own.
    """

    state_names = ()

    def __init__(self, network, loss, learning_rate, l2=0.0):
        instance_of(network, Network, "network").require_parameters()
        if network.dtype.kind != "f":
            raise ValueError(f"network must hold real parameters to be trained, got {network.dtype}")
        self.network, self.loss, self.l2 = network, check_loss(loss), check_l2(l2)
        self.learning_rate = learning_rate
        self.steps = 0
        self.details = {}
        self._workspace = Workspace()

    @property
    def learning_rate(self):
        """Rate of the next step; assign a number or a schedule to change it."""
        return positive_number(self.schedule(self.steps), f"learning_rate at step {self.steps}")

    @learning_rate.setter
    def learning_rate(self, value):
        self.schedule = schedule_of(value)

    # -- one step ---------------------------------------------------------------------------------------------------

    def evaluate(self, x, y):
        """`Evaluation` of the network on a batch: x (S, *input_shape), y in the form that the loss takes."""
        return self.network.evaluate(self.loss, x, y)

    def gradient(self, evaluation):
        """Gradient of the objective, penalty included, (P,), as a new array."""
        self._require_own(evaluation)
        return evaluation.gradient + self.l2 * self.network.theta

    def objective(self, evaluation):
        """Mean loss plus penalty at an evaluation, as a float."""
        self._require_own(evaluation)
        return evaluation.loss + self.penalty()

    def penalty(self):
        """(l2 / 2) |theta|^2 at the present parameters, as a float."""
        size = norm(self.network.theta) if self.l2 else 0.0
        return self.l2 / 2 * size * size

    def direction(self, evaluation):
        """What is added to the parameters at learning rate 1.

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
        raise TypeError(f"{type(self).__name__} does not define direction(evaluation)")

    def change(self, evaluation, direction, rate):
        """What the step adds to the parameters, (P,): rate * direction."""
        return rate * direction

    def step(self, x, y):
        """Take one step on a batch.

        Parameters
        ----------
        x : (S, *input_shape) array
        y : targets, in the form that the loss takes

        Returns
        -------
        dict
            ``loss`` (mean loss of the batch before the step), ``objective`` (with penalty), ``gradient_norm`` (of the
            objective), ``direction_norm``, ``step_norm``, ``learning_rate``, and the method's own numbers.

        Raises
        ------
        ValueError, TypeError
            Wrong shapes, empty batch, NaN, labels out of range.
        FloatingPointError
            If outputs, losses or gradient are not finite, the new parameters would not be, or plain numbers overflow on
            the way; the parameters stay as they were.
        """
        # nobody else sees this evaluation, so that its arrays may be those of the step before
        with self._overflow_named():
            evaluation = self.network.evaluate(self.loss, x, y, self._workspace)
        return self.step_from(evaluation)

    def step_from(self, evaluation):
        """`step` from an evaluation at the present parameters, for those who made one already."""
        with self._overflow_named():
            objective, rate = self.objective(evaluation), self.learning_rate
            info = {"loss": evaluation.loss, "objective": objective, "gradient_norm": norm(self.gradient(evaluation))}
            self.details = {}
            with np.errstate(over="ignore", invalid="ignore"):
                direction = self._checked(self.direction(evaluation))
                change = self.change(evaluation, direction, rate)
                theta = self.network.theta + change
        self._require_finite(theta, direction)
        self.network.theta = theta
        self.steps += 1
        info.update(direction_norm=norm(direction), step_norm=norm(change), learning_rate=rate)
        return info | self.details

    @contextlib.contextmanager
    def _overflow_named(self):
        """Python's floats raise OverflowError where arrays give inf; to a caller both are one kind of trouble."""
        try:
            yield
        except OverflowError as error:
            what = " ".join(map(str, error.args[-1:]))  # "Numerical result out of range"; a number may stand before it
            raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: overflow in plain numbers: {what}"
                                     "; the parameters are left as they were") from error

    def _require_own(self, evaluation):
        if not isinstance(evaluation, Evaluation):
            raise TypeError("evaluation must be an Evaluation of this optimizer's network (optimizer.evaluate(x, y)), "
                            f"got {evaluation!r}")
        if evaluation.network is not self.network:
            raise ValueError(f"{type(self).__name__}: the evaluation belongs to another network")
        if not _alike(evaluation.loss_function, self.loss):
            raise ValueError(f"{type(self).__name__}: the evaluation was made with another loss, "
                             f"{evaluation.loss_function!r}, not with this optimizer's own {self.loss!r}; "
                             "optimizer.evaluate(x, y) makes one that fits")
        evaluation.require_current()

    def _checked(self, direction):
        theta = self.network.theta
        is_array = isinstance(direction, np.ndarray)
        if is_array and direction.shape == theta.shape and direction.dtype == theta.dtype:
            return direction
        found = f"{direction.dtype} array {direction.shape}" if is_array else type(direction).__name__
        raise TypeError(f"the direction of {type(self).__name__} must be a {theta.dtype} array {theta.shape}, "
                        f"got {found}")

    def _require_finite(self, theta, direction):
        if np.isfinite(theta).all():
            return
        what = "the new parameters" if np.isfinite(direction).all() else "the direction"
        for i, (layer, where) in enumerate(zip(self.network.layers, self.network.slices)):
            if not np.isfinite(theta[where]).all():
                raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: {what} of layer {i}, "
                                         f"{layer!r}, would not be finite; the parameters are left as they were")

    # -- memory -----------------------------------------------------------------------------------------------------

    def state_dict(self):
        """What has to be kept, beside the parameters and the settings, to go on bit for bit.

        Returns
        -------
        dict
            ``method`` (class name), ``steps``, and a copy of every attribute in `state_names`.
        """
        state = {"method": type(self).__name__, "steps": self.steps}
        for name in self.state_names:
            value = getattr(self, name)
            state[name] = value.copy() if isinstance(value, np.ndarray) else value
        return state

    def load_state_dict(self, state):
        """Take over what `state_dict` of an optimizer of the same class, for a network of the same size, returned.

        Parameters
        ----------
        state : mapping
            Numbers may be arrays without axes, as they come back from ``numpy.load``.

        Raises
        ------
        ValueError, TypeError
            If it comes from another method, or a name, shape, dtype or number does not fit; nothing is changed then.
        """
        try:
            state = {name: _as_kept(getattr(self, name, None), state[name]) for name in state}
        except (TypeError, IndexError):
            raise TypeError(f"state must be what state_dict() returned, got {state!r}") from None
        self.check_state(state)
        for name in self.state_names:
            value = state[name]
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)
        self.steps = int(state["steps"])

    def check_state(self, state):
        """Raise ValueError or TypeError unless `state` fits; a method that demands more of its numbers extends this."""
        expected = {"method", "steps", *self.state_names}
        if set(state) != expected:
            raise ValueError(f"state: expected the entries {sorted(expected)}, got {sorted(map(str, state))}")
        if state["method"] != type(self).__name__:
            raise ValueError(f"state: belongs to {state['method']}, not to {type(self).__name__}")
        whole_number(state["steps"], "state: steps", 0)
        for name in self.state_names:
            _require_alike(name, getattr(self, name), state[name])

    def __repr__(self):
        return f"{type(self).__name__}(learning_rate={self.schedule!r}, l2={self.l2:g})  # {self.steps} steps taken"


def _as_kept(mine, theirs):
    """`theirs` as a number where it is an array without axes and `mine` is no array."""
    lone = isinstance(theirs, np.ndarray) and theirs.ndim == 0 and not isinstance(mine, np.ndarray)
    return theirs.item() if lone else theirs


def _require_alike(name, mine, theirs):
    """Raise unless both are arrays of one shape and dtype, or both numbers; None is an array that is made later."""
    is_array, is_number = isinstance(theirs, np.ndarray), isinstance(theirs, (numbers.Real, np.bool_))
    if mine is None and (theirs is None or is_array or is_number):
        return
    if not isinstance(mine, np.ndarray):
        if not is_number:
            raise ValueError(f"state: {name} must be a number, got {theirs!r}")
    elif not is_array:
        raise ValueError(f"state: {name} must be an array, got {theirs!r}")
    elif mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        raise ValueError(f"state: {name} has shape {theirs.shape} and dtype {theirs.dtype}, "
                         f"expected {mine.shape} and {mine.dtype}")
