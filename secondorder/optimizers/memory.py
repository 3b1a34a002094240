"""What an optimizer remembers from step to step: kept whole when a step fails or is interrupted,
saved, restored.

Memory are the attributes that `state_names` lists, and the memory of the method that is wrapped
(`base`). It is replaced, not written into, so that what it was can be put back.

A step makes everything new beside the old. Parameters, count, and the end of the chance to go back
are then written by one call into C: Python runs the handler of a signal (Ctrl-C) between its own
operations only, so that it comes before all of it or after all of it.
"""

import collections
import functools
import numbers
import operator
import threading

import numpy as np

from ..checks import whole_number


def wrapped(optimizer):
    """The optimizer, the one that it wraps, and so on."""
    while optimizer is not None:
        yield optimizer
        optimizer = optimizer.base


def at_once(calls):
    """Make calls, each a `functools.partial` of a function in C, with no Python in between in which
    a signal could be heard.
    """
    collections.deque(map(operator.call, calls), maxlen=0)


class Unsettled:
    """A step that is under way: whose it is, and what it takes to undo it.

    Attributes
    ----------
    thread : int
    before : list of (Optimizer, dict)
        The method, those that it wraps, and the memory of each at the start.
    theta : (array, array) or None
        The live parameters and a copy of them.
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
        theta = [functools.partial(operator.setitem, live, ..., before)
                 for live, before in [self.theta] * (self.theta is not None)]
        at_once([*theta, *self.memory_back(), *release])


def whole(optimizer, work, *arguments):
    """Do some work of an optimizer's: all of it is settled, or nothing has been.

    Parameters
    ----------
    optimizer : Optimizer
    work : callable
        Returns its result, and calls for `at_once` that settle what it has prepared. It replaces
        memory as it goes; whatever ends it early puts that back.
    *arguments
        What it takes.

    Returns
    -------
    object
        The result. Work inside other work of the same optimizer is a part of that.

    Raises
    ------
    RuntimeError
        If another thread is in the middle of a step or a direction of this optimizer, or of one
        that it wraps: a step moves the network and writes into arrays that are kept.
    """
    step, busy = Unsettled(optimizer), optimizer._busy
    try:
        try:
            own = step.taken()
            result, calls = work(*arguments)
            at_once([*calls, *step.settled()] if own else calls)
            return result
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
    at_once(optimizer._busy["step"].memory_back())


def spares(optimizer, names):
    """Arrays like the attributes `names`, to write their successors into: never ones in use."""
    before, arrays = _before(optimizer) if names else {}, []
    for name in names:
        mine, other = getattr(optimizer, name), optimizer._spares.get(name)
        fits = other is not None and other.shape == mine.shape and other.dtype == mine.dtype
        used = other is mine or other is before.get(name)
        arrays.append(other if fits and not used else np.empty_like(mine))
    return arrays


def _before(optimizer):
    """The memory at the start of the step that is under way, by name; empty where none is."""
    step = optimizer._busy.get("step")
    for method, memory in step.before if step else ():
        if method is optimizer:
            return memory
    return {}


# -- saved and restored ----------------------------------------------------------------------------


def state_of(optimizer):
    """What `Optimizer.state_dict` returns: of the last step that is settled, also where a signal's
    handler asks in the middle of the next one.
    """
    state = {"method": type(optimizer).__name__, "steps": optimizer.steps}
    memory = _before(optimizer) or {name: getattr(optimizer, name)
                                    for name in optimizer.state_names}
    state |= {name: _own(value) for name, value in memory.items()}
    return state if optimizer.base is None else state | {"base": optimizer.base.state_dict()}


def accepted(optimizer, state):
    """The state, checked, and the base's, with plain numbers for arrays without axes."""
    try:
        state = {name: _as_kept(getattr(optimizer, name, None), state[name]) for name in state}
    except (TypeError, IndexError):
        raise TypeError(f"state must be what state_dict() returned, got {state!r}") from None
    optimizer.check_state(state)
    if optimizer.base is None:
        return state
    return state | {"base": accepted(optimizer.base, state["base"])}


def take(optimizer, state):
    """Make an accepted state the optimizer's own."""
    calls = []
    for method in wrapped(optimizer):
        calls += [functools.partial(setattr, method, name, _own(state[name]))
                  for name in method.state_names]
        calls.append(functools.partial(setattr, method, "steps", int(state["steps"])))
        state = state.get("base")
    at_once(calls)


def check(optimizer, state):
    """Raise unless the state fits the optimizer."""
    expected = {"method", "steps", *optimizer.state_names, *["base"] * (optimizer.base is not None)}
    if set(state) != expected:
        raise ValueError(f"state: expected the entries {sorted(expected)}, got "
                         f"{sorted(map(str, state))}")
    if state["method"] != type(optimizer).__name__:
        raise ValueError(f"state: belongs to {state['method']}, not to {type(optimizer).__name__}")
    whole_number(state["steps"], "state: steps", 0)
    for name in optimizer.state_names:
        _require_alike(name, getattr(optimizer, name), state[name])


def _own(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _as_kept(mine, theirs):
    """`theirs` as a number where it is an array without axes and `mine` is no array."""
    lone = isinstance(theirs, np.ndarray) and theirs.ndim == 0 and not isinstance(mine, np.ndarray)
    return theirs.item() if lone else theirs


def _require_alike(name, mine, theirs):
    """Raise unless both are like arrays or both numbers; None is an array that is made later."""
    is_array = isinstance(theirs, np.ndarray)
    is_number = isinstance(theirs, (numbers.Real, np.bool_))
    made_later = mine is None and (theirs is None or is_array or is_number)
    if not isinstance(mine, np.ndarray):
        if not (is_number or made_later):
            raise ValueError(f"state: {name} must be a number, got {theirs!r}")
    elif not is_array:
        raise ValueError(f"state: {name} must be an array, got {theirs!r}")
    elif mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        raise ValueError(f"state: {name} has shape {theirs.shape} and dtype {theirs.dtype}, "
                         f"expected {mine.shape} and {mine.dtype}")
    if is_array and theirs.dtype.kind in "fc" and not np.isfinite(theirs).all():
        raise ValueError(f"state: {name} holds NaN or infinite entries")
