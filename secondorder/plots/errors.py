"""Errors: of curvatures over the steps of a run and layer by layer, of formulas as printed."""

import numpy as np

from ..checks import instance_of, one_of, real_array, shown
from .style import (BLUE, COLOURS, HATCHES, LEGENDS, VERMILION, axes_of, drawable, finished, reveal,
                    style)

UNSEEN = 0.003  # of the highest bar
FLOOR = 1e-17  # what is less stands here


def errors_over_steps(steps, errors, ax=None, norm=None, title=None):
    """Total errors of several curvatures against the step of a run, logarithmic.

    Where a curve lies on another, the lower one is wide and pale.

    Parameters
    ----------
    steps : array_like, shape (n,)
    errors : dict of str to array_like, shape (n,)
    ax : matplotlib.axes.Axes, optional
    norm : array_like, shape (n,), optional
        Norm of what is approximated, drawn dotted.
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No series of finite real numbers, none above 0, of another length than `steps`.
    """
    steps = real_array(steps, "steps")
    if steps.ndim != 1:
        raise ValueError(f"steps has shape {steps.shape}, expected (n,)")
    errors = _series(errors, steps.shape)
    norm = None if norm is None else real_array(norm, "norm", steps.shape)
    if not any((values > 0).any() for values in errors.values()):
        raise ValueError("errors: none is above 0, which a logarithmic axis needs")
    ax = axes_of(ax)
    lines = []
    for number, (name, values) in enumerate(errors.items()):
        colour, marker = style(number)
        lines += ax.plot(steps, values, color=colour, marker=marker, markersize=4, label=name)
    if norm is not None:
        ax.plot(steps, norm, color="black", linestyle=":", label="norm of the true Hessian")
    ax.set_yscale("log")
    reveal(ax, lines)
    ax.set(xlabel="step", ylabel="error, all layers")
    return finished(ax, title, "both")


def errors_by_layer(errors, ax=None, title=None, y_label="error", show_legend="right"):
    """Errors of several curvatures as bars, layer by layer.

    A bar that is too low to be seen bears its value.

    Parameters
    ----------
    errors : dict of str to array_like, shape (k,)
        From the first layer to the last.
    ax : matplotlib.axes.Axes, optional
    title, y_label : str, optional
    show_legend : {"right", "below", "none"}

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No series of finite real numbers; unknown words.
    """
    one_of(LEGENDS, show_legend, "show_legend")
    errors, ax = _series(errors), axes_of(ax)
    width = 0.8 / len(errors)
    layers = max(len(values) for values in errors.values())
    size = np.clip(250 / (layers * len(errors)), 3, 7)  # of the numbers on bars
    visible = UNSEEN * max(np.abs(values).max(initial=0) for values in errors.values())
    for number, (name, values) in enumerate(errors.items()):
        places = 1 + np.arange(len(values)) + width * (number - (len(errors) - 1) / 2)
        ax.bar(places, values, width, color=style(number)[0], label=name, edgecolor="white",
               hatch=HATCHES[number // len(COLOURS) % len(HATCHES)])
        for place, value in zip(places, values):
            if abs(value) <= visible:
                ax.annotate(f"{value:.1g}", (place, 0), (0, 3), textcoords="offset points",
                            ha="center", rotation=90, fontsize=size, color=style(number)[0])
    ax.set_xticks(np.arange(1, 1 + layers))
    ax.set(xlabel="layer", ylabel=y_label)
    return finished(ax, title, "y", show_legend)


def _series(errors, shape=None):
    """The errors as arrays (n,) by name, each of the shape that is given."""
    if not instance_of(errors, dict, "errors"):
        raise ValueError("errors is an empty dictionary: there is nothing to draw")
    series = {name: drawable(real_array(values, f"errors[{name!r}]", shape), f"errors[{name!r}]")
              for name, values in errors.items()}
    wrong = next((name for name, values in series.items() if values.ndim != 1), None)
    if wrong is not None:
        raise ValueError(f"errors[{wrong!r}] has shape {series[wrong].shape}, expected (n,)")
    return series


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
        raise TypeError(f"{name} must be a pair, (printed or None, corrected), got {shown(pair)}")
    printed, right = pair
    known = drawable(real_array([right] if printed is None else [printed, right], name), name)
    if (known < 0).any():
        raise ValueError(f"{name} must hold numbers from 0, got {shown(pair)}")
    return printed, right
