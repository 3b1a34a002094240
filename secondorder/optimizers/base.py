"""The contract that all optimizers share."""

import contextlib
import math

import numpy as np

from ..checks import all_finite, check_l2, check_loss, instance_of, like, positive_number
from ..nets import Evaluation, Network, Workspace
from ..nets.overriding import Follows
from .memory import Memory
from .schedules import schedule_of
from .settings import Remembered


_SQUARES_LOST = 1e-280  # a sum of squares below this may have lost some to underflow


def norm(v):
    """Euclidean norm of a vector as a float; finite wherever float64 can hold it.

    Squares are summed in float64. Where they overflow, or vanish, the vector is scaled by its
    largest entry first.
    """
    total = _loops().squares(v)
    if _SQUARES_LOST < total < np.inf or not v.size:
        return math.sqrt(total)
    largest = float(np.abs(v).max())
    if not 0 < largest < np.inf:
        return largest
    return largest * float(np.linalg.norm(v.astype(np.float64) / largest))


def _loops():
    from . import loops  # here, so that numba is loaded by the first step, not by an import

    return loops


def _alike(one, other):
    """Whether two losses are one, or of one class with the same settings."""
    if one is other:
        return True
    mine, theirs = (getattr(loss, "__dict__", {}) for loss in (one, other))
    return type(one) is type(other) and mine.keys() == theirs.keys() and all(
        np.array_equal(mine[name], theirs[name]) for name in mine)


class Optimizer(Remembered, Memory, Follows):
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
        lacks a method, a bad rate or penalty.

    Notes
    -----
    **For those who write a method.** Derive from this class and define ``_direction(evaluation)``.
    The public `direction` checks its argument and calls it; `step` calls it without checks, on an
    evaluation of its own (unless somebody overrode the public `direction`, which is called then).

    *What* ``_direction`` *gets*: an :class:`~secondorder.nets.Evaluation` of ``self.network`` at
    its present parameters with ``self.loss``. ``self._gradient(evaluation)`` is the gradient of the
    objective, penalty included: read-only and made once an evaluation, however many ask for it.
    ``self.learning_rate`` is the rate of this step; a method that uses it here says
    ``depends_on_rate = True``.

    *What it returns*: what is added at learning rate 1, a (P,) array of the network's dtype that is
    no memory of the method, since whoever asked may write into it. ``self._array(name)`` is a (P,)
    array that is made once and handed out at every step again; `direction` returns a copy. Where a
    step is more than rate times direction (halvings, a search along the line) the method overrides
    ``change(evaluation, direction, rate)``, which returns what is added.

    *Memory.* `state_names` lists the attributes that the method carries from step to step: arrays,
    numbers, or None (an array that is made later). **Memory is replaced, not written into**:
    ``self.total = new`` and ``self.updates += 1``, never ``self.total += ...``. Then a step that
    fails leaves it as it was, since what the attributes held before is put back.
    ``self._spare(name)`` is the array that the attribute held one step ago (or a new one), to write
    the successor into; the two arrays take turns. A call of `direction` advances the memory too, so
    that a caller who takes the direction and moves the parameters himself runs the same method.

    *Reports.* ``self.details.update(damping=0.1)`` with plain numbers, booleans or strings; `step`
    empties it first and makes it part of its result.

    *Copy what you keep.* `step` evaluates every batch in the same arrays: ``evaluation.outputs``,
    ``deltas``, ``saved`` and ``gradient`` hold other numbers as soon as the next step begins. A
    method that remembers any of them from step to step keeps a copy
    (``evaluation.outputs.copy()``). The evaluations that :meth:`evaluate` returns are arrays of
    their own.
    """

    depends_on_rate = False
    follows = {"_fused": ("direction", "_direction", "change")}

    def __init__(self, network, loss, learning_rate, l2=0.0):
        instance_of(network, Network, "network").require_parameters()
        if network.dtype.kind != "f":
            raise ValueError("network must hold real parameters to be trained, got "
                             f"{network.dtype}")
        self.network, self.loss, self.l2 = network, check_loss(loss), check_l2(l2)
        self.learning_rate = learning_rate
        self.steps = 0
        self.details = {}
        self._workspace = Workspace()
        self._spares, self._before, self._busy = {}, None, {}

    @property
    def learning_rate(self):
        """Rate of the next step; assign a number or a schedule to change it."""
        return positive_number(self.schedule(self.steps), f"learning_rate at step {self.steps}")

    @learning_rate.setter
    def learning_rate(self, value):
        self.schedule = schedule_of(value)

    # -- what can be asked at an evaluation --------------------------------------------------------

    def evaluate(self, x, y):
        """`Evaluation` of the network on a batch: x (S, *input_shape), y as the loss takes it."""
        return self.network.evaluate(self.loss, x, y)

    def gradient(self, evaluation):
        """Gradient of the objective, penalty included, (P,), as a new array."""
        self._require_own(evaluation)
        return self._gradient(evaluation).copy()

    def objective(self, evaluation):
        """Mean loss plus penalty at an evaluation, as a float."""
        self._require_own(evaluation)
        return self._objective(evaluation)

    def penalty(self):
        """(l2 / 2) |theta|^2 at the present parameters, as a float."""
        size = norm(self.network.theta) if self.l2 else 0.0
        return self.l2 / 2 * size * size

    def direction(self, evaluation):
        """What is added to the parameters at learning rate 1.

        It depends on the evaluation, on the method's memory, which it advances, and, where
        `depends_on_rate` says so, on the rate that applies to the next step.

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
        self._require_own(evaluation)
        with self._alone(), self._transaction():
            return self._checked(self._direction(evaluation)).copy()

    # -- a method's own parts ----------------------------------------------------------------------

    def _direction(self, evaluation):
        """The method's own part of `direction`, without checks; see the notes of the class."""
        raise TypeError(f"{type(self).__name__} does not define _direction(evaluation)")

    def change(self, evaluation, direction, rate):
        """What the step adds to the parameters, (P,): rate * direction."""
        return np.multiply(direction, rate, out=self._array("change"))

    def observe(self, evaluation, change):
        """Be told the `change` (P,) that a wrapper is about to make of this method's direction."""

    def _propose(self, evaluation):
        """The direction at an evaluation that is known to fit: what `step` and wrappers ask for."""
        overridden = type(self).direction is not Optimizer.direction
        return self._checked((self.direction if overridden else self._direction)(evaluation))

    def _gradient(self, evaluation):
        """Gradient of the objective, read-only (P,); made once an evaluation."""
        return evaluation.objective_gradient(self.l2)

    def _gradient_norm(self, evaluation):
        """What a step reports; a method that needs no gradient may leave it unmeasured, as NaN."""
        return norm(self._gradient(evaluation))

    def _objective(self, evaluation):
        return evaluation.loss + self.penalty()

    def _array(self, name):
        """A (P,) array of this optimizer's own, the same one at every call."""
        return self._workspace.of(self)(name, self.network.theta.shape, self.network.dtype)

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
        """
        # nobody else sees this evaluation, so that its arrays may be those of the step before
        with self._alone(), self._overflow_named():
            return self._step(self.network.evaluate(self.loss, x, y, self._workspace))

    def step_from(self, evaluation):
        """`step` from an evaluation at the present parameters, for those who made one already."""
        self._require_own(evaluation)
        with self._alone(), self._overflow_named():
            return self._step(evaluation)

    def _step(self, evaluation):
        methods = list(self._methods())
        for method in methods:
            method.details = {}
        with self._transaction(), np.errstate(over="ignore", invalid="ignore"):
            rate = self.learning_rate
            info = self._fused(evaluation, rate) or self._update(evaluation, rate)
        for method in methods:
            method.steps += 1
        return info | self._reports()

    def _update(self, evaluation, rate):
        """Move the parameters, or raise and leave them alone; return what every step reports."""
        theta = self.network.theta
        info = {"loss": evaluation.loss, "objective": self._objective(evaluation),
                "gradient_norm": self._gradient_norm(evaluation)}
        direction = self._propose(evaluation)
        info["direction_norm"] = norm(direction)
        change = self.change(evaluation, direction, rate)
        if self.base is not None:
            self.base.observe(evaluation, change)
        moved = np.add(theta, change, out=self._array("moved"))
        self._require_finite(moved, direction)
        theta[...] = moved
        return info | {"step_norm": norm(change), "learning_rate": rate}

    def _fused(self, evaluation, rate):
        """`_update` in one compiled pass over all parameters, for a method that has one.

        None if it has none, or if something on the way is not finite; nothing has changed then, and
        `_update` finds out what it was. A subclass that overrides `direction`, `_direction` or
        `change` goes without.
        """

    def _one_pass(self, step, evaluation, rate, *own):
        """Run a compiled loop that takes a whole step, and undo it if it is not finite.

        `own` are the method's arrays and numbers, after those that all of these loops take. Returns
        what every step reports, and the largest entry of the direction; or None and NaN if the step
        was undone.
        """
        loops, network = _loops(), self.network
        theta, total = network.theta, evaluation.gradient_sum
        # nobody else sees what is in this method's own arrays: the parameters may go where the
        # gradient was
        own_arrays = evaluation.workspace is self._workspace
        backup = total if own_arrays else self._array("backup")
        sums, peaks = np.zeros(3), np.zeros(3, np.int64)
        step(total, theta, backup,
             *loops.scalars(theta.dtype, evaluation.samples, self.l2, rate), sums, peaks, *own)
        if not (np.isfinite(sums).all()
                and all(math.isfinite(loops.number(p, theta.dtype)) for p in peaks)):
            theta[...] = backup
            del evaluation.gradient_sum  # to be made again
            return None, math.nan
        gradient_norm, size, direction_norm = map(math.sqrt, sums.tolist())
        objective = evaluation.loss + (self.l2 / 2 * size * size if self.l2 else 0.0)
        info = {"loss": evaluation.loss, "objective": objective, "gradient_norm": gradient_norm,
                "direction_norm": direction_norm, "step_norm": rate * direction_norm,
                "learning_rate": rate}
        return info, loops.number(peaks[0], theta.dtype)

    def _reports(self):
        """The method's own numbers, and those of the method that it wraps under that one's name."""
        if self.base is None:
            return self.details
        return self.details | {type(self.base).__name__: self.base._reports()}

    @contextlib.contextmanager
    def _overflow_named(self):
        """Python's floats raise OverflowError where arrays give inf: one trouble to a caller."""
        try:
            yield
        except OverflowError as error:
            # "Numerical result out of range"; a number may stand before it
            what = " ".join(map(str, error.args[-1:]))
            raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: overflow in "
                                     f"plain numbers: {what}; the parameters are left as they "
                                     "were") from error

    def _require_own(self, evaluation):
        if not isinstance(evaluation, Evaluation):
            raise TypeError("evaluation must be an Evaluation of this optimizer's network "
                            f"(optimizer.evaluate(x, y)), got {evaluation!r}")
        if evaluation.network is not self.network:
            raise ValueError(f"{type(self).__name__}: the evaluation belongs to another network")
        if not _alike(evaluation.loss_function, self.loss):
            raise ValueError(f"{type(self).__name__}: the evaluation was made with another loss, "
                             f"{evaluation.loss_function!r}, not with this optimizer's own "
                             f"{self.loss!r}; optimizer.evaluate(x, y) makes one that fits")
        evaluation.require_current()

    def _checked(self, direction):
        return like(direction, self.network.theta, f"the direction of {type(self).__name__}")

    def _require_finite(self, theta, direction):
        if not all_finite(theta):
            what = "the new parameters" if np.isfinite(direction).all() else "the direction"
            raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: {what} of "
                                     f"{self.network.where_not_finite(theta)}, would not be "
                                     "finite; the parameters are left as they were")

    def __repr__(self):
        settings = f"learning_rate={self.schedule!r}, l2={self.l2:g}"
        return f"{type(self).__name__}({settings})  # {self.steps} steps taken"
