"""The layer `Linear`; `base` says what a layer is and which passes it has."""

from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.randomness import generator
from ...kernels.outer import outer as outer_products
from .base import Layer
from .parameters import Settled, parameter
from .initialisers import draw


def times(a, W):
    """sum_i a_si W_ij for a (..., S, i): one product of matrices, of several directions too."""
    if a.ndim == 2:
        return a @ W
    return (a.reshape(-1, a.shape[-1]) @ W).reshape(a.shape[:-1] + W.shape[-1:])


def outer(a, b, out=None):
    """a_si b_sj (S, i, j), in `out` if that is given."""
    if a.dtype.kind == "c":
        return np.einsum("si,sj->sij", a, b)
    if len(a) != len(b):
        raise ValueError(f"arrays of {len(a)} and {len(b)} samples do not go together")
    out = np.empty((*a.shape, b.shape[1]), a.dtype) if out is None else out
    outer_products(a, b, out)
    return out


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
        Name of an initialiser (see :mod:`secondorder.nets.layers.initialisers`) or ``f(shape,
        fan_in, fan_out, rng) -> array``.
    rng : None, int or numpy.random.Generator

    Attributes
    ----------
    weight : (out, in) array, a writable view
    bias : (out,) array or None
    """

    many_directions = True
    in_features, out_features = Settled(), Settled()

    def __init__(self, in_features, out_features, bias=True, trainable=True, init="uniform",
                 rng=None):
        super().__init__(trainable)
        self.in_features = checks.whole_number(in_features, "in_features", 1)
        self.out_features = checks.whole_number(out_features, "out_features", 1)
        self.input_shape = (self.in_features,)
        sizes, rng = (self.out_features, self.in_features), generator(rng)
        has_bias = checks.boolean(bias, "bias")
        self.declare("weight", draw(init, sizes, *sizes[::-1], rng))
        if has_bias:
            self.declare("bias", draw(init, sizes[:1], *sizes[::-1], rng))

    weight = parameter("weight")
    bias = parameter("bias")

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return (self.out_features,)

    def forward(self, x):
        """y_si = sum_j W_ij x_sj + b_i"""
        y = x @ self.weight.T
        if (b := self.bias) is not None:
            y += b
        return y, LinearSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_sj = sum_i y_bar_si W_ij"""
        return times(y_bar, self.weight)

    def parameter_bars(self, saved, y_bar, out=(None, None)):
        """W_bar_ij = sum_s y_bar_si x_sj;  b_bar_i = sum_s y_bar_si"""
        W_bar = np.matmul(y_bar.swapaxes(-1, -2), saved.input, out=out[0])
        if self.bias is None:
            return (W_bar,)
        return W_bar, np.add.reduce(y_bar, axis=-2, out=out[1])

    def parameter_gradients(self, saved, y_bar, out=(None, None)):
        """W_bar_sij = y_bar_si x_sj;  b_bar_si = y_bar_si"""
        W_bars = outer(y_bar, saved.input, out[0])
        return (W_bars,) if self.bias is None else (W_bars, y_bar)

    def tangent(self, saved, x_tangent, V=None, c=None):
        """y_tangent_si = sum_j W_ij x_tangent_sj + sum_j V_ij x_sj + c_i"""
        y_tangent = 0 if x_tangent is None else times(x_tangent, self.weight.T)
        if V is not None:
            y_tangent += saved.input @ V.swapaxes(-1, -2)
        if c is not None:
            y_tangent += c[..., None, :]
        return y_tangent

    def second_tangent(self, saved, moved, x_second):
        """y_second_si = sum_j W_ij x_second_sj + 2 sum_j V_ij x_tangent_sj"""
        V, x_tangent = moved.theta_tangents[0], moved.x_tangent
        if x_second is None:
            axes = () if V is None else V.shape[:-2]
            y_second = np.zeros(axes + saved.output.shape, saved.output.dtype)
        else:
            y_second = times(x_second, self.weight.T)
        if V is not None and x_tangent is not None:
            y_second = y_second + 2 * (x_tangent @ V.swapaxes(-1, -2))
        return y_second

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent_sj = sum_i y_bar_tangent_si W_ij + sum_i y_bar_si V_ij"""
        x_bar_tangent = times(y_bar_tangent, self.weight)
        if (V := moved.theta_tangents[0]) is not None:
            x_bar_tangent += y_bar @ V
        return x_bar_tangent

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None, None)):
        """W_bar_tangent_ij = sum_s y_bar_tangent_si x_sj + sum_s y_bar_si x_tangent_sj;
        b_bar_tangent_i = sum_s y_bar_tangent_si
        """
        bars = self.parameter_bars(saved, y_bar_tangent, out)
        if moved.x_tangent is not None:
            W_bar_tangent = bars[0]
            W_bar_tangent += y_bar.swapaxes(-1, -2) @ moved.x_tangent
        return bars

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = sum_ii' W_ij H_y_sii' W_i'k"""
        return self.weight.T @ H_y @ self.weight

    def __repr__(self):
        notes = "" if "bias" in self.parameters else ", bias=False"
        notes += "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({self.in_features}, {self.out_features}{notes})"
