"""Errors of curvatures: over the steps of a run, and layer by layer."""

import numpy as np

from .style import axes_of, style


def errors_over_steps(steps, errors, ax=None, norm=None, title=None):
    """Total errors of several curvatures against the step of a run, logarithmic.

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
    """
    ax = axes_of(ax)
    for number, (name, values) in enumerate(errors.items()):
        colour, marker = style(number)
        ax.plot(steps, values, color=colour, marker=marker, markersize=4, label=name)
    if norm is not None:
        ax.plot(steps, norm, color="black", linestyle=":", label="norm of the true Hessian")
    ax.set_yscale("log")
    ax.set(xlabel="step", ylabel="error, all layers")
    if title is not None:
        ax.set_title(title)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return ax


def errors_by_layer(errors, ax=None, title=None):
    """Errors of several curvatures as bars, layer by layer.

    Parameters
    ----------
    errors : dict of str to array_like, shape (k,)
        From the first layer to the last.
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes_of(ax)
    width = 0.8 / len(errors)
    for number, (name, values) in enumerate(errors.items()):
        places = 1 + np.arange(len(values)) + width * (number - (len(errors) - 1) / 2)
        ax.bar(places, values, width, color=style(number)[0], label=name)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="layer", ylabel="error, mean over the run")
    if title is not None:
        ax.set_title(title)
    ax.grid(alpha=0.3, axis="y")
    ax.legend(fontsize=8)
    return ax
