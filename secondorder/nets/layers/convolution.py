"""`Conv2d`: one kernel for all places of an image, as sums over windows."""

from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.images import pair, window_places
from ...checks.randomness import generator
from .base import Layer, parameter
from .initialisers import draw
from .flat_vectors import flat, moving, pieces
from .windows import linear_input_hessian, windows, windows_back


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

    def windows(self, x):
        """z_scpqlk, what the kernel sees of x."""
        return windows(x, self.kernel, self.strides, self.paddings)

    def convolve(self, x, weight):
        """sum_clk W_oclk z_scpqlk, indices s, o, p, q."""
        return np.einsum("scpqlk,oclk->sopq", self.windows(x), weight, optimize=True)

    def convolve_back(self, y_bar, weight, x_shape):
        """sum_o y_bar_sopq W_oclk, summed at the place in x that z_scpqlk comes from."""
        z_bar = np.einsum("sopq,oclk->scpqlk", y_bar, weight, optimize=True)
        return windows_back(z_bar, x_shape, self.strides, self.paddings)

    def correlate(self, y_bar, x):
        """sum_pq y_bar_sopq z_scpqlk, one kernel a sample, indices s, o, c, l, k."""
        return np.einsum("sopq,scpqlk->soclk", y_bar, self.windows(x), optimize=True)

    def _gradients(self, weight_bars, y_bar):
        """A row a sample: gradients in the kernel, and in the bias, sum_pq y_bar_sopq."""
        bias_bars = [y_bar.sum(axis=(2, 3))] * (self.bias is not None)
        return flat(self, weight_bars, *bias_bars)

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """y_sopq = sum_clk W_oclk z_scpqlk + b_o"""
        y = self.convolve(x, self.weight)
        if self.bias is not None:
            y = y + self.bias[:, None, None]
        return y, Conv2dSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_scij = sum_opqlk y_bar_sopq W_oclk  over the windows with z_scpqlk = x_scij"""
        return self.convolve_back(y_bar, self.weight, saved.input.shape)

    def parameter_gradient(self, saved, y_bar):
        """W_bar_oclk = sum_spq y_bar_sopq z_scpqlk;  b_bar_o = sum_spq y_bar_sopq"""
        return self.parameter_gradients(saved, y_bar).sum(axis=0)

    def parameter_gradients(self, saved, y_bar):
        """W_bar_soclk = sum_pq y_bar_sopq z_scpqlk;  b_bar_so = sum_pq y_bar_sopq"""
        return self._gradients(self.correlate(y_bar, saved.input), y_bar)

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent_sopq = sum_clk W_oclk z_tangent_scpqlk + sum_clk V_oclk z_scpqlk + c_o;
        theta_tangent = (V, c)
        """
        V, *c = pieces(self, theta_tangent)
        y_tangent = self.convolve(moving(x_tangent, saved.input), self.weight)
        y_tangent = y_tangent + self.convolve(saved.input, V)
        return y_tangent + c[0][:, None, None] if c else y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second_sopq = sum_clk W_oclk z_second_scpqlk + 2 sum_clk V_oclk z_tangent_scpqlk"""
        V = pieces(self, theta_tangent)[0]
        straight = self.convolve(moving(x_second, saved.input), self.weight)
        return straight + 2 * self.convolve(moving(x_tangent, saved.input), V)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """W_bar_tangent_oclk = sum_spq (y_bar_tangent_sopq z_scpqlk + y_bar_sopq
        z_tangent_scpqlk);

        x_bar_tangent as `input_gradient` of y_bar_tangent with W plus y_bar with V.
        """
        x, V = saved.input, pieces(self, theta_tangent)[0]
        x_bar_tangent = self.convolve_back(y_bar_tangent, self.weight, x.shape)
        x_bar_tangent = x_bar_tangent + self.convolve_back(y_bar, V, x.shape)
        weight_bars = self.correlate(y_bar_tangent, x)
        weight_bars = weight_bars + self.correlate(y_bar, moving(x_tangent, x))
        return x_bar_tangent, self._gradients(weight_bars, y_bar_tangent).sum(axis=0)

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k"""
        def input_gradients(bars):  # of all rows at once
            bars = bars.reshape(-1, *bars.shape[2:])
            return self.convolve_back(bars, self.weight, (len(bars), *saved.input.shape[1:]))

        return linear_input_hessian(saved, H_y, input_gradients)

    def __repr__(self):
        notes = "".join(f", {name}={value}" for name, value, usual in (
            ("stride", self.stride, 1), ("padding", self.padding, 0),
            ("bias", "bias" in self.parameters, True), ("trainable", self.trainable, True))
            if value != usual)
        return (f"{type(self).__name__}({self.in_channels}, {self.out_channels}, "
                f"{self.kernel_size}{notes})")
