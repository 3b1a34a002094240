"""What an optimizer remembers from step to step, saved and restored.

Memory are the attributes that `state_names` lists, and the memory of the method that is wrapped
(`base`); `stepping` keeps it whole where a step fails.
"""

import functools
import numbers
from operator import call

import numpy as np

from ..checks import shown, whole_number
from .stepping import at_once, before

KINDS = "memory is an array, a number or None"


def wrapped(optimizer):
    """The optimizer, the one that it wraps, and so on."""
    while optimizer is not None:
        yield optimizer
        optimizer = optimizer.base


def state_of(optimizer):
    """What `Optimizer.state_dict` returns: of the last step that is settled, also where a signal's
    handler asks in the middle of the next one.
    """
    state = {"method": type(optimizer).__name__, "steps": optimizer.steps}
    memory = before(optimizer) or {name: getattr(optimizer, name)
                                   for name in optimizer.state_names}
    state |= {name: _own(value) for name, value in memory.items()}
    return state if optimizer.base is None else state | {"base": optimizer.base.state_dict()}


def accepted(optimizer, state):
    """The state, checked, and the base's, with plain numbers for arrays without axes."""
    try:
        state = {name: _as_kept(getattr(optimizer, name, None), state[name]) for name in state}
    except (TypeError, IndexError):
        raise TypeError(f"state must be what state_dict() returned, got {shown(state)}") from None
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
    at_once(map(call, calls))


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


def is_memory(value):
    """Whether a value is of a kind that can be saved, restored and compared."""
    return value is None or isinstance(value, (np.ndarray, numbers.Real, np.bool_))


def _own(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _as_kept(mine, theirs):
    """`theirs` as a number where it is an array without axes and `mine` is no array."""
    lone = isinstance(theirs, np.ndarray) and theirs.ndim == 0 and not isinstance(mine, np.ndarray)
    return theirs.item() if lone else theirs


def _shown(value):
    return f"an array {value.shape}" if isinstance(value, np.ndarray) else repr(value)


def _require_alike(name, mine, theirs):
    """Raise unless both are like arrays or both numbers; None is an array that is made later."""
    if not is_memory(theirs):
        raise ValueError(f"state: {name} is of type {type(theirs).__name__}: {KINDS}")
    is_array = isinstance(theirs, np.ndarray)
    is_number = isinstance(theirs, (numbers.Real, np.bool_))
    made_later = mine is None and (theirs is None or is_array or is_number)
    if not isinstance(mine, np.ndarray):
        if not (is_number or made_later):
            raise ValueError(f"state: {name} must be a number, got {_shown(theirs)}")
    elif not is_array:
        raise ValueError(f"state: {name} must be an array, got {shown(theirs)}")
    elif mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        raise ValueError(f"state: {name} has shape {theirs.shape} and dtype {theirs.dtype}, "
                         f"expected {mine.shape} and {mine.dtype}")
    if is_array and theirs.dtype.kind in "fc" and not np.isfinite(theirs).all():
        raise ValueError(f"state: {name} holds NaN or infinite entries")
