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
_DEEPEST = 4
EMPTY = ".reshape("  # of an array without entries: the next call may tell more


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
    return _by_check(entry)


def _by_check(entry):
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
    maker = _Maker()
    lines, names = [], []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            for k, one in enumerate(value):
                lines.append(f"{name}_{k} = {maker.of(one)}")
                names.append(f"{name}_{k}")
            continue
        if kind is inspect.Parameter.VAR_KEYWORD:
            raise _NoCode
        lines.append(f"{name} = {maker.of(value)}")
        names.append(f"{name}={name}" if kind is inspect.Parameter.KEYWORD_ONLY else name)
    imports = [f"from {module} import {', '.join(sorted(some))}"
               for module, some in sorted(maker.needed(function).items())]
    start = ["rng = np.random.default_rng(0)"] * maker.random
    return "\n".join(["import numpy as np"] * maker.numpy + imports
                     + [""] + start + lines
                     + ["", f"print({function.__name__}({', '.join(names)}))"]) + "\n"


class _Maker:
    """Values as code, and what that needs."""

    def __init__(self):
        self.random = self.numpy = False
        self.imported = {}

    def needed(self, function):
        """Module -> names to import, with the function itself."""
        self._import(function)
        return self.imported

    def _import(self, value):
        module = value.__module__
        if not module.startswith("secondorder.") or ".equations" in module \
                or not value.__qualname__.isidentifier():
            raise _NoCode
        top = "secondorder" if value.__name__ in vars(__import__("secondorder")) else module
        self.imported.setdefault(top, set()).add(value.__name__)
        return value.__name__

    def of(self, value, depth=0):
        """One value."""
        if depth > _DEEPEST:
            raise _NoCode
        if value is None or isinstance(value, (bool, int, str, slice, range)):
            return repr(value)
        if isinstance(value, (float, np.floating)):
            return f"{float(value):.6g}" if np.isfinite(value) else self._of_numpy(value)
        if isinstance(value, (np.bool_, np.integer)):
            return repr(value.item())
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.of(key, depth + 1)}: {self.of(one, depth + 1)}"
                                   for key, one in value.items()) + "}"
        if isinstance(value, np.ufunc):
            self.numpy = True
            return f"np.{value.__name__}"
        if inspect.isfunction(value) or inspect.isclass(value):
            return self._import(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._made(value, value._asdict(), depth)
        if isinstance(value, (tuple, list)):
            inner = ", ".join(self.of(one, depth + 1) for one in value)
            if isinstance(value, list):
                return f"[{inner}]"
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if dataclasses.is_dataclass(value):
            return self._made(value, {one.name: getattr(value, one.name)
                                      for one in dataclasses.fields(value) if one.init}, depth)
        return self._by_repr(value)

    def _made(self, value, fields, depth):
        given = ", ".join(f"{name}={self.of(one, depth + 1)}" for name, one in fields.items())
        return f"{self._import(type(value))}({given})"

    def _by_repr(self, value):
        """An object whose `repr` says how it is made, as losses and layers have it."""
        text = repr(value)
        name = self._import(type(value))
        if not text.startswith(f"{name}(") or not text.endswith(")"):
            raise _NoCode
        try:
            made = eval(text, {name: type(value)})
        except Exception:  # it names what is not there
            raise _NoCode from None
        if repr(made) != text:
            raise _NoCode
        return text

    def _of_numpy(self, value):
        self.numpy = True
        return f"np.{'nan' if np.isnan(value) else 'inf' if value > 0 else 'inf * -1'}"

    def _array(self, value):
        self.numpy = True
        if value.size <= _WHOLE or value.dtype.kind not in "iuf":
            if value.size > 10 * _WHOLE or value.dtype.kind not in "biufc":
                raise _NoCode
            if value.dtype.kind == "f":  # three digits say enough
                value = np.vectorize(lambda one: float(f"{one:.3g}"), otypes=[float])(value)
            shaped = "" if 0 not in value.shape else f".reshape({value.shape})"
            return f"np.array({value.tolist()}){shaped}"
        self.random = True
        low, high = value.min(), value.max()
        if value.dtype.kind in "iu":
            return f"rng.integers({low}, {high + 1}, size={value.shape})"
        return f"rng.uniform({low:.3g}, {high:.3g}, size={value.shape})"
