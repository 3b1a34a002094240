"""Sabotage: does a check notice when what it says to be implemented is wrong?

For every implementation that an equation names, what it returns is made wrong: one output at a
time, by 0.1 %, in its largest entry, and in its sign.  The check must fail each time for at least
one output, and for every output that the label states (`Stated`).  A function that returns nothing
is made to do nothing; a truth value is turned round.

The tests spoil the rooms of the package with it, ``secondorder edition test`` a paper of one's own.
"""

import contextlib
import inspect
import signal
import threading
import types
import warnings
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from . import registry
from .registry import qualified_name, short_name, underlying
from .runner import run_equation
from .spoiling import NOTHING, made_wrong, modes_of, parts, with_part

_SECONDS = 60  # a check that takes longer with a wrong implementation has noticed something


@dataclass(frozen=True)
class Unnoticed:
    """One way of being wrong that the check of a label lets through."""

    paper: str
    label: str
    implementation: str
    output: str
    mode: str

    def __str__(self):
        output = f" output {self.output}" if self.output else ""
        return f"{self.paper} {self.label}: {self.implementation}{output}: {self.mode}"


# -- replacing a function, whoever holds it --------------------------------------------------------

@contextlib.contextmanager
def replaced(implementation, substitute):
    """Meanwhile calls of `implementation` go to ``substitute(original, *arguments, **named)``.

    The function keeps its identity and gets other code, so that every reference to it is reached:
    names imported elsewhere, methods, entries of tables.  A compiled function cannot have other
    code: of it is told that it is never called.
    """
    function = underlying(implementation)
    before = function.__code__, function.__defaults__, function.__kwdefaults__
    original = types.FunctionType(function.__code__, function.__globals__, function.__name__,
                                  function.__defaults__, function.__closure__)
    original.__kwdefaults__ = function.__kwdefaults__
    had_signature, signature = "__signature__" in vars(function), inspect.signature(function)
    function.__globals__["_sabotaged"] = partial(substitute, original)
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = _detour(function.__code__.co_freevars)
    function.__signature__ = signature
    try:
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = before
        del function.__globals__["_sabotaged"]
        if not had_signature:
            del function.__signature__


def _detour(free_names):
    """Code that calls the global `_sabotaged`, with free variables of these names."""
    names = ", ".join(free_names)
    lines = [f"def outer({names}):", "    def detour(*given, **named):",
             f"        if False: ({names})" if names else "        pass",
             "        return _sabotaged(*given, **named)", "    return detour"]
    names_there = {}
    exec("\n".join(lines), names_there)
    return names_there["outer"](*[None] * len(free_names)).__code__


def functions_of(implementation):
    """The function itself, or the methods that a class defines."""
    if not inspect.isclass(implementation):
        return [implementation]
    wrappers = (types.FunctionType, staticmethod, classmethod, property, cached_property)
    methods = [value for name, value in vars(implementation).items()
             if isinstance(value, wrappers) and (not name.startswith("__") or name == "__call__")]
    return [getattr(value, "func", None) or underlying(value) for value in methods]


# -- what a check notices --------------------------------------------------------------------------

def fails(entry, function, seed, output=None, mode=None, modes_seen=None):
    """Whether the check fails when that output of the function is wrong in that way.

    Without `mode` nothing is made wrong; `modes_seen` then collects the outputs with their modes.
    """
    def substitute(original, *given, **named):
        if mode == NOTHING:
            return None
        try:
            value = original(*given, **named)
        except Exception:
            if mode is None:  # a refusal: what if nothing were refused?
                modes_seen.setdefault("", set()).add(NOTHING)
            raise
        if mode is None:
            for name, part in parts(value).items():
                modes = [NOTHING] if value is None else modes_of(part)
                modes_seen.setdefault(name, set()).update(modes)
            return value
        part = parts(value).get(output)
        return with_part(value, output, made_wrong(part, mode)) if mode in modes_of(part) else value

    with replaced(function, substitute), _limited(_SECONDS), warnings.catch_warnings(), \
            np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return not run_equation(entry, seed).ok


@contextlib.contextmanager
def _limited(seconds):
    """A check that does not end raises TimeoutError, which `run_equation` reports as a failure."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(number, frame):
        raise TimeoutError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def unnoticed(entry, seed=0, every=False):
    """All that the check of one equation lets through and should not, as a list of `Unnoticed`.

    Its mode is "never called" for an implementation that the check does not reach, and "fails
    untouched" where the check fails although nothing was made wrong. With `every`, also other
    outputs than those that the label states.
    """
    let_through = []
    for implementation, stated in zip(entry.implements, entry.stated):
        name = short_name(entry.paper, qualified_name(implementation))
        gaps = _gaps(entry, implementation, stated, seed, every)
        let_through += [Unnoticed(entry.paper, entry.labels[0], name, *gap) for gap in gaps]
    return let_through


def _gaps(entry, implementation, stated, seed, every):
    """Pairs of output and mode; see `unnoticed`."""
    outputs = {}  # name -> function, name within what it returns, modes
    for function in functions_of(implementation):
        modes_seen = {}
        if fails(entry, function, seed, modes_seen=modes_seen):
            return [("", "fails untouched")]
        prefix = f"{underlying(function).__name__}." if inspect.isclass(implementation) else ""
        outputs |= {(prefix + part).rstrip("."): (function, part, sorted(modes))
                    for part, modes in modes_seen.items() if modes}
    if not outputs:
        return [("", "never called, or nothing to make wrong")]

    def gaps_of(name):
        function, part, modes = outputs[name]
        return [(name, mode) for mode in modes if not fails(entry, function, seed, part, mode)]

    gaps = [(name, "not an output, or zero") for name in stated if name not in outputs]
    if stated or every:
        return gaps + [gap for name in outputs if every or name in stated for gap in gaps_of(name)]
    by_output = []
    for name in outputs:  # one output has to be noticed in every way
        by_output.append(gaps_of(name))
        if not by_output[-1]:
            return []
    return min(by_output, key=len)


def by_label(paper, label, seed=0):
    """`unnoticed` for one label, by name: for worker processes."""
    return unnoticed(registry.REGISTRY.select(paper, label)[0], seed)
