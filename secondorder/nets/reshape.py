"""`Reshape` gives every sample another shape: from images or sequences to vectors and back."""

from typing import NamedTuple

import numpy as np

from .. import checks
from .base import Layer


class ReshapeSaved(NamedTuple):
    """What `Reshape.forward` leaves behind: input and output, two views of the same entries."""

    input: np.ndarray
    output: np.ndarray


class Reshape(Layer):
    """y holds the entries of x, sample by sample in C order, in another shape.

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
        super().__init__(trainable=False)
        self.input_shape, self.made_shape = checks.shapes_alike(input_shape, output_shape)

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return self.made_shape

    def forward(self, x):
        """y_s = x_s."""
        y = x.reshape(len(x), *self.made_shape)
        return y, ReshapeSaved(x, y)

    def backward(self, saved, y_bar):
        """x_bar_s = y_bar_s."""
        return y_bar.reshape(saved.input.shape), np.empty(0, dtype=y_bar.dtype)

    def parameter_gradients(self, saved, y_bar):
        return np.empty((len(y_bar), 0), dtype=y_bar.dtype)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent_s = x_tangent_s."""
        moving = np.zeros_like(saved.input) if x_tangent is None else x_tangent
        return moving.reshape(saved.output.shape)

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second_s = x_second_s."""
        return self.tangent(saved, x_second, None)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """x_bar_tangent_s = y_bar_tangent_s."""
        return self.backward(saved, y_bar_tangent)

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_s = H_y_s."""
        return H_y

    def __repr__(self):
        return f"{type(self).__name__}({self.input_shape}, {self.made_shape})"
