"""A layer for images and sequences: one matrix that is applied at every pixel, or at every
moment."""

import math

import numpy as np

from secondorder.nets import Layer


class Mixing(Layer):
    """y = W x along one axis, with the same W everywhere.

    Parameters
    ----------
    input_shape : tuple of int
        (C, H, W) with axis 0, a convolution by one pixel; (T, F) with axis -1, the same map at
        every moment.
    outputs : int
        Size of the axis in y.
    axis : int
        Of one sample.
    """

    def __init__(self, input_shape, outputs, axis=0, rng=None, trainable=True):
        super().__init__(trainable)
        self.input_shape, self.outputs = tuple(input_shape), outputs
        self.axis = axis if axis < 0 else axis + 1
        self.inputs = self.input_shape[axis]
        self.positions = math.prod(self.input_shape) // self.inputs
        self.declare("weight", np.random.default_rng(rng).normal(size=(outputs, self.inputs)))

    @property
    def weight(self):
        return self.parameters["weight"]

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        shape = list(input_shape)
        shape[self.axis if self.axis < 0 else self.axis - 1] = self.outputs
        return tuple(shape)

    def _last(self, a):
        """The mixed axis last."""
        return np.moveaxis(a, self.axis, -1)

    def _mix(self, a, matrix):
        return np.moveaxis(self._last(a) @ matrix.T, -1, self.axis)

    def _outer(self, y_bar, x):
        """sum over positions of y_bar_si x_sj, one matrix a sample."""
        rows = (self._last(a).reshape(len(x), self.positions, -1) for a in (y_bar, x))
        return np.einsum("spi,spj->sij", *rows)

    def forward(self, x):
        return self._mix(x, self.weight), x

    def backward(self, x, y_bar):
        return self._mix(y_bar, self.weight.T), self._outer(y_bar, x).sum(axis=0)

    def parameter_gradients(self, x, y_bar):
        return (self._outer(y_bar, x),)

    def tangent(self, x, x_tangent, W_tangent):
        return self._mix(x_tangent, self.weight) + self._mix(x, W_tangent)

    def second_tangent(self, x, moved, x_second):
        (W_tangent,) = moved.theta_tangents
        return self._mix(x_second, self.weight) + 2 * self._mix(moved.x_tangent, W_tangent)

    def backward_tangent(self, x, moved, y_bar, y_bar_tangent):
        x_bar_tangent, W_bar_tangent = self.backward(x, y_bar_tangent)
        (W_tangent,) = moved.theta_tangents
        return (x_bar_tangent + self._mix(y_bar, W_tangent.T),
                W_bar_tangent + self._outer(y_bar, moved.x_tangent).sum(axis=0))

    def input_hessian(self, x, y_bar, H_y):
        samples, width = len(H_y), math.prod(self.input_shape)
        columns = np.eye(width, dtype=H_y.dtype).reshape(width, *self.input_shape)
        J = self._mix(columns, self.weight).reshape(width, -1).T
        return J.T @ H_y.reshape(samples, len(J), len(J)) @ J
