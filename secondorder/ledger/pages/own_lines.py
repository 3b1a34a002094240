"""Which line of the code, and which line of the check, is a display's own.

A function that a room names by a number, `eq_36_by_output`, is that display: its line is the one
that makes what it returns. Elsewhere it is that line of the first implementation. In a check it is
the first line, or the one below a comment, that names the number in words or in a comment, "(36)";
without one the first line that claims something.
"""

import ast
import functools
import inspect
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .source import check_and_helpers, numbered_code, place_of, plain, tree_of

_HEAD = re.compile(r"Eq\. (\([\w.]+\)(?:(?:,| =) \([\w.]+\))*)")
_NUMBER = re.compile(r"(?<![\w^_}])\((\d+[a-z]?|[A-Z]?[\d.]+)\)")  # no superscript


@dataclass(frozen=True)
class Line:
    """A line of a file, and the function that it is part of."""

    file: Path
    number: int
    function: object

    def __str__(self):
        return f"{self.file.name}:{self.number}"


def code_line(entry, label):
    """The `Line` of the code that is a label's own; None where there is no source.

    Of a check that names no code, which then is the code, it is the line of the check.
    """
    if not entry.implements:
        return check_line(entry, label)
    functions = [plain(value) for value in entry.implements]
    for function in functions:
        if label in displays_of(_room(entry)).get(function, ()):
            return _line(function, returned(function))
    return _line(functions[0], returned(functions[0]))


@functools.cache
def displays_of(room):
    """Function -> the labels that a room's modules name it by: `eq_9_...`, `eq_09_...`, of several
    `eq_26_27_...`, `theorem_1`; and those that the docstring of such a function begins with, as
    "Eq. (3) = (34)".
    """
    found = {}
    for module in [value for name, value in sys.modules.items()
                   if name.startswith(f"{room}.") and ".equations" not in name]:
        for name, value in vars(module).items():
            match = re.fullmatch(r"eq((?:_\d+[a-z]?)+)(?!_as_printed)\w*"
                                 r"|((?:theorem|lemma|algorithm)_\d+)", name)
            if match and inspect.isfunction(value):
                labels = (re.findall(r"_0*(\w+?)(?=_|$)", match[1]) if match[1]
                          else [match[2].replace("_", "-")])
                head = _HEAD.match(inspect.getdoc(value) or "")
                found.setdefault(value, set()).update(
                    labels, re.findall(r"[\w.]+", head[1]) if head else ())
    return found


def displays_among(entry):
    """Of what implements a check, the functions that are named by one of its labels, in their
    order.
    """
    named = displays_of(_room(entry))
    return [value for value in entry.implements
            if named.get(plain(value), set()) & set(entry.labels)]


def check_line(entry, label):
    """The line of the check, or of a helper of its room, that is a label's own; None as above."""
    functions = check_and_helpers(entry.check)
    for function in functions:
        if label in mentions(function):
            return _line(function, mentions(function)[label])
    return _line(functions[0], claimed(functions[0]))


def of_both(entry, label):
    """`code` and `check`, each with its line for a label; without what has no source."""
    lines = ("code", code_line(entry, label)), ("check", check_line(entry, label))
    return tuple((word, line) for word, line in lines if line)


@functools.cache
def mentions(function):
    """Number -> the line of a function, counted from its first, that names it, like "(36): ..."."""
    line_of, waiting = {}, []
    for k, line in numbered_code(_source(function).splitlines(keepends=True), 0):
        waiting += _NUMBER.findall(line)
        if not line.lstrip().startswith("#"):
            for number in waiting:
                line_of.setdefault(number, k)
            waiting = []
    return line_of


def returned(function):
    """The line that makes what a function (of a class: its last method) returns."""
    nodes = list(ast.walk(_tree(function)))
    returns = [node for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    if not returns:
        return max((node.lineno - 1 for node in nodes if isinstance(node, ast.stmt)), default=0)
    last = max(returns, key=lambda node: node.lineno)
    made = [node.lineno for node in nodes  # the name that is returned is made further up
            if isinstance(last.value, ast.Name) and last.value.id in _targets(node)]
    return max(made, default=last.lineno) - 1


def claimed(function):
    """The first line of a function with a call that begins with words, as those do that claim:
    `case.equal("its mean", ...)`.
    """
    lines = [node.lineno for node in ast.walk(_tree(function)) if isinstance(node, ast.Call)
             and node.args and re.match("f?['\"].* ", ast.unparse(node.args[0]))]
    return min(lines) - 1 if lines else returned(function)


def _targets(node):
    """The names that an assignment gives a value, or part of one."""
    targets = node.targets if isinstance(node, ast.Assign) else \
        [node.target] if isinstance(node, ast.AugAssign) else []
    return [name.id for name in (getattr(one, "value", one) for one in targets)
            if isinstance(name, ast.Name)]


def _room(entry):
    return entry.check.__module__.partition(".equations")[0]


@functools.cache
def _source(function):
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


@functools.cache
def _tree(function):
    """The syntax of a function without its decorators, which say what it checks."""
    tree = tree_of(_source(function))
    for node in tree.body:
        node.decorator_list = []
    return tree


def _line(function, offset):
    place = place_of(function)
    return None if place is None else Line(place[0], place[1] + offset, function)
