"""Layers made of layers: `Chain` runs them one after the other, `Skip` adds its input to that."""

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ... import checks
from .base import Layer


class ChainSaved(list):
    """What `Chain.forward` leaves behind: the list of what each layer saved."""

    @property
    def input(self):
        return self[0].input

    @property
    def output(self):
        return self[-1].output


class Chain(Layer):
    """Layers in a row; ``saved`` is the list of what each of them saved.

    Parameters
    ----------
    layers : sequence of Layer

    Raises
    ------
    TypeError
        If something in `layers` is not a layer.
    ValueError
        If `layers` is empty, or holds one instance twice.
    """

    def __init__(self, layers):
        super().__init__(trainable=True)
        self.layers = self.children = checks.layers(layers, Layer)
        # of the first layer that states one, if all before it keep theirs
        decide = [a for a in self.layers if a.input_shape is not None or not a.keeps_shape]
        self.input_shape = decide[0].input_shape if decide else None
        self._settled = None, []  # the slices, and the network that they are settled in

    @property
    def keeps_shape(self):
        return all(layer.keeps_shape for layer in self.layers)

    @property
    def slices(self):
        """Where each layer's parameters stand in the flat vector; settled in a network."""
        owner, slices = self._settled
        if owner is None or owner is not self._owner or owner() is None:
            ends = [0, *accumulate(layer.size for layer in self.layers)]
            slices = [slice(start, stop) for start, stop in zip(ends[:-1], ends[1:])]
            self._settled = self._owner, slices
        return slices

    def __getstate__(self):
        return super().__getstate__() | {"_settled": (None, [])}

    def output_shape(self, input_shape):
        for layer in self.layers:
            input_shape = layer.output_shape(input_shape)
        return input_shape

    def _tangents(self, theta_tangent):
        """The piece of a flat tangent that belongs to each layer; None where there is none."""
        if theta_tangent is None:
            return [None] * len(self.layers)
        return [theta_tangent[where] if where.stop > where.start else None for where in self.slices]

    def forward(self, x):
        """x of each layer is y of the one before it."""
        saved = ChainSaved()
        for layer in self.layers:
            x, own_saved = layer.forward(x)
            saved.append(own_saved)
        return x, saved

    def output_gradients(self, saved, y_bar, stop=1):
        """Gradients in the inputs of layers `stop`, `stop` + 1, ..., then `y_bar` itself.

        With `stop` 1 they are the gradients in the outputs of all layers, first to last.

        The chain rule: y_bar of each layer is x_bar of the one after it.
        """
        bars = [y_bar]
        for i in reversed(range(stop, len(self.layers))):
            bars.append(self.layers[i].input_gradient(saved[i], bars[-1]))
        return bars[::-1]

    def input_gradient(self, saved, y_bar):
        """x_bar of the first layer."""
        return self.output_gradients(saved, y_bar, stop=0)[0]

    def parameter_gradient(self, saved, y_bar):
        """theta_bar of all layers, first to last."""
        return self.parameter_gradient_from(saved, self.output_gradients(saved, y_bar))

    def parameter_gradient_from(self, saved, bars):
        """``theta_bar`` (size,) from the gradients `bars` in the outputs of all layers."""
        slices = self.slices
        theta_bar = np.empty(slices[-1].stop, dtype=bars[-1].dtype)
        for layer, own_saved, y_bar, where in zip(self.layers, saved, bars, slices):
            if where.stop > where.start:
                theta_bar[where] = layer.parameter_gradient(own_saved, y_bar)
        return theta_bar

    def backward(self, saved, y_bar):
        """x_bar of the first layer, and theta_bar of all."""
        x_bar, *bars = self.output_gradients(saved, y_bar, stop=0)
        return x_bar, self.parameter_gradient_from(saved, bars)

    def parameter_gradients(self, saved, y_bar):
        """theta_bars of all layers, first to last, beside each other."""
        return self.parameter_gradients_from(saved, self.output_gradients(saved, y_bar))

    def parameter_gradients_from(self, saved, bars):
        """``theta_bars`` (S, size) from the gradients `bars` in the outputs of all layers."""
        slices = self.slices
        theta_bars = np.empty((len(bars[-1]), slices[-1].stop), dtype=bars[-1].dtype)
        for layer, own_saved, y_bar, where in zip(self.layers, saved, bars, slices):
            if where.stop > where.start:
                theta_bars[:, where] = layer.parameter_gradients(own_saved, y_bar)
        return theta_bars

    def input_tangents(self, saved, x_tangent, theta_tangent):
        """Tangents of all layers' inputs and of the output; None before the first change.

        The chain rule: x_tangent of each layer is y_tangent of the one before it.
        """
        tangents = [x_tangent]
        for layer, own_saved, piece in zip(self.layers, saved, self._tangents(theta_tangent)):
            t = tangents[-1]
            if t is not None or piece is not None:
                t = layer.tangent(own_saved, t, piece)
            tangents.append(t)
        return tangents

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent of the last layer."""
        y_tangent = self.input_tangents(saved, x_tangent, theta_tangent)[-1]
        return np.zeros_like(saved.output) if y_tangent is None else y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """x_second of each layer is y_second of the one before it."""
        tangents = self.input_tangents(saved, x_tangent, theta_tangent)
        pieces, second = self._tangents(theta_tangent), x_second
        for layer, own_saved, piece, t in zip(self.layers, saved, pieces, tangents):
            if not (t is None and second is None and piece is None):
                second = layer.second_tangent(own_saved, t, second, piece)
        return np.zeros_like(saved.output) if second is None else second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """The chain rule once more: y_bar_tangent of each layer is x_bar_tangent of the next."""
        tangents = self.input_tangents(saved, x_tangent, theta_tangent)
        bars = self.output_gradients(saved, y_bar)
        return self.backward_tangent_from(saved, tangents, theta_tangent, bars, y_bar_tangent)

    def backward_tangent_from(self, saved, tangents, theta_tangent, bars, y_bar_tangent):
        """`backward_tangent` from the results of `input_tangents` and `output_gradients`."""
        pieces, slices = self._tangents(theta_tangent), self.slices
        theta_bar_tangent = np.empty(slices[-1].stop, dtype=y_bar_tangent.dtype)
        for i in reversed(range(len(self.layers))):
            y_bar_tangent, theta_bar_tangent[slices[i]] = self.layers[i].backward_tangent(
                saved[i], tangents[i], pieces[i], bars[i], y_bar_tangent)
        return y_bar_tangent, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        return self.input_hessian_from(saved, self.output_gradients(saved, y_bar), H_y, stop=0)[0]

    def input_hessian_from(self, saved, bars, H_y, stop=0):
        """Hessians (S, n, n) in the inputs of layers `stop`, `stop` + 1, ..., then `H_y` itself."""
        hessians = [H_y]
        for i in reversed(range(stop, len(self.layers))):
            hessians.append(self.layers[i].input_hessian(saved[i], bars[i], hessians[-1]))
        return hessians[::-1]

    def __repr__(self):
        return f"{type(self).__name__}([{', '.join(map(repr, self.layers))}])"


class SkipSaved(NamedTuple):
    """What `Skip.forward` leaves behind: input, output (like x), and what the inner chain saved."""

    input: np.ndarray
    output: np.ndarray
    inner: ChainSaved


class Skip(Layer):
    """y = x + F(x) with F a chain of layers whose output has the shape of its input.

    Parameters
    ----------
    layers : sequence of Layer
        The layers of F.

    Attributes
    ----------
    layers : tuple of Layer
        The same.
    inner : Chain
        F.
    """

    keeps_shape = True

    def __init__(self, layers):
        super().__init__(trainable=True)
        self.inner = Chain(layers)
        self.layers, self.children = self.inner.layers, (self.inner,)
        self.input_shape = self.inner.input_shape

    def output_shape(self, input_shape):
        return checks.kept_shape(self, input_shape, self.inner.output_shape(input_shape))

    def forward(self, x):
        """y = x + F(x)"""
        inside, inner = self.inner.forward(x)
        y = x + inside
        return y, SkipSaved(x, y, inner)

    def input_gradient(self, saved, y_bar):
        """x_bar_sj = y_bar_sj + sum_i y_bar_si dF_si/dx_sj"""
        return y_bar + self.inner.input_gradient(saved.inner, y_bar)

    def parameter_gradient(self, saved, y_bar):
        """The pass of F."""
        return self.inner.parameter_gradient(saved.inner, y_bar)

    def backward(self, saved, y_bar):
        """Both halves, with one pass through F."""
        x_bar, theta_bar = self.inner.backward(saved.inner, y_bar)
        return y_bar + x_bar, theta_bar

    def parameter_gradients(self, saved, y_bar):
        """The pass of F."""
        return self.inner.parameter_gradients(saved.inner, y_bar)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent = x_tangent + F_tangent"""
        y_tangent = self.inner.tangent(saved.inner, x_tangent, theta_tangent)
        return y_tangent if x_tangent is None else x_tangent + y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second = x_second + F_second"""
        y_second = self.inner.second_tangent(saved.inner, x_tangent, x_second, theta_tangent)
        return y_second if x_second is None else x_second + y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """x_bar_tangent = y_bar_tangent + F's x_bar_tangent; theta_bar_tangent is F's."""
        inside, theta_bar_tangent = self.inner.backward_tangent(
            saved.inner, x_tangent, theta_tangent, y_bar, y_bar_tangent)
        return y_bar_tangent + inside, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        """H_x = (I + J)^T H_y (I + J) + sum_i y_bar_si Hess(F_si), with J the Jacobian of F."""
        JtH = np.empty_like(H_y)
        for k in range(H_y.shape[2]):
            column = np.ascontiguousarray(H_y[:, :, k]).reshape(saved.input.shape)
            JtH[:, :, k] = self.inner.input_gradient(saved.inner, column).reshape(len(H_y), -1)
        second_order = self.inner.input_hessian(saved.inner, y_bar, H_y)
        return H_y + JtH + JtH.transpose(0, 2, 1) + second_order

    __repr__ = Chain.__repr__
