"""What printed formulas are off by, beside their corrections."""

import numpy as np

from ..checks import instance_of, real_array
from .style import BLUE, VERMILION, axes_of, finished

FLOOR = 1e-17  # what is less stands here


def printed_and_corrected(errors, ax=None, title=None):
    """Relative errors of formulas as bars, as printed and as corrected, on a logarithmic axis.

    Parameters
    ----------
    errors : dict of str to (float or None, float)
        Label -> error of the printed form, or None where nothing is wrong with it, and error of the
        form that is right. Not negative.
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No dictionary of pairs of finite numbers, not negative.
    """
    if not instance_of(errors, dict, "errors"):
        raise ValueError("errors is an empty dictionary: there is nothing to draw")
    pairs = [_pair(pair, f"errors[{name!r}]") for name, pair in errors.items()]
    ax, places = axes_of(ax), np.arange(len(pairs))
    wrong = [k for k, (printed, _) in enumerate(pairs) if printed is not None]
    if wrong:
        ax.barh(np.array(wrong) - 0.2, [max(pairs[k][0], FLOOR) for k in wrong], height=0.36,
                color=VERMILION, hatch="///", edgecolor="white", label="as printed")
    ax.barh(places + 0.2, [max(right, FLOOR) for _, right in pairs], height=0.36, color=BLUE,
            label="corrected")
    top = max(value for pair in pairs for value in pair if value is not None)
    ax.set(xscale="log", xlim=(FLOOR / 10, 30 * max(top, 1.0)), xlabel="relative error",
           ylabel="formula", yticks=places, yticklabels=list(errors))
    ax.invert_yaxis()
    return finished(ax, title, "x")


def _pair(pair, name):
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"{name} must be a pair, (printed or None, corrected), got {pair!r}")
    printed, right = pair
    known = real_array([right] if printed is None else [printed, right], name)
    if (known < 0).any():
        raise ValueError(f"{name} must hold numbers from 0, got {pair!r}")
    return printed, right
