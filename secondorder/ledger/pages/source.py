"""The lines of code that compute: without docstrings and decorators, with their places."""

import ast
import functools
import inspect
import re
import textwrap
from pathlib import Path

from ..registry import underlying

PACKAGE = Path(__file__).resolve().parents[2]


def plain(implementation):
    """The function or class behind a method, a property or a compiled function."""
    return inspect.unwrap(underlying(implementation))


def place_of(implementation):
    """File and line of a function or class; None where there is no source."""
    target = plain(implementation)
    try:
        _, first = inspect.getsourcelines(target)
        return Path(inspect.getsourcefile(target)).resolve(), max(first, 1)
    except (OSError, TypeError):
        return None


def located(implementation):
    """File and line as text, and numbered lines without docstrings; None where no source is."""
    place = place_of(implementation)
    if place is None:
        return None
    file, first = place
    inside = file.is_relative_to(PACKAGE)
    told = file.relative_to(PACKAGE.parent).as_posix() if inside else file.name
    code = numbered_code(inspect.getsourcelines(plain(implementation))[0], first)
    return f"{told}:{first}", code


def code_of(implementation, name):
    """Name, place and numbered lines of a function or a class's methods, without docstrings."""
    place, code = located(implementation) or ("no source at hand", [])
    return [f"{name}  ({place})", *(f"{number:5d}  {line}" for number, line in code)]


def doc_lines(implementation, longest=5):
    """The docstring's own words before its sections: what it computes, formula included.

    Of several paragraphs those after the first are kept while they fit.
    """
    text = inspect.getdoc(plain(implementation)) or ""
    text = re.split(r"\n+[A-Z][a-z]+\n-{3,}", text)[0].strip()
    lines = []
    for paragraph in re.split(r"\n\s*\n", text):
        written = [line.rstrip() for line in paragraph.splitlines() if line.strip()]
        if lines and len(lines) + len(written) > longest:
            break
        lines += written
    return lines[:longest]


def numbered_code(lines, first):
    """Pairs of number and text of the lines that are neither docstring nor decorator nor blank."""
    tree = tree_of("".join(lines))
    dropped = set()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for decorator in node.decorator_list:
            dropped.update(range(decorator.lineno, decorator.end_lineno + 1))
        if doc := doc_node(node):
            dropped.update(range(doc.lineno, doc.end_lineno + 1))
    return [(first + k, line.rstrip()) for k, line in enumerate(lines)
            if k + 1 not in dropped and line.strip()]


def doc_node(node):
    """Where the docstring of a function or a class stands in its syntax; None elsewhere, and
    without one. (What is kept of it at run time differs between versions of Python.)
    """
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) \
            or ast.get_docstring(node, clean=False) is None:
        return None
    return node.body[0].value


def tree_of(text):
    """The syntax of a function's text; empty for a lambda in the middle of a statement."""
    try:
        return ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return ast.Module([], [])


@functools.cache
def check_and_helpers(check):
    """A check and the helpers of its room's `equations` that it calls, directly or not.

    Random cases (modules named `cases`) are left out: they are shown as the live case.
    """
    functions, waiting = [], [inspect.unwrap(check)]
    while waiting:
        function = waiting.pop(0)
        if function not in functions:
            functions.append(function)
            waiting += helpers(function)
    return functions


def helpers(function):
    """The functions that a function names and that stand in the same package of checks."""
    place = place_of(function)
    names, package = function.__globals__, function.__module__.rpartition(".")[0]
    found = []
    for node in ast.walk(tree_of(inspect.getsource(function) if place else "")):
        value = names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            value = getattr(names.get(node.value.id), node.attr, None)
        if inspect.isfunction(value) and value is not function and value not in found:
            here, _, module = value.__module__.rpartition(".")
            same = value.__module__ == function.__module__ or package and here == package
            found += [value] if same and module != "cases" else []
    return found
