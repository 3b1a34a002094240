"""`Flatten` and `Reshape`: the entries of a sample in another shape, as for a linear layer behind
images.
"""

import math
from typing import NamedTuple

import numpy as np

from ... import checks
from .base import Layer
from .flat_vectors import moving


class FlattenSaved(NamedTuple):
    """What `Flatten.forward` leaves behind: input and output, two views of the same entries."""

    input: np.ndarray
    output: np.ndarray


class Flatten(Layer):
    """y holds the entries of x, sample by sample in C order, as one vector; of any shape."""

    def __init__(self):
        super().__init__(trainable=False)

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return (math.prod(input_shape),)

    def forward(self, x):
        """y_s = x_s."""
        y = x.reshape(len(x), *self.output_shape(x.shape[1:]))
        return y, FlattenSaved(x, y)

    def backward(self, saved, y_bar):
        """x_bar_s = y_bar_s."""
        return y_bar.reshape(saved.input.shape), np.empty(0, dtype=y_bar.dtype)

    def parameter_gradients(self, saved, y_bar):
        """None."""
        return np.empty((len(y_bar), 0), dtype=y_bar.dtype)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent_s = x_tangent_s."""
        return moving(x_tangent, saved.input).reshape(saved.output.shape)

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second_s = x_second_s."""
        return moving(x_second, saved.input).reshape(saved.output.shape)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """x_bar_tangent_s = y_bar_tangent_s."""
        return self.backward(saved, y_bar_tangent)

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_s = H_y_s."""
        return H_y


class Reshape(Flatten):
    """y holds the entries of x, sample by sample in C order, in another shape.

    `Flatten` does this for a vector; its passes are shared.

    Parameters
    ----------
    input_shape, output_shape : int or tuple of int
        Shapes of one sample, of the same number of entries; 5 means (5,).

    Raises
    ------
    TypeError, ValueError
        If something is not a shape, or the numbers of entries differ.
    """

    def __init__(self, input_shape, output_shape):
        super().__init__()
        self.input_shape, self.made_shape = checks.shapes_alike(input_shape, output_shape)

    def output_shape(self, input_shape):
        checks.stated_shape(self, input_shape)
        return self.made_shape

    def saved_arguments(self):
        """What the constructor takes, for :mod:`~secondorder.nets.saving`."""
        return {"input_shape": self.input_shape, "output_shape": self.made_shape}

    def __repr__(self):
        return f"{type(self).__name__}({self.input_shape}, {self.made_shape})"
