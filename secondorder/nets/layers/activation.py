"""The layer `Activation`: a function of every entry; `activation_functions` has the functions."""

from functools import cached_property

import numpy as np

from ...checks import Checked
from ...kernels import activations as kernels
from .activation_functions import activation_function, value_and_slope
from .base import Layer
from .pieces import shaped


class ActivationSaved:
    """What `Activation.forward` leaves behind: input, output and `slope`, s'(x), all like x.

    `curvature`, s''(x), is made when it is asked for.
    """

    def __init__(self, function, input, output, slope):
        self.function, self.input, self.output, self.slope = function, input, output, slope

    @cached_property
    def curvature(self):
        return self.function.curvature(self.input)


class Activation(Layer):
    """y = s(x), entry by entry.

    Parameters
    ----------
    function : str or ActivationFunction
        ``"relu"``, ``"tanh"``, ... or an object with `value`, `slope` and `curvature`.
    """

    many_directions = True
    function = Checked(lambda value, name: activation_function(value))

    def __init__(self, function):
        super().__init__(trainable=False)
        self.function = function

    def forward(self, x):
        """y_sj = s(x_sj), with slope_sj = s'(x_sj)"""
        y, slope = value_and_slope(self.function, x)
        return y, ActivationSaved(self.function, x, y, slope)

    def input_gradient(self, saved, y_bar):
        """x_bar_sj = y_bar_sj slope_sj"""
        return y_bar * saved.slope

    def parameter_bars(self, saved, y_bar, out=()):
        """There are no parameters."""
        return ()

    def tangent(self, saved, x_tangent):
        """y_tangent_sj = slope_sj x_tangent_sj"""
        return saved.slope * x_tangent

    def second_tangent(self, saved, moved, x_second):
        """y_second_sj = slope_sj x_second_sj + curvature_sj x_tangent_sj^2"""
        y_second = 0 if x_second is None else saved.slope * x_second
        return y_second + saved.curvature * moved.x_tangent**2

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent_sj = y_bar_tangent_sj slope_sj + y_bar_sj curvature_sj x_tangent_sj"""
        slope, x_tangent = saved.slope, moved.x_tangent
        if getattr(saved.function, "piecewise_linear", False):
            return y_bar_tangent * slope
        curvature = saved.function.curvature(saved.input)
        shaped(slope, y_bar=y_bar, y_bar_tangent=y_bar_tangent, x_tangent=x_tangent,
               curvature=curvature)
        x_bar_tangent = np.empty(y_bar_tangent.shape, slope.dtype)
        kernels.bent(y_bar_tangent.reshape(-1), slope.reshape(-1), y_bar.reshape(-1),
                     curvature.reshape(-1), x_tangent.reshape(-1), x_bar_tangent.reshape(-1))
        return x_bar_tangent

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=()):
        """There are no parameters."""
        return ()

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
