"""Compiled functions that a mutation does not reach are kept from one run on a copy to the next.

numba compiles a function anew when its file changes, and looks at no other file. Here it is told
that no file ever changes (this is a plugin for pytest, too), and what a changed line reaches is
forgotten: the function around it, and whatever names that function, however far up.
"""

import ast

DECORATORS = {"compiled", "summing", "walk", "inlined", "by_exponentials"}


def pytest_configure():
    from numba.core import caching

    caching._SourceFileBackedLocatorMixin.get_source_stamp = lambda self: 0


class Functions:
    """The compiled functions of a package: where they stand and what they name."""

    def __init__(self, package):
        from secondorder.compiled.compiling import sources

        self.places, self.named = [], {}
        for file in sources(package):
            inside = file.relative_to(package.parent)
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and _is_compiled(node):
                    self.places.append((inside, node.lineno, node.end_lineno, node.name))
                    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                    self.named.setdefault(node.name, set()).update(names)

    def reached(self, file, line):
        """Names of the compiled functions that change with a line of a file, which all do where it
        is a constant's or a decorator's.
        """
        within = [place for place in self.places if place[0] == file]
        if not within and file.name not in ("kinds.py", "compiling.py"):
            return set()
        found = {name for _, first, last, name in within if first <= line <= last}
        if not found:
            return set(self.named)
        while True:
            more = {name for name, named in self.named.items() if named & found} - found
            if not more:
                return found
            found |= more


def _is_compiled(function):
    return any(getattr(one, "id", None) in DECORATORS for one in function.decorator_list)


def forget(folder, names):
    """Remove compiled functions of these names from a folder of numba's."""
    for name in names:
        for kept in folder.glob(f"*/*.{name}-*"):
            kept.unlink()
