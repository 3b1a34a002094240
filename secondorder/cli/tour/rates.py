"""One training on a plateau as two panels: its loss, and the rates that it took."""

import numpy as np

from secondorder.papers.low_rank.figures.plateau import EVERY, EXIT, first_below
from secondorder.plots import BLACK, COLOURS
from secondorder.plots.style import legend

AROUND = 21  # iterations that a line of the figure takes the median of


def leaving(run):
    """First iteration at which the loss was looked at and below `EXIT`, or None."""
    return first_below(run, EXIT, never=None)


def draw(run, label, above, below):
    """Draw loss (above) and rate (below) of one run, the rate with its median over `AROUND`
    iterations, half of them before and half after, so that it does not lag. A dotted line stands
    where the loss leaves the plateau. `run` has the ``loss`` every `EVERY` iterations, the ``rate``
    of each.
    """
    colour = COLOURS[len([line for line in above.lines if line.get_gid() == "loss"])
                     % len(COLOURS)]
    above.plot(EVERY * np.arange(len(run["loss"])), run["loss"], color=colour, label=label,
               gid="loss")
    left = leaving(run)
    if left is not None:
        above.axvline(left, color=colour, linestyle=":", label=f"first below {EXIT:g} at {left}")
    rate = np.array(run["rate"])
    below.semilogy(rate, ".", markersize=2, alpha=0.4, color=colour)
    middle = rate
    if len(rate) >= AROUND:
        middle = np.median(np.lib.stride_tricks.sliding_window_view(rate, AROUND), axis=1)
    start = (len(rate) - len(middle)) // 2
    below.semilogy(start + np.arange(len(middle)), middle, color=colour)


def finish(above, below):
    """Labels, the loss at which the plateau ends, and the legend."""
    above.axhline(EXIT, color=BLACK, linewidth=0.6)
    above.set_ylabel("cross-entropy")
    below.set(xlabel="iteration", ylabel=f"rate (dots), median of {AROUND} (line)")
    legend(above)
