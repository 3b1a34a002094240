"""The pieces of a drawn formula: side by side on one base line, and broken into lines."""

import unicodedata
from dataclasses import dataclass


@dataclass
class Item:
    """A piece that is not broken, what kind of piece it is, and how bad a break before it is."""

    kind: str
    rows: list  # rows of cells; a cell is (glyph, marked)
    base: int = 0
    gap: int = 0  # spaces before it
    rank: int | None = None  # of a break before it; None: no break

    @property
    def width(self):
        return max(map(len, self.rows))


def blank(count):
    """Cells that show nothing."""
    return [(" ", False)] * count


def cells_of(text, marked=False):
    """A text as cells; a mark above a letter joins the cell of the letter."""
    cells = []
    for sign in text:
        if unicodedata.combining(sign) and cells:
            cells[-1] = (cells[-1][0] + sign, marked)
        else:
            cells.append((sign, marked))
    return cells


def text_of(item):
    """What stands on the base line of a piece."""
    return "".join(glyph for glyph, _ in item.rows[item.base])


def piece(kind, text, marked=False):
    """A piece of one line."""
    return Item(kind, [cells_of(text, marked)])


def side_by_side(items):
    """One item: all side by side on one base line; the first one's gap is left out."""
    above = max((item.base for item in items), default=0)
    below = max((len(item.rows) - item.base for item in items), default=1)
    rows = [[] for _ in range(above + below)]
    for k, item in enumerate(items):
        gap = item.gap if k else 0
        for number, row in enumerate(rows):
            mine = number - above + item.base
            cells = item.rows[mine] if 0 <= mine < len(item.rows) else []
            row += blank(gap) + cells + blank(item.width - len(cells))
    return Item("atom", rows, above)


def wrap(items, width, hang=4):
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
        rows += [blank(hang if rows else 0) + row for row in side_by_side(line).rows]
        line = []
    if line:
        rows += [blank(hang if rows else 0) + row for row in side_by_side(line).rows]
    return rows


def _badness(line, k, width):
    """How bad a break before item k is: its rank, and more if much of the line stays empty."""
    left = width - sum(one.width + one.gap for one in line[:k])
    return line[k].rank + 2.5 * max(left, 0) / width
