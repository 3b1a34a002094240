"""Random convolutions for (44)-(57): one channel, an activation, any strides."""

from dataclasses import dataclass

import numpy as np

from ....ledger import Case
from .. import convolution
from . import by_layers, reference
from .reference import by_loops


STRIDES = (2, 3)


@dataclass(frozen=True)
class ConvolutionCase(by_layers.LayerCase):
    """With patches; slopes and second derivatives at the arguments."""

    strides: tuple
    z: np.ndarray
    slope: np.ndarray
    second_derivative: np.ndarray
    dz_dx: np.ndarray
    classes = "Conv2d and Activation"
    precision = "the precision of input and kernel"

    def of_layers(self):
        return by_layers.convolution(self.x, self.w, self.strides, self.activation)

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
    return ConvolutionCase(x, w, v, activation, strides, convolution.patches(x, w_shape, strides),
                           f[1](z).astype(dtype), f[2](z).astype(dtype),
                           convolution.patch_derivative(x_shape, w_shape, strides).astype(dtype))


def cases(rng):
    """Strides above one, strides one, a piecewise-linear activation, float32."""
    return {"tanh, strides 2 and 3": convolution_case(rng),
            "softplus, strides 1": convolution_case(rng, "softplus", (1, 1), (4, 4), (2, 3)),
            "ReLU, strides 3 and 1": convolution_case(rng, "relu", (3, 1), (7, 3), (3, 2)),
            "float32": convolution_case(rng, "tanh", (1, 2), (4, 5), (3, 2), "float32")}


def against(rng, compute, expected):
    """Claims of :func:`by_layers.against` on all cases, and the first of them."""
    chosen = cases(rng)
    return [*by_layers.against(chosen.items(), compute, expected),
            chosen["tanh, strides 2 and 3"].live()]
