"""A formula drawn with Unicode in lines of a given width, broken at operators only.

Fractions stand on one line, scripts as in the code's own docstrings (`w_ij^(ℓ)`), and cases and
matrices as grids.  Under a symbol that is marked stands a caret.
"""

import unicodedata
from dataclasses import dataclass

from . import symbols
from .latex import Branch, Leaf, parse

_RANKS = {"gap": 0, "relation": 1, "binary": 2, "comma": 2, "factor": 4}
_CONNECTIVES = ("and", "or", "if", "where", "with", "for", "from", "at", "not", "on", "in", "else")


@dataclass
class Item:
    """A piece that is not broken, what kind of piece it is, and how bad a break before it is."""

    kind: str
    rows: list  # rows of cells; a cell is (glyph, marked)
    base: int = 0
    gap: int = 0  # spaces before it
    rank: int | None = None  # of a break before it; None: no break
    factors: int = 1

    @property
    def width(self):
        return max(map(len, self.rows))


def draw(formula, width=76):
    """Lines of text for LaTeX or for its nodes.

    Parameters
    ----------
    formula : str or list of nodes
        As `latex.parse` returns them; symbols may be marked.
    width : int
        Columns that lines keep to wherever there is an operator to break at.

    Returns
    -------
    list of str
    """
    nodes = parse(formula) if isinstance(formula, str) else formula
    lines = []
    for row in _lines(nodes, width):
        lines.append("".join(glyph for glyph, _ in row).rstrip())
        if any(marked for _, marked in row):
            lines.append("".join("^" if marked else " " for _, marked in row).rstrip())
    return lines


def columns(text):
    """How many columns a text takes in a terminal: marks above letters take none."""
    return sum(not unicodedata.combining(sign) for sign in text)


# -- lines -----------------------------------------------------------------------------------------

def _lines(nodes, width):
    """Rows of cells of a whole formula; rows of `aligned` and `gathered` are lines of their own."""
    nodes = [node for node in nodes if not (isinstance(node, Leaf) and node.text == " ")]
    if len(nodes) == 1 and isinstance(nodes[0], Branch) and nodes[0].kind == "env":
        if nodes[0].name == "aligned":
            return _aligned(nodes[0], width)
        if nodes[0].name == "gathered":
            return [row for part in nodes[0].parts for row in _lines(part, width)]
    return _wrap(_items(nodes, width), width)


def _aligned(environment, width):
    rows, cells, indent = [], iter(environment.parts), None
    for count in environment.rows:
        row = [next(cells) for _ in range(count)]
        first = _items(row[0], width)
        if indent is None:
            indent = min(_joined(first).width + 1 if first else 0, 8)
        nodes = [node for k, cell in enumerate(row)
                 for node in ([Leaf(r"\quad")] if k and k % 2 == 0 else []) + cell]
        here = _wrap(_items(nodes, width), width if first else width - indent)
        rows += here if first else [_blank(indent) + line for line in here]
    return rows


def _wrap(items, width, hang=4):
    """Rows of cells: items side by side, broken where it is least bad."""
    rows, line = [], []
    waiting = list(items)
    while waiting:
        item = waiting.pop(0)
        used = sum(one.width + one.gap for one in line) + (hang if rows else 0)
        if line and used + item.gap + item.width > width:
            places = [k for k, one in enumerate([*line, item]) if k and one.rank is not None]
            if places:
                best = min(places, key=lambda k: (_badness([*line, item], k, width), -k))
                waiting = line[best:] + [item] + waiting
                item, line = None, line[:best]
        if item is not None:
            line.append(item)
            continue
        rows += [_blank(hang if rows else 0) + row for row in _joined(line).rows]
        line = []
    if line:
        rows += [_blank(hang if rows else 0) + row for row in _joined(line).rows]
    return rows


def _badness(line, k, width):
    """How bad a break before item k is: its rank, and more if much of the line stays empty."""
    left = width - sum(one.width + one.gap for one in line[:k])
    return line[k].rank + 2.5 * max(left, 0) / width


def _joined(items):
    """One item: all side by side on one base line; the first one's gap is left out."""
    above = max((item.base for item in items), default=0)
    below = max((len(item.rows) - item.base for item in items), default=1)
    rows = [[] for _ in range(above + below)]
    for k, item in enumerate(items):
        gap = item.gap if k else 0
        for number, row in enumerate(rows):
            mine = number - above + item.base
            cells = item.rows[mine] if 0 <= mine < len(item.rows) else []
            row += _blank(gap) + cells + _blank(item.width - len(cells))
    return Item("atom", rows, above)


def _blank(count):
    return [(" ", False)] * count


def _cells(text, marked=False):
    cells = []
    for sign in text:
        if unicodedata.combining(sign) and cells:
            cells[-1] = (cells[-1][0] + sign, marked)
        else:
            cells.append((sign, marked))
    return cells


def _text(item):
    return "".join(glyph for glyph, _ in item.rows[item.base])


def _item(kind, text, marked=False):
    return Item(kind, [_cells(text, marked)])


# -- nodes to items --------------------------------------------------------------------------------

def _items(nodes, width, tight=False):
    """Items with the gaps between them; `tight` as in scripts."""
    pieces = [item for node in nodes for item in _item_of(node, width, tight)]
    _pair_bars(pieces)
    return _spaced(pieces, tight)


def _pair_bars(items):
    """Say of every bar whether it opens or closes; a single one inside brackets separates."""
    depth, waiting = 0, {}
    for item in items:
        if item.kind == "bar":
            key = depth, item.rows[0][0][0]
            before = waiting.pop(key, None)
            item.kind = "open" if before is None else "close"
            if before is None:
                waiting[key] = item
        elif item.kind == "close":
            for key in [key for key in waiting if key[0] == depth]:
                waiting.pop(key).kind = "separator"
            depth -= 1
        elif item.kind == "open":
            depth += 1
    for item in waiting.values():
        item.kind = "separator"


def _spaced(items, tight):
    out, depth, gap = [], 0, False
    for item in _with_dots(items):
        if item.kind == "gap":
            gap = gap or item.width > 1
            continue
        last = out[-1] if out else None
        if item.kind == "close":
            depth -= 1
        unary = item.kind == "binary" and (last is None or gap or last.kind in (
            "binary", "relation", "open", "comma", "limits", "unary"))
        if unary and (last is not None or item.rows[0][0][0] != "+" or tight):
            item.kind = "unary"
        item.gap, item.rank = _between(last, item, tight, depth)
        if gap and last is not None:
            item.gap, item.rank = (1, None) if tight else (3, 0)
        out.append(item)
        if item.kind == "open":
            depth += 1
        gap = False
    return out


def _with_dots(items):
    """A dot between a fraction and the factor beside it, which would else seem to be part of it."""
    out = []
    for item in items:
        if item.kind == "gap" and item.width == 1:
            continue
        if out and out[-1].kind == "not":
            (glyph, marked), *rest = item.rows[0]
            item.rows = [[(glyph + "\u0338", marked), *rest]]
            out.pop()
        if out and item.kind == out[-1].kind == "prime":
            out[-1] = _item("prime", "″", item.rows[0][0][1])
            continue
        if out and "frac" in (out[-1].kind, item.kind) and out[-1].kind in (
                "frac", "atom", "number") and item.kind in (
                    "frac", "atom", "prefix", "limits", "open", "grid"):
            if not (out[-1].kind == "number" and item.kind == "frac" and out[-1].width < 2):
                out.append(_item("dot", "·"))
        out.append(item)
    return out


def _between(last, item, tight, depth):
    """Spaces before an item, and the rank of a break there."""
    if last is None:
        return 0, None
    inside = 2 if depth > 0 else 0
    if item.kind == last.kind == "relation":
        return 0, None
    if item.kind in ("relation", "binary"):
        return (0 if tight else 1), _RANKS[item.kind] + inside
    if last.kind in ("relation", "binary"):
        return (0 if tight else 1), None
    if item.kind in ("comma", "close", "prime") or last.kind in ("open", "prefix", "unary"):
        return 0, None
    if last.kind == "comma":
        return (0 if tight else 1), _RANKS["comma"] + inside
    if {"separator", "slash"} & {item.kind, last.kind}:
        return 0, None
    if "dot" in (item.kind, last.kind):
        return 1, _RANKS["factor"] + inside if item.kind == "dot" else None
    if item.kind == "open" and item.rows[0][0][0] not in "|‖":
        spaced = (last.kind == "limits" or last.kind == "words" and _text(last) in _CONNECTIVES
                  or last.kind == "close" and last.width > 1)
        if not spaced and (tight or last.width < 8):
            return 0, None
        return int(spaced), _RANKS["factor"] + (inside if spaced else 4)  # the last resort
    if "words" in (item.kind, last.kind):
        return 1, 2 + inside
    if tight and "limits" not in (item.kind, last.kind):
        return 0, None
    if last.kind == "number" and item.kind in ("atom", "prefix", "number"):
        return 0, None
    return 1, _RANKS["factor"] + inside


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
        return [Item("atom", [_cells("√") + _bracketed(inner.rows[0], not simple)])]
    if node.kind == "frac":
        return _fraction(node, width)
    if node.kind == "script":
        return _script(node, width)
    return [_grid(node, width)]


def _leaf(leaf):
    text, marked = leaf.text, leaf.marked
    if leaf.words is not None:
        words = leaf.words.strip().replace("\\_", "_").replace("~", " ")
        return [_item("words", words, marked)] if words else []
    if leaf.side:
        sign = {r"\{": "{", r"\}": "}", r"\|": "‖"}.get(text, text)
        return [_item("open" if leaf.side == "left" else "close", sign, marked)]
    name = text[1:] if text.startswith("\\") and len(text) > 1 else text
    if text == "&" or text.startswith("\\") and name in symbols.NOTHING:
        return []
    if text == " ":
        return [_item("gap", " ")]
    if text in symbols.OPENING:
        return [_item("open", symbols.OPENING[text], marked)]
    if text in symbols.CLOSING:
        return [_item("close", symbols.CLOSING[text], marked)]
    if text.startswith("\\") and name in symbols.GAPS:
        return [_item("gap", symbols.GAPS[name])]
    if name == "not":
        return [_item("not", "¬", marked)]
    for kind, table in (("prefix", symbols.PREFIXES), ("limits", symbols.LIMITS),
                        ("binary", symbols.BINARY), ("relation", symbols.RELATIONS),
                        ("atom", symbols.LETTERS)):
        if name in table:
            return [_item(kind, table[name], marked)]
    if text in ("|", r"\|"):
        return [_item("bar", "|" if text == "|" else "‖", marked)]
    if text == "'":
        return [_item("prime", "′", marked)]
    if text in (",", ";"):
        return [_item("comma", text, marked)]
    if text == "/":
        return [_item("slash", "/", marked)]
    return [_item("number" if text.isdigit() or text == "." else "atom", name, marked)]


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
    """All nodes as one item of one row; `factors` says how many factors it has."""
    items = _items(nodes, width, tight)
    joined = items[0] if len(items) == 1 else _joined(items)
    kinds = [item.kind for item in items]
    joined.factors = sum(kind not in ("prefix", "prime", "open", "close", "number")
                         for kind in kinds)
    if {"binary", "relation", "comma"} & set(kinds):
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
    return _cells("(") + cells + _cells(")") if needed else cells


def _fraction(node, width):
    """One item, or where it is long the items of both parts."""
    pieces = []
    for part, above in zip(node.parts, (True, False)):
        items = _items(part, width, False)
        if len(items) > 1 and _text(items[0]) == "d":  # of a derivative
            items[0].kind = "prefix"
            items = _spaced(items, False)
        if _needs_brackets(part, width, above):
            items = _spaced([_item("open", "("), *items, _item("close", ")")], False)
        pieces += items if above else [_item("slash", "/"), *items]
    for item in pieces:
        item.kind = {"limits": "atom"}.get(item.kind, item.kind)
    whole = _joined(pieces)
    if whole.width > width // 2:
        return pieces
    whole.kind = "frac"
    return [whole]


def _needs_brackets(nodes, width, above=False):
    """Whether a part of a fraction has to be held together: a sum, or below the line a product."""
    items = _items(nodes, width, False)
    depth, factors = 0, -(len(items) > 1 and _text(items[0]) == "d")
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
        items = [_item("atom", "")]
    if items[-1].kind == "separator":  # a bar by itself: its partner stands further left
        items[-1].kind = "bar"
    last = items[-1]
    if last.kind == "limits":
        last.rows = [last.rows[0] + _limits(sub, sup, width)]
        return items
    held = base and isinstance(base[0], Branch) and base[0].kind == "group" and len(items) > 1
    if held:
        items = [Item("atom", [_bracketed(_joined(items).rows[0])])]
        last = items[-1]
    cells = list(last.rows[last.base])
    while sup and isinstance(sup[0], Leaf) and sup[0].text == "'":
        cells.append(("′", sup[0].marked))
        sup = sup[1:]
    if sub and braced:
        cells = _bracketed(cells + _cells(" =: ") + _content(sub, width)[0])
    elif sub:
        cells += _cells("_") + _bracketed(*_content(sub, width))
    if sup:
        inner, needed = _content(sup, width)
        text = "".join(glyph for glyph, _ in inner)
        if len(inner) <= 2 and all(glyph in symbols.SUPERSCRIPTS for glyph in text):
            cells += [(symbols.SUPERSCRIPTS[glyph], marked) for glyph, marked in inner]
        else:
            if text.endswith(")2"):  # a square behind an index in brackets
                inner = [*inner[:-1], ("²", inner[-1][1])]
            cells += _cells("^") + _bracketed(inner, needed)
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
        return _cells("_") + below if len(below) == 1 else \
            _cells("[") + below + _cells("]") if below else []
    if not below:
        return _cells("^") + above
    return _cells("[") + below + _cells("..") + above + _cells("]")


# -- cases and matrices ----------------------------------------------------------------------------

_BRACES = {"cases": ("{", "⎧⎨⎩⎪", ""), "pmatrix": ("(", "⎛⎜⎝⎜", "⎞⎟⎠⎟")}


def _grid(node, width):
    """Cells in columns, with a brace or brackets; cells that are too wide are broken."""
    parts, rows = iter(node.parts), []
    for count in node.rows:
        rows.append([next(parts) for _ in range(count)])
    columns_ = max(map(len, rows))
    room = width - 8
    natural = [max(_joined(_items(row[k], room)).width for row in rows if k < len(row))
               for k in range(columns_)]
    limits = _shares(natural, room - 3 * (columns_ - 1))
    blocks = []
    for row in rows:
        wrapped = [_wrap(_items(cell, limits[k]), limits[k], 2) or [[]]
                   for k, cell in enumerate(row)]
        height = max(map(len, wrapped))
        for number in range(height):
            cells = []
            for k, lines in enumerate(wrapped):
                line = lines[number] if number < len(lines) else []
                size = min(natural[k], max(limits[k], max(map(len, lines))))
                cells += line + _blank(max(size - len(line), 0) + 3)
            blocks.append(cells[:-3])
    size = max(map(len, blocks))
    blocks = [cells + _blank(size - len(cells)) for cells in blocks]
    return Item("grid", _fenced(blocks, node.name),
                len(blocks) // 2)


def _shares(natural, room):
    """How wide columns may be: those that are narrow as they are, the others share what is left."""
    limits, left, open_ones = list(natural), room, list(range(len(natural)))
    while sum(natural[k] for k in open_ones) > left:
        share = max(left // len(open_ones), 12)
        narrow = [k for k in open_ones if natural[k] < share]
        if not narrow or share == 12:
            for k in open_ones:
                limits[k] = min(natural[k], share)
            return limits
        left -= sum(natural[k] for k in narrow)
        open_ones = [k for k in open_ones if k not in narrow]
    return limits


def _fenced(rows, name):
    if name not in _BRACES:
        return rows
    single, left, right = _BRACES[name]
    count = len(rows)
    out = []
    for number, row in enumerate(rows):
        before, after = (_fence(side, number, count, single, closing)
                         for side, closing in ((left, False), (right, True)))
        out.append(_cells(before) + _blank(1) + row + (_blank(1) + _cells(after) if after else []))
    return out


def _fence(side, number, count, single, closing):
    if not side:
        return ""
    if count == 1:
        return {"(": ")"}.get(single, single) if closing else single
    if number in (0, count - 1):
        return side[0] if number == 0 else side[2]
    return side[1] if number == count // 2 and count > 2 else side[3]
