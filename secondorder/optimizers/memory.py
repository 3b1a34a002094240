"""What an optimizer remembers from step to step: kept whole when a step fails, saved, restored.

Memory are the attributes that `state_names` lists, and the memory of the method that is wrapped
(`base`). It is replaced, not written into, so that what it was can be put back.
"""

import contextlib
import numbers
import threading

import numpy as np

from ..checks import whole_number


def wrapped(optimizer):
    """The optimizer, the one that it wraps, and so on."""
    while optimizer is not None:
        yield optimizer
        optimizer = optimizer.base


def spare(optimizer, name):
    """An array like the attribute `name`, to write its successor into: never one that is in use."""
    mine, other = getattr(optimizer, name), optimizer._spares.get(name)
    before = None if optimizer._before is None else optimizer._before[name]
    fits = other is not None and other.shape == mine.shape and other.dtype == mine.dtype
    return other if fits and other is not mine and other is not before else np.empty_like(mine)


@contextlib.contextmanager
def alone(optimizer):
    """Refuse a second thread: a step moves the network and writes into arrays that are kept.

    Raises
    ------
    RuntimeError
        If another thread is in the middle of a step or a direction of this optimizer.
    """
    me, busy = threading.get_ident(), optimizer._busy
    outermost = not busy
    if busy.setdefault("thread", me) != me:  # one indivisible operation
        raise RuntimeError(f"{type(optimizer).__name__}: another thread is in the middle of a "
                           "step; an optimizer and its network belong to one thread, so give "
                           "every thread its own")
    try:
        yield
    finally:
        if outermost:
            busy.clear()


@contextlib.contextmanager
def transaction(optimizer):
    """Memory is put back if the block fails; a transaction inside another is part of it."""
    if optimizer._before is not None:
        yield
        return
    methods = list(wrapped(optimizer))
    for method in methods:
        method._before = {name: getattr(method, name) for name in method.state_names}
    try:
        yield
        for method in methods:
            method._spares |= {name: value for name, value in method._before.items()
                               if isinstance(value, np.ndarray)
                               and value is not getattr(method, name)}
    except BaseException:
        put_back(optimizer)
        raise
    finally:
        for method in methods:
            method._before = None


def put_back(optimizer):
    """Inside a transaction: the memory as it was when that began."""
    for method in wrapped(optimizer):
        for name, value in method._before.items():
            setattr(method, name, value)


# -- saved and restored ----------------------------------------------------------------------------


def state_of(optimizer):
    """What `Optimizer.state_dict` returns."""
    state = {"method": type(optimizer).__name__, "steps": optimizer.steps}
    state |= {name: _own(getattr(optimizer, name)) for name in optimizer.state_names}
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
    for name in optimizer.state_names:
        setattr(optimizer, name, _own(state[name]))
    optimizer.steps = int(state["steps"])
    if optimizer.base is not None:
        take(optimizer.base, state["base"])


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
