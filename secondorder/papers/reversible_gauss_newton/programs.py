"""Coupling layers in the table of a compiled network: see :mod:`secondorder.nets.programs`."""

from ...nets import programs
from .coupling import Coupling, CouplingSaved


@programs.layers.register(Coupling)
def coupling(layer, shape):
    """The rows of F between a FORK that takes the half x_k and an ADD that changes the half x_m."""
    return programs.beside(layer.inner, (layer.half,), shape[0], layer.source.start,
                           layer.moved.start)


@programs.saved_by.register(Coupling)
def coupling_saved(layer, x, rows):
    (taken,), _, _ = next(rows)
    inner = programs.saved(layer.inner, taken, rows)
    (y,), _, _ = next(rows)
    return CouplingSaved(x, y, inner)
