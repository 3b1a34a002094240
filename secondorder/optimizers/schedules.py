"""Learning rates: a positive number, or a schedule, which is a function of the number of steps taken so far."""

import numbers

import numpy as np


def positive_number(value, name):
    """Return `value` as a float.

    Raises
    ------
    TypeError
        If it is not a real number.
    ValueError
        If it is not finite and above 0.
    """
    value = real_number(value, name)
    if value <= 0:
        raise ValueError(f"{name} must be above 0, got {value}")
    return value


def number_in(value, name, low, high):
    """Return `value` as a float with low <= value < high; TypeError or ValueError otherwise."""
    value = real_number(value, name)
    if not low <= value < high:
        bounds = f"at least {low:g}" + ("" if high == np.inf else f" and below {high:g}")
        raise ValueError(f"{name} must be {bounds}, got {value}")
    return value


def real_number(value, name):
    """Return `value` as a float; TypeError unless it is a real number, ValueError unless it is finite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    value = float(value)
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return value


def whole_number(value, name, smallest):
    """Return `value` as an int of at least `smallest`; TypeError or ValueError otherwise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < smallest:
        raise ValueError(f"{name} must be at least {smallest}, got {value}")
    return int(value)


def boolean(value, name):
    """Return `value` as a bool; TypeError unless it is one."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


class Constant:
    """The same rate at every step.

    Parameters
    ----------
    rate : float
        Positive.
    """

    def __init__(self, rate):
        self.rate = positive_number(rate, "learning_rate")

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
        If true, step / every is rounded down, so that the rate changes in jumps; else it changes at every step.

    Examples
    --------
    >>> schedule = ExponentialDecay(0.1, factor=0.5, every=100, staircase=True)
    >>> schedule(0), schedule(99), schedule(100)
    (0.1, 0.1, 0.05)
    """

    def __init__(self, rate, factor, every, staircase=False):
        self.rate = positive_number(rate, "rate")
        self.factor = positive_number(factor, "factor")
        self.every = whole_number(every, "every", 1)
        self.staircase = boolean(staircase, "staircase")

    def __call__(self, step):
        """Learning rate after `step` steps."""
        periods = step // self.every if self.staircase else step / self.every
        return self.rate * self.factor**periods

    def __repr__(self):
        return (f"ExponentialDecay({self.rate:g}, factor={self.factor:g}, every={self.every}, "
                f"staircase={self.staircase})")


def schedule_of(learning_rate):
    """Return a schedule for a positive number or a callable.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the number is not positive and finite.
    """
    if callable(learning_rate):
        return learning_rate
    if isinstance(learning_rate, (bool, np.bool_)) or not isinstance(learning_rate, numbers.Real):
        raise TypeError("learning_rate must be a positive number or a schedule (a function of the step), "
                        f"got {learning_rate!r}")
    return Constant(learning_rate)
