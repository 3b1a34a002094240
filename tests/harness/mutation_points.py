"""Single-point mutations of a Python source: where formulas could be wrong, and how.

`points(source)` finds them by syntax tree: signs, operators, terms, factors, constants,
comparisons, extrema, absolute values, transposes, order of operands, letters of `einsum`, index
offsets, branches. Messages, docstrings, strings that are compared, annotations and `__repr__` are
left out.
"""

import ast
import re
from dataclasses import dataclass

OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
             ast.FloorDiv: ("//", "*")}
COMPARISONS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
               ast.Eq: ("==", "!="), ast.NotEq: ("!=", "==")}
EXCHANGED = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "amax": "amin",
             "amin": "amax", "sum": "mean", "mean": "sum", "argmax": "argmin", "argmin": "argmax",
             "any": "all", "all": "any", "sin": "cos", "cos": "sin", "floor": "ceil",
             "ceil": "floor"}
DROPPED = ("abs", "absolute", "sqrt", "square", "exp", "log", "log1p", "expm1", "sign", "conj",
           "cumsum", "reversed", "transpose", "copysign")
SWAPPED = ("matmul", "dot", "outer", "subtract", "divide", "einsum", "where", "copysign", "kron",
           "solve")
SILENT = ("__repr__", "__str__", "__init_subclass__", "_repr_html_")


@dataclass(frozen=True)
class Point:
    """One mutation: characters `start` to `stop` of the source become `mutated`."""

    start: int
    stop: int
    mutated: str
    kind: str


def points(source):
    """Mutations of a source, by place. Some may not change the program, see `changes`.

    Returns
    -------
    list of list of Point
        Each inner list holds the alternatives for one node of the tree.
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return [group for group in finder.found if group]


def put(source, point):
    """The source with the mutation."""
    return source[:point.start] + point.mutated + source[point.stop:]


def changes(source, point):
    """Whether a mutation gives another program, and one that can be read."""
    try:
        return ast.dump(ast.parse(put(source, point))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


class _Finder(ast.NodeVisitor):
    """Walks the tree and collects points; what is said to people is not entered."""

    def __init__(self, source):
        self.source, self.found = source, []
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.texts = source.splitlines(keepends=True)

    # -- places ------------------------------------------------------------------------------------

    def _at(self, line, column):
        """Position in the source; the tree counts columns in bytes."""
        return self.lines[line - 1] + len(self.texts[line - 1].encode()[:column].decode())

    def start(self, node):
        return self._at(node.lineno, node.col_offset)

    def stop(self, node):
        return self._at(node.end_lineno, node.end_col_offset)

    def text(self, node):
        """The node's source, in parentheses unless it holds together without."""
        text = self.source[self.start(node):self.stop(node)]
        simple = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant))
        return text if simple else f"({text})"

    def add(self, node, *alternatives):
        """Alternatives (kind, text) for the whole node."""
        start, stop = self.start(node), self.stop(node)
        self.found.append([Point(start, stop, text, kind) for kind, text in alternatives])

    def between(self, left, right, old, new, kind):
        """Exchange the operator that stands between two nodes."""
        start, stop = self.stop(left), self.start(right)
        place = re.search(re.escape(old), self.source[start:stop])
        if place is None:
            return []
        return [Point(start + place.start(), start + place.end(), new, kind)]

    # -- what is not entered -----------------------------------------------------------------------

    def _skip(self, node):
        """Messages, imports, texts."""

    visit_Raise = visit_Import = visit_ImportFrom = visit_JoinedStr = _skip

    def visit_FunctionDef(self, node):
        if node.name in SILENT:
            return
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    # -- what is mutated ---------------------------------------------------------------------------

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if any(isinstance(side, (ast.JoinedStr, ast.Constant)) and not _number(side)
               for side in (node.left, node.right)):
            return  # texts
        group, left, right = [], self.text(node.left), self.text(node.right)
        start, stop = self.start(node), self.stop(node)
        if type(node.op) in OPERATORS:
            group += self.between(node.left, node.right, *OPERATORS[type(node.op)], "operator")
            group += [Point(start, stop, left, "dropped"), Point(start, stop, right, "dropped")]
        elif isinstance(node.op, ast.MatMult):
            group += [Point(start, stop, f"{right} @ {left}", "operands")]
        elif isinstance(node.op, ast.Pow):
            group += [Point(start, stop, left, "dropped")]
        self.found.append(group)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if type(node.op) in OPERATORS:
            old, new = OPERATORS[type(node.op)]
            self.found.append(self.between(node.target, node.value, old + "=", new + "=",
                                           "operator")
                              + self.between(node.target, node.value, old + "=", "=", "dropped"))

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, (ast.USub, ast.Not)):
            self.add(node, ("sign" if isinstance(node.op, ast.USub) else "condition",
                            self.text(node.operand)))

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        if len(node.values) == 2:
            self.found.append(self.between(*node.values, old, new, "condition"))

    def visit_Compare(self, node):
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides):
            return
        for left, op, right in zip(sides, node.ops, sides[1:]):
            if type(op) in COMPARISONS:
                self.found.append(self.between(left, right, *COMPARISONS[type(op)], "comparison"))

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            self.add(node, ("constant", str(not value)))
        elif _number(node):
            other = {0: ["1"], 1: ["0", "2"],
                     2: ["1", "3"]}.get(value, [repr(value * 2), repr(value / 2)])
            if isinstance(value, int) and value not in (0, 1, 2):
                other = [repr(value + 1), repr(value - 1)]
            self.add(node, *(("constant", text) for text in other))

    def visit_IfExp(self, node):
        self.generic_visit(node)
        condition = self.text(node.test)
        self.add(node, ("branches",
                        f"{self.text(node.orelse)} if {condition} else {self.text(node.body)}"))

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr in ("T", "mT"):
            self.add(node, ("transpose", self.text(node.value)))

    def visit_Subscript(self, node):
        self.generic_visit(node)
        index = node.slice
        if isinstance(index, ast.Name):
            self.add(index, ("index", f"{index.id} - 1"), ("index", f"{index.id} + 1"))
        elif isinstance(index, ast.Slice) and isinstance(index.step, ast.UnaryOp):
            self.add(node, ("order", self.text(node.value)))

    def visit_Call(self, node):
        function = node.func
        for part in [*node.args, *(word.value for word in node.keywords)]:
            self.visit(part)
        self.visit(function)
        name = getattr(function, "attr", getattr(function, "id", None))
        group, args = [], node.args
        start, stop = self.start(node), self.stop(node)
        if name in EXCHANGED:
            at = self.stop(function)
            group.append(Point(at - len(name), at, EXCHANGED[name], "extremum" if name[:1] == "m"
                               else "function"))
        if name in DROPPED:
            module = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
            if args and (module or not isinstance(function, ast.Attribute)):
                group.append(Point(start, stop, self.text(args[0]), "dropped"))
            elif isinstance(function, ast.Attribute):
                group.append(Point(start, stop, self.text(function.value), "dropped"))
        if name == "einsum" and args and isinstance(getattr(args[0], "value", None), str):
            group += [Point(self.start(args[0]), self.stop(args[0]), f'"{text}"', "subscripts")
                      for text in _subscripts(args[0].value)]
        elif name in SWAPPED and len(args) >= 2:
            first, second = args[-2:] if name == "where" else args[:2]
            text = self.source
            swapped = (text[self.start(second):self.stop(second)]
                       + text[self.stop(first):self.start(second)]
                       + text[self.start(first):self.stop(first)])
            group.append(Point(self.start(first), self.stop(second), swapped, "operands"))
        self.found.append(group)


def _number(node):
    return (isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex))
            and not isinstance(node.value, bool))


def _subscripts(text):
    """Subscripts of `einsum` with two neighbouring letters of one operand exchanged."""
    for k in range(len(text) - 1):
        one, other = text[k], text[k + 1]
        if one.isalpha() and other.isalpha() and one != other:
            yield text[:k] + other + one + text[k + 2:]
