"""The paper's single-layer equations: a layer's outputs as jets, and their first and second
derivatives from the passes of the layer classes that networks are made of.
"""

from dataclasses import dataclass

import numpy as np

from ....ledger import Equal, Property
from ....nets import Activation, Chain, Conv2d, Recurrent
from . import reference
from .cases import tolerance


@dataclass(frozen=True)
class LayerCase:
    """A layer at one input x with weights w; a subclass has ``of_layers()``, the same derivatives
    from the layer classes, and how claims name these and the precision.
    """

    x: np.ndarray
    w: np.ndarray
    v: np.ndarray  # outputs as jets in (x, w)
    activation: str

    def first(self, of):
        """dv/dx or dv/dw, of = "x" or "w": indices of v, then those of x or w."""
        return self._part(reference.firsts(self.v), -1, of)

    def second(self, left, right):
        """d2v / d left d right."""
        inner = self._part(reference.seconds(self.v), -1, right)
        return self._part(inner, -1 - getattr(self, right).ndim, left)

    def _part(self, array, axis, of):
        where = slice(self.x.size) if of == "x" else slice(self.x.size, None)
        return reference.part(array, axis, where, getattr(self, of).shape)


def against(cases, compute, expected, what=""):
    """Claims, case by case: what the room computes, and its precision, against ``expected(case)``,
    by jets, and ``expected(case.of_layers())``.
    """
    claims = []
    for name, case in cases:
        left, jets, allowed = compute(case), expected(case), tolerance(case.w.dtype)
        scale = max(np.abs(case.first("x")).max(), np.abs(jets).max())
        claims += [Equal(f"{what}against jets", left, jets, allowed, scale=scale, case=name),
                   Equal(f"{what}against {case.classes}", left, expected(case.of_layers()),
                         allowed, scale=scale, case=name),
                   Property(f"{what}in {case.precision}", left.dtype == case.w.dtype, case=name)]
    return claims


class ByLayers:
    """Layers without biases, in a row, at one input x in the form in which the paper has it.

    The shapes are those of one sample's input for the layers, and of outputs and weights in the
    paper. ``value`` is the output.
    """

    def __init__(self, layers, x, x_shape, y_shape, w_shape):
        self.chain, self.w_shape, self.y_shape = Chain(layers), w_shape, y_shape
        self.x_shape, self.image_shape = x.shape, x_shape
        # one row for every output, so that a batch of y_bar finds all of them at once
        outputs = int(np.prod(y_shape))
        self.rows = np.repeat(x.reshape(1, *x_shape), outputs, axis=0)
        y, self.saved = self.chain.forward(self.rows)
        self.y_bars = np.eye(outputs).reshape(y.shape)
        self.value = y[0].reshape(y_shape)

    def first(self, of):
        """dv/dx or dv/dw, of = "x" or "w": indices of v, then those of x or w."""
        rows = (self.chain.input_gradient(self.saved, self.y_bars) if of == "x"
                else self.chain.flat_parameter_gradients(self.saved, self.y_bars))
        return rows.reshape(*self.y_shape, *self._shape(of))

    def second(self, left, right):
        """d2v / d left d right, from `backward_tangent` along one entry of `left` at a time."""
        still, columns = np.zeros_like(self.y_bars), []
        for e in np.eye(int(np.prod(self._shape(left)))):
            along = (None, e)
            if left == "x":
                along = np.broadcast_to(e.reshape(self.image_shape), self.rows.shape), None
            _, moved = self.chain.tangents(self.saved, *along)
            columns.append(self._along(moved, right, still))
        rows = np.stack(columns, axis=1)
        return rows.reshape(*self.y_shape, *self._shape(left), *self._shape(right))

    def _along(self, moved, right, still):
        """Rows, one an output: the derivative of `first(right)` along a move of (x, w)."""
        def back(y_bars):
            bars = self.chain.output_gradients(self.saved, y_bars)
            return self.chain.backward_tangent_from(self.saved, moved, bars, still, needed=True)

        if right == "x":
            return back(self.y_bars)[0].reshape(len(still), -1)
        rows = []  # parameters' parts are summed over rows, so that outputs stand one by one
        for n in range(len(still)):
            alone = np.where(np.arange(len(still))[:, None] == n,
                             self.y_bars.reshape(len(still), -1), 0).reshape(self.y_bars.shape)
            rows.append(back(alone)[1])
        return np.array(rows)

    def _shape(self, of):
        return self.x_shape if of == "x" else self.w_shape


def convolution(x, w, strides, activation):
    """`Conv2d` with one channel, and `Activation`."""
    layer = Conv2d(1, 1, w.shape, strides, bias=False)
    layer.weight = w[None, None]
    places = layer.output_shape((1, *x.shape))[1:]
    return ByLayers([layer, Activation(activation)], x, (1, *x.shape), places, w.shape)


def recurrence(x, w, steps, activation):
    """`Recurrent`, autonomous."""
    layer = Recurrent(len(x), steps=steps, activation=activation, bias=False)
    layer.weight = w
    return ByLayers([layer], x, x.shape, x.shape, w.shape)
