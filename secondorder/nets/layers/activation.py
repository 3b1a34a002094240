"""The layer `Activation`: a function of every entry; `activation_functions` has the functions."""

from typing import NamedTuple

import numpy as np

from .activation_functions import activation_function
from .base import Layer


class ActivationSaved(NamedTuple):
    """What `Activation.forward` leaves behind: slope and curvature are s' and s'', all like x."""

    input: np.ndarray
    output: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


class Activation(Layer):
    """y = s(x), entry by entry.

    Parameters
    ----------
    function : str or ActivationFunction
        ``"relu"``, ``"tanh"``, ... or an object with `value`, `slope` and `curvature`.
    """

    def __init__(self, function):
        super().__init__(trainable=False)
        self.function = activation_function(function)

    def forward(self, x):
        """y_sj = s(x_sj), with slope_sj = s'(x_sj) and curvature_sj = s''(x_sj)"""
        f = self.function
        if hasattr(f, "jet"):
            y, slope, curvature = f.jet(x)
        else:
            y, slope, curvature = f.value(x), f.slope(x), f.curvature(x)
        return y, ActivationSaved(x, y, slope, curvature)

    def input_gradient(self, saved, y_bar):
        """x_bar_sj = y_bar_sj slope_sj"""
        return y_bar * saved.slope

    def parameter_gradient(self, saved, y_bar):
        """There are no parameters."""
        return np.empty(0, dtype=y_bar.dtype)

    def backward(self, saved, y_bar):
        """x_bar_sj = y_bar_sj slope_sj; there are no parameters."""
        return Activation.input_gradient(self, saved, y_bar), np.empty(0, dtype=y_bar.dtype)

    def parameter_gradients(self, saved, y_bar):
        """There are no parameters."""
        return np.empty((len(y_bar), 0), dtype=y_bar.dtype)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent_sj = slope_sj x_tangent_sj"""
        return np.zeros_like(saved.output) if x_tangent is None else saved.slope * x_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second_sj = slope_sj x_second_sj + curvature_sj x_tangent_sj^2"""
        y_second = np.zeros_like(saved.output) if x_second is None else saved.slope * x_second
        if x_tangent is not None:
            y_second = y_second + saved.curvature * x_tangent**2
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """x_bar_tangent_sj = y_bar_tangent_sj slope_sj + y_bar_sj curvature_sj x_tangent_sj"""
        x_bar_tangent = y_bar_tangent * saved.slope
        if x_tangent is not None:
            x_bar_tangent = x_bar_tangent + y_bar * saved.curvature * x_tangent
        return x_bar_tangent, np.empty(0, dtype=y_bar.dtype)

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = slope_sj H_y_sjk slope_sk, plus y_bar_sj curvature_sj where j = k"""
        slope = saved.slope.reshape(len(y_bar), -1)
        H_x = slope[:, :, None] * H_y * slope[:, None, :]
        diagonal = np.einsum("sjj->sj", H_x)
        diagonal += (y_bar * saved.curvature).reshape(slope.shape)
        return H_x

    def __repr__(self):
        name = getattr(self.function, "name", type(self.function).__name__)
        return f"{type(self).__name__}({name})"
