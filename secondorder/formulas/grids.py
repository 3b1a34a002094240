"""Cases and matrices as grids of text, with a brace or brackets around them."""

from .boxes import Item, blank, cells_of, side_by_side, wrap

_BRACES = {"cases": ("{", "⎧⎨⎩⎪", ""), "pmatrix": ("(", "⎛⎜⎝⎜", "⎞⎟⎠⎟")}


def grid(node, width, items):
    """Cells of a `cases` or matrix environment in columns, with a brace or brackets.

    Cells that are too wide are broken. ``items(nodes, width)`` is what the nodes of one cell look
    like.
    """
    parts, rows = iter(node.parts), []
    for count in node.rows:
        rows.append([next(parts) for _ in range(count)])
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
    """The rows with the brace or the brackets of their environment on both sides."""
    if name not in _BRACES:
        return rows
    single, left, right = _BRACES[name]
    count = len(rows)
    out = []
    for number, row in enumerate(rows):
        before, after = (_fence(side, number, count, single, closing)
                         for side, closing in ((left, False), (right, True)))
        end = blank(1) + cells_of(after) if after else []
        out.append(cells_of(before) + blank(1) + row + end)
    return out


def _fence(side, number, count, single, closing):
    """The part of a brace or bracket that stands beside row `number` of `count`."""
    if not side:
        return ""
    if count == 1:
        return {"(": ")"}.get(single, single) if closing else single
    if number in (0, count - 1):
        return side[0] if number == 0 else side[2]
    return side[1] if number == count // 2 and count > 2 else side[3]
