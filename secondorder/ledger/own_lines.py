r"""Which line of the code, and which line of the check, is a display's own.

A comment of nothing but numbers at the end of a line says whose line it is: `# (36)`, `# (5), (36)`.
Where no line says so, the line of the code is the one that makes what the function returns, and the
line of the check the first that claims something.
"""

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from . import claims, comparisons
from .displays import printed_numbers
from .displays import told as told_numbers
from .labels import is_number
from .registry import underlying
from .source import helpers

_MARK = re.compile(r"#\s*(\([\w.]+\)(?:, \([\w.]+\))*)\s*$")
_CLAIMS = {name for module in (claims, comparisons) for name, kind in vars(module).items()
           if inspect.isclass(kind) and name not in ("Case", "VerificationError")}


@dataclass(frozen=True)
class Line:
    """A line of a file, and the function that it is part of."""

    file: Path
    number: int
    function: object

    def __str__(self):
        return f"{self.file.name}:{self.number}"


def code_line(entry, label):
    """The line of the code that is a label's own; None where there is no source.

    Parameters
    ----------
    entry : Equation
    label : str
        One of its labels.

    Returns
    -------
    Line or None
        Of a check that names no code, which then is the code, the line of the check.
    """
    if not entry.implements:
        return check_line(entry, label)
    for value in entry.implements:
        function = plain(value)
        if _of_the_paper(function, entry) and label in marks(function):
            return _line(function, marks(function)[label][0])
    return _line(plain(entry.implements[0]), returned(plain(entry.implements[0])))


def check_line(entry, label):
    """The line of the check, or of a helper of its room, that is a label's own; None as above."""
    functions, waiting = [], [inspect.unwrap(entry.check)]
    while waiting:
        function = waiting.pop(0)
        if function not in functions:
            functions.append(function)
            waiting += helpers(function)
    for function in functions:
        if label in marks(function):
            return _line(function, marks(function)[label][0])
    for function in functions:
        if claimed(function) is not None:
            return _line(function, claimed(function))
    return _line(functions[0], _head(functions[0]))


def told(entry):
    """In words, for every number of a check (or for the check, where it bears none)."""
    numbers = printed_numbers(entry) or entry.labels[:1]
    same, seen, parts = {}, [], []
    for number in numbers:
        same.setdefault((code_line(entry, number), check_line(entry, number)), []).append(number)
    for lines, mine in same.items():
        names = [f"{'' if line.file in seen[-2:] else line.file.name + ':'}{line.number}"
                 if line else "no source at hand" for line in lines]
        seen += [line.file for line in lines if line]
        parts.append((told_numbers(mine) + " " if len(same) > 1 else "") + ", ".join(names))
    return "lines of the code and of the check: " + "; ".join(parts)


def marks(function):
    """Number -> the lines of a function that bear it as their own, counted from its first."""
    found = {}
    for k, line in enumerate(_source(function).splitlines()):
        match = _MARK.search(line)
        for number in re.findall(r"[\w.]+", match[1]) if match else ():
            if is_number(number):
                found.setdefault(number, []).append(k)
    return found


def returned(function):
    """The line that makes what a function (of a class: its last method) returns."""
    tree = _tree(function)
    returns = [node for node in ast.walk(tree)
               if isinstance(node, ast.Return) and node.value is not None]
    if not returns:
        return max((node.lineno - 1 for node in ast.walk(tree) if isinstance(node, ast.stmt)),
                   default=0)
    last = max(returns, key=lambda node: node.lineno)
    if isinstance(last.value, ast.Name):  # made further up
        made = [node.lineno for node in ast.walk(tree)
                if isinstance(node, (ast.Assign, ast.AugAssign)) and last.value.id in _targets(node)]
        return max(made, default=last.lineno) - 1
    return last.lineno - 1


def claimed(function):
    """The first line of a function that makes a claim; None without any."""
    lines = [node.lineno for node in ast.walk(_tree(function)) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Name) and node.func.id in _CLAIMS]
    return min(lines) - 1 if lines else None


def _head(function):
    """The line with `def`: decorators stand before it."""
    body = _tree(function).body
    return body[0].lineno - 1 if body else 0


def plain(value):
    """The function or class behind a method, a property or a compiled function."""
    return inspect.unwrap(underlying(value))


def _targets(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [one.value if isinstance(one, ast.Subscript) else one for one in targets]
    return [one.id for one in names if isinstance(one, ast.Name)]


def _of_the_paper(function, entry):
    """Whether a function stands in the paper's own room, where its numbers mean something."""
    room = entry.check.__module__.partition(".equations")[0]
    return (function.__module__ or "").startswith(room)


def _source(function):
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def _tree(function):
    try:
        return ast.parse(textwrap.dedent(_source(function)))
    except SyntaxError:  # a lambda in the middle of a statement
        return ast.Module([], [])


def _line(function, offset):
    try:
        first = max(inspect.getsourcelines(function)[1], 1)
        return Line(Path(inspect.getsourcefile(function)).resolve(), first + offset, function)
    except (OSError, TypeError):
        return None
