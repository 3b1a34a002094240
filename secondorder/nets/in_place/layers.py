"""Twins of `Linear` and `Activation`."""

import numpy as np

from ..layers import Activation, ActivationSaved, Linear, LinearSaved
from . import InPlace, twins
from .activations import jets
from .base import Buffer, like_x, like_y


@twins.register(Linear)
class LinearInPlace(InPlace):
    """y = x W^T + b, with views of W and b, and the places of theirs in a flat vector, settled."""

    y, y_tangent, y_part = like_y(), like_y(), like_y()
    x_bar, x_bar_tangent, x_part = like_x(), like_x(), like_x()
    W_part = Buffer(lambda twin: twin.W.shape)

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.W, self.b = layer.weight, layer.bias
        self.W_T = self.W.T
        self.trained_bias = self.b is not None and self.size > 0

    def _split(self, theta):
        """Views (..., out, in) and (..., out) of flat vectors (..., size); None for what is fixed
        or not there.
        """
        if not self.size:
            return None, None
        cut = self.W.size
        W = theta[..., :cut].reshape(*theta.shape[:-1], *self.W.shape)
        return W, theta[..., cut:] if self.trained_bias else None

    def forward(self, x):
        y = np.matmul(x, self.W_T, out=self.y)
        if self.b is not None:
            y += self.b
        return y, LinearSaved(x, y)

    def input_gradient(self, saved, y_bar):
        return np.matmul(y_bar, self.W, out=self.x_bar)

    def parameter_gradient(self, saved, y_bar, out):
        W_bar, b_bar = self._split(out)
        if W_bar is not None:
            np.matmul(y_bar.T, saved.input, out=W_bar)
        if b_bar is not None:
            np.add.reduce(y_bar, axis=0, out=b_bar)
        return out

    def parameter_gradients(self, saved, y_bar, out):
        W_bars, b_bars = self._split(out)
        if W_bars is not None:
            np.einsum("si,sj->sij", y_bar, saved.input, out=W_bars)
        if b_bars is not None:
            b_bars[...] = y_bar
        return out

    def tangent(self, saved, x_tangent, theta_tangent):
        V, c = (None, None) if theta_tangent is None else self._split(theta_tangent)
        y_tangent = self.y_tangent
        if x_tangent is None:
            y_tangent[...] = 0
        else:
            np.matmul(x_tangent, self.W_T, out=y_tangent)
        if V is not None:
            # the only term, or one more
            part = np.matmul(saved.input, V.T, out=y_tangent if x_tangent is None else self.y_part)
            if x_tangent is not None:
                y_tangent += part
        if c is not None:
            y_tangent += c
        return y_tangent

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        self.parameter_gradient(saved, y_bar_tangent, out)
        if self.size and x_tangent is not None:
            W_bar_tangent, _ = self._split(out)
            W_bar_tangent += np.matmul(y_bar.T, x_tangent, out=self.W_part)
        if not needs_input:
            return None, out
        x_bar_tangent = np.matmul(y_bar_tangent, self.W, out=self.x_bar_tangent)
        if self.size and theta_tangent is not None:
            V, _ = self._split(theta_tangent)
            x_bar_tangent += np.matmul(y_bar, V, out=self.x_part)
        return x_bar_tangent, out


@twins.register(Activation)
class ActivationInPlace(InPlace):
    """y = s(x), entry by entry; it has no parameters, and leaves `out` alone."""

    value, slope, curvature = like_x(), like_x(), like_x()
    x_bar, x_bar_tangent, second_order, y_tangent = like_x(), like_x(), like_x(), like_x()

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.settle()

    def settle(self):
        """Look up how the layer's function is written in place."""
        self.function, self.jet = self.layer.function, jets.find(self.layer.function)

    def resize(self, rows):
        super().resize(rows)
        self.no_curvature = np.broadcast_to(self.dtype.type(0), (rows, *self.input_shape))

    def forward(self, x):
        if self.layer.function is not self.function:  # another one was set
            self.settle()
        if self.jet is None:
            return super().forward(x)
        y, slope, curvature = self.jet(self, x)
        return y, ActivationSaved(x, y, slope, curvature)

    def input_gradient(self, saved, y_bar):
        return np.multiply(y_bar, saved.slope, out=self.x_bar)

    def tangent(self, saved, x_tangent, theta_tangent):
        if x_tangent is None:
            self.y_tangent[...] = 0
            return self.y_tangent
        return np.multiply(saved.slope, x_tangent, out=self.y_tangent)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        x_bar_tangent = np.multiply(y_bar_tangent, saved.slope, out=self.x_bar_tangent)
        if x_tangent is not None:
            second_order = np.multiply(y_bar, saved.curvature, out=self.second_order)
            second_order *= x_tangent
            x_bar_tangent += second_order
        return x_bar_tangent, out
