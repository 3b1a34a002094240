"""Methods that take the direction of another one and decide how far to go along it."""

from ..checks import instance_of
from .base import Optimizer
from .step import proposed


class Wrapper(Optimizer):
    """A method that takes the direction of another, its base, and decides how far to go along it.

    A subclass overrides ``change(evaluation, direction, rate)``. `direction` is a copy of the
    base's, to write into, and `rate` comes from the base's schedule. What ``change`` returns, of
    any length, is added to the parameters. The base's own `change` (its rate, its halvings) is not
    called. Instead `observe` gives the base the change that is made. A method that learns from its
    steps, as `TruncatedNewton` does, goes on learning.

    Network, loss, penalty, learning rate and schedule are the base's. The evaluation is made once
    and shared. With every step of the wrapper the base's count of steps advances, and with it its
    schedule. The base's reports stand in what `step` returns as a dict under its class name, its
    state in `state_dict` under ``base``. A step that fails leaves parameters and both methods'
    memory as they were. A wrapper may have its own memory (`state_names`), and may be wrapped
    again.

    Parameters
    ----------
    base : Optimizer

    Raises
    ------
    TypeError
        If `base` is not an optimizer.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> class Halved(Wrapper):
    ...     def change(self, evaluation, direction, rate):
    ...         self.details["part"] = 0.5
    ...         return 0.5 * rate * direction
    >>> net, rng = so.mlp([3, 2], rng=0), np.random.default_rng(0)
    >>> optimizer = Halved(so.TruncatedNewton(net, so.SquaredError(), l2=0.1))
    >>> info = optimizer.step(rng.normal(size=(20, 3)), rng.normal(size=(20, 2)))
    >>> info["part"], info["TruncatedNewton"]["damping"], optimizer.base.steps
    (0.5, 1.0, 1)
    """

    def __init__(self, base):
        self.base = instance_of(base, Optimizer, "base")
        super().__init__(base.network, base.loss, base.schedule, base.l2)

    @property
    def l2(self):
        """Strength of the penalty: the base's."""
        return self.base.l2

    @l2.setter
    def l2(self, value):
        self.base.l2 = value

    @property
    def learning_rate(self):
        """The base's rate for the next step; assign a number or a schedule to change it."""
        return self.base.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self.base.learning_rate = value

    @property
    def schedule(self):
        """The base's schedule of learning rates."""
        return self.base.schedule

    @property
    def depends_on_rate(self):
        return self.base.depends_on_rate

    def direction(self, evaluation):
        """The base's, copied: `change` may write into it, and the base's may be its memory."""
        return proposed(self.base, evaluation).copy()

    def observe(self, evaluation, change):
        self.base.observe(evaluation, change)

    def __repr__(self):
        return f"{type(self).__name__}({self.base!r})"
