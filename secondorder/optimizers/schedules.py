"""Learning rates: a positive number, or a schedule, a function of the steps taken so far."""

from ..checks import Checked, boolean, function_of, positive_number, whole_number


class Constant:
    """The same rate at every step.

    Parameters
    ----------
    rate : float
        Positive.
    """

    rate = Checked(lambda value, name: positive_number(value, "learning_rate"))

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, step):
        """Learning rate after `step` steps."""
        return self.rate

    def __repr__(self):
        return f"Constant({self.rate:g})"


class ExponentialDecay:
    """rate * factor ** (step / every): the rate shrinks by `factor` once in every `every` steps.

    Parameters
    ----------
    rate : float
        Learning rate of the first step, positive.
    factor : float
        Positive; 1 is constant.
    every : int
        Number of steps in which the rate is multiplied by `factor`.
    staircase : bool
        If true, step / every is rounded down, so that the rate changes in jumps; else it changes at
        every step.

    Examples
    --------
    >>> schedule = ExponentialDecay(0.1, factor=0.5, every=100, staircase=True)
    >>> schedule(0), schedule(99), schedule(100)
    (0.1, 0.1, 0.05)
    """

    rate, factor = Checked(positive_number), Checked(positive_number)
    every, staircase = Checked(whole_number, 1), Checked(boolean)

    def __init__(self, rate, factor, every, staircase=False):
        self.rate, self.factor, self.every, self.staircase = rate, factor, every, staircase

    def __call__(self, step):
        """Learning rate after `step` steps."""
        periods = step // self.every if self.staircase else step / self.every
        return self.rate * self.factor**periods

    def __repr__(self):
        return (f"ExponentialDecay({self.rate:g}, factor={self.factor:g}, every={self.every}, "
                f"staircase={self.staircase})")


def schedule_of(learning_rate):
    """A schedule for a positive number or a callable."""
    if callable(learning_rate):
        return function_of(learning_rate, "learning_rate", 1,
                           "a positive number or a function of the step")
    return Constant(learning_rate)
