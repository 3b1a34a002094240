"""A wrong answer beside the right one: the call in which it differs most, known mistakes."""

import copy

import numpy as np

from ..ledger.mismatch import describe_mismatch
from . import patterns

_SMALL = 6  # entries of an argument that is shown


def beside(target, calls):
    """Where the result that differs most from the edition's own differs from it, in which call, and
    what all calls have in common.

    Not the first: two sums of one array in float32 differ too, and say nothing.
    """
    worst, lines, told, same = 0.0, [], [], 0
    for arguments, named, result in calls:
        try:
            expected = target(*copy.deepcopy(arguments), **copy.deepcopy(named))
        except Exception:  # what a wrong answer made of the case is no case for the right one
            continue
        parts, largest = _parts(result, expected), worst
        for what, mine, right in parts:
            size, text = _difference(what, mine, right)
            if size > worst:
                worst, lines = size, text
        if worst > largest:
            lines = [*_call(target, arguments, named), *lines]
        same += all(close(right, mine) for _, mine, right in parts)
        told.append((arguments, named, _arrays(parts)))
    if same and lines:
        lines.append(f"{same} of {len(told)} calls are right")
    together = "" if any(pairs is None for *_, pairs in told) else patterns.pattern(target, told)
    return lines + ([f"hint: {together}"] if together and lines else [])


def _call(target, arguments, named):
    """A call in one line, where its arguments are numbers or a few of them."""
    given = patterns.bound(target, arguments, named)
    if not given or not all(isinstance(value, (int, float, str, type(None), np.number)) or (
            isinstance(value, np.ndarray) and value.size <= _SMALL) for value in given.values()):
        return []
    texts = [f"{name}={_shown(value)}" for name, value in given.items()]
    return [f"called with {', '.join(texts)}"]


def _shown(value):
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ").replace("\n", "")
    return f"{value:.9g}" if isinstance(value, (float, np.floating)) else repr(value)


def _arrays(parts):
    """(yours, right) of the parts that are arrays of numbers; None where one of yours is none."""
    pairs = []
    for _, mine, right in parts:
        if mine is right or close(right, mine) and not np.size(right):
            continue
        try:
            pairs.append((np.asarray(mine, dtype=float), np.asarray(right, dtype=float)))
        except (TypeError, ValueError):
            return None
    return pairs


def _parts(result, expected):
    """(name, yours, right) of a result, or of each part of it where it is a tuple."""
    several = isinstance(expected, (tuple, list)) and isinstance(result, (tuple, list))
    if not several or len(result) != len(expected):
        return [("your result", result, expected)]
    return [(f"part {place} of your result", mine, right)
            for place, (mine, right) in enumerate(zip(result, expected), 1)]


def _difference(what, mine, right):
    """How much two results differ, infinitely where one is no such array, and that in words."""
    if mine is right or close(right, mine):
        return 0.0, []
    if isinstance(right, (tuple, list)):
        return np.inf, [f"{what} should be {len(right)} things, one after the other"]
    try:
        left, right_ = np.asarray(mine, dtype=float), np.asarray(right, dtype=float)
    except (TypeError, ValueError):
        return np.inf, [f"{what} is {type(mine).__name__}, expected {type(right).__name__}"]
    if left.shape != right_.shape:
        turned = left.ndim == 2 and left.T.shape == right_.shape and close(left.T, right_)
        return np.inf, [f"{what} has shape {left.shape}, expected {right_.shape}"
                        + (": it is transposed" if turned else "")]
    with np.errstate(all="ignore"):
        size = np.max(np.abs(left - right_), initial=0.0) / max(np.max(np.abs(right_), initial=0.0),
                                                                np.finfo(float).tiny)
    lines = describe_mismatch(left, right_, names=(what.replace("your result", "yours"), "right"))
    # what one call suggests is left to `patterns`, which looks at all
    return (size if np.isfinite(size) else np.inf), [
        line for line in lines.splitlines() if not line.startswith("  hint: ")
        or "not finite" in line]


def known_mistake(calls, hints):
    """What to say of the first known mistake that gives the same results on all calls."""
    for wrong, text in hints:
        if calls and all(_same(wrong, *call) for call in calls):
            return text
    return ""


def _same(wrong, arguments, named, result):
    try:
        expected = wrong(*arguments, **named)
    except Exception:  # a mistake may fail on some inputs: it is not this one
        return False
    return close(expected, result)


def close(a, b):
    if isinstance(a, (tuple, list)):
        return (isinstance(b, (tuple, list)) and len(a) == len(b)
                and all(map(close, a, b)))
    try:
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    except (TypeError, ValueError):
        return False
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True))
