"""`Flatten` and `Reshape`: the entries of a sample in another shape, as for a linear layer behind
images.
"""

import math
from typing import NamedTuple

import numpy as np

from ... import checks
from .base import Layer
from .parameters import Settled
from .pieces import unmoved


class FlattenSaved(NamedTuple):
    """What `Flatten.forward` leaves behind: input and output, two views of the same entries."""

    input: np.ndarray
    output: np.ndarray


def _reshaped(a, before, after):
    """An array shaped like `before`, directions in front, in the shape of `after`."""
    return a.reshape(a.shape[: a.ndim - before.ndim] + after.shape)


class Flatten(Layer):
    """y holds the entries of x, sample by sample in C order, as one vector; of any shape."""

    many_directions = True

    def __init__(self):
        super().__init__(trainable=False)

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return (math.prod(input_shape),)

    def forward(self, x):
        """y_s = x_s."""
        y = x.reshape(len(x), *self.output_shape(x.shape[1:]))
        return y, FlattenSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_s = y_bar_s."""
        return _reshaped(y_bar, saved.output, saved.input)

    def parameter_bars(self, saved, y_bar, out=()):
        """There are no parameters."""
        return ()

    def tangent(self, saved, x_tangent):
        """y_tangent_s = x_tangent_s."""
        return _reshaped(x_tangent, saved.input, saved.output)

    def second_tangent(self, saved, moved, x_second):
        """y_second_s = x_second_s."""
        return self.tangent(saved, unmoved(moved) if x_second is None else x_second)

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent_s = y_bar_tangent_s."""
        return _reshaped(y_bar_tangent, saved.output, saved.input)

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=()):
        """There are no parameters."""
        return ()

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

    input_shape, made_shape = Settled(), Settled()

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
