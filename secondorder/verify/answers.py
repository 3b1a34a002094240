"""A wrong answer beside the right one: the call in which it differs most, known mistakes, and what
the results of all calls have in common.
"""

import copy
import inspect

import numpy as np

from ..ledger.mismatch import common_ratio, describe_mismatch, hint, meaning, shape_hint

_RELATIVE = 1e-7  # of the largest entry: what is no difference for a hint
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
    together = "" if any(pairs is None for *_, pairs in told) else pattern(target, told)
    return lines + ([f"hint: {together}"] if together and lines else [])


def _call(target, arguments, named):
    """A call in one line, where its arguments are numbers or a few of them."""
    given = bound(target, arguments, named)
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
        told = shape_hint(left, right_, ("it", "what is right"))
        return np.inf, [f"{what} has shape {left.shape}, expected {right_.shape}"
                        + (f": {told}" if told else "")]
    with np.errstate(all="ignore"):
        size = np.max(np.abs(left - right_), initial=0.0) / max(np.max(np.abs(right_), initial=0.0),
                                                                np.finfo(float).tiny)
    lines = describe_mismatch(left, right_, names=(what.replace("your result", "yours"), "right"))
    # what one call suggests is left to `pattern`, which looks at all
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


# -- what all calls have in common -----------------------------------------------------------------

def pattern(target, calls):
    """What the results of all calls say about the mistake, in words; "" where nothing.

    A call is (arguments, named, pairs), with (yours, right) for each array of the result. `target`
    is what is right: its names of arguments are used.
    """
    names = "yours", "what is right"
    pairs = [pair for _, _, pairs in calls for pair in pairs if pair[1].size]
    if not all(np.isfinite(side).all() for pair in pairs for side in pair):
        return ""
    shapes = {shape_hint(mine, right, names) for mine, right in pairs if mine.shape != right.shape}
    if shapes:
        return shapes.pop() if len(shapes) == 1 else ""
    factors = [_factor(pairs) for _, _, pairs in calls]
    if None not in factors and np.isfinite(factors).any():
        return _of_factors(target, [(*call, factor) for call, factor in zip(calls, factors)
                                    if np.isfinite(factor)])
    return hint([(mine, right, _slack(right)) for mine, right in pairs], names)


def _slack(right):
    """What is no difference, entry by entry."""
    return np.full(right.shape, _RELATIVE * np.abs(right).max(initial=0.0) + 1e-300)


def _factor(pairs):
    """The factor yours / right of one call: None where it has none, NaN for results of zero."""
    mine, right = (np.concatenate([np.ravel(pair[side]) for pair in pairs] or [np.zeros(0)])
                   for side in (0, 1))
    if not right.any():
        return None if mine.any() else np.nan
    return common_ratio(mine, right, _slack(right))


def _of_factors(target, calls):
    """A factor in words: one that all calls share, or one that an argument explains."""
    factors = np.array([call[-1] for call in calls])
    if np.all(np.abs(factors) < _RELATIVE):
        return "yours is zero wherever something should be: a term is missing"
    explained = _explained(target, calls, factors)
    if np.ptp(factors) <= 1e-6 * np.abs(factors).max():
        if explained.startswith(("a mean", "a sum")) or abs(factors[0] - 1) < 1e-6:
            return explained
        return (f"the ratio is {factors[0]:.6g} in all cases: "
                f"{meaning(factors[0]) or 'a constant factor is wrong'}")
    if explained or np.any(np.abs(factors - 1) < 1e-6):  # right in some calls: it is no factor
        return explained
    return ("the factor is not the same in all cases: from "
            f"{factors.min():.4g} to {factors.max():.4g}")


def _explained(target, calls, factors):
    """Which number among the arguments the factors are; "" for none.

    A length explains a factor only where it tells a mean from a sum.
    """
    tables = [_numbers(target, arguments, named) for arguments, named, *_ in calls]
    names = set.intersection(*map(set, tables)) if tables else set()
    for name in sorted(names, key=lambda name: (name.startswith("the length"), name)):
        values = np.array([table[name] for table in tables], dtype=float)
        if name.startswith("the length"):
            if (values > 1).any() and np.allclose(factors * values, 1, rtol=1e-6):
                return f"a mean where a sum is meant: the factor is 1 over {name}"
            if (values > 1).any() and np.allclose(factors, values, rtol=1e-6):
                return f"a sum where a mean is meant: the factor is {name}"
            continue
        if np.ptp(values) == 0:
            continue
        with np.errstate(all="ignore"):
            forms = {f"{name}": values, f"1 - {name}": 1 - values, f"1 / {name}": 1 / values,
                     f"1 / (1 - {name})": 1 / (1 - values), f"sqrt({name})": np.sqrt(values),
                     f"{name}^2": values**2}
        for text, form in forms.items():
            for sign, mark in ((1, ""), (-1, "-")):
                if np.isfinite(form).all() and np.allclose(factors, sign * form, rtol=1e-6):
                    form = f"({text})" if mark and " " in text else text
                    return f"yours is {mark}{form} times what is right, in all cases"
    return ""


def _numbers(target, arguments, named):
    """Numbers among the arguments, by name, and lengths of arrays."""
    numbers = {}
    for name, value in bound(target, arguments, named).items():
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            numbers[name] = float(value)
        elif isinstance(value, np.ndarray):
            for axis, length in enumerate(value.shape):
                numbers[f"the length of {name}" if value.ndim == 1 else
                      f"the length of axis {axis} of {name}"] = length
        elif isinstance(getattr(value, "samples", None), int):
            numbers[f"the length of the batch ({name}.samples)"] = value.samples
    return numbers


def bound(target, arguments, named):
    """The arguments of a call by name; what has no name by its place."""
    try:
        return dict(inspect.signature(target).bind(*arguments, **named).arguments)
    except (TypeError, ValueError):
        return {f"argument {place}": value for place, value in enumerate(arguments, 1)} | named
