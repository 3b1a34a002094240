"""Which equation uses which: from what the implementing functions call, and what is stated."""

import ast
import html
import inspect
import textwrap

from ..ledger.registry import REGISTRY, underlying
from ..ledger.source import named

COLUMN, ROW, BOX, TALL, MARGIN = 150, 30, 112, 20, 10
ALONE_A_ROW = 8


def functions(entry):
    """The plain functions behind what an entry implements."""
    return [inspect.unwrap(underlying(value)) for value in entry.implements]


def called(function):
    """The functions that a function names."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return set()
    names = getattr(function, "__globals__", {})
    named_here = set()
    for node in ast.walk(tree):
        value = named(node, names)
        if value is not None and (inspect.isfunction(value) or inspect.isclass(value)):
            named_here.add(inspect.unwrap(value))
    return named_here


def elsewhere(label):
    """Paper and label of what ``uses=`` names of another paper; None for one of the same."""
    paper, _, rest = label.partition(" ")
    return (paper, rest) if rest and paper in REGISTRY.papers else None


def edges(entries):
    """Pairs (user, used) of entries by their first labels, with how the edge is known.

    Returns
    -------
    dict of (str, str) to str
        "found": an implementing function of the one names an implementing function of the other,
        which no third entry implements first; "stated": the registration says so.
    """
    home = {}
    for entry in entries:
        for function in functions(entry)[:1]:  # the literal form leads
            home.setdefault(function, entry.labels[0])
    first = {label: entry.labels[0] for entry in entries for label in entry.labels}
    known = {}
    for entry in entries:
        own = entry.labels[0]
        for function in functions(entry):
            for used in called(function):
                if used in home and home[used] != own and used not in functions(entry):
                    known[own, home[used]] = "found"
        for label in entry.uses:
            if elsewhere(label) is None:
                known[own, first[label]] = "stated"
    return without_circles(known)


def without_circles(known):
    """Found edges that would close a circle are left out: two entries share code then."""
    without = {}
    for edge, how in sorted(known.items(), key=lambda item: item[1] == "found"):
        if not reaches(without, edge[1], edge[0]):
            without[edge] = how
        elif how == "stated":
            raise ValueError(f"uses= closes a circle: {edge[0]} uses {edge[1]}, which uses it")
    return without


def reaches(known, start, goal):
    """Whether `goal` is used, directly or not, by `start`."""
    waiting, visited = [start], set()
    while waiting:
        label = waiting.pop()
        if label == goal:
            return True
        if label not in visited:
            visited.add(label)
            waiting += [used for user, used in known if user == label]
    return False


def levels(labels, known):
    """Longest way down from each label: 0 for what uses nothing."""
    level_of = {}

    def level(label):
        if label not in level_of:
            level_of[label] = 1 + max((level(used) for user, used in known if user == label),
                                      default=-1)
        return level_of[label]

    for label in labels:
        level(label)
    return level_of


def ancestors(label, known):
    """All labels that a label uses, directly or not."""
    waiting, visited = [label], set()
    while waiting:
        for used in [used for user, used in known if user == waiting[-1]]:
            if used not in visited:
                visited.add(used)
                waiting.insert(0, used)
        waiting.pop()
    return visited


def svg(entries, known, caption, address):
    """The graph as a drawing: what uses nothing left, its users right of it.

    Parameters
    ----------
    entries : list of Equation
    known : dict
        As `edges` gives it.
    caption, address : callable
        Of an entry: its text (glyph and label) and the link of its box.
    """
    by_label = {entry.labels[0]: entry for entry in entries}
    joined = {label for edge in known for label in edge}
    level = levels(joined, known)
    columns = [[label for label in by_label if label in joined and level[label] == k]
               for k in range(max(level.values(), default=-1) + 1)]
    place, tallest = {}, 0
    for k, column in enumerate(columns):
        ordered = sorted(column, key=lambda label: _height(label, known, place))
        for row, label in enumerate(ordered):
            place[label] = MARGIN + k * COLUMN, MARGIN + row * ROW
        tallest = max(tallest, len(column))
    below = MARGIN + tallest * ROW + 24
    alone = [label for label in by_label if label not in joined]
    for k, label in enumerate(alone):
        place[label] = (MARGIN + (k % ALONE_A_ROW) * (BOX + 8),
                        below + (k // ALONE_A_ROW) * ROW)
    width = max([x + BOX for x, _ in place.values()], default=0) + MARGIN
    height = max([y + TALL for _, y in place.values()], default=0) + MARGIN
    parts = [f'<svg class="graph" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" role="group" aria-label="which equation uses which">']
    for (user, used), how in known.items():
        (x1, y1), (x2, y2) = place[used], place[user]
        x1, y1, y2 = x1 + BOX, y1 + TALL / 2, y2 + TALL / 2
        middle = (x1 + x2) / 2
        parts.append(f'<path class="edge {how}" data-user="{html.escape(user)}" '
                     f'data-used="{html.escape(used)}" d="M{x1},{y1} C{middle},{y1} {middle},{y2} '
                     f'{x2},{y2}"><title>{html.escape(user)} uses {html.escape(used)} ({how})'
                     "</title></path>")
    if alone and joined:
        parts.append(f'<text class="note" x="{MARGIN}" y="{below - 8}">standing alone</text>')
    for label, (x, y) in place.items():
        entry = by_label[label]
        needs = " ".join(sorted(ancestors(label, known))).replace('"', "")
        parts.append(f'<a class="node {entry.verdict}" href="{address(entry)}" '
                     f'data-label="{html.escape(label)}" data-needs="{html.escape(needs)}">'
                     f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="4"/>'
                     f'<text x="{x + BOX / 2}" y="{y + 14}">{html.escape(caption(entry))}</text>'
                     "</a>")
    return "".join(parts) + "</svg>"


def _height(label, known, place):
    """Mean height of what a label uses, so that lines cross little."""
    heights = [place[used][1] for user, used in known if user == label and used in place]
    return sum(heights) / len(heights) if heights else 1e9
