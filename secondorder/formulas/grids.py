"""Cases and matrices as grids of text, with a brace or brackets around them."""

from .boxes import Item, blank, cells_of, side_by_side, wrap
from .latex import rows_of

#: Left and right: of one row; of the first of several, the middle one, the last, the others.
_BRACES = {"cases": (("{", "⎧⎨⎩⎪"), ("", "")), "pmatrix": (("(", "⎛⎜⎝⎜"), (")", "⎞⎟⎠⎟"))}


def grid(node, width, items):
    """Cells of a `cases` or matrix environment in columns, with a brace or brackets.

    Cells that are too wide are broken. ``items(nodes, width)`` is what the nodes of one cell look
    like.
    """
    rows = rows_of(node)
    columns = max(map(len, rows))
    room = width - 8
    natural = [max(side_by_side(items(row[k], room)).width for row in rows if k < len(row))
               for k in range(columns)]
    limits = _shares(natural, room - 3 * (columns - 1))
    blocks = []
    for row in rows:
        wrapped = [wrap(items(cell, limits[k]), limits[k], 2) or [[]]
                   for k, cell in enumerate(row)]
        height = max(map(len, wrapped))
        for number in range(height):
            cells = []
            for k, lines in enumerate(wrapped):
                line = lines[number] if number < len(lines) else []
                size = min(natural[k], max(limits[k], max(map(len, lines))))
                cells += line + blank(max(size - len(line), 0) + 3)
            blocks.append(cells[:-3])
    size = max(map(len, blocks))
    blocks = [cells + blank(size - len(cells)) for cells in blocks]
    return Item("grid", _fenced(blocks, node.name), len(blocks) // 2)


def _shares(natural, room):
    """How wide columns may be: those that are narrow as they are, the others share what is left."""
    limits = list(natural)
    while sum(limits) > room and max(limits) > 12:
        limits[limits.index(max(limits))] -= 1
    return limits


def _fenced(rows, name):
    """The rows with the brace or the brackets of their environment on both sides."""
    if name not in _BRACES:
        return rows
    out, last = [], len(rows) - 1
    for number, row in enumerate(rows):
        part = 0 if number == 0 else 2 if number == last else 1 if number == len(rows) // 2 else 3
        before, after = (single if last == 0 else side[part:part + 1]
                         for single, side in _BRACES[name])
        end = blank(1) + cells_of(after) if after else []
        out.append(cells_of(before) + blank(1) + row + end)
    return out
