"""Coupling layers in the table of a compiled network: see :mod:`secondorder.nets.programs`."""

from ...nets import programs
from .coupling import Coupling, CouplingSaved


@programs.layers.register(Coupling)
def coupling(layer, n_in):
    """The rows of F between a FORK that takes the half x_k and an ADD that changes the half x_m."""
    return programs.beside(layer.inner, n_in, layer.source.start, layer.half, layer.moved.start)


@programs.saved_by.register(Coupling)
def coupling_saved(layer, x, rows):
    (taken,), _, _ = next(rows)
    inner = programs.saved(layer.inner, taken, rows)
    (y,), _, _ = next(rows)
    return CouplingSaved(x, y, inner)
