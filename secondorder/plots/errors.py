"""Errors: of curvatures layer by layer, of formulas as printed."""

import numpy as np

from ..checks import instance_of, real_array
from .style import BLUE, COLOURS, HATCHES, VERMILION, axes_of, finished, style

FLOOR = 1e-17  # what is less stands here


def errors_by_layer(errors, ax=None, title=None, y_label="error"):
    """Errors of several curvatures as bars, layer by layer.

    Parameters
    ----------
    errors : dict of str to array_like, shape (k,)
        From the first layer to the last.
    ax : matplotlib.axes.Axes, optional
    title, y_label : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No series of finite real numbers.
    """
    if not instance_of(errors, dict, "errors"):
        raise ValueError("errors is an empty dictionary: there is nothing to draw")
    errors = {name: real_array(values, f"errors[{name!r}]") for name, values in errors.items()}
    ax, width = axes_of(ax), 0.8 / len(errors)
    for number, (name, values) in enumerate(errors.items()):
        places = 1 + np.arange(len(values)) + width * (number - (len(errors) - 1) / 2)
        ax.bar(places, values, width, color=style(number)[0], label=name, edgecolor="white",
               hatch=HATCHES[number // len(COLOURS) % len(HATCHES)])
    ax.set_xticks(np.arange(1, 1 + max(map(len, errors.values()))))
    ax.set(xlabel="layer", ylabel=y_label)
    return finished(ax, title, "y")


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
        No dictionary, or an empty one.
    """
    if not instance_of(errors, dict, "errors"):
        raise ValueError("errors is an empty dictionary: there is nothing to draw")
    pairs = list(errors.values())
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
