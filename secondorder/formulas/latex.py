r"""A formula in LaTeX as a tree, and back: what pages need to draw it and to mark what changed.

Only what the papers' displays use is understood: symbols, sub- and superscripts, fractions, roots,
accents, text, and the environments `aligned`, `cases`, `pmatrix` and `array`.
"""

import re
from dataclasses import dataclass, field

from .tokens import signs

#: Commands with one argument that set a mark on it.
ACCENTS = ("dot", "ddot", "tilde", "widetilde", "hat", "widehat", "bar", "underbrace", "vec")
#: Commands with one argument that say in which letters it is set.
FONTS = ("mathbf", "boldsymbol", "mathcal", "mathbb", "mathrel")
#: Commands with one argument that is words.
WORDS = ("text", "operatorname", "mathrm", "textbf")
_SIZES = ("left", "right", "big", "Big", "bigg", "Bigg", "textstyle", "displaystyle", "limits")


@dataclass
class Leaf:
    """One symbol: a character, a command without arguments, or words.

    `side` is "left" or "right" where the symbol encloses something; `tag` is the number that
    `\\tag` gives to the lines before it, which show no symbol; `size` is the command that sets how
    large the symbol is, `\\Big` for example.
    """

    text: str
    words: str | None = None
    marked: bool = False
    side: str | None = None
    tag: str | None = None
    size: str = ""


@dataclass
class Branch:
    """A construction with parts, each of them a list of nodes.

    `kind` is "group", "script" (base, sub, sup), "frac" (numerator, denominator), "sqrt", "accent",
    "font", or "env" (cells, row by row; `rows` says how many each row has).
    """

    kind: str
    parts: list
    name: str = ""
    rows: list = field(default_factory=list)
    options: str = ""


def parse(text):
    """The nodes of a formula; ValueError for braces or environments that do not close."""
    tokens = signs(text)
    nodes, rest = _sequence(tokens, 0, ())
    if rest < len(tokens):
        raise ValueError(f"a formula has {tokens[rest]!r} that nothing opened: {text!r}")
    return nodes


def _sequence(tokens, place, ends):
    """Nodes up to one of the tokens `ends`, and where that is."""
    nodes = []
    while place < len(tokens) and tokens[place] not in ends:
        token = tokens[place]
        if token in ("}", r"\end"):
            break
        if token in ("^", "_"):
            content, place = _argument(tokens, place + 1)
            _attach(nodes, token, content)
            continue
        node, place = _node(tokens, place)
        if node is not None:
            nodes.append(node)
    return nodes, place


def _attach(nodes, token, content):
    """Give the last node a subscript or superscript."""
    while nodes and isinstance(nodes[-1], Leaf) and nodes[-1].text == " ":
        nodes.pop()
    last = nodes.pop() if nodes else Branch("group", [[]])
    if not (isinstance(last, Branch) and last.kind == "script"):
        last = Branch("script", [[last], [], []])
    last.parts[1 if token == "_" else 2] += content
    nodes.append(last)


def _node(tokens, place):
    """The node that begins at a place (None for what only sets sizes), and where it ends."""
    token = tokens[place]
    name = token[1:] if token.startswith("\\") else None
    if token == "'":
        return Leaf("'"), place + 1
    if token == "{":
        nodes, end = _sequence(tokens, place + 1, ("}",))
        return Branch("group", [nodes]), _closed(tokens, end, "}")
    if name in ("frac", "tfrac", "dfrac"):
        above, place = _argument(tokens, place + 1)
        below, place = _argument(tokens, place)
        return Branch("frac", [above, below], name), place
    if name == "sqrt":
        inner, place = _argument(tokens, place + 1)
        return Branch("sqrt", [inner]), place
    if name == "tag":
        number, place = _raw(tokens, place + 1)
        return Leaf(f"\\tag{{{number}}}", tag=number), place
    if name in WORDS:
        words, place = _raw(tokens, place + 1)
        return Leaf(f"\\{name}{{{words}}}", words), place
    if name in ACCENTS or name in FONTS:
        inner, place = _argument(tokens, place + 1)
        return Branch("accent" if name in ACCENTS else "font", [inner], name), place
    if name == "begin":
        return _environment(tokens, place)
    if name in _SIZES:
        return _delimiter(tokens, place, name)
    return Leaf(" " if token.isspace() else token), place + 1


def _delimiter(tokens, place, name):
    """What `\\left` or `\\right` makes larger: a symbol that knows its side."""
    following = _skip_spaces(tokens, place + 1)
    if name in ("textstyle", "displaystyle", "limits") or following >= len(tokens):
        return None, following
    sign = tokens[following]
    if name not in ("left", "right"):
        return Leaf(sign, size=f"\\{name}"), following + 1
    return (None if sign == "." else Leaf(sign, side=name)), following + 1


def _skip_spaces(tokens, place):
    while place < len(tokens) and tokens[place].isspace():
        place += 1
    return place


def _closed(tokens, place, token):
    if place >= len(tokens) or tokens[place] != token:
        raise ValueError(f"a formula lacks {token!r}: {''.join(tokens)!r}")
    return place + 1


def _argument(tokens, place):
    """The nodes of one argument, braces or not."""
    place = _skip_spaces(tokens, place)
    if place >= len(tokens):
        raise ValueError(f"a formula ends where an argument is expected: {''.join(tokens)!r}")
    node, place = _node(tokens, place)
    if isinstance(node, Branch) and node.kind == "group":
        return node.parts[0], place
    return [node], place


def _raw(tokens, place):
    """The words of `\\text{words}`, as they stand."""
    place = _closed(tokens, _skip_spaces(tokens, place), "{")
    depth, words = 1, []
    while place < len(tokens):
        depth += (tokens[place] == "{") - (tokens[place] == "}")
        if depth == 0:
            return "".join(words), place + 1
        words.append(tokens[place])
        place += 1
    raise ValueError(f"a formula lacks '}}': {''.join(tokens)!r}")


def _environment(tokens, place):
    name, place = _raw(tokens, place + 1)
    options = ""
    if name == "array":
        options, place = _raw(tokens, place)
    cells, rows = [], [0]
    while True:
        nodes, place = _sequence(tokens, place, ("&", r"\\"))
        if place >= len(tokens):
            raise ValueError(f"a formula lacks \\end{{{name}}}")
        ends = tokens[place] == r"\end"
        if not ends or any(not (isinstance(node, Leaf) and node.text == " ") for node in nodes) \
                or rows[-1]:
            cells.append(nodes)
            rows[-1] += 1
        if ends:
            break
        if tokens[place] == r"\\":
            rows.append(0)
        elif tokens[place] != "&":
            raise ValueError(f"a formula has {tokens[place]!r} that nothing opened")
        place += 1
    place = _raw(tokens, place + 1)[1]
    return Branch("env", cells, name, [count for count in rows if count], options), place


# -- back to LaTeX ---------------------------------------------------------------------------------

def to_latex(nodes, color="red"):
    """LaTeX of nodes; runs of marked symbols stand in that colour (None: marks are left out)."""
    out, within, sized = [], False, _pairs(nodes)
    for node in nodes:
        now = bool(color) and (within if is_space(node) else is_marked(node))
        if now != within:
            out.append(f"{{\\color{{{color}}} " if now else "}")
            within = now
        text = _latex_of(node, None if within else color)
        if sized and _side(node):
            text = f"\\{_side(node)}{text}"
        if out and re.search(r"\\[a-zA-Z]+$", out[-1]) and re.match("[a-zA-Z]", text):
            out.append(" ")
        out.append(text)
    return "".join(out) + ("}" if within else "")


def _pairs(nodes):
    """Whether what encloses stands in pairs here, none of it marked, so that it may grow."""
    depth = 0
    for node in nodes:
        if _side(node):
            depth += 1 if _side(node) == "left" else -1
        if depth < 0 or is_marked(node):
            return False
    return depth == 0


def _side(node):
    """The side of what encloses, also where it bears an index or a power; None of anything else."""
    if isinstance(node, Leaf):
        return node.side
    return _side(node.parts[0][0]) if node.kind == "script" and len(node.parts[0]) == 1 else None


def is_space(node):
    """Whether a node is the space between two others."""
    return isinstance(node, Leaf) and node.text == " "


def is_marked(node):
    """Whether all symbols of a node are marked (and there are any)."""
    visible = [leaf for leaf in leaves([node]) if leaf.text != " "]
    return bool(visible) and all(leaf.marked for leaf in visible)


def _latex_of(node, color):
    if isinstance(node, Leaf):
        return node.size + node.text
    inner = [to_latex(part, color) for part in node.parts]
    if node.kind == "script":
        base, sub, sup = inner
        return base + (f"_{{{sub}}}" if sub else "") + (f"^{{{sup}}}" if sup else "")
    if node.kind == "frac":
        return f"\\{node.name}{{{inner[0]}}}{{{inner[1]}}}"
    if node.kind == "env":
        rows = [" & ".join(to_latex(cell, color).strip() for cell in row) for row in rows_of(node)]
        options = f"{{{node.options}}}" if node.options else ""
        return (f"\\begin{{{node.name}}}{options} " + " \\\\ ".join(rows)
                + f" \\end{{{node.name}}}")
    return f"{{{inner[0]}}}" if node.kind == "group" else \
        f"\\{node.name or node.kind}{{{inner[0]}}}"


def rows_of(env):
    """The cells of an environment, row by row."""
    cells = iter(env.parts)
    return [[next(cells) for _ in range(count)] for count in env.rows]


def lines_of(nodes):
    """The environment whose rows are the lines of a formula, or None."""
    nodes = [node for node in nodes if not is_space(node)]
    alone = len(nodes) == 1 and isinstance(nodes[0], Branch) and nodes[0].kind == "env"
    return nodes[0] if alone and nodes[0].name in ("aligned", "gathered") else None


def untagged(nodes):
    r"""The nodes without what stands in `\tag`, and the numbers that stand there."""
    tags = tuple(node.tag for node in nodes if isinstance(node, Leaf) and node.tag)
    nodes = [node for node in nodes if not (isinstance(node, Leaf) and node.tag)]
    while tags and nodes and is_space(nodes[-1]):
        nodes.pop()
    return nodes, tags


def told(numbers):
    """Numbers of displays as text: `(8a)`, `(4), (35)`."""
    return ", ".join(f"({number})" for number in numbers)


def leaves(nodes):
    """All symbols of nodes, from left to right."""
    ends = []
    for node in nodes:
        if isinstance(node, Leaf):
            ends.append(node)
        else:
            for part in node.parts:
                ends += leaves(part)
    return ends


# -- wide formulas ---------------------------------------------------------------------------------

_RELATIONS = ("=", r"\equiv", r"\leq", r"\le", r"\geq", r"\ge", r"\approx", r"\leftarrow")


def broken(nodes, width, columns):
    """The nodes themselves, or rows of `aligned` where they are wider by ``columns(nodes)``.

    Rows begin at relations and, where that is not enough, at plus and minus signs outside all
    brackets.
    """
    if any(isinstance(node, Branch) and node.kind == "env" for node in nodes) \
            or columns(nodes) <= width:
        return nodes
    rows = [piece for row in _filled(_parts(nodes, _RELATIONS), width, columns)
            for piece in _filled(_parts(row, ("+", "-")), width, columns)]
    if len(rows) < 2:
        return nodes
    cells = [cell for k, row in enumerate(rows) for cell in ([] if k else [], row)]
    cells = [[*([Leaf(r"\quad"), Leaf(" ")] if k > 1 and k % 2 else []), *cell]
             for k, cell in enumerate(cells)]
    return [Branch("env", cells, "aligned", [2] * len(rows))]


def _filled(parts, width, columns):
    """Parts put together to rows, each as long as the width allows."""
    rows = [[]]
    for part in parts:
        if rows[-1] and columns(rows[-1] + part) > width:
            rows.append([])
        rows[-1] = rows[-1] + part
    return rows


def _parts(nodes, signs):
    """Nodes cut before these signs where no bracket is open."""
    parts, depth = [[]], 0
    for node in nodes:
        text = node.text if isinstance(node, Leaf) else ""
        if text in ("(", "[", r"\{"):
            depth += 1
        elif text in (")", "]", r"\}"):
            depth -= 1
        if text in signs and depth == 0 and any(not is_space(one) for one in parts[-1]):
            parts.append([])
        parts[-1].append(node)
        if isinstance(node, Branch) and node.kind == "script" and len(node.parts[0]) == 1 \
                and isinstance(node.parts[0][0], Leaf) and node.parts[0][0].text in (")", "]"):
            depth -= 1
    return parts
