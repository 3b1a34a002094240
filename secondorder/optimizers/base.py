"""The contract that all optimizers share."""

import inspect
import math
from operator import attrgetter

from ..checks import (Checked, check_l2, check_loss, instance_of, memory_names, names_of_its_own,
                      positive_number)
from ..nets import Evaluation, Network
from .norms import norm
from .schedules import Constant, schedule_of
from .step import accepted, own_evaluation, state_of, take_over, taken

#: What the base keeps of every optimizer.
KEPT = ("network", "base", "loss", "steps", "details", "schedule", "_network")
#: What a subclass does not define.
RESERVED = ("network", "loss", "steps", "details", "_network", "gradient", "objective", "penalty")
MEANT = {"lr": "learning_rate", "weight_decay": "l2"}  # as other libraries call them


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
        Whether `direction` depends on the learning rate of the method's own schedule, also where a
        wrapper decides how far the step goes.

    Raises
    ------
    TypeError, ValueError
        Something that is not a network, a network without parameters, a loss that is a class or
        lacks a method, a bad rate or penalty. Where a subclass is defined: a name that every
        optimizer uses itself, such as `steps` or `gradient`, for something else or in
        `state_names`.

    Notes
    -----
    **For those who write a method.** Five public names are all there is to know, and
    `state_names`, which lists the memory.

    ``direction(evaluation)``, the formula, must be defined. It returns what is added at learning
    rate 1, a (P,) array of the network's dtype. A formula that uses ``self.learning_rate`` says
    ``depends_on_rate = True``. ``self.gradient(evaluation)``, (P,) and read-only, and
    ``self.objective(evaluation)`` include the penalty. ``change(evaluation, direction, rate)``
    returns what a step adds, where that is more than rate times direction.
    ``self.details.update(damping=0.1)`` reports plain numbers, booleans or strings.

    ``state_names`` lists the attributes that the method carries from step to step: arrays, numbers,
    or None (an array that is made later). **Memory is replaced, not written into**, never
    ``self.total += g`` but::

        self.total = self.total + g

    Then a step that fails leaves it as it was, and a run goes on bit for bit from a checkpoint. An
    array of it that overflows is such a failure.

    *Kernels.* Methods whose direction is made entry by entry go through parameters, gradient and
    memory once. Their ``direction(evaluation, step=ALONE)`` calls a loop like those of
    :mod:`secondorder.kernels.updates`. A `step` asks it for theta + rate * direction instead of the
    direction.
    """

    state_names = ()
    depends_on_rate = False
    base = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        names_of_its_own(cls, Optimizer, RESERVED)
        memory_names(cls, Optimizer, (*KEPT, "method"))

    def __new__(cls, *positional, **named):
        for name in MEANT.keys() & named.keys():
            if name not in inspect.signature(cls).parameters:
                raise TypeError(f"{cls.__name__} takes no argument {name!r}: {MEANT[name]} is "
                                "meant")
        return super().__new__(cls)

    loss = Checked(lambda value, name: check_loss(value))
    l2 = Checked(lambda value, name: check_l2(value))

    def __init__(self, network, loss, learning_rate, l2=0.0):
        instance_of(network, Network, "network").require_parameters()
        if network.dtype.kind != "f":
            raise ValueError("network must hold real parameters to be trained, got "
                             f"{network.dtype}")
        self._network, self.loss, self.l2 = network, loss, l2
        self.learning_rate = learning_rate
        self.steps = 0
        self.details = {}

    def __getattr__(self, name):  # of what is missing alone
        if "_network" in vars(self) or name.startswith("__"):
            return object.__getattribute__(self, name)  # raises what there is to say
        cls = type(self).__name__
        raise AttributeError(f"{cls} has no {name}: Optimizer.__init__ was not called. Begin "
                             f"{cls}.__init__ with super().__init__(network, loss, learning_rate)")

    network = property(attrgetter("_network"),
                       doc="The network that is trained, for good: the memory fits no other.")

    @property
    def learning_rate(self):
        """Rate of the next step; assign a number or a schedule to change it."""
        fixed = type(self.schedule) is Constant
        rate = self.schedule.rate if fixed else self.schedule(self.steps)
        if type(rate) is float and 0 < rate < math.inf:
            return rate
        return positive_number(rate, f"learning_rate at step {self.steps}")

    @learning_rate.setter
    def learning_rate(self, value):
        self.schedule = schedule_of(value)

    def direction(self, evaluation):
        """What is added to the parameters at learning rate 1: the formula, see the class's notes.

        It advances the method's memory. A caller who takes it and moves the parameters himself
        runs the same method. It is not to be written into: a formula may return its memory.

        Parameters
        ----------
        evaluation : Evaluation
            Of this optimizer's network at its present parameters, with this optimizer's loss.

        Returns
        -------
        (P,) array

        Raises
        ------
        TypeError, ValueError
            Something other than an evaluation, or one of another network.
        RuntimeError
            If the parameters have changed since.
        """
        raise TypeError(f"{type(self).__name__} does not define direction(evaluation)")

    def change(self, evaluation, direction, rate):
        """What the step adds to the parameters, (P,): rate * direction."""
        return rate * direction

    def observe(self, evaluation, change):
        """Be told the `change` (P,) that a wrapper is about to make of this method's direction."""

    def evaluate(self, x, y):
        """`Evaluation` of the network on a batch: x (S, *input_shape), y as the loss takes it."""
        return self.network.evaluate(self.loss, x, y)

    def gradient(self, evaluation):
        """Gradient of the objective, penalty included: (P,), read-only, made once an evaluation."""
        own_evaluation(self, evaluation)
        return evaluation.objective_gradient(self.l2)

    def objective(self, evaluation):
        """Mean loss plus penalty at an evaluation, as a float."""
        own_evaluation(self, evaluation)
        return evaluation.loss + self.penalty()

    def penalty(self):
        """(l2 / 2) |theta|^2 at the present parameters, as a float."""
        size = norm(self.network.theta) if self.l2 else 0.0
        return self.l2 / 2 * size * size

    def step(self, x, y):
        """Take one step on a batch.

        Parameters
        ----------
        x : (S, *input_shape) array
        y : targets, in the form that the loss takes

        Returns
        -------
        dict
            ``loss`` is the mean loss of the batch before the step, ``objective`` includes the
            penalty, and ``gradient_norm`` is the objective's. ``direction_norm``, ``step_norm``,
            ``learning_rate`` and the method's own numbers follow. A wrapped method's numbers are a
            dict under its class name.

        Raises
        ------
        ValueError, TypeError
            Wrong shapes, empty batch, NaN, labels out of range.
        FloatingPointError
            If outputs, losses, gradient or new parameters are not finite. Parameters and memory
            stay as they were.

        Notes
        -----
        New parameters and new memory are made beside the old, and assigned when all of them are
        known to be finite. A step that is interrupted (Ctrl-C) has moved the parameters or has not;
        a loop of your own that is interrupted just then may find them one step ahead of `steps`.
        ``so.train`` ends after the running step.
        """
        return self._taken(Evaluation(self.network, self.loss, x, y, lasting=False))

    def _taken(self, evaluation):
        return taken(self, evaluation)

    def _straight(self):
        """Whether a step adds rate * direction: there is nothing that `change` would do."""
        return type(self).change is Optimizer.change and self.base is None

    def _gradient_norm(self, evaluation):
        """What a step reports; a method that needs no gradient may leave it unmeasured, as NaN."""
        return norm(self.gradient(evaluation))

    def state_dict(self):
        """What has to be kept, beside the parameters and the settings, to go on bit for bit.

        Returns
        -------
        dict
            ``method`` (class name), ``steps``, a copy of every attribute in `state_names`, and, of
            a method that wraps another, that one's state as ``base``.
        """
        return state_of(self)

    def load_state_dict(self, state):
        """Take over what `state_dict` of a like optimizer for a like network returned.

        Parameters
        ----------
        state : mapping

        Raises
        ------
        ValueError, TypeError
            If it comes from another method, or a name, shape, dtype or number does not fit; nothing
            is changed then.
        """
        take_over(self, accepted(self, state))

    def __repr__(self):
        settings = f"learning_rate={self.schedule!r}, l2={self.l2:g}"
        return f"{type(self).__name__}({settings})  # {self.steps} steps taken"


# help shows what is to be given
Optimizer.__new__.__signature__ = inspect.signature(Optimizer.__init__)
