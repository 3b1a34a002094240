"""Quantities over epochs, and errors over step sizes."""

import numpy as np

from ..checks import boolean, did_you_mean, plain_array, real_array
from .style import BLACK, DRAWABLE, axes_of, drawable, drawn, finished, plain_numbers, reveal, style

ERRORS = "error against step"


def learning_curves(histories, ax=None, x="epoch", quantity="loss", x_label=None, y_label=None,
                    title=None, show_legend=True):
    """Training (solid) and validation (dashed) curves, one colour a method.

    Where a curve lies on another, the lower one is wide and pale.

    Parameters
    ----------
    histories : History, list of dict, or dict of str to either
        One run, or several by name. Records with the keys `x`, ``train_<quantity>`` and, where
        there is a validation set, ``validation_<quantity>``.
    ax : matplotlib.axes.Axes, optional
    x : str
        Key of the records: ``"epoch"``, ``"step"``, ``"seconds"``.
    quantity : str
        ``"loss"`` or ``"accuracy"``; records that lack it are left out.
    x_label, y_label, title : str, optional
    show_legend : bool
        Beside the axes; one is enough for panels that show the same runs.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `histories` is something else.
    ValueError
        If there is nothing to draw.
    """
    show_legend = boolean(show_legend, "show_legend")
    runs = {name: _records(history) for name, history in _by_name(histories).items()}
    parts = [(number, name, part, *points) for number, (name, records) in enumerate(runs.items())
             for part in ("train", "validation")
             for points in [_points(records, x, f"{part}_{quantity}")] if len(points[0])]
    if not parts:
        keys = {key for records in runs.values() for record in records for key in record}
        hint = did_you_mean(x, keys) if x not in keys else ""
        raise ValueError(f"histories: no record holds both {x!r} and 'train_{quantity}' {hint}")
    ax = axes_of(ax)
    lines = []
    for number, name, part, places, values in parts:
        colour, marker = style(number)
        lines += ax.plot(places, values, "-" if part == "train" else "--", color=colour,
                         marker=marker, markerfacecolor=colour if part == "train" else "white",
                         markersize=4, markevery=max(1, len(values) // 8),
                         label=f"{name}, " * bool(name) + {"train": "training"}.get(part, part))
    every = np.concatenate([values for *_, values in parts])
    if quantity == "loss" and (every > 0).any() and not (every < 0).any():
        ax.set_yscale("log")  # a loss of exactly zero stands at its lower edge
        plain_numbers(ax.yaxis)
    if x in ("epoch", "step"):
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel=x if x_label is None else x_label,
           ylabel=quantity if y_label is None else y_label)
    ax.grid(alpha=0.3, which="both")
    reveal(ax, lines)
    return finished(ax, title, where="right" if show_legend else "none")


def _by_name(histories):
    if isinstance(histories, dict):
        return histories
    return {getattr(histories, "method", ""): histories}


def _records(history):
    records = getattr(history, "records", history)
    listed = isinstance(records, (list, tuple))
    if not listed or not all(hasattr(record, "get") for record in records):
        raise TypeError("histories must be a History, a list of records, or a dictionary of these "
                        f"by name, got {type(history).__name__}")
    return records


def _points(records, x, key):
    """Places and values of the records that have both."""
    points = [(record[x], record[key]) for record in records if record.get(x) is not None
              and record.get(key) is not None]
    points = plain_array(points, f"histories: {x!r} and {key!r}")
    if points.dtype.kind not in "iuf":
        raise TypeError(f"histories: {x!r} and {key!r} of a record must be numbers")
    places, values = points.astype(float).reshape(-1, 2).T
    return places, np.where(np.abs(values) < DRAWABLE, values, np.nan)  # a run that blew up


def error_against_step(steps, errors, ax=None, predicted=None, label="measured", title=None):
    """Errors of a finite difference against its step, both axes logarithmic.

    Parameters
    ----------
    steps, errors : array_like, shape (n,)
    ax : matplotlib.axes.Axes, optional
    predicted : array_like, shape (n,), optional
        Predicted errors, drawn dashed.
    label : str
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If steps and errors are not finite numbers of one shape (n,), the steps above 0, the errors
        not below, one of them above.
    """
    steps = real_array(steps, "steps")
    if steps.ndim != 1 or steps.size == 0:
        raise ValueError(f"steps has shape {steps.shape}, expected (n,) with n above 0")
    errors = drawable(real_array(errors, "errors", steps.shape), "errors")
    if steps.min() <= 0:
        raise ValueError(f"steps must be above 0, got {steps.min():g}")
    if errors.min() < 0 or not errors.any():
        raise ValueError("errors must be sizes, not below 0, and one of them above")
    if predicted is not None:
        predicted = real_array(predicted, "predicted", steps.shape)
    ax = axes_of(ax)
    colour, marker = style(len(drawn(ax, ERRORS)))
    ax.loglog(steps, errors, marker=marker, color=colour, markersize=4, label=label, gid=ERRORS)
    if predicted is not None:
        ax.loglog(steps, predicted, "--", color=BLACK, label="predicted")
    ax.set(xlabel="step", ylabel="error")
    ax.grid(alpha=0.3, which="both")
    return finished(ax, title)
