"""What lies over what in a figure, by matplotlib's own boxes."""

import itertools

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

TOUCH = 1.0  # pixels that two boxes may share


def faults(figure):
    """Sentences on texts that overlap or leave the figure, and on axes without a name; empty if
    nothing is wrong."""
    FigureCanvasAgg(figure).draw()
    return [*_texts(figure), *_unnamed(figure)]


def _texts(figure):
    shown = [(text, text.get_window_extent()) for text in _visible(figure)]
    found = [f"{one.get_text()!r} lies over {other.get_text()!r}"
             for (one, a), (other, b) in itertools.combinations(shown, 2) if _overlap(a, b)]
    inside = figure.bbox
    return found + [f"{text.get_text()!r} leaves the figure" for text, box in shown
                    if not (inside.x0 - TOUCH <= box.x0 and box.x1 <= inside.x1 + TOUCH
                            and inside.y0 - TOUCH <= box.y0 and box.y1 <= inside.y1 + TOUCH)]


def _visible(figure):
    """Texts that are drawn: not those of ticks beyond the limits, nor of hidden axes."""
    ticks, drawn = set(), set()
    for ax in figure.findobj(lambda artist: hasattr(artist, "xaxis")):
        for axis in (ax.xaxis, ax.yaxis):
            every = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            ticks.update(label for tick in every for label in (tick.label1, tick.label2))
            if ax.axison and ax.get_visible():
                scale = axis.get_transform().transform
                low, high = sorted(scale(np.asarray(axis.get_view_interval(), float)))
                room = 1e-9 * (high - low)
                drawn.update(tick.label1 for tick in every
                             if low - room <= scale(np.array([tick.get_loc()]))[0] <= high + room)
    return [text for text in figure.findobj(Text)
            if text.get_text().strip() and text.get_visible()
            and (text not in ticks or text in drawn)]


def _overlap(a, b):
    return (min(a.x1, b.x1) - max(a.x0, b.x0) > TOUCH
            and min(a.y1, b.y1) - max(a.y0, b.y0) > TOUCH)


def _panels(figure):
    return [ax for ax in figure.findobj(lambda artist: hasattr(artist, "xaxis"))
            if ax.get_visible()]


def _unnamed(figure):
    """Panels of numbers without a title or a name at an axis; shared axes need one name."""
    found = []
    for ax in _panels(figure):
        if not (ax.lines or ax.patches or ax.images) or not ax.axison or hasattr(ax, "_colorbar"):
            continue
        above = ax.get_title() or figure.get_suptitle() or getattr(
            ax.get_figure(root=False), "get_suptitle", str)()
        top = ax.get_subplotspec() is None or ax.get_subplotspec().is_first_row()
        if not above and top:
            found.append("a panel without a title")
        for name, axis, siblings in (("x", ax.xaxis, ax.get_shared_x_axes()),
                                     ("y", ax.yaxis, ax.get_shared_y_axes())):
            named = any(getattr(other, f"get_{name}label")()
                        for other in siblings.get_siblings(ax))
            if not named:
                found.append(f"the {name} axis of {ax.get_title()!r} has no name")
    return found
