"""A formula drawn with Unicode in lines of a given width, broken at operators only.

Fractions stand on one line, scripts as in the code's own docstrings (`w_ij^(ℓ)`), and cases and
matrices as grids. Under a symbol that is marked stands a caret. The pieces and the breaking of
lines stand in `boxes`, the gaps between pieces in `spacing`, cases and matrices in `grids`.
"""

import unicodedata

from . import symbols
from .boxes import Item, blank, cells_of, piece, side_by_side, text_of, wrap
from .grids import grid
from .latex import Branch, Leaf, leaves, lines_of, parse, rows_of, told, untagged
from .spacing import pair_bars, spaced


def draw(formula, width=76, numbers=()):
    """Lines of text for LaTeX or for its nodes, with the paper's numbers at the right margin.

    Lines keep to `width` columns wherever there is an operator to break at. `numbers` are those of
    a formula in which no `\\tag` says which number is whose.
    """
    nodes = parse(formula) if isinstance(formula, str) else formula
    lines = []
    if any(leaf.tag for leaf in leaves(nodes)):
        numbers = ()
    for row in _lines(nodes, width, numbers):
        lines.append("".join(glyph for glyph, _ in row).rstrip())
        if any(marked for _, marked in row):
            lines.append("".join("^" if marked else " " for _, marked in row).rstrip())
    return lines


def columns(text):
    """How many columns a text takes in a terminal: marks above letters take none."""
    return sum(not unicodedata.combining(sign) for sign in text)


# -- lines -----------------------------------------------------------------------------------------

def _lines(nodes, width, numbers=()):
    """Rows of cells of a whole formula; rows of `aligned` and `gathered` are lines of their own."""
    environment = lines_of(nodes)
    if environment is not None and environment.name == "gathered":
        rows = [row for part in environment.parts for row in _lines(part, width)]
        return _numbered(lambda width: rows, numbers, width)
    if environment is not None:
        return _numbered(lambda width: _aligned(environment, width), numbers, width)
    nodes, tags = untagged(nodes)
    if tags:
        return _lines(nodes, width, tags)
    return _numbered(lambda width: wrap(_items(nodes, width), width), numbers, width)


def _numbered(rows_of, numbers, width):
    """Rows with the numbers at the right margin of the last one, where need be of narrower rows."""
    text, rows = told(numbers), rows_of(width)
    if not text:
        return rows
    room = width - len(text) - 1
    if len(_trimmed(rows[-1])) > room:
        rows = rows_of(room)
    if len(_trimmed(rows[-1])) > room:
        rows = [*rows, []]
    last = _trimmed(rows[-1])
    return [*rows[:-1], last + blank(width - len(text) - len(last)) + cells_of(text)]


def _trimmed(row):
    """A row without the blanks at its end."""
    end = len(row)
    while end and row[end - 1][0] == " ":
        end -= 1
    return row[:end]


def _aligned(environment, width):
    rows, indent = [], None
    for row in rows_of(environment):
        row[-1], tags = untagged(row[-1])
        first = _items(row[0], width)
        if indent is None:
            indent = min(side_by_side(first).width + 1 if first else 0, 8)
        hang = 0 if first else indent
        nodes = [node for k, cell in enumerate(row)
                 for node in ([Leaf(r"\quad")] if k and k % 2 == 0 else []) + cell]
        rows += _numbered(lambda width: [blank(hang) + line for line in
                                         wrap(_items(nodes, width), width - hang)], tags, width)
    return rows


def drawable(text):
    """Whether a formula can be drawn: one of an author's own may have anything in it."""
    try:
        draw(text)
    except Exception:  # whatever a strange formula raises
        return False
    return True


def unknown(text):
    """The commands of a formula that have no sign here, by name, each once; none where the formula
    cannot be read.
    """
    try:
        return list(dict.fromkeys(leaf.text for leaf in leaves(parse(text)) if is_unknown(leaf)))
    except ValueError:
        return []


#: What a symbol is and looks like: by its text, then by its name without the backslash.
_BY_TEXT = {"|": ("bar", "|"), r"\|": ("bar", "‖"), "'": ("prime", "′"), ",": ("comma", ","),
            ";": ("comma", ";"), "/": ("slash", "/"), r"\not": ("not", "¬"), " ": ("gap", " "),
            **{f"\\{name}": ("gap", gap) for name, gap in symbols.GAPS.items()},
            **{sign: ("open", shown) for sign, shown in symbols.OPENING.items()},
            **{sign: ("close", shown) for sign, shown in symbols.CLOSING.items()}}
_BY_NAME = {name: (kind, sign) for kind, table in (
    ("atom", symbols.LETTERS), ("relation", symbols.RELATIONS), ("binary", symbols.BINARY),
    ("limits", symbols.LIMITS), ("prefix", symbols.PREFIXES)) for name, sign in table.items()}


def is_unknown(leaf):
    """Whether a symbol is a command that has no sign here."""
    text, name = leaf.text, leaf.text[1:]
    return (text[:1] == "\\" and name.isalpha() and leaf.words is None and not leaf.tag
            and text not in _BY_TEXT and name not in _BY_NAME and name not in symbols.NOTHING)


# -- nodes to items --------------------------------------------------------------------------------

def _items(nodes, width, tight=False):
    """Items with the gaps between them; `tight` as in scripts."""
    pieces = [item for node in nodes for item in _item_of(node, width, tight)]
    pair_bars(pieces)
    return spaced(pieces, tight)


def _item_of(node, width, tight):
    if isinstance(node, Leaf):
        return _leaf(node)
    if node.kind == "group":
        return _items(node.parts[0], width, tight)
    if node.kind == "font":
        return _font(node, width, tight)
    if node.kind == "accent":
        return [_accented(node, width, tight)]
    if node.kind == "sqrt":
        inner = _flat(node.parts[0], width, False)
        simple = len(inner.rows[0]) == 1
        return [Item("atom", [cells_of("√") + _bracketed(inner.rows[0], not simple)])]
    if node.kind == "frac":
        return _fraction(node, width)
    if node.kind == "script":
        return _script(node, width)
    return [grid(node, width, _items)]


def _leaf(leaf):
    text, marked = leaf.text, leaf.marked
    if leaf.words is not None:
        words = leaf.words.strip().replace("\\_", "_").replace("~", " ")
        return [piece("words", words, marked)] if words else []
    if leaf.side:
        sign = ({r"\|": "‖"} | symbols.OPENING | symbols.CLOSING).get(text, text)
        return [piece("open" if leaf.side == "left" else "close", sign, marked)]
    name = text[1:] if text.startswith("\\") and len(text) > 1 else text
    if text == "&" or text.startswith("\\") and name in symbols.NOTHING:
        return []
    known = _BY_TEXT.get(text) or _BY_NAME.get(name)
    if known is None:  # a command without a sign stands as it does in LaTeX
        known = ("number" if text.isdigit() or text == "." else "atom",
                 text if is_unknown(leaf) else name)
    return [piece(*known, marked)]


def _font(node, width, tight):
    items = _items(node.parts[0], width, tight)
    if node.name == "mathrel":
        for item in items:
            item.kind = "relation"
    if node.name == "mathcal":
        for item in items:
            item.rows = [[(symbols.SCRIPT.get(glyph, glyph), marked) for glyph, marked in row]
                         for row in item.rows]
    return items


def _flat(nodes, width, tight=True):
    """All nodes as one item of one row."""
    items = _items(nodes, width, tight)
    joined = items[0] if len(items) == 1 else side_by_side(items)
    if {"binary", "relation", "comma"} & {item.kind for item in items}:
        joined.kind = "expression"
    return joined


def _accented(node, width, tight):
    inner = _flat(node.parts[0], width, tight)
    mark = symbols.ACCENTS.get(node.name)
    if mark and inner.rows[inner.base]:
        row = inner.rows[inner.base]
        row[0] = (row[0][0] + mark, row[0][1])
    return Item("atom", inner.rows, inner.base)


def _bracketed(cells, needed=True):
    return cells_of("(") + cells + cells_of(")") if needed else cells


def _fraction(node, width):
    """One item, or where it is long the items of both parts."""
    pieces = []
    for part, above in zip(node.parts, (True, False)):
        items = _items(part, width, False)
        if len(items) > 1 and text_of(items[0]) == "d":  # of a derivative
            items[0].kind = "prefix"
            items = spaced(items, False)
        if _needs_brackets(part, width, above):
            items = spaced([piece("open", "("), *items, piece("close", ")")], False)
        pieces += items if above else [piece("slash", "/"), *items]
    for item in pieces:
        item.kind = {"limits": "atom"}.get(item.kind, item.kind)
    whole = side_by_side(pieces)
    if whole.width > width // 2:
        return pieces
    whole.kind = "frac"
    return [whole]


def _needs_brackets(nodes, width, above=False):
    """Whether a part of a fraction has to be held together: a sum, or below the line a product."""
    items = _items(nodes, width, False)
    depth, factors = 0, -(len(items) > 1 and text_of(items[0]) == "d")
    for item in items:
        depth -= item.kind == "close"
        if depth == 0 and item.kind in ("binary", "relation", "comma", "limits"):
            return True
        if depth == 0 and item.kind in ("atom", "frac", "number", "close"):
            factors += 1
        depth += item.kind == "open"
    return factors > 1 and not above


def _script(node, width):
    base, sub, sup = node.parts
    braced = bool(base) and isinstance(base[0], Branch) and base[0].name == "underbrace"
    items = _items(base, width, not braced)
    if not items:
        items = [piece("atom", "")]
    if items[-1].kind == "separator":  # a bar by itself: its partner stands further left
        items[-1].kind = "bar"
    last = items[-1]
    if last.kind == "limits":
        last.rows = [last.rows[0] + _limits(sub, sup, width)]
        return items
    held = base and isinstance(base[0], Branch) and base[0].kind == "group" and len(items) > 1
    if held:
        items = [Item("atom", [_bracketed(side_by_side(items).rows[0])])]
        last = items[-1]
    cells = list(last.rows[last.base])
    while sup and isinstance(sup[0], Leaf) and sup[0].text == "'":
        cells.append(("′", sup[0].marked))
        sup = sup[1:]
    if sub and braced:
        cells = _bracketed(cells + cells_of(" =: ") + _content(sub, width)[0])
    elif sub:
        cells += cells_of("_") + _bracketed(*_content(sub, width))
    if sup:
        inner, needed = _content(sup, width)
        text = "".join(glyph for glyph, _ in inner)
        if len(inner) <= 2 and all(glyph in symbols.SUPERSCRIPTS for glyph in text):
            cells += [(symbols.SUPERSCRIPTS[glyph], marked) for glyph, marked in inner]
        else:
            if text.endswith(")2"):  # a square behind an index in brackets
                inner = [*inner[:-1], ("²", inner[-1][1])]
            cells += cells_of("^") + _bracketed(inner, needed)
    last.rows = [*last.rows[:last.base], cells, *last.rows[last.base + 1:]]
    if last.kind == "prefix" and sub:
        last.kind = "atom"
    return items


def _content(nodes, width):
    """Cells of a script, and whether it has to stand in brackets."""
    item = _flat(nodes, width)
    cells = item.rows[0]
    begins = bool(cells) and cells[0][0] in "(["
    held = item.kind in ("expression", "frac") or any(
        glyph in "_^/" or glyph in symbols.SUPERSCRIPTS.values() for glyph, _ in cells)
    return cells, held and not begins and len(cells) > 1


def _limits(sub, sup, width):
    """`[i=1..n]` behind a sum; `_k` where there is one sign only."""
    below = _flat(sub, width).rows[0] if sub else []
    above = _flat(sup, width).rows[0] if sup else []
    if not above:
        return cells_of("_") + below if len(below) == 1 else \
            cells_of("[") + below + cells_of("]") if below else []
    if not below:
        return cells_of("^") + above
    return cells_of("[") + below + cells_of("..") + above + cells_of("]")
