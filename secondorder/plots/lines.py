"""Curves by name on one pair of axes, with references that they are held against."""

import numpy as np

from ..checks import instance_of, one_of, real_array
from .style import BLACK, DRAWABLE, LEGENDS, axes_of, finished, plain_numbers, reveal, style

SCALES = ("linear", "x", "y", "xy")
SHOWN = 20  # markers of a curve, at most
DASHES = ("--", ":", "-.", (0, (5, 1)))


def lines(named, ax=None, references=None, logarithmic="linear", x_label=None, y_label=None,
          x_limits=None, y_limits=None, title=None, show_legend="right"):
    """Draw curves by name, each with its own colour and marker.

    Parameters
    ----------
    named : dict of str to curve
        A curve is an array (n,) of values over 0, 1, ..., or a pair of arrays (x, y). A list of
        pairs is several runs in one colour. Values that are not finite are not drawn.
    ax : matplotlib.axes.Axes, optional
    references : dict of str to curve, optional
        Drawn in black without markers, each with dashes of its own: a slope, a closed form.
    logarithmic : {"linear", "x", "y", "xy"}
        Which axes are.
    x_label, y_label, title : str, optional
    x_limits, y_limits : (float, float), optional
        Ends of an axis; the larger one first turns it round.
    show_legend : {"right", "below", "none"}

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No dictionary of curves of numbers, x and y of two lengths, unknown words.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> n = 2.0 ** np.arange(8)
    >>> axes = so.plots.lines({"error": (n, 1 / n)}, references={"one over n": (n, 1 / n)},
    ...                       logarithmic="xy", x_label="samples")
    """
    one_of(SCALES, logarithmic, "logarithmic")
    one_of(LEGENDS, show_legend, "show_legend")
    curves, held = _curves(named, "named"), _curves(references or {}, "references")
    if not curves:
        raise ValueError("named is an empty dictionary: there is nothing to draw")
    limits = {f"{axis}lim": tuple(real_array(ends, f"{axis}_limits", (2,)))
              for axis, ends in (("x", x_limits), ("y", y_limits)) if ends is not None}
    ax, drawn = axes_of(ax), []
    ax.set(xscale="log" if logarithmic in ("x", "xy") else "linear",
           yscale="log" if logarithmic in ("y", "xy") else "linear")
    for number, (name, runs) in enumerate(curves.items()):
        colour, marker = style(number)
        for k, (x, y) in enumerate(runs):
            drawn += ax.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=1.5,
                             markevery=max(1, len(y) // SHOWN), label=name if k == 0 else None)
    for number, (name, runs) in enumerate(held.items()):
        for k, (x, y) in enumerate(runs):
            ax.plot(x, y, color=BLACK, linestyle=DASHES[number % len(DASHES)], linewidth=1,
                    label=name if k == 0 else None)
    ax.set(xlabel=x_label or "", ylabel=y_label or "", **limits)
    if len(curves) == len(drawn):  # runs of one name shall look alike
        reveal(ax, drawn)
        for line in drawn:
            line.set_markersize(4)
    for axis, values in ((ax.xaxis, [x for x, _ in sum(curves.values(), [])]), (ax.yaxis, [])):
        if axis.get_scale() == "log":
            plain_numbers(axis)
        elif values and all((x == np.round(x)).all() for x in values):
            axis.get_major_locator().set_params(integer=True)
    return finished(ax, title, "both", show_legend)


def _curves(named, name):
    """By name: a list of (x, y), NaN where nothing can be drawn."""
    instance_of(named, dict, name)
    return {key: [_curve(run, f"{name}: {key!r}") for run in
                  (curve if isinstance(curve, list) and curve and isinstance(curve[0], tuple)
                   else [curve])] for key, curve in named.items()}


def _curve(curve, name):
    x, y = curve if isinstance(curve, tuple) and len(curve) == 2 else (None, curve)
    y = np.asarray(y)
    if y.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers, got {y.dtype}")
    if y.ndim != 1 or not len(y):
        raise ValueError(f"{name} has shape {y.shape}, expected (n,) with n above 0")
    x = np.arange(len(y)) if x is None else real_array(x, name, y.shape)
    y = y.astype(float)
    return x, np.where(np.abs(y) < DRAWABLE, y, np.nan)
