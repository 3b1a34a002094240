"""`Conv2d`: one kernel for all places of an image, as sums over windows."""

from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.images import pair, window_places
from ...checks.randomness import generator
from ...kernels import windows as kernels
from .base import Layer
from .parameters import Settled, parameter
from .initialisers import draw
from .pooling import linear_input_hessian

NUMBERS = 2**16  # of the windows that are made at a time: they stay in the cache


class Conv2dSaved(NamedTuple):
    """What `Conv2d.forward` leaves behind: input (S, C, H, W) and output (S, O, P, Q)."""

    input: np.ndarray
    output: np.ndarray


class Conv2d(Layer):
    """A convolution of images, in the sense of neural networks (the kernel is not flipped).

    y_sopq = sum_clk W_oclk z_scpqlk + b_o    with the windows    z_scpqlk = x_s,c,i,j

    where i = stride p + l - padding and j = stride q + k - padding, and z is 0 outside the image
    ([low-rank] Eqs. (44), (45), with channels). Indices: sample s, input channel c, output channel
    o, place (p, q), entry (l, k) of the kernel.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size : int or pair of int
        (down, across); one number for both.
    stride : int or pair of int
    padding : int or pair of int
        Rows and columns of zeros on either side of the image.
    bias : bool
    rng : None, int or numpy.random.Generator
    trainable : bool
        False keeps weight and bias fixed, out of ``network.theta``.
    init : str, number or callable
        As for `Linear`, with fan in C K K.

    Attributes
    ----------
    weight : (out_channels, in_channels, K, K) array, a writable view
    bias : (out_channels,) array or None

    Raises
    ------
    TypeError, ValueError
        If a number is not whole or too small. An image with other channels, or one that is smaller
        than the kernel, is refused when the network is made.

    Notes
    -----
    A network whose first layer this is needs ``input_shape=(C, H, W)``. Rows and columns at the
    end that no window reaches are not seen.
    """

    many_directions = True
    in_channels, out_channels, kernel_size, stride, padding = (Settled() for _ in range(5))
    kernel, strides, paddings = (Settled() for _ in range(3))

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, bias=True,
                 rng=None, trainable=True, init="uniform"):
        super().__init__(trainable)
        self.in_channels = checks.whole_number(in_channels, "in_channels", 1)
        self.out_channels = checks.whole_number(out_channels, "out_channels", 1)
        self.kernel, self.strides = pair(kernel_size, "kernel_size", 1), pair(stride, "stride", 1)
        self.paddings = pair(padding, "padding", 0)
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        places, rng = self.kernel[0] * self.kernel[1], generator(rng)
        fans = self.in_channels * places, self.out_channels * places
        has_bias = checks.boolean(bias, "bias")
        shape = self.out_channels, self.in_channels, *self.kernel
        self.declare("weight", draw(init, shape, *fans, rng))
        if has_bias:
            self.declare("bias", draw(init, shape[:1], *fans, rng))

    weight = parameter("weight")
    bias = parameter("bias")

    def output_shape(self, input_shape):
        return (self.out_channels, *window_places(self, input_shape, self.kernel, self.strides,
                                                  self.paddings, self.in_channels))

    # -- the three products of windows, kernel and outputs -----------------------------------------

    def _places(self, x):
        """Places (down, across) of the kernel in images (..., C, H, W)."""
        return window_places(self, x.shape[-3:], self.kernel, self.strides, self.paddings,
                             self.in_channels)

    def _looked_at(self, y_bar, x_shape):
        """Return y_bar (..., O, P, Q); ValueError unless it fits images of that shape: loops do not
        look at shapes.
        """
        expected = self.output_shape(x_shape[-3:])
        if y_bar.shape[-3:] != expected:
            raise ValueError(f"y_bar has shape {y_bar.shape}, expected (S, *{expected})")
        return y_bar

    def _images(self, x):
        """Images behind each other in memory, (N, C, H, W)."""
        return np.ascontiguousarray(x).reshape(-1, *x.shape[-3:])

    def _parts(self, images, places):
        """Images n (N, C, H, W), some at a time: where they stand, and an array for their windows
        z_nep, with e = (c l k) and p counting places row by row.
        """
        size = self.in_channels * self.kernel[0] * self.kernel[1], places[0] * places[1]
        some = max(1, NUMBERS // (size[0] * size[1]))
        room = np.empty((min(some, len(images)), *size), images.dtype)
        for start in range(0, len(images), some):
            where = slice(start, start + some)
            yield where, room[: len(images[where])]

    def _windows(self, images, places):
        """The parts, filled with the windows of images."""
        for where, z in self._parts(images, places):
            kernels.windows(images[where], self.kernel, self.strides, self.paddings, places, z)
            yield where, z

    def convolve(self, x, weight):
        """y_sopq = sum_clk W_oclk z_scpqlk; x or `weight` may have directions in front."""
        if weight.ndim > 4 and x.ndim > 4:
            return np.stack([self.convolve(*pair) for pair in zip(x, weight)])
        images, places = self._images(x), self._places(x)
        W = weight.reshape(*weight.shape[:-3], 1, -1).swapaxes(-3, -2)  # (..., 1, o, e)
        y = np.empty(W.shape[:-3] + (len(images), W.shape[-2], places[0] * places[1]), x.dtype)
        for where, z in self._windows(images, places):
            np.matmul(W, z, out=y[..., where, :, :])
        return y.reshape(W.shape[:-3] + x.shape[:-3] + W.shape[-2:-1] + places)

    def convolve_back(self, y_bar, weight, x_shape):
        """x_bar_scij = sum_o y_bar_sopq W_oclk, summed over the windows with z_scpqlk = x_scij."""
        if weight.ndim > 4:
            bars = np.broadcast_to(y_bar, weight.shape[:1] + y_bar.shape[-4:])
            return np.stack([self.convolve_back(*pair, x_shape) for pair in zip(bars, weight)])
        places, axes = self._looked_at(y_bar, x_shape).shape[-2:], y_bar.shape[:-3]
        bars = y_bar.reshape(-1, y_bar.shape[-3], places[0] * places[1])
        x_bar = np.zeros((len(bars), *x_shape[-3:]), y_bar.dtype)
        W = weight.reshape(len(weight), -1).T
        for where, z_bar in self._parts(bars, places):
            np.matmul(W, bars[where], out=z_bar)
            kernels.windows_back(z_bar, self.kernel, self.strides, self.paddings, places,
                                 x_bar[where])
        return x_bar.reshape(axes + x_bar.shape[1:])

    def correlate(self, y_bar, x):
        """W_bar_soclk = sum_pq y_bar_sopq z_scpqlk, one kernel a sample."""
        places = self._looked_at(y_bar, x.shape).shape[-2:]
        bars = y_bar.reshape(*y_bar.shape[:2], -1)
        rows = np.empty(y_bar.shape[:2] + self.weight[0].shape, y_bar.dtype)
        flat = rows.reshape(*y_bar.shape[:2], -1)
        for where, z in self._windows(self._images(x), places):
            np.matmul(bars[where], z.swapaxes(-1, -2), out=flat[where])
        return rows

    def correlate_all(self, y_bar, x):
        """W_bar_oclk = sum_spq y_bar_sopq z_scpqlk; y_bar or x may have directions in front."""
        if x.ndim > 4:
            bars = np.broadcast_to(y_bar, x.shape[:1] + y_bar.shape[-4:])
            return np.stack([self.correlate_all(*pair) for pair in zip(bars, x)])
        places, total = self._looked_at(y_bar, x.shape).shape[-2:], 0
        bars = y_bar.reshape(*y_bar.shape[:-2], -1)
        for where, z in self._windows(self._images(x), places):
            total = total + (bars[..., where, :, :] @ z.swapaxes(-1, -2)).sum(axis=-3)
        return total.reshape(y_bar.shape[:-4] + self.weight.shape)

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """y_sopq = sum_clk W_oclk z_scpqlk + b_o"""
        y = self.convolve(x, self.weight)
        if self.bias is not None:
            y += self.bias[:, None, None]
        return y, Conv2dSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_scij = sum_opqlk y_bar_sopq W_oclk  over the windows with z_scpqlk = x_scij"""
        return self.convolve_back(y_bar, self.weight, saved.input.shape)

    def _with_bias(self, W_bar, b_bar):
        return (W_bar,) if self.bias is None else (W_bar, b_bar)

    def parameter_bars(self, saved, y_bar, out=(None, None)):
        """W_bar_oclk = sum_spq y_bar_sopq z_scpqlk;  b_bar_o = sum_spq y_bar_sopq"""
        return self._with_bias(self.correlate_all(y_bar, saved.input), y_bar.sum(axis=(-4, -2, -1)))

    def parameter_gradients(self, saved, y_bar, out=(None, None)):
        """W_bar_soclk = sum_pq y_bar_sopq z_scpqlk;  b_bar_so = sum_pq y_bar_sopq"""
        return self._with_bias(self.correlate(y_bar, saved.input), y_bar.sum(axis=(2, 3)))

    def tangent(self, saved, x_tangent, V=None, c=None):
        """y_tangent_sopq = sum_clk W_oclk z_tangent_scpqlk + sum_clk V_oclk z_scpqlk + c_o"""
        y_tangent = 0 if x_tangent is None else self.convolve(x_tangent, self.weight)
        if V is not None:
            y_tangent += self.convolve(saved.input, V)
        if c is not None:
            y_tangent += c[..., None, :, None, None]
        return y_tangent

    def second_tangent(self, saved, moved, x_second):
        """y_second_sopq = sum_clk W_oclk z_second_scpqlk + 2 sum_clk V_oclk z_tangent_scpqlk"""
        V, x_tangent = moved.theta_tangents[0], moved.x_tangent
        if x_second is None:
            axes = () if V is None else V.shape[:-4]
            y_second = np.zeros(axes + saved.output.shape, saved.output.dtype)
        else:
            y_second = self.convolve(x_second, self.weight)
        if V is not None and x_tangent is not None:
            y_second = y_second + 2 * self.convolve(x_tangent, V)
        return y_second

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent is `input_gradient` of y_bar_tangent with W plus that of y_bar with V"""
        x_bar_tangent = self.convolve_back(y_bar_tangent, self.weight, saved.input.shape)
        if (V := moved.theta_tangents[0]) is not None:
            x_bar_tangent += self.convolve_back(y_bar, V, saved.input.shape)
        return x_bar_tangent

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None, None)):
        """W_bar_tangent_oclk = sum_spq (y_bar_tangent_sopq z_scpqlk + y_bar_sopq
        z_tangent_scpqlk);  b_bar_tangent_o = sum_spq y_bar_tangent_sopq
        """
        W_bar_tangent = self.correlate_all(y_bar_tangent, saved.input)
        if moved.x_tangent is not None:
            W_bar_tangent = W_bar_tangent + self.correlate_all(y_bar, moved.x_tangent)
        return self._with_bias(W_bar_tangent, y_bar_tangent.sum(axis=(-4, -2, -1)))

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k"""
        return linear_input_hessian(saved, H_y, lambda bars: self.convolve_back(
            bars, self.weight, saved.input.shape))

    def __repr__(self):
        notes = "".join(f", {name}={value}" for name, value, usual in (
            ("stride", self.stride, 1), ("padding", self.padding, 0),
            ("bias", "bias" in self.parameters, True), ("trainable", self.trainable, True))
            if value != usual)
        return (f"{type(self).__name__}({self.in_channels}, {self.out_channels}, "
                f"{self.kernel_size}{notes})")
