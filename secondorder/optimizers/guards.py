"""What an optimizer refuses: another's evaluation, a direction of another kind, numbers that are
not finite.
"""

import numpy as np

from ..checks import all_finite, like
from ..nets import Evaluation


def own_evaluation(optimizer, evaluation):
    """Raise unless an evaluation is of the optimizer's network, now, with its loss."""
    name = type(optimizer).__name__
    if not isinstance(evaluation, Evaluation):
        raise TypeError("evaluation must be an Evaluation of this optimizer's network "
                        f"(optimizer.evaluate(x, y)), got {evaluation!r}")
    if evaluation.network is not optimizer.network:
        raise ValueError(f"{name}: the evaluation belongs to another network")
    mine = optimizer.loss
    if evaluation.loss_function is not mine and not _alike(evaluation.loss_function, mine):
        raise ValueError(f"{name}: the evaluation was made with another loss, "
                         f"{evaluation.loss_function!r}, not with this optimizer's own "
                         f"{mine!r}; optimizer.evaluate(x, y) makes one that fits")
    evaluation.require_current()


def _alike(one, other):
    """Whether two losses are of one class with the same settings."""
    mine, theirs = (getattr(loss, "__dict__", {}) for loss in (one, other))
    return type(one) is type(other) and mine.keys() == theirs.keys() and all(
        np.array_equal(mine[name], theirs[name]) for name in mine)


def own_direction(optimizer, direction):
    """The direction that a method returned, if its shape and dtype are those of theta, and if the
    arrays of the memory are finite after it.
    """
    for name in optimizer.state_names:
        value = getattr(optimizer, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not all_finite(value):
            raise FloatingPointError(f"{type(optimizer).__name__}, step {optimizer.steps + 1}: "
                                     f"{name} would overflow {value.dtype}, or is not a number; "
                                     "it is left as it was")
    return like(direction, optimizer.network.theta, f"the direction of {type(optimizer).__name__}")


def finite_step(optimizer, moved, direction):
    """Raise FloatingPointError, naming the layer, unless the new parameters are finite."""
    if not all_finite(moved):
        what = "the new parameters" if np.isfinite(direction).all() else "the direction"
        raise FloatingPointError(f"{type(optimizer).__name__}, step {optimizer.steps + 1}: {what} "
                                 f"of {optimizer.network.where_not_finite(moved)}, would not be "
                                 "finite; the parameters are left as they were")


def overflow(optimizer, error):
    """The FloatingPointError for an OverflowError, which Python's floats raise where arrays give
    inf: one trouble to a caller.
    """
    # "Numerical result out of range"; a number may stand before it
    what = " ".join(map(str, error.args[-1:]))
    return FloatingPointError(f"{type(optimizer).__name__}, step {optimizer.steps + 1}: overflow "
                              f"in plain numbers: {what}; the parameters are left as they were")
