"""`AvgPool2d` and `MaxPool2d`: one number for every window of every channel."""

from typing import NamedTuple

import numpy as np

from ...checks.images import pair, window_places
from .base import Layer
from .flat_vectors import moving
from .windows import linear_input_hessian, windows, windows_back


class AvgPool2dSaved(NamedTuple):
    """What `AvgPool2d.forward` leaves behind: input (S, C, H, W) and output (S, C, P, Q)."""

    input: np.ndarray
    output: np.ndarray


class MaxPool2dSaved(NamedTuple):
    """What `MaxPool2d.forward` leaves behind: input (S, C, H, W), output and `chosen` (S, C, P, Q):
    at which place of its window, counted row by row, the maximum stands.
    """

    input: np.ndarray
    output: np.ndarray
    chosen: np.ndarray


class Pooling(Layer):
    """What both kinds share: y_scpq = sum_lk a_scpqlk z_scpqlk, linear in the windows z, with
    fractions a that each kind gives as ``fractions(saved)``, in a shape that broadcasts. There are
    no parameters.
    """

    def __init__(self, kernel_size, stride=None):
        super().__init__(trainable=False)
        self.kernel = pair(kernel_size, "kernel_size", 1)
        self.strides = self.kernel if stride is None else pair(stride, "stride", 1)
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride

    def output_shape(self, input_shape):
        return (input_shape[0], *window_places(self, input_shape, self.kernel, self.strides))

    def windows(self, x):
        """z_scpqlk = x_scij with i = stride p + l and j = stride q + k."""
        return windows(x, self.kernel, self.strides)

    def pool(self, saved, x):
        """sum_lk a_scpqlk z_scpqlk"""
        return (self.fractions(saved) * self.windows(x)).sum(axis=(4, 5))

    def backward(self, saved, y_bar):
        """x_bar_scij = sum_pqlk a_scpqlk y_bar_scpq  over the windows with z_scpqlk = x_scij"""
        z_bar = self.fractions(saved) * y_bar[..., None, None]
        x_bar = windows_back(z_bar, saved.input.shape, self.strides)
        return x_bar, np.empty(0, dtype=y_bar.dtype)

    def parameter_gradients(self, saved, y_bar):
        """None."""
        return np.empty((len(y_bar), 0), dtype=y_bar.dtype)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent_scpq = sum_lk a_scpqlk z_tangent_scpqlk"""
        return self.pool(saved, moving(x_tangent, saved.input))

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second_scpq = sum_lk a_scpqlk z_second_scpqlk"""
        return self.pool(saved, moving(x_second, saved.input))

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """`backward` of y_bar_tangent"""
        return self.backward(saved, y_bar_tangent)

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k, as a does not change with x"""
        return linear_input_hessian(saved, H_y, lambda bars: np.stack(
            [self.input_gradient(saved, bars[:, r]) for r in range(bars.shape[1])], axis=1))

    def __repr__(self):
        step = "" if self.stride == self.kernel_size else f", stride={self.stride}"
        return f"{type(self).__name__}({self.kernel_size}{step})"


class AvgPool2d(Pooling):
    """The mean of every window of an image: y_scpq = sum_lk z_scpqlk / (K_0 K_1).

    Parameters
    ----------
    kernel_size : int or pair of int
        (down, across); one number for both.
    stride : int or pair of int, optional
        Default `kernel_size`: windows beside each other.

    Raises
    ------
    TypeError, ValueError
        If a number is not whole or too small. A kernel larger than the image is refused when the
        network is made.
    """

    def forward(self, x):
        """y_scpq = sum_lk z_scpqlk / (K_0 K_1)"""
        y = self.windows(x).mean(axis=(4, 5))
        return y, AvgPool2dSaved(x, y)

    def fractions(self, saved):
        """a_lk = 1 / (K_0 K_1)"""
        return np.full(self.kernel, 1 / (self.kernel[0] * self.kernel[1]), saved.output.dtype)


class MaxPool2d(Pooling):
    """The largest entry of every window of an image: y_scpq = max_lk z_scpqlk.

    Piecewise linear: near x the same entries stay the largest. Of equal entries the first counts,
    row by row: it alone has the derivatives.

    Parameters
    ----------
    kernel_size, stride
        As for `AvgPool2d`.
    """

    def forward(self, x):
        """y_scpq = max_lk z_scpqlk, and chosen_scpq = K_1 l + k of the first maximum"""
        z = self.windows(x)
        entries = z.reshape(*z.shape[:4], -1)
        chosen = entries.argmax(axis=-1)
        y = np.take_along_axis(entries, chosen[..., None], axis=-1)[..., 0]
        return y, MaxPool2dSaved(x, y, chosen)

    def fractions(self, saved):
        """a_scpqlk = 1 where K_1 l + k = chosen_scpq, else 0"""
        numbers = np.arange(self.kernel[0] * self.kernel[1]).reshape(self.kernel)
        return saved.chosen[..., None, None] == numbers
