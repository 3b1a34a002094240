"""The compiled form: a network as a table, and one compiled function a pass that walks it.

What one reads is the literal form, the layers' passes in :mod:`secondorder.nets`. What runs, unless
``so.literal()`` asks for the other, is this: the same formulas under the same names, one file a
layer kind, compiled by numba.

``forms``       which of the two runs
``program``     the table of a network, and the work array that passes write into
``passes``      forward, gradient, products: each one walk over the table
``second_order`` v^T H v along a line, without a product
``layers``      a file a kind: dense, convolution, pooling, recurrent, normalisation, activations
``exponential`` what activations and losses share
``losses``      value and gradient of the losses
``updates``     whole steps of SGD to Adam
``compiling``   how a function is compiled, and where the result is kept

Nothing here knows a layer class: :mod:`secondorder.nets.programs` makes the rows of the table.
"""

import importlib

_COMPILING = ("cache_folder", "compiled", "summing", "walk")


def __getattr__(name):
    if name in _COMPILING:  # numba is loaded by the first compiled function, not by an import
        return getattr(importlib.import_module(".compiling", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
