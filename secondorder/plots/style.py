"""One palette, the axes of a picture, legends, and curves that hide each other."""

import numpy as np

from ..checks.brief import shown

LEGENDS = ("right", "below", "none")
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK = ("#0072B2", "#D55E00", "#009E73", "#E69F00",
                                                      "#CC79A7", "#56B4E9", "#000000")
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DRAWABLE = 1e200  # a run that blew up is drawn up to this: matplotlib's scales take no more
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx")  # of bars, when the colours begin again
HIDDEN = 0.006  # of the height of a picture: curves that are nearer than this look like one


def style(number):
    """Colour and marker of series `number`; when the colours begin again, each has a new marker."""
    return (COLOURS[number % len(COLOURS)],
            MARKERS[(number + number // len(COLOURS)) % len(MARKERS)])


def axes_of(ax):
    """The axes given, or axes of a new figure; TypeError for anything else."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=(8, 4.8), layout="constrained")[1]
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, got {shown(ax)}")
    return ax


def figure_of(figure, size):
    """The figure given, or a new one of a size in inches; TypeError for anything else."""
    if figure is None:
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained")
    from matplotlib.figure import FigureBase

    if not isinstance(figure, FigureBase):
        raise TypeError(f"figure must be a matplotlib Figure, got {shown(figure)}")
    return figure


def legend(ax, **options):
    """The legend on the right of the axes, where it lies over nothing; `options` are those of
    matplotlib's legend.
    """
    give_layout(ax.figure)
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    return ax.legend(**place | {"fontsize": 8} | options)


def finished(ax, title, grid=None, where="right"):
    """The axes with a title, if there is one, grid lines ("x", "y" or "both") and their legend:
    "right" of them, "below" in two columns where its names are short, or "none".
    """
    if title is not None:
        ax.set_title(title)
    if grid is not None:
        ax.grid(alpha=0.3, axis=grid)
    if where == "right":
        legend(ax)
    elif where == "below":
        names = ax.get_legend_handles_labels()[1]
        legend(ax, loc="upper left", bbox_to_anchor=(0, -0.16),
               ncols=2 if max(map(len, names), default=0) < 25 else 1)
    return ax


def plain_numbers(axis):
    """Plain numbers (0.5, 20) on a logarithmic axis that spans a few powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if high < 1e4 * low:
        narrow = (1, 2, 5) if axis.axis_name == "x" else (1, 2, 3, 5)
        subs = narrow if high < 50 * low else (1,)
        if high < 3 * low:
            subs = tuple(np.arange(1, 10, 0.5 if high > 1.5 * low else 0.1))
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
    axis.set_minor_formatter(NullFormatter())


def give_layout(figure):
    """Without a layout engine, what stands beside the axes lies over its neighbours."""
    if figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
        figure.set_layout_engine("constrained")


def reveal(ax, lines):
    """Make a curve wide and pale where a later one of the `lines` lies on it, so that both can be
    seen. The scales and limits of the axes say what is near.
    """
    places = [ax.transAxes.inverted().transform(ax.transData.transform(
        np.column_stack([line.get_xdata(), line.get_ydata()]))) for line in lines]
    for i, (line, own) in enumerate(zip(lines, places)):
        above = sum(_hides(other, own) for other in places[i + 1:])
        if above:
            more = 3.5 * min(above, 3)
            line.set(linewidth=1.5 + more, alpha=0.4, markersize=4 + more)


def _hides(one, other):
    """Whether two curves (n, 2) in fractions of the axes look like one, on most of their way."""
    own = one[np.isfinite(one).all(axis=1)]
    other = other[np.isfinite(other).all(axis=1)]
    if len(own) == 0 or len(other) == 0:
        return False
    at = np.interp(other[:, 0], own[:, 0], own[:, 1], left=np.inf, right=np.inf)
    return np.mean(np.abs(at - other[:, 1]) < HIDDEN) > 0.7
