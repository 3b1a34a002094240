"""A proof tree as a drawing: the result on top, every label whole."""

import html

from ..ledger.labels import short
from . import articles, graph

LETTER, PADDING, TALL, GAP, DROP, MARGIN = 7.2, 16, 26, 14, 62, 8
PHONE = 330  # what fits beside the margins of a narrow screen


def of_paper(entries, known):
    """Everything that a page tells of its proofs.

    ``drawn``: a tree for each result; ``single``: results that are one step from what has a tree or
    rests on nothing, as pairs of an entry and those it rests on; ``alone``: entries.
    """
    by_label = {entry.labels[0]: entry for entry in entries}
    stops = graph.tops(entries, known)
    trees = [drawn(top, known, stops, by_label) for top in stops]
    return {"drawn": [tree for tree in trees if tree["deep"]],
            "single": [step for tree in trees if not tree["deep"] for step in tree["steps"]],
            "alone": graph.alone(entries, known)}


def drawn(top, known, stops, entries):
    """The tree below one result; `entries` are by first label, `known` and `stops` from `graph`.

    ``top``, ``svg``, ``wide`` (whether a phone has to scroll), ``deep`` (whether there is more than
    one step), ``steps``: pairs of an entry and those it rests on, from the top down.
    """
    part = graph.tree(top, known, stops)
    texts = {label: f"{articles.GLYPHS[entries[label].verdict][0]} "
                    f"{short(entries[label].labels)}" for label in part}
    places, lines, width, height = layout(top, part, texts)
    name = html.escape(short(entries[top].labels))
    marks = [f'<svg class="graph" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
             f'height="{height:.0f}" role="group" aria-label="proof tree of {name}">']
    for (user, used), path in lines:
        marks.append(f'<path class="edge" data-user="{html.escape(user)}" d="{path}"/>')
    for label, (x, y) in places.items():
        entry, wide = entries[label], breadth(texts[label])
        own = " own" if label in stops and label != top else ""
        needs = html.escape(" ".join(graph.below(label, part)))
        marks.append(
            f'<a class="node {entry.verdict}{own}" href="#{articles.anchor(label)}" '
            f'data-label="{html.escape(label)}" data-needs="{needs}">'
            f'<rect x="{x - wide / 2:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{TALL}" rx="4"/>'
            f'<text x="{x:.0f}" y="{y + 17:.0f}">{html.escape(texts[label])}</text></a>')
    depth = graph.depths(top, part)
    steps = [(entries[label], [entries[used] for used in known[label]])
             for label in sorted(part, key=depth.get) if label not in set(stops) - {top}]
    return {"top": entries[top], "svg": "".join(marks) + "</svg>", "wide": width > PHONE,
            "deep": max(depth.values()) > 1, "steps": [step for step in steps if step[1]]}


def breadth(text):
    """Width of a box in pixels."""
    return len(text) * LETTER + PADDING


def layout(top, part, texts):
    """Middle of the upper edge of every box, paths of the edges, width and height.

    A line over several rows has a place of its own in each of them, so that it crosses no box.
    """
    depth = graph.depths(top, part)
    rows = [[label for label in part if depth[label] == k] for k in range(max(depth.values()) + 1)]
    routes, parents = {}, {}
    for user in part:
        for used in part[user]:
            stations = [(user, used, k) for k in range(depth[user] + 1, depth[used])]
            for k, station in enumerate(stations, depth[user] + 1):
                rows[k].append(station)
            routes[user, used] = [user, *stations, used]
            for upper, lower in zip(routes[user, used], routes[user, used][1:]):
                parents.setdefault(lower, []).append(upper)
    size = {one: breadth(texts[one]) if one in texts else 4 for row in rows for one in row}
    width = max(sum(size[one] + GAP for one in row) for row in rows) + 2 * MARGIN
    places = {}
    for k, row in enumerate(rows):
        if k:
            row.sort(key=lambda one: sum(places[up][0] for up in parents[one]) / len(parents[one]))
        x = (width - sum(size[one] + GAP for one in row) + GAP) / 2
        for one in row:
            places[one] = x + size[one] / 2, MARGIN + k * DROP
            x += size[one] + GAP
    lines = [(pair, _path([places[one] for one in route])) for pair, route in routes.items()]
    height = 2 * MARGIN + (len(rows) - 1) * DROP + TALL
    return {label: places[label] for label in part}, lines, width, height


def _path(points):
    """A smooth line from below the first box to above the last one."""
    (x, y), path = points[0], ""
    y += TALL
    path = f"M{x:.0f},{y:.0f}"
    for x_next, y_next in points[1:]:
        half = (y + y_next) / 2
        path += f" C{x:.0f},{half:.0f} {x_next:.0f},{half:.0f} {x_next:.0f},{y_next:.0f}"
        if (x_next, y_next) != points[-1]:
            path += f" V{y_next + TALL:.0f}"
        x, y = x_next, y_next + TALL
    return path
