"""The explicit layers `Linear` and `Activation`; `base` says what a layer is and which passes it has."""

from typing import NamedTuple

import numpy as np

from ..checks import boolean, whole_number
from ..randomness import generator
from . import initialisers
from .activations import activation_function
from .base import Layer
from .workspace import fresh


class LinearSaved(NamedTuple):
    """What `Linear.forward` leaves behind: input (S, in) and output (S, out)."""

    input: np.ndarray
    output: np.ndarray


class Linear(Layer):
    """y = x W^T + b.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    trainable : bool
        False keeps weight and bias fixed, out of ``network.theta``.
    init : str, number or callable
        Name of an initialiser (see :mod:`secondorder.nets.initialisers`) or ``f(shape, fan_in, fan_out, rng) -> array``.
    rng : None, int or numpy.random.Generator

    Attributes
    ----------
    weight : (out, in) array, a writable view
    bias : (out,) array or None
    """

    takes_new = True

    def __init__(self, in_features, out_features, bias=True, trainable=True, init="uniform", rng=None):
        super().__init__(trainable)
        self.in_features = whole_number(in_features, "in_features", 1)
        self.out_features = whole_number(out_features, "out_features", 1)
        bias = boolean(bias, "bias")
        self.input_shape = (self.in_features,)
        draw, rng = initialisers.initialiser(init), generator(rng)
        shapes = {"weight": (self.out_features, self.in_features)} | ({"bias": (self.out_features,)} if bias else {})
        for name, shape in shapes.items():
            self.declare(name, self._drawn(draw(shape, self.in_features, self.out_features, rng), shape))

    @staticmethod
    def _drawn(values, shape):
        """What an initialiser returned, if it is of use."""
        values = np.asarray(values)
        if values.dtype.kind not in "biuf" or values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"init must return finite real numbers of shape {shape}, got {values.dtype} of shape {values.shape}")
        return values

    @property
    def weight(self):
        return self.parameters["weight"]

    @weight.setter
    def weight(self, value):
        self.assign("weight", value)

    @property
    def bias(self):
        return self.parameters.get("bias")

    @bias.setter
    def bias(self, value):
        if "bias" not in self.parameters:
            raise ValueError(f"{self!r} was made without a bias")
        self.assign("bias", value)

    def _unpack(self, vector):
        """weight-shaped and bias-shaped pieces of a flat vector; the second is None without bias."""
        return (self.split(vector) + (None,))[:2]

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return (self.out_features,)

    def forward(self, x, new=fresh):
        y = new("output", (len(x), self.out_features), np.result_type(x, self.weight))
        np.matmul(x, self.weight.T, out=y)
        if self.bias is not None:
            y += self.bias
        return y, LinearSaved(x, y)

    def backward(self, saved, y_bar):
        return y_bar @ self.weight, self._theta_bar(saved, y_bar)

    def input_gradient(self, saved, y_bar, new=fresh):
        x_bar = new("input_gradient", saved.input.shape, np.result_type(y_bar, self.weight))
        return np.matmul(y_bar, self.weight, out=x_bar)

    def parameter_gradient(self, saved, y_bar):
        return self._theta_bar(saved, y_bar)

    def _theta_bar(self, saved, y_bar):
        theta_bar = np.empty(self.size, dtype=y_bar.dtype)
        if self.trainable:
            weight_bar, bias_bar = self._unpack(theta_bar)
            np.matmul(y_bar.T, saved.input, out=weight_bar)
            if bias_bar is not None:
                y_bar.sum(axis=0, out=bias_bar)
        return theta_bar

    def parameter_gradients(self, saved, y_bar):
        rows = np.empty((len(y_bar), self.size), dtype=y_bar.dtype)
        if self.trainable:
            weight_bars, bias_bars = self._unpack(rows)
            np.multiply(y_bar[:, :, None], saved.input[:, None, :], out=weight_bars)
            if bias_bars is not None:
                bias_bars[...] = y_bar
        return rows

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = np.zeros_like(saved.output) if x_tangent is None else x_tangent @ self.weight.T
        if theta_tangent is not None and self.trainable:
            weight_tangent, bias_tangent = self._unpack(theta_tangent)
            y_tangent += saved.input @ weight_tangent.T
            if bias_tangent is not None:
                y_tangent += bias_tangent
        return y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output) if x_second is None else x_second @ self.weight.T
        if theta_tangent is not None and x_tangent is not None and self.trainable:
            weight_tangent, _ = self._unpack(theta_tangent)
            y_second += 2 * (x_tangent @ weight_tangent.T)
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_bar_tangent = y_bar_tangent @ self.weight
        theta_bar_tangent = self._theta_bar(saved, y_bar_tangent)
        if self.trainable:
            if theta_tangent is not None:
                weight_tangent, _ = self._unpack(theta_tangent)
                x_bar_tangent += y_bar @ weight_tangent
            if x_tangent is not None:
                weight_bar_tangent, _ = self._unpack(theta_bar_tangent)
                weight_bar_tangent += y_bar.T @ x_tangent
        return x_bar_tangent, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        return self.weight.T @ H_y @ self.weight

    def __repr__(self):
        notes = ("" if "bias" in self.parameters else ", bias=False") + ("" if self.trainable else ", trainable=False")
        return f"{type(self).__name__}({self.in_features}, {self.out_features}{notes})"


class ActivationSaved(NamedTuple):
    """What `Activation.forward` leaves behind: input, output, slope (first derivative), curvature (second), all like x."""

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

    takes_new = True

    def __init__(self, function):
        super().__init__(trainable=False)
        self.function = activation_function(function)

    def forward(self, x, new=fresh):
        f = self.function
        if getattr(f, "takes_new", False):
            y, slope, curvature = f.jet(x, new)
        elif hasattr(f, "jet"):
            y, slope, curvature = f.jet(x)
        else:
            y, slope, curvature = f.value(x), f.slope(x), f.curvature(x)
        return y, ActivationSaved(x, y, slope, curvature)

    def backward(self, saved, y_bar):
        return y_bar * saved.slope, self._no_parameters(y_bar)

    def input_gradient(self, saved, y_bar, new=fresh):
        return np.multiply(y_bar, saved.slope, out=new("input_gradient", y_bar.shape, np.result_type(y_bar, saved.slope)))

    def parameter_gradients(self, saved, y_bar):
        return np.empty((len(y_bar), 0), dtype=y_bar.dtype)

    def tangent(self, saved, x_tangent, theta_tangent):
        return np.zeros_like(saved.output) if x_tangent is None else saved.slope * x_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output) if x_second is None else saved.slope * x_second
        if x_tangent is not None:
            y_second = y_second + saved.curvature * x_tangent**2
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_bar_tangent = y_bar_tangent * saved.slope
        if x_tangent is not None:
            x_bar_tangent = x_bar_tangent + y_bar * saved.curvature * x_tangent
        return x_bar_tangent, self._no_parameters(y_bar)

    def input_hessian(self, saved, y_bar, H_y):
        samples = len(y_bar)
        slope = saved.slope.reshape(samples, -1)
        H_x = slope[:, :, None] * H_y * slope[:, None, :]
        diagonal = np.arange(slope.shape[1])
        H_x[:, diagonal, diagonal] += (y_bar * saved.curvature).reshape(samples, -1)
        return H_x

    @staticmethod
    def _no_parameters(like):
        return np.empty(0, dtype=like.dtype)

    def __repr__(self):
        name = getattr(self.function, "name", type(self.function).__name__)
        return f"{type(self).__name__}({name})"
