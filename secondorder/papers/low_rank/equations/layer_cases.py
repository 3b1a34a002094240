"""Single layers, convolutional and recurrent, at random: as jets, and by the classes of `nets`."""

from dataclasses import dataclass

import numpy as np

from ....ledger import Case, Equal
from ....nets import Activation, Chain, Conv2d, Recurrent
from .. import eq_44_57_convolution as eq
from . import reference
from .cases import tolerance
from .reference import by_loops


@dataclass(frozen=True)
class LayerCase:
    """A layer at one input x with weights w; a subclass has ``of_layers()``, the same derivatives
    from the layer classes, and how claims name these.
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
    """Claims, case by case: what the room computes against ``expected(case)``, by jets, and
    ``expected(case.of_layers())``.
    """
    claims = []
    for name, case in cases:
        left, jets, allowed = compute(case), expected(case), tolerance(case.w.dtype)
        scale = max(np.abs(case.first("x")).max(), np.abs(jets).max())
        claims += [Equal(f"{what}against jets", left, jets, allowed, scale=scale, case=name),
                   Equal(f"{what}against {case.classes}", left, expected(case.of_layers()),
                         allowed, scale=scale, case=name)]
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
            moved = (None, e)
            if left == "x":
                moved = np.broadcast_to(e.reshape(self.image_shape), self.rows.shape), None
            columns.append(self._along(moved, right, still))
        rows = np.stack(columns, axis=1)
        return rows.reshape(*self.y_shape, *self._shape(left), *self._shape(right))

    def _along(self, moved, right, still):
        """Rows, one an output: the derivative of `first(right)` along a move of (x, w)."""
        along = self.chain.flat_tangent(self.saved, *moved)[1]
        if right == "x":
            return self.chain.flat_backward_tangent(self.saved, along, self.y_bars, still, None,
                                                    True).reshape(len(still), -1)
        rows = np.empty((len(still), self.chain.size))
        for n, row in enumerate(rows):  # parameters' parts are summed over what stands in a batch
            alone = np.where(np.arange(len(still))[:, None] == n,
                             self.y_bars.reshape(len(still), -1), 0).reshape(self.y_bars.shape)
            self.chain.flat_backward_tangent(self.saved, along, alone, still, row, False)
        return rows

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


# -- convolutions ----------------------------------------------------------------------------------

STRIDES = (2, 3)


@dataclass(frozen=True)
class ConvolutionCase(LayerCase):
    """With patches; slopes and second derivatives at the arguments."""

    strides: tuple
    z: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    dz_dx: np.ndarray
    classes = "Conv2d and Activation"

    def of_layers(self):
        return convolution(self.x, self.w, self.strides, self.activation)

    def live(self):
        return Case(x=self.x, w=self.w, strides=np.array(self.strides), v=reference.values(self.v))


def convolution_case(rng, activation="tanh", strides=STRIDES, x_shape=(6, 5), w_shape=(3, 2),
                     dtype="float64"):
    """A random :class:`ConvolutionCase`; the kernel fits more than once in both directions, and a
    ReLU is neither dead nor live everywhere.
    """
    f, mixed = reference.ACTIVATIONS[activation], False
    while not mixed:
        x, w = (rng.normal(size=shape).astype(dtype) for shape in (x_shape, w_shape))
        arguments = by_loops(x, w, strides)
        z = reference.values(arguments)
        slopes = f[1](z)
        mixed = slopes.any() and (activation != "relu" or not slopes.all())
    v = np.empty(arguments.shape, dtype=object)
    for index in np.ndindex(v.shape):
        v[index] = arguments[index].through(*f)
    return ConvolutionCase(x, w, v, activation, strides, eq.eq_45_patches(x, w_shape, *strides),
                           f[1](z).astype(dtype), f[2](z).astype(dtype),
                           eq.eq_48_dz_dx(x_shape, w_shape, *strides).astype(dtype))


def convolutions(rng):
    """Strides above one, strides one, a piecewise-linear activation, float32."""
    return {"tanh, strides 2 and 3": convolution_case(rng),
            "softplus, strides 1": convolution_case(rng, "softplus", (1, 1), (4, 4), (2, 3)),
            "ReLU, strides 3 and 1": convolution_case(rng, "relu", (3, 1), (7, 3), (3, 2)),
            "float32": convolution_case(rng, "tanh", (1, 2), (4, 5), (3, 2), "float32")}


def against_convolutions(rng, compute, expected):
    """Claims of :func:`against` on all cases, and the first of them."""
    chosen = convolutions(rng)
    return [*against(chosen.items(), compute, expected),
            chosen["tanh, strides 2 and 3"].live()]
