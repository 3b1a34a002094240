"""Sabotage: does a check notice when what it says to be implemented is wrong?

For every implementation that an equation names, what it returns is made wrong: one output at a
time, by 0.1 %, in its largest entry, and in its sign.  The check must fail each time for at least
one output, and for every output that the label states (`registry.Stated`).  A function that returns
nothing is made to do nothing; a truth value is turned round.

From the command line in ``tests/``, while one writes a room::

    python -m harness.sabotage low-rank
    python -m harness.sabotage low-rank 12 --all
"""

import argparse
import contextlib
import copy
import inspect
import signal
import sys
import threading
import tomllib
import types
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from secondorder.ledger import registry
from secondorder.ledger.equations import run_equation
from secondorder.ledger.registry import qualified_name, underlying
from secondorder.ledger.report import short_name

PERCENT, LARGEST, SIGN = "0.1 %", "largest entry", "sign"
NOTHING, NEGATED, NEXT = "does nothing", "negated", "plus one"

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


# -- making a value wrong --------------------------------------------------------------------------

def parts(value):
    """The outputs of a returned value by name; a single array, number or list has no name."""
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or map(str, range(len(value)))
        return dict(zip(names, value))
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    if _is_plain_object(value):
        return {name: item for name, item in vars(value).items() if leaves(item)}
    return {"": value}


def _is_plain_object(value):
    return type(value).__module__.startswith("secondorder.") and hasattr(value, "__dict__")


def with_part(value, name, part):
    """A copy of a returned value in which the output of that name is another."""
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or [str(k) for k in range(len(value))]
        items = [part if key == name else item for key, item in zip(names, value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {key: part if str(key) == name else item for key, item in value.items()}
    if _is_plain_object(value):
        changed = copy.copy(value)
        object.__setattr__(changed, name, part)
        return changed
    return part


def leaves(value):
    """The numbers and numeric arrays in nested tuples, lists and dicts."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, (bool, np.bool_, str, bytes)):
        return []
    return [value] if isinstance(value,
                                 (int, float, complex, np.number)) or _is_numeric(value) else []


def _is_numeric(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufc" and value.size > 0


def on_leaves(value, change):
    """A copy of nested tuples, lists and dicts with every leaf changed."""
    if isinstance(value, dict):
        return {key: on_leaves(item, change) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [on_leaves(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return change(value) if leaves(value) else value


def made_wrong(value, mode):
    """A copy of one output that is wrong in the given way."""
    if mode == NEGATED:
        return not value
    if mode == NEXT:
        return value + 1
    if mode == SIGN:
        return on_leaves(value, lambda leaf: -leaf)
    if mode == PERCENT:
        return on_leaves(value, lambda leaf: leaf * type_of(leaf)(1.001))
    largest = max(np.abs(leaf).max() for leaf in leaves(value))
    return on_leaves(value, lambda leaf: _with_larger(leaf, largest))


def type_of(leaf):
    """The scalar type that keeps a leaf's precision."""
    return leaf.dtype.type if isinstance(leaf, (np.ndarray,
                                                np.number)) and leaf.dtype.kind in "fc" else float


def _with_larger(leaf, largest):
    """The leaf with its entries of the given size made one per cent larger."""
    larger = leaf * type_of(leaf)(1.01)
    hit = np.abs(leaf) == largest
    return np.where(hit, larger, leaf) if np.ndim(leaf) else larger if hit else leaf


def modes_of(part):
    """In which ways an output can be wrong; none for zeros, texts and objects."""
    if isinstance(part, (bool, np.bool_)):
        return (NEGATED,)
    if isinstance(part, (int, np.integer)):
        return (NEXT,)
    numbers = leaves(part)
    return (PERCENT, LARGEST, SIGN) if any(np.any(leaf) for leaf in numbers) else ()


# -- replacing a function, whoever holds it --------------------------------------------------------

@contextlib.contextmanager
def replaced(implementation, substitute):
    """Meanwhile calls of `implementation` go to ``substitute(original, *arguments, **named)``.

    The function keeps its identity and gets other code, so that every reference to it is reached:
    names imported elsewhere, methods, entries of tables.  A compiled function cannot have other
    code; it is replaced where modules of the package name it.
    """
    function = underlying(implementation)
    if function is not implementation and hasattr(implementation, "py_func"):
        with _replaced_in_modules(implementation, substitute):
            yield
        return
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
    made = {}
    exec("\n".join(lines), made)
    return made["outer"](*[None] * len(free_names)).__code__


@contextlib.contextmanager
def _replaced_in_modules(function, substitute):
    def stand_in(*given, **named):
        return substitute(function, *given, **named)

    holders = [(module, name) for key,
               module in list(sys.modules.items()) if key.startswith("secondorder")
               for name, value in list(vars(module).items()) if value is function]
    for module, name in holders:
        setattr(module, name, stand_in)
    try:
        yield
    finally:
        for module, name in holders:
            setattr(module, name, function)


def functions_of(implementation):
    """The function itself, or the methods that a class defines."""
    if not inspect.isclass(implementation):
        return [implementation]
    wrappers = (types.FunctionType, staticmethod, classmethod, property, cached_property)
    found = [value for name, value in vars(implementation).items()
             if isinstance(value, wrappers) and (not name.startswith("__") or name == "__call__")]
    return [getattr(value, "func", None) or underlying(value) for value in found]


# -- what a check notices --------------------------------------------------------------------------

def fails(entry, function, seed, output=None, mode=None, seen=None):
    """Whether the check fails when that output of the function is wrong in that way.

    Without `mode` nothing is made wrong; `seen` then collects the outputs with their modes.
    """
    def substitute(original, *given, **named):
        if mode == NOTHING:
            return None
        try:
            value = original(*given, **named)
        except Exception:
            if mode is None:  # a refusal: what if nothing were refused?
                seen.setdefault("", set()).add(NOTHING)
            raise
        if mode is None:
            for name, part in parts(value).items():
                seen.setdefault(name, set()).update([NOTHING] if value is None else modes_of(part))
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
    """All that the check of one equation lets through and should not.

    Parameters
    ----------
    entry : Equation
    seed : int
    every : bool
        Also what it may let through: other outputs than those that the label states.

    Returns
    -------
    list of Unnoticed
        With mode "never called" for an implementation that the check does not reach, and "fails
        untouched" where the check fails although nothing was made wrong.
    """
    found = []
    for implementation, stated in zip(entry.implements, entry.stated):
        name = short_name(entry.paper, qualified_name(implementation))
        gaps = _gaps(entry, implementation, stated, seed, every)
        found += [Unnoticed(entry.paper, entry.labels[0], name, output, mode) for output,
                  mode in gaps]
    return found


def _gaps(entry, implementation, stated, seed, every):
    """Pairs of output and mode; see `unnoticed`."""
    outputs = {}  # name -> function, name within what it returns, modes
    for function in functions_of(implementation):
        seen = {}
        if fails(entry, function, seed, seen=seen):
            return [("", "fails untouched")]
        prefix = f"{underlying(function).__name__}." if inspect.isclass(implementation) else ""
        outputs |= {(prefix + part).rstrip("."): (function, part, sorted(modes))
                    for part, modes in seen.items() if modes}
    if not outputs:
        return [("", "never called, or nothing to make wrong")]

    def gaps_of(name):
        function, part, modes = outputs[name]
        return [(name, mode) for mode in modes if not fails(entry, function, seed, part, mode)]

    gaps = [(name, "not an output, or zero") for name in stated if name not in outputs]
    if stated or every:
        return gaps + [gap for name in outputs if every or name in stated for gap in gaps_of(name)]
    found = []
    for name in outputs:  # one output has to be noticed in every way
        found.append(gaps_of(name))
        if not found[-1]:
            return []
    return min(found, key=len)


def by_label(paper, label, seed=0, every=False):
    """`unnoticed` for one label, by name: for worker processes."""
    return unnoticed(registry.REGISTRY.select(paper, label)[0], seed, every)


def explained(path, found):
    """Findings that a file explains, the others, and entries of it that explain nothing.

    The file is TOML: tables `[[explained]]` with `label`, `implementation`, `reason`, and
    optionally `output` and `mode` (default: all).
    """
    entries = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("explained", [])
    used, open_ones = set(), []
    for one in found:
        matching = [k for k, entry in enumerate(entries) if _explains(entry, one)]
        used.update(matching)
        if not matching:
            open_ones.append(one)
    return open_ones, [entry for k, entry in enumerate(entries) if k not in used]


def _explains(entry, one):
    keys = ("label", "implementation", "output", "mode")
    return bool(entry.get("reason")) and all(entry.get(key, getattr(one, key)) == getattr(one, key)
                                             for key in keys)


def main(arguments=None):
    """The command line; status 1 if something goes unnoticed."""
    parser = argparse.ArgumentParser(prog="python -m harness.sabotage",
                                     description="Make implementations wrong and see whether "
                                                 "checks notice.")
    parser.add_argument("paper")
    parser.add_argument("label", nargs="*", help="one label, in any spelling (default: all)")
    parser.add_argument("--all", action="store_true",
                        help="tell about outputs that a label does not state, too")
    parser.add_argument("--explained", metavar="FILE", help="a TOML file with explained exceptions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    entries = registry.REGISTRY.select(options.paper, " ".join(options.label) or None)
    with ProcessPoolExecutor(min(options.processes, len(entries))) as pool:
        runs = [pool.submit(by_label, entry.paper, entry.labels[0], options.seed, options.all)
                for entry in entries]
        found = [one for run in runs for one in run.result()]
    stale = []
    if options.explained:
        found, stale = explained(options.explained, found)
    for line in found:
        print(f"unnoticed: {line}")
    if not options.label:
        for entry in stale:
            print(f"explains nothing: {entry}")
    print(f"{len(entries)} checks, {len(found)} ways of being wrong go unnoticed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
