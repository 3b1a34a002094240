"""What stands between a network and a layer whose passes are written for one direction.

A pass is called once for each direction, and what it returns is stacked; a tangent that is zero
becomes an array of zeros. A pass that the author left out is supplied by :mod:`.numerical`.
"""

from typing import NamedTuple

import numpy as np

from .pieces import Flat, Moved, bars_of, fill
from .numerical import Numerical, missing


class Held(NamedTuple):
    """What the layer's forward saved, its input and its output."""

    saved: object
    input: np.ndarray
    output: np.ndarray


def part(layer):
    """A layer as its network calls it."""
    return layer if layer.many_directions else OneDirection(layer)


def _row(pieces, k):
    """Of every piece what belongs to direction k."""
    return [None if piece is None else piece[k] for piece in pieces]


def _doubled(a):
    """An array, or how a layer moves, in float64: differences of float32 are mostly rounding."""
    if isinstance(a, Moved):
        return Moved(_doubled(a.x_tangent), tuple(map(_doubled, a.theta_tangents)), a.left)
    return a.astype(np.float64) if a.dtype == np.float32 else a


class OneDirection(Flat):
    """The methods by which a network calls a layer; what is saved is `Held`."""

    def __init__(self, layer):
        self.layer, self.numerical, self.missing = layer, Numerical(layer), missing(layer)

    size = property(lambda self: self.layer.size)

    def _pass(self, name, held, *arguments):
        """A pass of the layer, or what stands for one that it does not have."""
        if name not in self.missing:
            return getattr(self.layer, name)(held.saved, *arguments)
        if held.output.dtype.kind == "c":
            raise TypeError(f"{self.layer!r}: {name} is not written by hand, and differences stand "
                            "for it in real networks alone")
        x, *arguments = map(_doubled, (held.input, *arguments))
        found = getattr(self.numerical, name)(held.saved, *arguments, x=x)
        if isinstance(found, np.ndarray):
            return found.astype(held.output.dtype, copy=False)
        return [part.astype(held.output.dtype, copy=False) for part in found]

    def forward(self, x):
        y, saved = self.layer.forward(x)
        expected = len(x), *self.layer.output_shape(x.shape[1:])
        if np.shape(y) != expected:
            raise ValueError(f"{self.layer!r}: forward returned an output of shape {np.shape(y)}, "
                             f"expected {expected}")
        return y, Held(saved, x, y)

    def _shaped(self, a, like, name):
        """What a pass returned; ValueError unless it is shaped like the layer's input or output."""
        a = np.asarray(a)
        if a.shape != like.shape:
            raise ValueError(f"{self.layer!r}: what {name} returned has shape {a.shape}, expected "
                             f"{like.shape}")
        return a

    def input_gradient(self, held, y_bar):
        return self.walk_back(held, y_bar, [], True)

    def pieces(self, vector):
        return self.layer.split(vector) if self.layer.size and vector is not None else []

    def walk_back(self, held, y_bar, pieces, needed):
        if y_bar.ndim > held.output.ndim:
            rows = [self.walk_back(held, one, _row(pieces, k), needed)
                    for k, one in enumerate(y_bar)]
            return np.stack(rows) if needed else None
        layer, saved = self.layer, held.saved
        if not pieces:
            if not needed:
                return None
            return self._shaped(layer.input_gradient(saved, y_bar), held.input, "backward")
        if not needed:
            fill(layer, pieces, layer.parameter_bars(saved, y_bar), "backward")
            return None
        result = layer.backward(saved, y_bar)
        fill(layer, pieces, bars_of(result), "backward")
        return self._shaped(result[0], held.input, "backward")

    def flat_parameter_gradients(self, held, y_bar, out=None):
        out = np.empty((len(y_bar), self.size), y_bar.dtype) if out is None else out
        rows = self._pass("parameter_gradients", held, y_bar)
        fill(self.layer, self.layer.split(out), rows, "parameter_gradients")
        return out

    def walk_along(self, held, x_tangent, pieces):
        values = self.all_parameters()
        pieces = pieces or [None] * len(values)
        several = [len(piece) for piece, value in zip(pieces, values)
                   if piece is not None and piece.ndim > value.ndim]
        many = x_tangent is not None and x_tangent.ndim > held.input.ndim
        if several or many:
            pairs = [self.walk_along(held, x_tangent[k] if many else x_tangent,
                                     _row(pieces, k) if several else pieces)
                     for k in range(several[0] if several else len(x_tangent))]
            return np.stack([y for y, _ in pairs]), Moved(x_tangent, pieces, [m for _, m in pairs])
        x_tangent = np.zeros_like(held.input) if x_tangent is None else x_tangent
        pieces = tuple(np.zeros_like(value) if piece is None else piece
                       for piece, value in zip(pieces, values))
        y_tangent = self._pass("tangent", held, x_tangent, *pieces)
        y_tangent, left = y_tangent if isinstance(y_tangent, tuple) else (y_tangent, None)
        y_tangent = self._shaped(y_tangent, held.output, "tangent")
        return y_tangent, Moved(x_tangent, pieces, left)

    def all_parameters(self):
        """Arrays like those for the parameters, and for the layers inside."""
        dtype = next((a.dtype for inner in self.layer.sublayers()
                      for a in inner.parameters.values()), np.float64)
        return [*self.layer.parameters.values(),
                *[np.empty(child.size, dtype) for child in self.layer.children]]

    def walk_back_along(self, held, moved, y_bar, y_bar_tangent, pieces, needed):
        if y_bar_tangent.ndim > held.output.ndim:
            rows = [self.walk_back_along(held, moved.left[k], y_bar, one, _row(pieces, k), needed)
                    for k, one in enumerate(y_bar_tangent)]
            return np.stack(rows) if needed else None
        result = self._pass("backward_tangent", held, moved, y_bar, y_bar_tangent)
        if pieces:
            fill(self.layer, pieces, bars_of(result), "backward_tangent")
        return self._shaped(result[0], held.input, "backward_tangent")

    def second_tangent(self, held, moved, x_second):
        if x_second is not None and x_second.ndim > held.input.ndim or (
                moved.x_tangent is not None and moved.x_tangent.ndim > held.input.ndim) or (
                isinstance(moved.left, list) and moved.left and isinstance(moved.left[0], Moved)):
            return np.stack([self.second_tangent(held, one, None if x_second is None else
                                                 x_second[k])
                             for k, one in enumerate(moved.left)])
        x_second = np.zeros_like(held.input) if x_second is None else x_second
        return self._shaped(self._pass("second_tangent", held, moved, x_second), held.output,
                            "second_tangent")

    def input_hessian(self, held, y_bar, H_y):
        return self._pass("input_hessian", held, y_bar, H_y)
