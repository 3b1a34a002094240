"""Syntax trees of the package's sources, made once however many tests look at them."""

import ast
from functools import cache


@cache
def nodes(source):
    """All nodes of a source's tree, breadth first: the first is the root."""
    return [*ast.walk(ast.parse(source))]
