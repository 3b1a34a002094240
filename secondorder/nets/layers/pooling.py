"""`AvgPool2d` and `MaxPool2d`: one number for every window of every channel."""

from typing import NamedTuple

import numpy as np

from ...checks.images import pair, window_places
from ...kernels import pooling as kernels
from .base import Layer
from .parameters import Settled
from .pieces import shaped, unmoved


class AvgPool2dSaved(NamedTuple):
    """What `AvgPool2d.forward` leaves behind: input (S, C, H, W) and output (S, C, P, Q)."""

    input: np.ndarray
    output: np.ndarray


class MaxPool2dSaved(NamedTuple):
    """What `MaxPool2d.forward` leaves behind: input (S, C, H, W), output and `chosen` (S, C, P, Q):
    at which place of its image, counted row by row, the maximum of the window stands.
    """

    input: np.ndarray
    output: np.ndarray
    chosen: np.ndarray


class Pooling(Layer):
    """What both kinds share: y_scpq = sum_lk a_scpqlk z_scpqlk, linear in the windows z_scpqlk =
    x_scij, i = stride_0 p + l, j = stride_1 q + k, with fractions a that do not change with x near
    x. There are no parameters.
    """

    many_directions = True
    kernel_size, stride, kernel, strides = (Settled() for _ in range(4))

    def __init__(self, kernel_size, stride=None):
        super().__init__(trainable=False)
        self.kernel = pair(kernel_size, "kernel_size", 1)
        self.strides = self.kernel if stride is None else pair(stride, "stride", 1)
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride

    def output_shape(self, input_shape):
        return (input_shape[0], *window_places(self, input_shape, self.kernel, self.strides))

    def parameter_bars(self, saved, y_bar, out=()):
        """There are no parameters."""
        return ()

    def tangent(self, saved, x_tangent):
        """y_tangent_scpq = sum_lk a_scpqlk z_tangent_scpqlk"""
        return self.pool(saved, shaped(saved.input, x_tangent=x_tangent))

    def second_tangent(self, saved, moved, x_second):
        """y_second_scpq = sum_lk a_scpqlk z_second_scpqlk"""
        x_second = unmoved(moved) if x_second is None else x_second
        return self.pool(saved, shaped(saved.input, x_second=x_second))

    def input_gradient(self, saved, y_bar):
        """x_bar_scij = sum_pqlk a_scpqlk y_bar_scpq  over the windows with z_scpqlk = x_scij"""
        return self.spread(saved, shaped(saved.output, y_bar=y_bar))

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """`input_gradient` of y_bar_tangent"""
        return self.spread(saved, shaped(saved.output, y_bar_tangent=y_bar_tangent))

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=()):
        """There are no parameters."""
        return ()

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k, as a does not change with x"""
        return linear_input_hessian(saved, H_y, lambda bars: self.spread(saved, bars))

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
        places = window_places(self, x.shape[1:], self.kernel, self.strides)
        y = np.empty(x.shape[:-2] + places, x.dtype)
        return self._mean(x, y), AvgPool2dSaved(x, y)

    def _mean(self, x, y):
        kernels.mean_pool(stacked(x), *self.kernel, *self.strides, stacked(y))
        return y

    def pool(self, saved, x):
        """sum_lk z_scpqlk / (K_0 K_1)"""
        return self._mean(x, np.empty(x.shape[:-2] + saved.output.shape[-2:], x.dtype))

    def spread(self, saved, y_bar):
        """sum_pqlk y_bar_scpq / (K_0 K_1)  over the windows with z_scpqlk = x_scij"""
        x_bar = np.zeros(y_bar.shape[:-2] + saved.input.shape[-2:], y_bar.dtype)
        kernels.mean_put(stacked(y_bar), *self.kernel, *self.strides, stacked(x_bar))
        return x_bar


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
        """y_scpq = max_lk z_scpqlk, and chosen_scpq = W i + j, where the first maximum stands"""
        places = window_places(self, x.shape[1:], self.kernel, self.strides)
        shape = x.shape[:-2] + places
        y, chosen = np.empty(shape, x.dtype), np.empty(shape, np.intp)
        if x.dtype.kind == "c":
            self._largest(x, y, chosen)
        else:
            kernels.max_pool(x, *self.kernel, *self.strides, y, chosen)
        return y, MaxPool2dSaved(x, y, chosen)

    def _largest(self, x, y, chosen):
        """The same for complex numbers, which are compared by their real parts."""
        z = np.lib.stride_tricks.sliding_window_view(x, self.kernel, axis=(2, 3))
        z = z[:, :, :: self.strides[0], :: self.strides[1]].reshape(*y.shape, -1)
        number = z.real.argmax(axis=-1)
        y[...] = np.take_along_axis(z, number[..., None], axis=-1)[..., 0]
        p, q = np.indices(y.shape[2:])
        l, k = np.divmod(number, self.kernel[1])
        chosen[...] = (self.strides[0] * p + l) * x.shape[3] + self.strides[1] * q + k

    def pool(self, saved, x):
        """The entries of x that were chosen."""
        y = np.empty(x.shape[:-2] + saved.output.shape[-2:], x.dtype)
        kernels.take(rows(x), rows(saved.chosen), rows(y))
        return y

    def spread(self, saved, y_bar):
        """sum_pq y_bar_scpq  over the windows whose chosen entry is x_scij"""
        x_bar = np.zeros(y_bar.shape[:-2] + saved.input.shape[-2:], y_bar.dtype)
        kernels.put(rows(y_bar), rows(saved.chosen), rows(x_bar))
        return x_bar


def stacked(images):
    """Images of all samples, channels and directions behind each other."""
    return images.reshape(-1, *images.shape[-2:])


def rows(images):
    """The same, each as a row."""
    return images.reshape(-1, images.shape[-2] * images.shape[-1])


def linear_input_hessian(saved, H_y, input_gradients):
    """sum_ii' J_sij H_y_sii' J_si'k, as y is linear in x; rows times J are gradients in the input,
    which ``input_gradients`` gives for several gradients in the output, (r, S, *out).
    """
    def times_jacobian(rows):
        """sum_i rows_sri J_sij for rows (S, r, out): (S, r, in)."""
        bars = np.ascontiguousarray(rows.swapaxes(0, 1))
        bars = bars.reshape(bars.shape[:2] + saved.output.shape[1:])
        return input_gradients(bars).reshape(bars.shape[:2] + (-1,)).swapaxes(0, 1)

    JtH = times_jacobian(H_y.transpose(0, 2, 1)).transpose(0, 2, 1)
    return times_jacobian(JtH)
