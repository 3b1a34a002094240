"""Layers made of layers: `Chain` runs layers one after the other, `Skip` adds its input to what a
chain makes of it."""

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from .base import Layer
from .workspace import fresh, given


class ChainSaved(list):
    """What `Chain.forward` leaves behind: the list of what each layer saved; input of the first,
    output of the last."""

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
        if not isinstance(layers, Iterable):
            raise TypeError(f"layers: expected a sequence of Layer instances, got {layers!r}")
        self.layers = tuple(layers)
        if not self.layers:
            raise ValueError("layers: at least one layer is needed")
        for layer in self.layers:
            if not isinstance(layer, Layer):
                raise TypeError(f"layers: expected Layer instances, got {layer!r}")
        seen = set()
        for layer in self.sublayers():
            if id(layer) in seen:
                raise ValueError(f"layers: {layer!r} stands in the network twice; parameters are "
                                 "not shared between places, use a copy (layer.copy())")
            seen.add(id(layer))
        self.input_shape = self._first_stated_shape()

    def _first_stated_shape(self):
        """The input shape that a layer states, if all layers before it keep theirs; else None."""
        for layer in self.layers:
            if layer.input_shape is not None:
                return layer.input_shape
            if not layer.keeps_shape:
                return None
        return None

    @property
    def keeps_shape(self):
        return all(layer.keeps_shape for layer in self.layers)

    @property
    def size(self):
        return sum(layer.size for layer in self.layers)

    @property
    def slices(self):
        """Where each layer's parameters stand in the flat vector."""
        ends = [0, *accumulate(layer.size for layer in self.layers)]
        return [slice(start, stop) for start, stop in zip(ends[:-1], ends[1:])]

    def sublayers(self):
        yield self
        for layer in self.layers:
            yield from layer.sublayers()

    def bind(self, theta, owner):
        super().bind(theta[:0], owner)
        for layer, where in zip(self.layers, self.slices):
            layer.bind(theta[where], owner)

    def convert(self, dtype):
        for layer in self.layers:
            layer.convert(dtype)

    def output_shape(self, input_shape):
        for layer in self.layers:
            input_shape = layer.output_shape(input_shape)
        return input_shape

    def _tangents(self, theta_tangent):
        """The piece of a flat tangent that belongs to each layer; None where there is none."""
        if theta_tangent is None:
            return [None] * len(self.layers)
        return [theta_tangent[where] if where.stop > where.start else None for where in self.slices]

    def forward(self, x, new=fresh):
        """The layers one after the other: x of each is y of the one before."""
        saved = ChainSaved()
        for layer in self.layers:
            x, kept = layer.forward(x, **given(layer.forward, new=new.of(layer)))
            saved.append(kept)
        return x, saved

    def output_gradients(self, saved, y_bar, new=fresh):
        """Gradients with respect to the outputs of all layers, first to last; the last one is
        `y_bar` itself."""
        bars = [y_bar]
        for layer, kept in zip(self.layers[:0:-1], saved[:0:-1]):
            bars.append(self._input_gradient_of(layer, kept, bars[-1], new))
        return bars[::-1]

    @staticmethod
    def _input_gradient_of(layer, kept, y_bar, new):
        return layer.input_gradient(kept, y_bar, **given(layer.input_gradient, new=new.of(layer)))

    def input_gradient(self, saved, y_bar, new=fresh):
        """The chain rule: y_bar of each layer is x_bar of the one after it."""
        first = self.output_gradients(saved, y_bar, new)[0]
        return self._input_gradient_of(self.layers[0], saved[0], first, new)

    def parameter_gradient(self, saved, y_bar, new=fresh):
        """theta_bar of all layers, first to last."""
        return self.parameter_gradient_from(saved, self.output_gradients(saved, y_bar, new), new)

    def parameter_gradient_from(self, saved, bars, new=fresh):
        """``theta_bar`` (size,) from the gradients `bars` with respect to the outputs of all
        layers."""
        theta_bar = new("theta_bar", (self.size,), bars[-1].dtype)
        for layer, kept, bar, where in zip(self.layers, saved, bars, self.slices):
            if where.stop > where.start:
                piece = theta_bar[where]
                source = new.of(layer).lending(theta_bar=piece)
                found = layer.parameter_gradient(kept, bar,
                                                 **given(layer.parameter_gradient, new=source))
                if found is not piece:
                    piece[...] = found
        return theta_bar

    def backward(self, saved, y_bar):
        bars = self.output_gradients(saved, y_bar)
        x_bar = self._input_gradient_of(self.layers[0], saved[0], bars[0], fresh)
        return x_bar, self.parameter_gradient_from(saved, bars)

    def parameter_gradients(self, saved, y_bar, new=fresh):
        """theta_bars of all layers, first to last, beside each other."""
        return self.parameter_gradients_from(saved, self.output_gradients(saved, y_bar, new), new)

    def parameter_gradients_from(self, saved, bars, new=fresh):
        """``theta_bars`` (S, size) from the gradients `bars` in the outputs of all layers."""
        rows = new("theta_bars", (len(bars[-1]), self.size), bars[-1].dtype)
        for layer, kept, bar, where in zip(self.layers, saved, bars, self.slices):
            if where.stop > where.start:
                piece = rows[:, where]
                source = new.of(layer).lending(theta_bars=piece)
                found = layer.parameter_gradients(
                    kept, bar, **given(layer.parameter_gradients, new=source))
                if found is not piece:
                    piece[...] = found
        return rows

    def input_tangents(self, saved, x_tangent, theta_tangent, new=fresh):
        """Tangents of the inputs of all layers, followed by that of the output; None stands for
        zero before the first change."""
        tangents = [x_tangent]
        for layer, kept, piece in zip(self.layers, saved, self._tangents(theta_tangent)):
            known = tangents[-1] is not None or piece is not None
            accepted = given(layer.tangent, new=new.of(layer))
            tangents.append(layer.tangent(kept, tangents[-1], piece, **accepted) if known else None)
        return tangents

    def tangent(self, saved, x_tangent, theta_tangent, new=fresh):
        """The chain rule: x_tangent of each layer is y_tangent of the one before it."""
        y_tangent = self.input_tangents(saved, x_tangent, theta_tangent, new)[-1]
        return np.zeros_like(saved.output) if y_tangent is None else y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        tangents = self.input_tangents(saved, x_tangent, theta_tangent)
        second = x_second
        for layer, kept, piece, t in zip(self.layers, saved, self._tangents(theta_tangent),
                                         tangents):
            if not (t is None and second is None and piece is None):
                second = layer.second_tangent(kept, t, second, piece)
        return np.zeros_like(saved.output) if second is None else second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, new=fresh,
                         needs_input=True):
        """The chain rule, differentiated once more: y_bar_tangent of each layer is x_bar_tangent of
        the one after it."""
        tangents = self.input_tangents(saved, x_tangent, theta_tangent, new)
        bars = self.output_gradients(saved, y_bar, new)
        return self.backward_tangent_from(saved, tangents, theta_tangent, bars, y_bar_tangent, new,
                                          needs_input)

    def backward_tangent_from(self, saved, tangents, theta_tangent, bars, y_bar_tangent, new=fresh,
                              needs_input=True):
        """`backward_tangent` from the results of `input_tangents` and `output_gradients`.

        Without `needs_input` the first layer may leave out the tangent of its input's gradient
        (None).
        """
        pieces, slices = self._tangents(theta_tangent), self.slices
        theta_bar_tangent = new("theta_bar", (self.size,), y_bar_tangent.dtype)
        for i in reversed(range(len(self.layers))):
            layer, piece = self.layers[i], theta_bar_tangent[slices[i]]
            accepted = given(layer.backward_tangent, new=new.of(layer).lending(theta_bar=piece),
                             needs_input=needs_input or i > 0)
            y_bar_tangent, found = layer.backward_tangent(saved[i], tangents[i], pieces[i], bars[i],
                                                          y_bar_tangent, **accepted)
            if found is not piece:
                piece[...] = found
        return y_bar_tangent, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        return self.input_hessian_from(saved, self.output_gradients(saved, y_bar), H_y, stop=0)[0]

    def input_hessian_from(self, saved, bars, H_y, stop=0):
        """Hessians (S, n, n) with respect to the inputs of layers `stop`, `stop` + 1, ..., followed
        by `H_y` itself."""
        hessians = [H_y]
        for i in reversed(range(stop, len(self.layers))):
            hessians.append(self.layers[i].input_hessian(saved[i], bars[i], hessians[-1]))
        return hessians[::-1]

    def __repr__(self):
        return f"{type(self).__name__}([{', '.join(map(repr, self.layers))}])"


class SkipSaved(NamedTuple):
    """What `Skip.forward` leaves behind: input and output (like x), and the inner chain's list of
    saved tuples."""

    input: np.ndarray
    output: np.ndarray
    inner: ChainSaved


class Skip(Layer):
    """y = x + F(x) with F a chain of layers whose output has the shape of its input.

    Parameters
    ----------
    layers : sequence of Layer
        The layers of F.
    """

    def __init__(self, layers):
        super().__init__(trainable=True)
        self.inner = Chain(layers)
        self.input_shape = self.inner.input_shape

    @property
    def size(self):
        return self.inner.size

    @property
    def keeps_shape(self):
        return True

    @property
    def layers(self):
        """The layers of F."""
        return self.inner.layers

    def sublayers(self):
        yield self
        yield from self.inner.sublayers()

    def bind(self, theta, owner):
        super().bind(theta[:0], owner)
        self.inner.bind(theta, owner)

    def convert(self, dtype):
        self.inner.convert(dtype)

    def output_shape(self, input_shape):
        shape = self.inner.output_shape(input_shape)
        if tuple(shape) != tuple(input_shape):
            raise ValueError(f"{self!r}: the inner layers turn shape {tuple(input_shape)} into "
                             f"{tuple(shape)}; a skip connection needs the same shape")
        return shape

    def forward(self, x, new=fresh):
        """y = x + F(x)"""
        inside, inner = self.inner.forward(x, new.of(self.inner))
        y = np.add(x, inside, out=new("output", x.shape, np.result_type(x, inside)))
        return y, SkipSaved(x, y, inner)

    def input_gradient(self, saved, y_bar, new=fresh):
        """x_bar_sj = y_bar_sj + sum_i y_bar_si dF_si/dx_sj"""
        inside = self.inner.input_gradient(saved.inner, y_bar, new.of(self.inner))
        return np.add(y_bar, inside,
                      out=new("input_gradient", y_bar.shape, np.result_type(y_bar, inside)))

    def parameter_gradient(self, saved, y_bar, new=fresh):
        """That of F."""
        return self.inner.parameter_gradient(saved.inner, y_bar, new)

    def backward(self, saved, y_bar):
        x_bar, theta_bar = self.inner.backward(saved.inner, y_bar)
        return y_bar + x_bar, theta_bar

    def parameter_gradients(self, saved, y_bar, new=fresh):
        """Those of F."""
        return self.inner.parameter_gradients(saved.inner, y_bar, new)

    def tangent(self, saved, x_tangent, theta_tangent, new=fresh):
        """y_tangent = x_tangent + F_tangent"""
        y_tangent = self.inner.tangent(saved.inner, x_tangent, theta_tangent, new.of(self.inner))
        if x_tangent is None:
            return y_tangent
        return np.add(x_tangent, y_tangent, out=new("tangent", y_tangent.shape, y_tangent.dtype))

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second = x_second + F_second"""
        y_second = self.inner.second_tangent(saved.inner, x_tangent, x_second, theta_tangent)
        return y_second if x_second is None else x_second + y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, new=fresh):
        """x_bar_tangent = y_bar_tangent + that of F; theta_bar_tangent is that of F."""
        inside, theta_bar_tangent = self.inner.backward_tangent(
            saved.inner, x_tangent, theta_tangent, y_bar, y_bar_tangent, new)
        x_bar_tangent = new("input_gradient_tangent", inside.shape, inside.dtype)
        return np.add(y_bar_tangent, inside, out=x_bar_tangent), theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        """H_x = (I + J)^T H_y (I + J) + sum_i y_bar_si Hess(F_si), with J the Jacobian of F."""
        samples, width = len(H_y), H_y.shape[1]
        shape = saved.input.shape
        JtH = np.empty_like(H_y)
        for k in range(width):
            column = np.ascontiguousarray(H_y[:, :, k]).reshape(shape)
            JtH[:, :, k] = self.inner.input_gradient(saved.inner, column).reshape(samples, width)
        bend = self.inner.input_hessian(saved.inner, y_bar, H_y)
        return H_y + JtH + JtH.transpose(0, 2, 1) + bend

    def __repr__(self):
        return f"{type(self).__name__}([{', '.join(map(repr, self.layers))}])"
