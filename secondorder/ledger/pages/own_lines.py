r"""Which line of the code, and which line of the check, is a display's own.

A function that a room names by a number, `eq_36_by_output`, is that display: its line is the one
that makes what it returns. Elsewhere a comment of nothing but numbers, at the end of a line or
above it, says whose line it is: `# (36)` or `# (5), (36)`; in a check a text that names the number
does, too. Where no line says so, the line of the code is the one that makes what a function returns
that names the number, and the line of the check the first that claims something.
"""

import ast
import functools
import inspect
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ...formulas.latex import told as told_numbers
from .. import claims, comparisons
from ..displays import printed_numbers
from ..labels import is_number
from .source import check_and_helpers, doc_lines, doc_node, place_of, plain, tree_of

_PACKAGE = Path(__file__).resolve().parents[2]
_MARK = re.compile(r"#\s*(\([\w.]+\)(?:, \([\w.]+\))*)\s*$")
_HEAD = re.compile(r"Eq\. (\([\w.]+\)(?:(?:,| =) \([\w.]+\))*)")
_NUMBER = re.compile(r"(?<![\w^_}])\(([\w.]+)\)")  # no superscript
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
    """The `Line` of the code that is a label's own; None where there is no source.

    Of a check that names no code, which then is the code, it is the line of the check.
    """
    if not entry.implements:
        return check_line(entry, label)
    functions = [plain(value) for value in entry.implements]
    for function in functions:
        if label in displays_of(_room(entry)).get(function, ()):
            return _line(function, returned(function))
    for function in functions:
        if _of_the_paper(function, entry) and label in marks(function):
            return _line(function, marks(function)[label][0])
    named = [function for function, numbers in zip(functions, entry.bears) if label in numbers]
    named += [function for function in functions
              if label in _NUMBER.findall(" ".join(doc_lines(function)))]
    function = [*named, functions[0]][0]
    return _line(function, returned(function))


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
    for lines_of in (marks, mentions):
        for function in functions:
            if label in lines_of(function):
                return _line(function, lines_of(function)[label][0])
    line = claimed(functions[0], functions[1:])
    return _line(functions[0], returned(functions[0]) if line is None else line)


def of_both(entry, label):
    """`code` and `check`, each with its line for a label; without what has no source."""
    lines = ("code", code_line(entry, label)), ("check", check_line(entry, label))
    return [(word, line) for word, line in lines if line]


def told(entry):
    """Own lines in words, one text for numbers that share theirs: `code rules.py:8, check ...`."""
    same, parts = {}, []
    for number in printed_numbers(entry) or entry.labels[:1]:
        same.setdefault((code_line(entry, number), check_line(entry, number)), []).append(number)
    for lines, mine in same.items():
        code, check = (placed(line, entry) if line else "no source at hand" for line in lines)
        parts.append((told_numbers(mine) + " " if len(same) > 1 else "")
                     + f"code {code}, check {check}")
    return parts


def placed(line, entry):
    """A line with its file: from the paper's own room on, or from the package on."""
    room = getattr(sys.modules.get(_room(entry)), "__file__", None)
    for top in (room and Path(room).resolve().parent, _PACKAGE / "papers", _PACKAGE):
        if top and line.file.is_relative_to(top):
            return f"{line.file.relative_to(top).as_posix()}:{line.number}"
    return str(line)


@functools.cache
def marks(function):
    """Number -> the lines of a function that bear it as their own, counted from its first."""
    lines_of, waiting = {}, ()
    for k, line in enumerate(_source(function).splitlines()):
        match = _MARK.search(line)
        numbers = re.findall(r"[\w.]+", match[1]) if match else []
        alone = match is not None and not line[:match.start()].strip()
        for number in waiting if alone or not match else [*waiting, *numbers]:
            lines_of.setdefault(number, []).append(k)
        waiting = numbers if alone else ()
    return lines_of


@functools.cache
def mentions(function):
    """Number -> the lines of a function on which a text begins that names it, like "(36): ..."."""
    lines_of, tree = {}, _tree(function)
    docs = [doc_node(node) for node in ast.walk(tree)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
            for number in _NUMBER.findall(node.value):
                lines_of.setdefault(number, []).append(node.lineno - 1)
    return {number: sorted(lines) for number, lines in lines_of.items() if is_number(number)}


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
        lines = [node.lineno for node in ast.walk(tree) if last.value.id in _targets(node)]
        return max(lines, default=last.lineno) - 1
    return last.lineno - 1


def claimed(function, others=()):
    """The first line of a function that makes a claim, or has one of the others make it."""
    claiming = _CLAIMS | {one.__name__ for one in others
                          if _CLAIMS & {_name(node) for node in ast.walk(_tree(one))}}
    lines = [node.lineno for node in ast.walk(_tree(function)) if isinstance(node, ast.Call)
             and (_name(node.func) in claiming or _says(node))]
    return min(lines) - 1 if lines else None


def _name(node):
    return getattr(node, "id", getattr(node, "attr", ""))


def _says(call):
    """Whether a call begins with words, as those do that claim: `case.equal("its mean", ...)`."""
    text = ast.unparse(call.args[0]) if call.args else ""
    return text.startswith(("'", '"', "f'", 'f"')) and " " in text


def _targets(node):
    """The names that an assignment gives a value, or part of one."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [one.value if isinstance(one, ast.Subscript) else one for one in targets]
    return [one.id for one in names if isinstance(one, ast.Name)]


def _of_the_paper(function, entry):
    """Whether a function stands in the paper's own room, where its numbers mean something."""
    return (function.__module__ or "").startswith(_room(entry))


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
