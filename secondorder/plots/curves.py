"""Quantities over epochs."""

import numpy as np

from ..checks import boolean
from .style import DRAWABLE, axes_of, finished, plain_numbers, reveal, style


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
        raise ValueError(f"histories: no record holds both {x!r} and 'train_{quantity}'")
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
    places, values = np.array(points, dtype=float).reshape(-1, 2).T
    return places, np.where(np.abs(values) < DRAWABLE, values, np.nan)  # a run that blew up
