"""Lines of code to run a display with numbers of one's own: its arguments, made, and the call.

What a check gives to the function is written down while it runs once, and told as code: small
arrays as they are, larger ones as random numbers of the same range, objects as they are made.
"""

import dataclasses
import inspect

import numpy as np

from ..registry import underlying
from ..runner import run_equation
from ..sabotage import replaced
from . import own_lines

_WHOLE = 8  # entries of an array that is written out
EMPTY = ".reshape("  # of an array without entries: the next call may tell more
_RANDOM = "\nrng = np.random.default_rng(0)"


class _NoCode(Exception):
    """An argument that a few lines cannot make."""


def snippet(entry, seed=0):
    """Python that calls the function that is the display, and prints what it returns.

    Where an argument is nothing that a line makes (a function of the check's own, a network at some
    step), the lines run the check with another seed instead: other numbers, drawn by it.
    """
    for value in [*own_lines.displays_among(entry), *entry.implements]:
        function = underlying(value)
        if inspect.isfunction(function) and function.__qualname__.isidentifier() \
                and (function.__module__ or "").startswith("secondorder."):
            text = _calling(entry, function, seed)
            if text is not None:
                return text
    return ("import secondorder as so\n\n"
            f"print(so.ledger.show({entry.paper!r}, {entry.labels[0]!r}, seed=1))"
            "  # another seed, other numbers\n")


def _calling(entry, function, seed):
    """The lines for one function; None where its arguments cannot be told, or the lines fail."""
    calls = []

    def recorded(original, *given, **named):
        if not calls or calls[0] is not None and EMPTY in calls[0]:
            calls[:] = [None]
            try:
                calls[0] = _told(function, inspect.signature(function).bind(*given, **named))
            except (_NoCode, TypeError, ValueError):
                pass
        return original(*given, **named)

    with replaced(function, recorded):
        run_equation(entry, seed)
    text = calls[0] if calls else None
    return text if text is not None and runs(text) else None


def runs(text):
    """Whether lines of code run and what they print is there."""
    printed = []
    try:
        with np.errstate(all="ignore"):
            exec(compile(text, "snippet", "exec"),
                 {"print": lambda *values: printed.extend(values)})
    except Exception:  # whatever numbers out of their range raise
        return False
    return bool(printed)


def _told(function, bound):
    """The whole text: imports, a line an argument, the call."""
    needs, lines, names = set(), [], []
    _imported(function, needs)
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            raise _NoCode
        several = kind is inspect.Parameter.VAR_POSITIONAL
        for each, one in ([(f"{name}_{k}", one) for k, one in enumerate(value)] if several
                          else [(name, value)]):
            lines.append(f"{each} = {_code(one, needs)}")
            names.append(f"{name}={name}" if kind is inspect.Parameter.KEYWORD_ONLY else each)
    if _RANDOM in needs:
        needs.remove(_RANDOM)
        lines.insert(0, _RANDOM.strip())
    imports = sorted(needs, key=lambda line: (line.startswith("from"), line))
    return "\n".join([*imports, "", *lines, "",
                      f"print({function.__name__}({', '.join(names)}))"]) + "\n"


def _imported(value, needs):
    """The name of a function or class of the package, which is needed."""
    module = value.__module__
    if not module.startswith("secondorder.") or ".equations" in module \
            or not value.__qualname__.isidentifier():
        raise _NoCode
    top = "secondorder" if value.__name__ in vars(__import__("secondorder")) else module
    needs.add(f"from {top} import {value.__name__}")
    return value.__name__


def _code(value, needs):
    """One value as code; what that needs is added."""
    if value is None or isinstance(value, (bool, int, str, slice, range)):
        return repr(value)
    if isinstance(value, (float, np.floating)) and np.isfinite(value):
        return f"{float(value):.6g}"
    if isinstance(value, (np.bool_, np.integer)):
        return repr(value.item())
    if isinstance(value, np.ndarray):
        return _array(value, needs)
    if inspect.isfunction(value) or inspect.isclass(value):
        return _imported(value, needs)
    fields = None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = value._asdict()
    elif isinstance(value, (tuple, list)):
        inner = ", ".join(_code(one, needs) for one in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    elif isinstance(value, dict):
        return "{" + ", ".join(f"{_code(key, needs)}: {_code(one, needs)}"
                               for key, one in value.items()) + "}"
    elif dataclasses.is_dataclass(value):
        fields = {one.name: getattr(value, one.name)
                  for one in dataclasses.fields(value) if one.init}
    name = _imported(type(value), needs)
    if fields is not None:
        given = (f"{field}={_code(one, needs)}" for field, one in fields.items())
        return f"{name}({', '.join(given)})"
    return _by_repr(value, name)


def _by_repr(value, name):
    """An object whose `repr` says how it is made, as losses and layers have it."""
    text = repr(value)
    try:
        if text.startswith(f"{name}(") and repr(eval(text, {name: type(value)})) == text:
            return text
    except Exception:  # it names what is not there
        pass
    raise _NoCode


def _array(value, needs):
    needs.add("import numpy as np")
    if value.size <= _WHOLE or value.dtype.kind not in "iuf":
        if value.size > 10 * _WHOLE or value.dtype.kind not in "biufc":
            raise _NoCode
        if value.dtype.kind == "f":  # three digits say enough
            value = np.vectorize(lambda one: float(f"{one:.3g}"), otypes=[float])(value)
        shaped = "" if 0 not in value.shape else f".reshape({value.shape})"
        return f"np.array({value.tolist()}){shaped}"
    needs.add(_RANDOM)
    low, high = value.min(), value.max()
    if value.dtype.kind in "iu":
        return f"rng.integers({low}, {high + 1}, size={value.shape})"
    return f"rng.uniform({low:.3g}, {high:.3g}, size={value.shape})"
