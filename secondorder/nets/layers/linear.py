"""The layer `Linear`; `base` says what a layer is and which passes it has."""

from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.randomness import generator
from .base import Layer, parameter
from .initialisers import draw


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

    def _unpack(self, vector):
        """The pieces of a flat vector for weight and bias; None for what is not there or fixed."""
        if vector is None or not self.trainable:
            return None, None
        return (self.split(vector) + (None,))[:2]

    def _joined(self, W_part, b_part):
        """Weight's part (..., out * in), then bias's (..., out), of what is trained."""
        if not self.trainable:
            return W_part[..., :0]
        return np.concatenate([W_part, b_part], axis=-1) if "bias" in self.parameters else W_part

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return (self.out_features,)

    def forward(self, x):
        """y_si = sum_j W_ij x_sj + b_i"""
        y = x @ self.weight.T
        if (b := self.bias) is not None:
            y = y + b
        return y, LinearSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_sj = sum_i y_bar_si W_ij"""
        return y_bar @ self.weight

    def parameter_gradient(self, saved, y_bar):
        """W_bar_ij = sum_s y_bar_si x_sj;  b_bar_i = sum_s y_bar_si"""
        W_bar, b_bar = y_bar.T @ saved.input, y_bar.sum(axis=0)
        return self._joined(W_bar.ravel(), b_bar)

    def backward(self, saved, y_bar):
        """Both halves; named by class, so that a subclass may work its own halves out from this."""
        x_bar = Linear.input_gradient(self, saved, y_bar)
        return x_bar, Linear.parameter_gradient(self, saved, y_bar)

    def parameter_gradients(self, saved, y_bar):
        """W_bar_sij = y_bar_si x_sj;  b_bar_si = y_bar_si"""
        W_bars = np.einsum("si,sj->sij", y_bar, saved.input)
        return self._joined(W_bars.reshape(len(y_bar), -1), y_bar)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent_si = sum_j W_ij x_tangent_sj + sum_j V_ij x_sj + c_i; theta_tangent = (V, c)"""
        V, c = self._unpack(theta_tangent)
        y_tangent = (np.zeros_like(saved.output) if x_tangent is None
                     else x_tangent @ self.weight.T)
        if V is not None:
            y_tangent = y_tangent + saved.input @ V.T
        if c is not None:
            y_tangent = y_tangent + c
        return y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second_si = sum_j W_ij x_second_sj + 2 sum_j V_ij x_tangent_sj"""
        V, _ = self._unpack(theta_tangent)
        y_second = np.zeros_like(saved.output) if x_second is None else x_second @ self.weight.T
        if V is not None and x_tangent is not None:
            y_second += 2 * (x_tangent @ V.T)
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """x_bar_tangent_sj = sum_i y_bar_tangent_si W_ij + sum_i y_bar_si V_ij;
        W_bar_tangent_ij = sum_s y_bar_tangent_si x_sj + sum_s y_bar_si x_tangent_sj;
        b_bar_tangent_i = sum_s y_bar_tangent_si
        """
        V, _ = self._unpack(theta_tangent)
        x_bar_tangent = y_bar_tangent @ self.weight
        if V is not None:
            x_bar_tangent = x_bar_tangent + y_bar @ V
        W_bar_tangent, b_bar_tangent = y_bar_tangent.T @ saved.input, y_bar_tangent.sum(axis=0)
        if x_tangent is not None:
            W_bar_tangent = W_bar_tangent + y_bar.T @ x_tangent
        return x_bar_tangent, self._joined(W_bar_tangent.ravel(), b_bar_tangent)

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = sum_ii' W_ij H_y_sii' W_i'k"""
        return self.weight.T @ H_y @ self.weight

    def __repr__(self):
        notes = "" if "bias" in self.parameters else ", bias=False"
        notes += "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({self.in_features}, {self.out_features}{notes})"
