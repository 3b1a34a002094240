"""Layers made of layers: `Chain` runs them one after the other, `Skip` adds its input to that."""

from typing import NamedTuple

import numpy as np

from ... import checks
from .base import Layer
from .parameters import Layout, Settled
from .pieces import Moved
from .between import Held, part

STILL = Moved(None, ())  # of a layer whose input and parameters do not move


class ChainSaved(list):
    """What `Chain.forward` leaves behind: the list of what each layer saved.

    `held` is the same as the chain's own passes take it: see :mod:`.between`.
    """

    held = property(lambda self: self.__dict__.get("_held", self))

    @property
    def input(self):
        return self.held[0].input

    @property
    def output(self):
        return self.held[-1].output


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

    many_directions = True
    layers, children = Settled(), Settled()

    def __init__(self, layers):
        super().__init__(trainable=True)
        self.layers = self.children = checks.layers(layers, Layer)
        # of the first layer that states one, if all before it keep theirs
        decide = [a for a in self.layers if a.input_shape is not None or not a.keeps_shape]
        self.input_shape = decide[0].input_shape if decide else None
        self.parts = tuple(map(part, self.layers))
        self.simple = self.parts == self.layers

    @property
    def keeps_shape(self):
        return all(layer.keeps_shape for layer in self.layers)

    def laid_out(self):
        cuts, places, shares = super().laid_out().cuts, [], []
        for layer, cut in zip(self.layers, cuts):
            start, own = len(places), layer.layout.places if layer.many_directions else layer.cuts
            if cut:
                places += [place and (place[0] + cut[0], place[1] + cut[0], place[2])
                           for place in own]
            shares.append(slice(start, len(places)))
        first = next((i for i, cut in enumerate(cuts) if cut), len(cuts))
        return Layout(cuts, places, shares, first)

    @property
    def slices(self):
        """Where each layer's parameters stand in the flat vector; settled in a network."""
        slices, start = [], 0
        for cut in self.cuts:
            slices.append(slice(start, start) if cut is None else slice(*cut[:2]))
            start = slices[-1].stop
        return slices

    def output_shape(self, input_shape):
        for layer in self.layers:
            input_shape = layer.output_shape(input_shape)
        return input_shape

    def _held(self, saved):
        """What was saved, for `parts`; a plain list is that of layers for many directions."""
        return saved if self.simple else getattr(saved, "held", saved)

    def called(self, saved):
        """Every layer as this chain calls it (`parts`), with what it saved."""
        return zip(self.parts, self._held(saved))

    def forward(self, x):
        """x of each layer is y of the one before it."""
        saved = ChainSaved()
        for layer in self.parts:
            x, own = layer.forward(x)
            saved.append(own)
        if self.simple:
            return x, saved
        plain = ChainSaved(own.saved if isinstance(own, Held) else own for own in saved)
        plain._held = list(saved)
        return x, plain

    # -- gradients ---------------------------------------------------------------------------------

    def output_gradients(self, saved, y_bar, stop=1):
        """Gradients in the inputs of layers `stop`, `stop` + 1, ..., then `y_bar` itself.

        With `stop` 1 they are the gradients in the outputs of all layers, first to last.

        The chain rule: y_bar of each layer is x_bar of the one after it.
        """
        bars, held = [y_bar], self._held(saved)
        for i in reversed(range(stop, len(self.parts))):
            bars.append(self.parts[i].input_gradient(held[i], bars[-1]))
        return bars[::-1]

    def input_gradient(self, saved, y_bar):
        """x_bar of the first layer."""
        return self.flat_backward(saved, y_bar, None, needed=True)

    def parameter_gradient(self, saved, y_bar, out=None):
        """theta_bar (..., size) of all layers, first to last; in `out`, if that is given."""
        if out is None:
            out = self._vectors(saved, y_bar)
        self.walk_back(saved, y_bar, self.pieces(out), needed=False)
        return out

    def parameter_bars(self, saved, y_bar, out=None):
        """For every layer its own theta_bar."""
        return self.split(self.parameter_gradient(saved, y_bar))

    def _vectors(self, saved, y_bar):
        """An array for vectors (size,), as many as y_bar has directions."""
        return np.empty(y_bar.shape[: y_bar.ndim - saved.output.ndim] + (self.size,), y_bar.dtype)

    def walk_back(self, saved, y_bar, pieces, needed):
        """y_bar of each layer is x_bar of the one after it, which is let go of then. Nothing below
        the first layer with parameters is asked for gradients.
        """
        held, layout = self._held(saved), self.layout
        last = 0 if needed else layout.first
        for i in reversed(range(last, len(self.parts))):
            own = pieces[layout.shares[i]]
            y_bar = self.parts[i].walk_back(held[i], y_bar, own, needed or i > last)
        return y_bar

    def parameter_gradient_from(self, saved, bars, out=None):
        """theta_bar (..., size) from the gradients `bars` in the outputs of all layers."""
        if out is None:
            out = self._vectors(saved, bars[-1])
        pieces, shares = self.pieces(out), self.layout.shares
        for layer, own, y_bar, share in zip(self.parts, self._held(saved), bars, shares):
            if pieces[share]:
                layer.walk_back(own, y_bar, pieces[share], needed=False)
        return out

    def parameter_gradients(self, saved, y_bar, out=None):
        """For every layer its own theta_bars, one row a sample."""
        return self.split(self.flat_parameter_gradients(saved, y_bar))

    def flat_parameter_gradients(self, saved, y_bar, out=None):
        """theta_bars (S, size) of all layers, first to last, beside each other."""
        return self.parameter_gradients_from(saved, self.output_gradients(saved, y_bar), out)

    def parameter_gradients_from(self, saved, bars, out=None):
        """theta_bars (S, size) from the gradients `bars` in the outputs of all layers."""
        if out is None:
            out = np.empty((len(bars[-1]), self.size), bars[-1].dtype)
        for layer, own, y_bar, piece in zip(self.parts, self._held(saved), bars, self.split(out)):
            if piece is not None:
                layer.flat_parameter_gradients(own, y_bar, piece)
        return out

    # -- along a direction -------------------------------------------------------------------------

    def tangents(self, saved, x_tangent, theta_tangent):
        """y_tangent of the last layer, and for every layer how it moves; both tangents may be None.

        The chain rule: x_tangent of each layer is y_tangent of the one before it; None before the
        first that moves.
        """
        return self._along(saved, x_tangent, self.pieces(theta_tangent))

    def _along(self, saved, x_tangent, pieces):
        moved = []
        for layer, own, share in zip(self.parts, self._held(saved), self.layout.shares):
            left, own_pieces = STILL, pieces[share]
            if x_tangent is not None or own_pieces:
                x_tangent, left = layer.walk_along(own, x_tangent, own_pieces)
            moved.append(left)
        return x_tangent, moved

    def walk_along(self, saved, x_tangent, pieces):
        """y_tangent, and how each layer moves."""
        y_tangent, moved = self._along(saved, x_tangent, pieces)
        if y_tangent is None:
            y_tangent = np.zeros_like(saved.output)
        return y_tangent, Moved(x_tangent, pieces, moved)

    def tangent(self, saved, x_tangent, *theta_tangents):
        """x_tangent of each layer is y_tangent of the one before it; left is how each moves."""
        y_tangent, moved = self.flat_tangent(saved, x_tangent, self._flat(theta_tangents))
        return y_tangent, moved.left

    def _flat(self, pieces):
        """Flat vectors of all layers as one; None if all are."""
        given = next((piece for piece in pieces if piece is not None), None)
        if given is None:
            return None
        axes = given.shape[:-1]
        return np.concatenate([np.zeros(axes + (layer.size,), given.dtype) if piece is None
                               else piece for layer, piece in zip(self.layers, pieces)], axis=-1)

    def second_tangent(self, saved, moved, x_second):
        """x_second of each layer is y_second of the one before it."""
        y_second = self.second_tangent_from(saved, moved.left, x_second)
        return np.zeros_like(saved.output) if y_second is None else y_second

    def second_tangent_from(self, saved, moved, x_second=None):
        """y_second of the last layer from what `tangents` told of every layer; None if all stand
        still.
        """
        for layer, own, of_layer in zip(self.parts, self._held(saved), moved):
            if of_layer is not STILL:
                x_second = layer.second_tangent(own, of_layer, x_second)
            elif x_second is not None:  # what does not move is linear to the second order
                x_second = layer.flat_tangent(own, x_second, None)[0]
        return x_second

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """y_bar_tangent of each layer is x_bar_tangent of the one after it."""
        return self.flat_backward_tangent(saved, moved, y_bar, y_bar_tangent, None, needed=True)

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=None):
        """For every layer its own theta_bar_tangent."""
        bars = self.output_gradients(saved, y_bar)
        return self.split(self.backward_tangent_from(saved, moved.left, bars, y_bar_tangent)[1])

    def walk_back_along(self, saved, moved, y_bar, y_bar_tangent, pieces, needed):
        """The chain rule once more: y_bar_tangent of each layer is x_bar_tangent of the next."""
        bars = self.output_gradients(saved, y_bar)
        return self._back_along(saved, moved.left, bars, y_bar_tangent, pieces, needed)

    def backward_tangent_from(self, saved, moved, bars, y_bar_tangent, out=None, needed=False):
        """x_bar_tangent, None unless it is needed, and theta_bar_tangent (..., size), from what
        `tangents` and `output_gradients` told.
        """
        if out is None:
            out = self._vectors(saved, y_bar_tangent)
        pieces = self.pieces(out)
        return self._back_along(saved, moved, bars, y_bar_tangent, pieces, needed), out

    def _back_along(self, saved, moved, bars, y_bar_tangent, pieces, needed):
        held, layout = self._held(saved), self.layout
        last = 0 if needed else layout.first
        for i in reversed(range(last, len(self.parts))):
            layer, own, below = self.parts[i], pieces[layout.shares[i]], needed or i > last
            if moved[i] is STILL:
                y_bar_tangent = layer.walk_back(held[i], y_bar_tangent, own, below)
            else:
                y_bar_tangent = layer.walk_back_along(held[i], moved[i], bars[i], y_bar_tangent,
                                                      own, below)
        return y_bar_tangent

    # -- Hessians in the inputs --------------------------------------------------------------------

    def input_hessian(self, saved, y_bar, H_y):
        """H_y of each layer is H_x of the one after it."""
        return self.input_hessian_from(saved, self.output_gradients(saved, y_bar), H_y, stop=0)[0]

    def input_hessian_from(self, saved, bars, H_y, stop=0):
        """Hessians (S, n, n) in the inputs of layers `stop`, `stop` + 1, ..., then `H_y` itself."""
        hessians, held = [H_y], self._held(saved)
        for i in reversed(range(stop, len(self.parts))):
            hessians.append(self.parts[i].input_hessian(held[i], bars[i], hessians[-1]))
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

    keeps_shape = many_directions = True
    layers, children, inner = (Settled() for _ in range(3))

    def __init__(self, layers):
        super().__init__(trainable=True)
        self.inner = Chain(layers)
        self.layers, self.children = self.inner.layers, (self.inner,)
        self.input_shape = self.inner.input_shape

    def laid_out(self):
        return super().laid_out()._replace(places=self.inner.layout.places)

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

    def parameter_bars(self, saved, y_bar, out=(None,)):
        """theta_bar of F"""
        return (self.inner.parameter_gradient(saved.inner, y_bar, out[0]),)

    def walk_back(self, saved, y_bar, pieces, needed):
        """Both halves, with one pass through F."""
        x_bar = self.inner.walk_back(saved.inner, y_bar, pieces, needed)
        return y_bar + x_bar if needed else None

    def parameter_gradients(self, saved, y_bar, out=(None,)):
        """theta_bars of F"""
        return (self.inner.flat_parameter_gradients(saved.inner, y_bar, out[0]),)

    def tangent(self, saved, x_tangent, theta_tangent=None):
        """y_tangent = x_tangent + F_tangent"""
        y_tangent, moved = self.inner.flat_tangent(saved.inner, x_tangent, theta_tangent)
        return y_tangent if x_tangent is None else x_tangent + y_tangent, moved

    def walk_along(self, saved, x_tangent, pieces):
        """The same with the pieces of F."""
        y_tangent, moved = self.inner.walk_along(saved.inner, x_tangent, pieces)
        y_tangent = y_tangent if x_tangent is None else x_tangent + y_tangent
        return y_tangent, Moved(x_tangent, pieces, moved)

    def second_tangent(self, saved, moved, x_second):
        """y_second = x_second + F_second"""
        y_second = self.inner.second_tangent(saved.inner, moved.left, x_second)
        return y_second if x_second is None else x_second + y_second

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent = y_bar_tangent + F's x_bar_tangent"""
        return y_bar_tangent + self.inner.input_gradient_tangent(saved.inner, moved.left, y_bar,
                                                                 y_bar_tangent)

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None,)):
        """theta_bar_tangent of F"""
        bars = self.inner.output_gradients(saved.inner, y_bar)
        return (self.inner.backward_tangent_from(saved.inner, moved.left.left, bars, y_bar_tangent,
                                                 out[0])[1],)

    def walk_back_along(self, saved, moved, y_bar, y_bar_tangent, pieces, needed):
        """Both halves, with one pass through F."""
        x_bar_tangent = self.inner.walk_back_along(saved.inner, moved.left, y_bar, y_bar_tangent,
                                                   pieces, needed)
        return y_bar_tangent + x_bar_tangent if needed else None

    def input_hessian(self, saved, y_bar, H_y):
        """H_x = (I + J)^T H_y (I + J) + sum_i y_bar_si Hess(F_si), with J the Jacobian of F."""
        columns = np.ascontiguousarray(H_y.transpose(2, 0, 1)).reshape(-1, *saved.input.shape)
        JtH = self.inner.input_gradient(saved.inner, columns).reshape(len(columns), len(H_y), -1)
        JtH = JtH.transpose(1, 2, 0)
        second_order = self.inner.input_hessian(saved.inner, y_bar, H_y)
        return H_y + JtH + JtH.transpose(0, 2, 1) + second_order

    __repr__ = Chain.__repr__
