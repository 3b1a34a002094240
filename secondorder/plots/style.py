"""One palette, and the axes that a picture goes to."""

BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK = ("#0072B2", "#D55E00", "#009E73", "#E69F00",
                                                      "#CC79A7", "#56B4E9", "#000000")
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DRAWABLE = 1e-290, 1e290  # sizes of numbers that matplotlib's scales can take
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def style(number):
    """Colour and marker of series `number`."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def axes_of(ax):
    """The axes given, or those of a new figure; TypeError for anything else."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(layout="constrained")[1]
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, got {ax!r}")
    return ax


def figure_of(figure, size):
    """The figure given, or a new one of a size in inches; TypeError for anything else."""
    if figure is None:
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained")
    from matplotlib.figure import FigureBase

    if not isinstance(figure, FigureBase):
        raise TypeError(f"figure must be a matplotlib Figure, got {figure!r}")
    return figure


def drawn(ax, kind):
    """The lines that one kind of picture has put on the axes before."""
    return [line for line in ax.lines if line.get_gid() == kind]
