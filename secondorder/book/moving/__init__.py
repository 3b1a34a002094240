"""A figure a paper that the reader moves: recorded numbers, drawn again at every slider.

`drawing` is what a figure is made of, and its still picture; every other file is one figure, whose
numbers come from the functions of its paper's room. ``static/moving.js`` draws what `Figure.data`
hands over, ``templates/moving.html`` frames it.
"""

import functools
import importlib

FIGURES = {"residual-partitioning": "bound_and_loss", "low-rank": "cubic_step", "ea-cg": "pos_eig",
           "reversible-gauss-newton": "two_inverses"}


@functools.cache
def figure(paper):
    """The figure of a paper, a `drawing.Figure`; None where it has none."""
    if paper not in FIGURES:
        return None
    return importlib.import_module(f".{FIGURES[paper]}", __name__).figure()
