"""What the figures of studies share: what a title says of the seeds, where legends stand, ticks."""

from math import ceil, floor, log10

import numpy as np

#: Styles of lines, so that no two of a panel differ by colour alone.
LINE_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)))


def over_seeds(seeds, what="mean and range"):
    """What a title says of the seeds behind curves, "one seed" or "mean and range of 3 seeds";
    `what` is what is drawn where there are several.
    """
    return "one seed" if len(seeds) == 1 else f"{what} of {len(seeds)} seeds"


def headline(figure, text, settings, what="mean and range"):
    """The title of a figure: a text, and what `over_seeds` says of the settings' seeds."""
    figure.suptitle(f"{text}; {over_seeds(settings['seeds'], what)}", fontsize=10)


def mean_and_range(panel, curves, colour, start=0, step=1, **line):
    """The mean of curves and, of several, their range as a band, as far as the shortest goes.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
    curves : sequence of sequences of float
        Empty ones are left out; nothing is drawn where there is no other.
    colour : color of matplotlib
    start, step : float
        Where the first value stands, and how far the next one is.
    **line
        Of matplotlib's `plot`.
    """
    rows = [curve for curve in curves if len(curve)]
    if not rows:
        return
    shortest = min(map(len, rows))
    block = np.array([row[:shortest] for row in rows], dtype=float)
    at = start + step * np.arange(shortest)
    panel.plot(at, block.mean(axis=0), color=colour, **line)
    if len(block) > 1:
        panel.fill_between(at, block.min(axis=0), block.max(axis=0), color=colour, alpha=0.15,
                           linewidth=0)


def marks(panel, points, k, **look):
    """The k-th group of a panel as marks; `points` are pairs (x, y), and there may be none."""
    if points:
        panel.plot(*zip(*points), **{"marker": "os^D"[k], "linestyle": "", "color": f"C{k}",
                                     "alpha": 0.6} | look)


def bars(panel, groups, names, told="%.2f"):
    """Bars side by side: for each of `groups`, label -> heights, one above each of the names;
    `told` is the format of the number over it.
    """
    width = 0.8 / len(groups)
    for k, (label, heights) in enumerate(groups.items()):
        drawn = panel.bar(np.arange(len(names)) + k * width, heights, 0.95 * width, color=f"C{k}",
                          hatch=("", "//")[k], label=label)
        if told:
            panel.bar_label(drawn, fmt=told)
    panel.set_xticks(np.arange(len(names)) + (0.4 - width / 2), names, fontsize=8)


def legend_below(figure, panel, rows=1):
    """One legend for all panels, below them, where it covers nothing; from the labels of one."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=-(-len(labels) // rows),
                  fontsize=8)


def legend_under(panel):
    """The legend of one panel under its axis, where it covers nothing."""
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, fontsize=7)


def plain_logarithms(figure):
    """Ticks of logarithmic axes with at most one power of ten in view as plain numbers: 2.5, not
    2.5 x 10^0. Within a factor of 4 they stand as on a linear axis, a few round numbers.
    """
    from matplotlib.ticker import MaxNLocator, NullLocator  # here, as in `running.draw`

    for panel in figure.axes:
        for axis, limits in ((panel.xaxis, panel.get_xlim()), (panel.yaxis, panel.get_ylim())):
            low, high = sorted(limits)
            if axis.get_scale() != "log" or floor(log10(high)) > ceil(log10(low)):
                continue
            axis.set_minor_formatter(some_tenths)
            if high < 4 * low:
                axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
                axis.set_minor_locator(NullLocator())
            axis.set_major_formatter("{x:g}")


def some_tenths(x, _):
    """The label of 2, 3 and 5, and of their multiples by powers of ten; of others none."""
    return f"{x:g}" if f"{x:.0e}"[0] in "235" else ""
