"""`ScaleShift`: every feature times a number, plus a number. Batch normalisation is that once its
statistics are fixed.
"""

from typing import NamedTuple

import numpy as np

from ... import checks
from .base import Layer
from .parameters import Settled, parameter


class ScaleShiftSaved(NamedTuple):
    """What `ScaleShift.forward` leaves behind: input and output."""

    input: np.ndarray
    output: np.ndarray


class ScaleShift(Layer):
    """y_sf = w_f x_sf + b_f, at every place that a feature has, such as the pixels of an image.

    Batch normalisation in evaluation, with mean m, variance v and weights g, c, is two of them:
    fixed numbers w = 1 / sqrt(v + epsilon), b = -m w, then trained ones, g and c. That is what
    :func:`~secondorder.nets.from_torch` makes of it.

    Parameters
    ----------
    features : int
        Length of the first axis of one sample: (F,), or (F, H, W) for images.
    trainable : bool
        False keeps weight and bias fixed, out of ``network.theta``.

    Attributes
    ----------
    weight, bias : (F,) arrays
        w, at first 1, and b, at first 0.
    """

    many_directions = True
    features = Settled()

    def __init__(self, features, trainable=True):
        super().__init__(trainable)
        self.features = checks.whole_number(features, "features", 1)
        self.declare("weight", np.ones(self.features))
        self.declare("bias", np.zeros(self.features))

    weight = parameter("weight")
    bias = parameter("bias")

    def output_shape(self, input_shape):
        if not input_shape or input_shape[0] != self.features:
            raise ValueError(f"{self!r} takes samples whose first axis is {self.features}, got "
                             f"{tuple(input_shape)}")
        return input_shape

    def _beside(self, v, like):
        """Numbers (..., F) of the features beside samples and places."""
        return v.reshape(*v.shape[:-1], 1, self.features, *[1] * (like.ndim - 2))

    def _places(self, like):
        """The axes of places, from behind."""
        return tuple(range(2 - like.ndim, 0))

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """y_sf = w_f x_sf + b_f"""
        y = self._beside(self.weight, x) * x + self._beside(self.bias, x)
        return y, ScaleShiftSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_sf = w_f y_bar_sf"""
        return self._beside(self.weight, saved.input) * y_bar

    def parameter_bars(self, saved, y_bar, out=(None, None)):
        """w_bar_f = sum_s y_bar_sf x_sf;  b_bar_f = sum_s y_bar_sf, over all places"""
        axes = (-saved.input.ndim, *self._places(saved.input))
        return np.add.reduce(y_bar * saved.input, axis=axes), np.add.reduce(y_bar, axis=axes)

    def parameter_gradients(self, saved, y_bar, out=(None, None)):
        """w_bar_sf = y_bar_sf x_sf;  b_bar_sf = y_bar_sf, summed over places"""
        axes = self._places(saved.input)
        return np.add.reduce(y_bar * saved.input, axis=axes), np.add.reduce(y_bar, axis=axes)

    def tangent(self, saved, x_tangent, v=None, c=None):
        """y_tangent_sf = w_f x_tangent_sf + v_f x_sf + c_f"""
        x = saved.input
        y_tangent = 0 if x_tangent is None else self._beside(self.weight, x) * x_tangent
        if v is not None:
            y_tangent = y_tangent + self._beside(v, x) * x + self._beside(c, x)
        return y_tangent

    def second_tangent(self, saved, moved, x_second):
        """y_second_sf = w_f x_second_sf + 2 v_f x_tangent_sf"""
        x, v, x_tangent = saved.input, moved.theta_tangents[0], moved.x_tangent
        y_second = np.zeros_like(x) if x_second is None else self._beside(self.weight, x) * x_second
        if v is not None and x_tangent is not None:
            return y_second + 2 * self._beside(v, x) * x_tangent
        return y_second + np.zeros_like(x if v is None else self._beside(v, x))

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent_sf = w_f y_bar_tangent_sf + v_f y_bar_sf"""
        x_bar_tangent = self._beside(self.weight, saved.input) * y_bar_tangent
        v = moved.theta_tangents[0]
        return x_bar_tangent if v is None else x_bar_tangent + self._beside(v, saved.input) * y_bar

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None, None)):
        """w_bar_tangent_f = sum_s (y_bar_tangent_sf x_sf + y_bar_sf x_tangent_sf);
        b_bar_tangent_f = sum_s y_bar_tangent_sf
        """
        w_bar_tangent, b_bar_tangent = self.parameter_bars(saved, y_bar_tangent)
        if moved.x_tangent is not None:
            axes = (-saved.input.ndim, *self._places(saved.input))
            w_bar_tangent = w_bar_tangent + np.add.reduce(y_bar * moved.x_tangent, axis=axes)
        return w_bar_tangent, b_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = w_j H_y_sjk w_k"""
        w = np.broadcast_to(self._beside(self.weight, saved.input)[0],
                            saved.input.shape[1:]).reshape(-1)
        return w[:, None] * H_y * w

    def __repr__(self):
        notes = "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({self.features}{notes})"
