"""How a step is taken: the literal form around any formula, or the compiled form in its place."""

from functools import partial
from operator import setitem

import numpy as np

from ..compiled import forms
from . import guards, memory
from .directions import proposed
from .fused import Undecided, twin
from .norms import norm


def on_batch(method, x, y):
    """Evaluate a batch and prepare a step from there."""
    return prepared(method, method._own_evaluation(x, y))


def prepared(method, evaluation):
    """What a step reports, and the calls that settle it; see `memory`."""
    one = method
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
            memory.put_back(method)
            moved, info = moved_by_formula(method, evaluation, rate)
    info |= method.details if method.base is None else _reports(method)
    return info, [partial(setitem, evaluation.network.theta, ..., moved), *method._settling(info)]


def moved_by_formula(method, evaluation, rate):
    """The new parameters theta + change, in an array of the method's own, and what every step
    reports.
    """
    memory.keep_theta(method, method._array("start"))  # a `change` may try other parameters
    info = {"loss": evaluation.loss, "objective": evaluation.loss + method.penalty(),
            "gradient_norm": method._gradient_norm(evaluation)}
    direction = proposed(method, evaluation)
    info["direction_norm"] = norm(direction)
    change = method.change(evaluation, direction, rate)
    if method.base is not None:
        method.base.observe(evaluation, change)
    moved = np.add(method.network.theta, change, out=method._array("moved"))
    guards.finite_step(method, moved, direction)
    return moved, info | {"step_norm": norm(change), "learning_rate": rate}


def _reports(method):
    """The method's own numbers, and those of the method that it wraps under that one's name."""
    if method.base is None:
        return method.details
    return method.details | {type(method.base).__name__: _reports(method.base)}
