"""A user's function in the place of one of the edition's, inside the paper's own check."""

import copy
import inspect
import sys
import threading
import traceback
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

from ..checks import shown, whole_number
from ..ledger import registry
from ..ledger.claims import Case
from ..ledger.labels import asked_for, heading
from ..ledger.mismatch import bound, describe_mismatch, pattern, shape_hint
from ..ledger.registry import qualified_name, short_name, underlying
from ..ledger.runner import run_equation
from ..ledger.sabotage import replaced

_REPLACING = threading.Lock()  # one function at a time has another one's place
_KEPT = 30  # calls of each case that are remembered, for hints
_SMALL = 6  # entries of an argument that is shown
_FAILURES = 3  # cases that fail before no more are drawn: a hint needs more than one


@dataclass(frozen=True)
class Grade:
    """What became of a function in the place of an implementation.

    Attributes
    ----------
    ok : bool
        Whether the paper's check passes with it for every seed.
    paper, label : str
    name : str
        The implementation whose place it took.
    seeds, claims : int
        How many cases were drawn, and how many claims were checked in each.
    message : str
        What is wrong, with the worst entries and their ratios; "" if nothing is.
    hint : str
        Where the answer is a known mistake: what to look at.
    calls : list of (tuple, dict, object)
        Arguments and results of some calls.
    wraps : bool
        Whether the function itself, or its file, calls the implementation whose place it took.
    """

    ok: bool
    paper: str
    label: str
    name: str
    seeds: int
    claims: int
    message: str = ""
    hint: str = ""
    calls: list = field(default_factory=list, repr=False, compare=False)
    wraps: bool = False

    def __str__(self):
        place = f"[{self.paper}] {heading((self.label,))}, {self.name}"
        if self.ok:
            return f"right: {place}: {self.claims} claims on {self.seeds} random cases"
        lines = [f"wrong: {place}", *("  " + line for line in self.message.splitlines())]
        return "\n".join(lines + ([f"  hint: {self.hint}"] if self.hint else []))


def equation(paper, label, function, implementation=None, seeds=5, hints=()):
    """Run a paper's own check with your function in the place of an implementation.

    Parameters
    ----------
    paper, label : str
        As ``secondorder show`` takes them.
    function : callable
        Takes what the implementation takes, and returns what it returns.
    implementation : str, optional
        Which one, by its name (its last words are enough), where the check names several; default:
        the first.
    seeds : int
        Random cases 0, 1, ...
    hints : sequence of (callable, str)
        Known mistakes and what to say of them: given where the function computes what a mistake
        does.

    Returns
    -------
    Grade

    Raises
    ------
    TypeError
        If `function` is not callable, or the implementation is no plain function.
    ValueError
        Unknown paper, label or implementation, with what there is.

    Notes
    -----
    While it runs, the implementation is replaced for the whole process.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> def block(W, H, h_bar, slope, curvature):
    ...     below = slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]
    ...     return below + (curvature * h_bar)[:, :, None] * np.eye(W.shape[1])
    >>> so.verify.equation("ea-cg", "4b", block).ok
    True
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {shown(function)}")
    entry = registry.REGISTRY.select(paper, label)[0]
    target = _target(entry, implementation)
    name, calls = short_name(entry.paper, qualified_name(target)), []
    seeds = whole_number(seeds, "seeds", 1)
    message, hint, claims = "", "", 0
    recorded = _Recorded(function, calls)
    with _REPLACING, replaced(target, recorded):
        failures = 0
        for seed in range(seeds):
            recorded.most = len(calls) + _KEPT
            result = run_equation(entry, seed)
            claims = max(claims, sum(not isinstance(claim, Case) for claim in result.claims))
            message = message or ("" if result.ok else recorded.raised or _first_line(result))
            failures += not result.ok
            if recorded.blank or failures == _FAILURES:
                break
    if recorded.blank:
        message = "the blank (...) is still open"
    elif recorded.raised and message:
        message = recorded.raised  # what other calls gave is no hint at why one raises
    elif message:
        message = "\n".join([message, *beside(target, calls)])
        hint = known_mistake(calls, hints)
    elif not calls:
        message = f"the check of {label} never called {name}"
    asked = asked_for(label, entry.labels) or entry.labels
    return Grade(not message, entry.paper, asked[0], name, seeds, claims, message, hint,
                 calls, recorded.wraps)


def _first_line(result):
    """The first claim that fails, in one line, and how many there are."""
    failed = [claim for claim in result.claims if not isinstance(claim, Case) and not claim.ok]
    if not failed:
        return result.message.splitlines()[0]
    more = f" (and {len(failed) - 1} more claims)" if len(failed) > 1 else ""
    return f"the paper's check fails: {failed[0].outcome()}{more}"


def _target(entry, implementation):
    """The function whose place is taken."""
    named = {short_name(entry.paper, qualified_name(value)): underlying(value)
             for value in entry.implements}
    plain = {name: value for name, value in named.items()
             if inspect.isfunction(value) and not value.__code__.co_freevars}
    if implementation is None:
        if not plain:
            raise TypeError(f"[{entry.paper}] {entry.labels[0]} names no plain function that could "
                            f"be replaced, but {', '.join(named) or 'nothing'}")
        return next(iter(plain.values()))
    for name, value in plain.items():
        if name == implementation or name.endswith(f".{implementation}"):
            return value
    raise ValueError(f"unknown implementation {implementation!r} of [{entry.paper}] "
                     f"{entry.labels[0]}: choose from {', '.join(plain)}")


class _Recorded:
    """The function, which remembers calls; `original` answers where it calls the edition's own."""

    def __init__(self, function, calls):
        self.function, self.calls = function, calls
        self.most, self.raised, self.blank, self.wraps = _KEPT, "", False, False
        self._running = ContextVar("within a call of the function", default=False)

    def __call__(self, original, *arguments, **named):
        if self._running.get():  # the edition calls it, too: who stands behind the detour tells
            caller = sys._getframe(2).f_globals
            self.wraps |= caller is getattr(self.function, "__globals__", None)
            return original(*arguments, **named)
        token = self._running.set(True)
        try:
            return self._call(arguments, named)
        finally:
            self._running.reset(token)

    def _call(self, arguments, named):
        before = _copied((arguments, named)) if len(self.calls) < self.most else None
        try:
            result = self.function(*arguments, **named)
        except Exception as problem:
            self.raised = self.raised or _own_line(problem, self.function)
            raise
        if before is not None:
            self.calls.append((*before, _copied(result)))
        self.raised = self.raised or _no_result(result)
        if _has_blank(result):
            self.blank = True
            raise ValueError("the blank (...) is still open")
        return result


def _own_line(problem, function):
    """An exception of the function: what, and in which of its lines."""
    own = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__)
             if frame.filename == own]
    where = f" in line {lines[-1]}" if lines else ""
    return f"your function raises {type(problem).__name__}{where}: {problem}"[:400]


def _no_result(result):
    """What is wrong with a result that can be none; "" for any other."""
    if inspect.isgenerator(result) or inspect.iscoroutine(result):
        return "your function returns no numbers: it has a yield, or is async"
    return "your function returns None: is its return missing?" if result is None else ""


def _has_blank(result):
    """Whether something that should have been filled in is `...` still."""
    return result is Ellipsis or (isinstance(result, (tuple, list))
                                  and any(part is Ellipsis for part in result))


def _copied(value):
    try:
        return copy.deepcopy(value)
    except Exception:  # what cannot be copied is kept as it is: only hints look at it
        return value


# -- a wrong answer beside the right one -----------------------------------------------------------

def beside(target, calls):
    """The call whose result differs most from the edition's own, and what all have in common."""
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
    return [f"called with {', '.join(f'{name}={_shown(value)}' for name, value in given.items())}"]


def _shown(value):
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ").replace("\n", "")
    return f"{value:.9g}" if isinstance(value, (float, np.floating)) else repr(value)


def _parts(result, expected):
    """(name, yours, right) of a result, or of each part of it where it is a tuple."""
    several = isinstance(expected, (tuple, list)) and isinstance(result, (tuple, list))
    if not several or len(result) != len(expected):
        return [("your result", result, expected)]
    return [(f"part {place} of your result", mine, right)
            for place, (mine, right) in enumerate(zip(result, expected), 1)]


def _real(value):
    """An array of real numbers; None for what is none."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None


def _arrays(parts):
    """(yours, right) of the parts that are arrays of numbers; None where one of yours is none."""
    pairs = [(_real(mine), _real(right)) for _, mine, right in parts
             if not (mine is right or close(right, mine) and not np.size(right))]
    return None if any(side is None for pair in pairs for side in pair) else pairs


def _difference(what, mine, right):
    """How much two results differ, infinitely where one is no such array, and that in words."""
    if mine is right or close(right, mine):
        return 0.0, []
    if isinstance(right, (tuple, list)):
        return np.inf, [f"{what} should be {len(right)} things, one after the other"]
    left, other = _real(mine), _real(right)
    if left is None or other is None:
        return np.inf, [f"{what} is {type(mine).__name__}, expected {type(right).__name__}"]
    if left.shape != other.shape:
        told = shape_hint(left, other, ("it", "what is right"))
        return np.inf, [f"{what} has shape {left.shape}, expected {other.shape}"
                        + (f": {told}" if told else "")]
    with np.errstate(all="ignore"):
        size = np.max(np.abs(left - other), initial=0.0) / max(np.max(np.abs(other), initial=0.0),
                                                               np.finfo(float).tiny)
    lines = describe_mismatch(left, other, names=(what.replace("your result", "yours"), "right"))
    # what one call suggests is left to `pattern`, which looks at all
    return (size if np.isfinite(size) else np.inf), [
        line for line in lines.splitlines() if not line.startswith("  hint: ")
        or "not finite" in line]


def known_mistake(calls, hints):
    """What to say of the first known mistake that gives the same results on all calls."""
    for wrong, text in hints:
        if calls and all(_gives(wrong, *call) for call in calls):
            return text
    return ""


def _gives(wrong, arguments, named, result):
    try:
        return close(wrong(*arguments, **named), result)
    except Exception:  # a mistake may fail on some inputs: it is not this one
        return False


def close(a, b):
    """Whether two results are the same but for rounding, part by part."""
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(close, a, b))
    a, b = _real(a), _real(b)
    return (a is not None and b is not None and a.shape == b.shape
            and bool(np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)))
