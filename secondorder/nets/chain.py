"""Layers made of layers: `Chain` runs them one after the other, `Skip` adds its input to that."""

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from .. import checks
from .base import Layer
from .workspace import call, fresh


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

    @property
    def keeps_shape(self):
        return all(layer.keeps_shape for layer in self.layers)

    @property
    def slices(self):
        """Where each layer's parameters stand in the flat vector."""
        ends = [0, *accumulate(layer.size for layer in self.layers)]
        return [slice(start, stop) for start, stop in zip(ends[:-1], ends[1:])]

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
            x, kept = call(layer.forward, x, new=new.of(layer))
            saved.append(kept)
        return x, saved

    def output_gradients(self, saved, y_bar, new=fresh, stop=1):
        """Gradients in the inputs of layers `stop`, `stop` + 1, ..., then `y_bar` itself: from 1 on
        they are the gradients in the outputs of all layers, first to last."""
        bars = [y_bar]
        for i in reversed(range(stop, len(self.layers))):
            layer = self.layers[i]
            bars.append(call(layer.input_gradient, saved[i], bars[-1], new=new.of(layer)))
        return bars[::-1]

    def input_gradient(self, saved, y_bar, new=fresh):
        """The chain rule: y_bar of each layer is x_bar of the one after it."""
        return self.output_gradients(saved, y_bar, new, stop=0)[0]

    def parameter_gradient(self, saved, y_bar, new=fresh):
        """theta_bar of all layers, first to last."""
        return self.parameter_gradient_from(saved, self.output_gradients(saved, y_bar, new), new)

    def parameter_gradient_from(self, saved, bars, new=fresh):
        """``theta_bar`` (size,) from the gradients `bars` in the outputs of all layers."""
        return self._gather("parameter_gradient", saved, bars, new, "theta_bar", (self.size,))

    def _gather(self, pass_name, saved, bars, new, name, shape):
        """What a pass of every layer makes, which asks for its piece of the whole as `name`."""
        whole = new(name, shape, bars[-1].dtype)
        for layer, kept, bar, where in zip(self.layers, saved, bars, self.slices):
            if where.stop > where.start:
                piece = whole[..., where]
                source = new.of(layer).lending(**{name: piece})
                found = call(getattr(layer, pass_name), kept, bar, new=source)
                if found is not piece:
                    piece[...] = found
        return whole

    def backward(self, saved, y_bar):
        x_bar, *bars = self.output_gradients(saved, y_bar, stop=0)
        return x_bar, self.parameter_gradient_from(saved, bars)

    def parameter_gradients(self, saved, y_bar, new=fresh):
        """theta_bars of all layers, first to last, beside each other."""
        return self.parameter_gradients_from(saved, self.output_gradients(saved, y_bar, new), new)

    def parameter_gradients_from(self, saved, bars, new=fresh):
        """``theta_bars`` (S, size) from the gradients `bars` in the outputs of all layers."""
        shape = len(bars[-1]), self.size
        return self._gather("parameter_gradients", saved, bars, new, "theta_bars", shape)

    def input_tangents(self, saved, x_tangent, theta_tangent, new=fresh):
        """Tangents of all layers' inputs and of the output; None before the first change."""
        tangents = [x_tangent]
        for layer, kept, piece in zip(self.layers, saved, self._tangents(theta_tangent)):
            t = tangents[-1]
            if t is not None or piece is not None:
                t = call(layer.tangent, kept, t, piece, new=new.of(layer))
            tangents.append(t)
        return tangents

    def tangent(self, saved, x_tangent, theta_tangent, new=fresh):
        """The chain rule: x_tangent of each layer is y_tangent of the one before it."""
        y_tangent = self.input_tangents(saved, x_tangent, theta_tangent, new)[-1]
        return np.zeros_like(saved.output) if y_tangent is None else y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        tangents = self.input_tangents(saved, x_tangent, theta_tangent)
        pieces, second = self._tangents(theta_tangent), x_second
        for layer, kept, piece, t in zip(self.layers, saved, pieces, tangents):
            if not (t is None and second is None and piece is None):
                second = layer.second_tangent(kept, t, second, piece)
        return np.zeros_like(saved.output) if second is None else second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, new=fresh,
                         needs_input=True):
        """The chain rule once more: y_bar_tangent of each layer is x_bar_tangent of the next."""
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
            source = new.of(layer).lending(theta_bar=piece)
            y_bar_tangent, found = call(layer.backward_tangent, saved[i], tangents[i], pieces[i],
                                        bars[i], y_bar_tangent, new=source,
                                        needs_input=needs_input or i > 0)
            if found is not piece:
                piece[...] = found
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

    def forward(self, x, new=fresh):
        """y = x + F(x)"""
        inside, inner = self.inner.forward(x, new.of(self.inner))
        y = np.add(x, inside, out=new("output", x.shape, np.result_type(x, inside)))
        return y, SkipSaved(x, y, inner)

    def input_gradient(self, saved, y_bar, new=fresh):
        """x_bar_sj = y_bar_sj + sum_i y_bar_si dF_si/dx_sj"""
        inside = self.inner.input_gradient(saved.inner, y_bar, new.of(self.inner))
        x_bar = new("input_gradient", y_bar.shape, np.result_type(y_bar, inside))
        return np.add(y_bar, inside, out=x_bar)

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
        JtH = np.empty_like(H_y)
        for k in range(H_y.shape[2]):
            column = np.ascontiguousarray(H_y[:, :, k]).reshape(saved.input.shape)
            JtH[:, :, k] = self.inner.input_gradient(saved.inner, column).reshape(len(H_y), -1)
        bend = self.inner.input_hessian(saved.inner, y_bar, H_y)
        return H_y + JtH + JtH.transpose(0, 2, 1) + bend

    __repr__ = Chain.__repr__
