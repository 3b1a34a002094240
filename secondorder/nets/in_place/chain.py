"""Twins of `Chain` and `Skip`: the places of the layers inside, and which of them have parameters,
are settled once.
"""

import numpy as np

from ..layers import Chain, ChainSaved, Skip, SkipSaved
from . import InPlace, in_place, twins
from .base import Buffer, like_x, like_y


@twins.register(Chain)
class ChainInPlace(InPlace):
    """The twins of its layers, one after the other.

    Attributes
    ----------
    layers : list of InPlace
    slices : list of slice
        Where each layer's parameters stand in the flat vector.
    trained : list of int
        The layers with parameters there.
    """

    theta_bar = Buffer(lambda twin: (twin.size,))

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.layers, shape = [], self.input_shape
        for inner in layer.layers:
            self.layers.append(in_place(inner, shape, dtype))
            shape = self.layers[-1].output_shape
        self.slices = layer.slices
        self.trained = [i for i, inner in enumerate(self.layers) if inner.size]

    def resize(self, rows):
        super().resize(rows)
        for layer in self.layers:
            layer.resize(rows)

    def forward(self, x):
        saved = ChainSaved()
        for layer in self.layers:
            x, own_saved = layer.forward(x)
            saved.append(own_saved)
        return x, saved

    def output_gradients(self, saved, y_bar, stop=1):
        """As `Chain.output_gradients`."""
        bars = [y_bar]
        for i in reversed(range(stop, len(self.layers))):
            bars.append(self.layers[i].input_gradient(saved[i], bars[-1]))
        return bars[::-1]

    def input_gradient(self, saved, y_bar):
        return self.output_gradients(saved, y_bar, stop=0)[0]

    def parameter_gradient(self, saved, y_bar, out):
        return self.parameter_gradient_from(saved, self.output_gradients(saved, y_bar), out)

    def parameter_gradient_from(self, saved, bars, out=None):
        """As `Chain.parameter_gradient_from`; without `out` into an array of this twin's own."""
        out = self.theta_bar if out is None else out
        for i in self.trained:
            self.layers[i].parameter_gradient(saved[i], bars[i], out[self.slices[i]])
        return out

    def parameter_gradients(self, saved, y_bar, out):
        return self.parameter_gradients_from(saved, self.output_gradients(saved, y_bar), out)

    def parameter_gradients_from(self, saved, bars, out):
        """As `Chain.parameter_gradients_from`, in `out` (S, size)."""
        for i in self.trained:
            self.layers[i].parameter_gradients(saved[i], bars[i], out[:, self.slices[i]])
        return out

    def pieces(self, theta_tangent):
        """The piece of a flat tangent that belongs to each layer; None where there is none."""
        pieces = [None] * len(self.layers)
        if theta_tangent is not None:
            for i in self.trained:
                pieces[i] = theta_tangent[self.slices[i]]
        return pieces

    def input_tangents(self, saved, x_tangent, theta_tangent):
        """As `Chain.input_tangents`."""
        tangents = [x_tangent]
        for layer, own_saved, piece in zip(self.layers, saved, self.pieces(theta_tangent)):
            t = tangents[-1]
            if t is not None or piece is not None:
                t = layer.tangent(own_saved, t, piece)
            tangents.append(t)
        return tangents

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = self.input_tangents(saved, x_tangent, theta_tangent)[-1]
        return np.zeros_like(saved.output) if y_tangent is None else y_tangent

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        tangents = self.input_tangents(saved, x_tangent, theta_tangent)
        bars = self.output_gradients(saved, y_bar)
        return self.backward_tangent_from(saved, tangents, theta_tangent, bars, y_bar_tangent, out,
                                          needs_input)

    def backward_tangent_from(self, saved, tangents, theta_tangent, bars, y_bar_tangent, out,
                              needs_input=True):
        """As `Chain.backward_tangent_from`; without `needs_input` the first layer may leave out the
        tangent of its input's gradient (None).
        """
        pieces = self.pieces(theta_tangent)
        for i in reversed(range(len(self.layers))):
            y_bar_tangent, _ = self.layers[i].backward_tangent(
                saved[i], tangents[i], pieces[i], bars[i], y_bar_tangent, out[self.slices[i]],
                needs_input or i > 0)
        return y_bar_tangent, out


@twins.register(Skip)
class SkipInPlace(InPlace):
    """y = x + F(x)."""

    y, x_bar, y_tangent, x_bar_tangent = like_y(), like_x(), like_y(), like_x()

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.inner = in_place(layer.inner, input_shape, dtype)

    def resize(self, rows):
        super().resize(rows)
        self.inner.resize(rows)

    def forward(self, x):
        inside, inner = self.inner.forward(x)
        y = np.add(x, inside, out=self.y)
        return y, SkipSaved(x, y, inner)

    def input_gradient(self, saved, y_bar):
        return np.add(y_bar, self.inner.input_gradient(saved.inner, y_bar), out=self.x_bar)

    def parameter_gradient(self, saved, y_bar, out):
        return self.inner.parameter_gradient(saved.inner, y_bar, out)

    def parameter_gradients(self, saved, y_bar, out):
        return self.inner.parameter_gradients(saved.inner, y_bar, out)

    def tangent(self, saved, x_tangent, theta_tangent):
        inside = self.inner.tangent(saved.inner, x_tangent, theta_tangent)
        return inside if x_tangent is None else np.add(x_tangent, inside, out=self.y_tangent)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        inside, _ = self.inner.backward_tangent(saved.inner, x_tangent, theta_tangent, y_bar,
                                                y_bar_tangent, out)
        return np.add(y_bar_tangent, inside, out=self.x_bar_tangent), out
