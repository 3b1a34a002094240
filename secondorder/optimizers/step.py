"""How a step is taken: new parameters and new memory beside the old, one test, all assigned at
the end.

A method's memory are the attributes that `state_names` lists, and the memory of the method that it
wraps (`base`). A formula replaces its memory and never writes into it, so that what was there can
stay until the step has come to its end.
"""

import functools
import inspect
import math
from collections.abc import Mapping
from numbers import Real

import numpy as np

from ..checks import all_finite, instance_of, like, place_not_finite, shown, whole_number
from ..nets import Evaluation
from .norms import SQUARES_LOST, norm

NORMS = "gradient_norm", "direction_norm", "step_norm"


def wrapped(method):
    """The method, the one that it wraps, and so on."""
    found = [method]
    while found[-1].base is not None:
        found.append(found[-1].base)
    return found


# -- the step --------------------------------------------------------------------------------------


def taken(method, evaluation):
    """Take a step from an evaluation; returns what the step reports.

    Whatever ends it early leaves parameters, memory and counts as they were.
    """
    theta, methods, norms = method.network.theta, wrapped(method), None
    before, straight = [(vars(one), dict(vars(one))) for one in methods], method._straight()
    start = None if straight else theta.copy()  # a `change` may try other parameters
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            rate = method.learning_rate
            info = {"loss": evaluation.loss, "objective": evaluation.loss + method.penalty()}
            if straight and takes_step(type(method).direction):
                moved, norms = in_one_pass(method, evaluation, rate)
                if norms is None:
                    put_back(before)
            if norms is None:
                moved, norms = one_by_one(method, evaluation, rate, straight)
            info |= {**dict(zip(NORMS, norms)), "learning_rate": rate, **reports(method)}
        theta[...] = moved
        before.clear()
        for one in methods:
            one.steps += 1
        return info
    finally:
        if before and start is not None:
            theta[...] = start
        put_back(before)


def put_back(before):
    """Make attributes what they were; after a step that has come to its end `before` is empty."""
    for attributes, kept in before:
        attributes.update(kept)
        for name in attributes.keys() - kept.keys():
            del attributes[name]


class Along:
    """keep theta + rate direction, as kernels give it; the direction alone is `ALONE`."""

    def __init__(self, keep, rate):
        self.keep, self.rate, self.sums = keep, rate, None

    def run(self, kernel, method, evaluation, own=(), memory=(), given=()):
        """New arrays: keep theta + rate direction, and the successors of the arrays `memory`. What
        else the kernel tells follows. `own` are the method's numbers, `given` other arrays that it
        takes; see :mod:`secondorder.kernels.updates`.
        """
        if self is ALONE:
            method.gradient(evaluation)  # which must be finite, and the evaluation the method's own
        theta = method.network.theta
        new = [np.empty_like(theta) for _ in range(1 + len(memory))]
        numbers = map(theta.dtype.type, (method.l2, self.keep, self.rate, *own))
        told = kernel(evaluation.gradient_sum, theta, evaluation.share, *numbers, *given, *memory,
                      *new)
        self.sums = told[:4]
        return [*new, *told[4:]]


ALONE = Along(0, 1)


@functools.lru_cache(maxsize=256)
def takes_step(direction):
    """Whether a formula is one with a kernel, ``direction(self, evaluation, step=ALONE)``."""
    return any(p.default is ALONE for p in inspect.signature(direction).parameters.values())


def in_one_pass(method, evaluation, rate):
    """New parameters and `NORMS` of a method whose `direction` has a kernel; two times None where a
    sum is not finite, or so small that squares were lost.
    """
    method.details, step = {}, Along(1, rate)
    moved = method.direction(evaluation, step)
    gg, dd, mm, size = step.sums
    if not (math.isfinite(gg + dd + mm + size) and min(gg, dd) > SQUARES_LOST):
        return None, None
    return moved, (math.sqrt(gg), math.sqrt(dd), rate * math.sqrt(dd))


def one_by_one(method, evaluation, rate, straight):
    """The same of any method: direction and change, and one test of where they lead."""
    for one in wrapped(method):
        one.details = {}
    direction = proposed(method, evaluation)
    # after the direction, which may have asked for `deltas`: one way back then makes both
    gradient_norm, direction_norm = method._gradient_norm(evaluation), norm(direction)
    change = method.change(evaluation, direction, rate)
    step_norm = rate * direction_norm if straight else norm(change)
    if method.base is not None:
        method.base.observe(evaluation, change)
    moved = method.network.theta + change
    if not all_finite(moved):
        what = "the new parameters" if np.isfinite(direction).all() else "the direction"
        raise trouble(method, f"{what} of {place_not_finite(moved, method.network)}, would not be "
                      "finite")
    return moved, (gradient_norm, direction_norm, step_norm)


def proposed(method, evaluation):
    """The direction: like the parameters, with memory that is finite after it."""
    direction = method.direction(evaluation)
    for name in method.state_names:
        value = getattr(method, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not all_finite(value):
            raise trouble(method, f"{name} would overflow {value.dtype}, or is not a number")
    return like(direction, method.network.theta, f"the direction of {type(method).__name__}")


def reports(method):
    """The method's own numbers, and those of the method that it wraps under that one's name."""
    if method.base is None:
        return method.details
    return method.details | {type(method.base).__name__: reports(method.base)}


def trouble(method, what):
    """The FloatingPointError of a step that is not taken."""
    return FloatingPointError(f"{type(method).__name__}, step {method.steps + 1}: {what}; "
                              "parameters and memory are left as they were")


def own_evaluation(method, evaluation):
    """Raise unless an evaluation is of the method's network, now."""
    if not isinstance(evaluation, Evaluation):
        raise TypeError("evaluation must be an Evaluation of this optimizer's network "
                        f"(optimizer.evaluate(x, y)), got {shown(evaluation)}")
    if evaluation.network is not method.network:
        raise ValueError(f"{type(method).__name__}: the evaluation belongs to another network")
    evaluation.require_current()


# -- memory, saved and restored --------------------------------------------------------------------


def state_of(method):
    """What `Optimizer.state_dict` returns."""
    state = {"method": type(method).__name__, "steps": method.steps}
    state |= {name: _copied(getattr(method, name)) for name in method.state_names}
    return state if method.base is None else state | {"base": method.base.state_dict()}


def accepted(method, state):
    """The state, checked; and the base's."""
    check_state(method, instance_of(state, Mapping, "state"))
    if method.base is not None:
        accepted(method.base, state["base"])
    return state


def take_over(method, state):
    """Make an accepted state the method's own."""
    for one in wrapped(method):
        for name in one.state_names:
            setattr(one, name, _copied(state[name]))
        one.steps, state = int(state["steps"]), state.get("base")


def check_state(method, state):
    """Raise unless the state fits the method."""
    expected = {"method", "steps", *method.state_names, *["base"] * (method.base is not None)}
    if set(state) != expected:
        raise ValueError(f"state: expected the entries {sorted(expected)}, got "
                         f"{sorted(map(str, state))}")
    if state["method"] != type(method).__name__:
        raise ValueError(f"state: belongs to {state['method']}, not to {type(method).__name__}")
    whole_number(state["steps"], "state: steps", 0)
    for name in method.state_names:
        _require_alike(name, getattr(method, name), state[name])


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _require_alike(name, mine, theirs):
    """Raise unless both are like arrays or both numbers; None is an array that is made later."""
    is_array, is_number = isinstance(theirs, np.ndarray), isinstance(theirs, (Real, np.bool_))
    if isinstance(mine, np.ndarray):
        alike = is_array and (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
    else:
        alike = is_number or mine is None and (is_array or theirs is None)
    if not alike:
        raise ValueError(f"state: {name} must be like {shown(mine)}, got {shown(theirs)}; memory "
                         "is an array, a number or None")
    if is_array and theirs.dtype.kind in "fc" and not np.isfinite(theirs).all():
        raise ValueError(f"state: {name} holds NaN or infinite entries")
