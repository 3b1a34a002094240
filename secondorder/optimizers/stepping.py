"""How a step is taken: whole or not at all, by the formula that one reads or by the compiled form.

A step makes everything new beside the old. Parameters, count, and the end of the chance to go back
are then written by one call into C: Python runs the handler of a signal (Ctrl-C) between its own
operations only, so that it comes before all of it or after all of it. An optimizer's memory are the
attributes that `state_names` lists, and the memory of the method that is wrapped (`base`). It is
replaced, not written into, so that what it was can be put back.

The literal form of a step is the method's formula, `direction`, and the step around it,
`moved_by_formula`. It runs where it is asked for, where a subclass changes something of it, and
where a compiled step finds that something is not finite or not to be told; see `fused`.
"""

import collections
import functools
import threading
from operator import call, setitem

import numpy as np

from ..checks import all_finite, like, place_not_finite, shown
from ..compiled import forms
from ..nets import Evaluation
from ..nets.overriding import place
from .norms import norm

# run through an iterator, ``map(call, calls)`` of partial functions in C, with no Python in between
# in which a signal could be heard
at_once = collections.deque(maxlen=0).extend


class Unsettled:
    """A step that is under way: its `thread`, and what it takes to undo it. `before` are the method
    and those that it wraps, each with its memory at the start; `theta` the live parameters and a
    copy of them, or None.
    """

    def __init__(self, optimizer):
        self.thread, self.theta, self.before = threading.get_ident(), None, []
        while optimizer is not None:
            memory = {}
            for name in optimizer.state_names:
                memory[name] = getattr(optimizer, name)
            self.before.append((optimizer, memory))
            optimizer = optimizer.base

    def taken(self):
        """Whether the optimizers are this step's now; False where it is part of another one."""
        for method, _ in self.before:
            holder = method._busy.setdefault("step", self)  # one indivisible operation
            if holder.thread != self.thread:
                raise RuntimeError(f"{type(method).__name__}: another thread is in the middle of a "
                                   "step; an optimizer and its network belong to one thread, so "
                                   "give every thread its own")
        return self.before[0][0]._busy["step"] is self

    def settled(self):
        """Calls that keep the arrays of the old memory for the next but one, and those after which
        nothing is under way.
        """
        calls = []
        for method, memory in self.before:
            for name, value in memory.items():
                if isinstance(value, np.ndarray) and value is not getattr(method, name):
                    calls.append(functools.partial(method._spares.__setitem__, name, value))
        for method, _ in self.before:
            if method._busy.get("step") is self:
                calls.append(method._busy.clear)
        return calls

    def memory_back(self):
        """Calls that make the memory what it was."""
        return [functools.partial(setattr, method, name, value)
                for method, memory in self.before if method._busy.get("step") is self
                for name, value in memory.items()]

    def undo(self):
        """Put parameters and memory back."""
        release = [method._busy.clear for method, _ in self.before
                   if method._busy.get("step") is self]
        theta = [functools.partial(setitem, live, ..., before)
                 for live, before in [self.theta] * (self.theta is not None)]
        at_once(map(call, [*theta, *self.memory_back(), *release]))


def whole(optimizer, work, *arguments):
    """Do some work of an optimizer's: all of it is settled, or nothing has been.

    ``work(*arguments)`` returns its result, and calls that settle what it has prepared. It replaces
    memory as it goes; whatever ends it early puts that back. Work inside other work of the same
    optimizer is a part of that. RuntimeError if another thread is in the middle of such work.
    """
    step, busy = Unsettled(optimizer), optimizer._busy
    try:
        try:
            own = step.taken()
            result, calls = work(*arguments)
            at_once(map(call, [*calls, *step.settled()] if own else calls))
            return result
        except OverflowError as error:
            raise overflow(optimizer, error) from error
        finally:
            if busy.get("step") is step:
                step.undo()
    finally:  # once more, where the interrupt came on the way to the first
        if busy.get("step") is step:
            step.undo()


def keep_theta(optimizer, place):
    """Inside `whole`: copy the parameters to `place`, from where a failure puts them back."""
    theta, step = optimizer.network.theta, optimizer._busy["step"]
    if step.theta is None:
        place[...] = theta
        step.theta = theta, place


def put_back(optimizer):
    """Inside `whole`: the memory as it was when that began."""
    at_once(map(call, optimizer._busy["step"].memory_back()))


def spares(optimizer, names):
    """Arrays like the attributes `names`, to write their successors into: never ones in use."""
    at_start, arrays = before(optimizer) if names else {}, []
    for name in names:
        mine, other = getattr(optimizer, name), optimizer._spares.get(name)
        fits = other is not None and other.shape == mine.shape and other.dtype == mine.dtype
        used = other is mine or other is at_start.get(name)
        arrays.append(other if fits and not used else np.empty_like(mine))
    return arrays


def before(optimizer):
    """The memory at the start of the step that is under way, by name; empty where none is."""
    step = optimizer._busy.get("step")
    for method, memory in step.before if step else ():
        if method is optimizer:
            return memory
    return {}


# -- the step --------------------------------------------------------------------------------------


class Undecided(Exception):
    """A sum of a compiled step is not finite, or lost its squares; nothing has been moved."""


def prepared(method, evaluate, *batch):
    """What a step from the evaluation of a batch reports, and the calls that settle it."""
    evaluation, one = evaluate(*batch), method
    while one is not None:
        one.details, one = {}, one.base
    rate, step = method.learning_rate, moved_by_formula
    fused = None if forms.is_literal() else twin(type(method), "direction", "change")
    if fused is not None:
        step = fused.step
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            moved, info = step(method, evaluation, rate)
        except Undecided:  # the formula finds out what it is
            put_back(method)
            moved, info = moved_by_formula(method, evaluation, rate)
    info |= method.details if method.base is None else _reports(method)
    theta = evaluation.network.theta
    return info, [functools.partial(setitem, theta, ..., moved), *method._settling(info)]


def moved_by_formula(method, evaluation, rate):
    """The new parameters theta + change, in an array of the method's own, and what every step
    reports.
    """
    keep_theta(method, method._array("start"))  # a `change` may try other parameters
    info = {"loss": evaluation.loss, "objective": evaluation.loss + method.penalty(),
            "gradient_norm": method._gradient_norm(evaluation)}
    direction = proposed(method, evaluation)
    info["direction_norm"] = norm(direction)
    change = method.change(evaluation, direction, rate)
    if method.base is not None:
        method.base.observe(evaluation, change)
    moved = np.add(method.network.theta, change, out=method._array("moved"))
    finite_step(method, moved, direction)
    return moved, info | {"step_norm": norm(change), "learning_rate": rate}


def proposed(method, evaluation):
    """The direction at an evaluation that is known to fit, in an array that the method may use
    again: by the compiled form where there is one.
    """
    fused = None if forms.is_literal() else twin(type(method), "direction")
    if fused is not None:
        try:
            return own_direction(method, fused.direction(method, evaluation))
        except Undecided:  # the formula finds out what it is
            pass
    return own_direction(method, by_formula(method, evaluation))


def by_formula(method, evaluation):
    """What the formula of a method gives, as it comes."""
    own = type(method).direction
    if getattr(own, "guard", None) is own:  # and no function that somebody put around it
        own = own.formula
    try:
        return own(method, evaluation)
    except ValueError as error:
        if not str(error).endswith("is read-only"):  # as NumPy says it
            raise
        raise ValueError(f"{type(method).__name__}.direction writes into a read-only array: "
                         "gradient(evaluation) is one, write into gradient(evaluation).copy()"
                         ) from error


@functools.lru_cache(maxsize=256)
def twin(cls, *sources):
    """`fused` of an optimizer's class; None where a subclass overrides one of the `sources`, which
    it is the twin of.
    """
    own = place(cls, "fused")
    return cls.fused if all(own <= place(cls, source) for source in sources) else None


def _reports(method):
    """The method's own numbers, and those of the method that it wraps under that one's name."""
    if method.base is None:
        return method.details
    return method.details | {type(method.base).__name__: _reports(method.base)}


# -- what is refused -------------------------------------------------------------------------------


def own_evaluation(optimizer, evaluation):
    """Raise unless an evaluation is of the optimizer's network, now, with its loss."""
    name = type(optimizer).__name__
    if not isinstance(evaluation, Evaluation):
        raise TypeError("evaluation must be an Evaluation of this optimizer's network "
                        f"(optimizer.evaluate(x, y)), got {shown(evaluation)}")
    if evaluation.network is not optimizer.network:
        raise ValueError(f"{name}: the evaluation belongs to another network")
    mine = optimizer.loss
    if evaluation.loss_function is not mine and not _alike(evaluation.loss_function, mine):
        raise ValueError(f"{name}: the evaluation was made with another loss, "
                         f"{evaluation.loss_function!r}, not with this optimizer's own "
                         f"{mine!r}; optimizer.evaluate(x, y) makes one that fits")
    if evaluation.point is not None:
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
                                 f"of {place_not_finite(moved, optimizer.network)}, would not be "
                                 "finite; the parameters are left as they were")


def overflow(optimizer, error):
    """The FloatingPointError for an OverflowError, which Python's floats raise where arrays give
    inf: one trouble to a caller.
    """
    # "Numerical result out of range"; a number may stand before it
    what = " ".join(map(str, error.args[-1:]))
    return FloatingPointError(f"{type(optimizer).__name__}, step {optimizer.steps + 1}: overflow "
                              f"in plain numbers: {what}; the parameters are left as they were")
