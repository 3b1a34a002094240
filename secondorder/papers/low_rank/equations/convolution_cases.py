"""Random convolutions for (44)-(57): one channel, an activation, any strides."""

from typing import NamedTuple

import numpy as np

from ....ledger import Case, Equal, Property
from .. import convolution
from . import by_layers, reference
from .cases import tolerance
from .reference import by_loops


STRIDES = (2, 3)


class ConvolutionCase(NamedTuple):
    """Input, kernel and strides; slopes and second derivatives at the arguments; the outputs as
    jets in (x, w).
    """

    x: np.ndarray
    w: np.ndarray
    strides: tuple
    z: np.ndarray
    slope: np.ndarray
    second_derivative: np.ndarray
    dz_dx: np.ndarray
    v: np.ndarray  # jets
    activation: str

    def of_layers(self):
        """The same derivatives from the passes of `Conv2d` and `Activation`."""
        return by_layers.convolution(self.x, self.w, self.strides, self.activation)

    def first(self, of):
        return self._cut(reference.firsts(self.v), 2, of)

    def second(self, left, right):
        return self._cut(self._cut(reference.seconds(self.v), 3, right), 2, left)

    def _cut(self, array, axis, of):
        array = np.moveaxis(array, axis, -1)
        part = array[..., : self.x.size] if of == "x" else array[..., self.x.size :]
        part = part.reshape(*part.shape[:-1], *(self.x if of == "x" else self.w).shape)
        return np.moveaxis(part, (-2, -1), (axis, axis + 1))

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
    return ConvolutionCase(x, w, strides, convolution.patches(x, w_shape, strides),
                           f[1](z).astype(dtype), f[2](z).astype(dtype),
                           convolution.patch_derivative(x_shape, w_shape, strides).astype(dtype),
                           v, activation)


def cases(rng):
    """Strides above one, strides one, a piecewise-linear activation, float32."""
    return {"tanh, strides 2 and 3": convolution_case(rng),
            "softplus, strides 1": convolution_case(rng, "softplus", (1, 1), (4, 4), (2, 3)),
            "ReLU, strides 3 and 1": convolution_case(rng, "relu", (3, 1), (7, 3), (3, 2)),
            "float32": convolution_case(rng, "tanh", (1, 2), (4, 5), (3, 2), "float32")}


def against(rng, compute, expected):
    """Claims, case by case: what the room computes, and its precision, against the jets and the
    layer classes.
    """
    chosen, claims = cases(rng), []
    for name, c in chosen.items():
        scale, left, allowed = np.abs(reference.firsts(c.v)).max(), compute(c), tolerance(c.x.dtype)
        claims += [Equal("against jets", left, expected(c), allowed, scale=scale, case=name),
                   Equal("against Conv2d and Activation", left, expected(c.of_layers()), allowed,
                         scale=scale, case=name),
                   Property("in the precision of input and kernel", left.dtype == c.x.dtype,
                            case=name)]
    return [*claims, chosen["tanh, strides 2 and 3"].live()]
