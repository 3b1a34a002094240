"""`LayerNorm`: every sample, or every row at the end of it, with mean 0 and variance 1; and
`ScaleShift`, which batch normalisation is once its statistics are fixed.
"""

import math
from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.images import ends_with
from ...kernels import normalisation as kernels
from .base import Layer
from .parameters import Settled, parameter
from .pieces import shaped, unmoved


class LayerNormSaved(NamedTuple):
    """What `LayerNorm.forward` leaves behind: input and output; `normalised`, z, like both; `rate`,
    r = 1 / sqrt(variance + epsilon), one number for each block.
    """

    input: np.ndarray
    output: np.ndarray
    normalised: np.ndarray
    rate: np.ndarray


class LayerNorm(Layer):
    """y = w z + b  with  z = r (x - m),  m = mean(x),  r = 1 / sqrt(mean((x - m)^2) + epsilon).

    Means are over the last axes of x, of shape `shape`: a block. Every sample, and every
    index before the block, is normalised separately.

    Parameters
    ----------
    shape : int or tuple of int
        The last axes of one sample; 5 means (5,).
    epsilon : float
    trainable : bool
        False keeps weight and bias fixed, out of ``network.theta``.

    Attributes
    ----------
    weight, bias : arrays of shape `shape`
        w, at first 1, and b, at first 0.

    Raises
    ------
    TypeError, ValueError
        If something is not a shape, or epsilon is not positive. An input that does not end with
        `shape` is refused when the network is made.
    """

    many_directions = True
    shape = Settled()
    epsilon = checks.Checked(checks.positive_number)

    def __init__(self, shape, epsilon=1e-5, trainable=True):
        super().__init__(trainable)
        self.shape = checks.shape(shape, "shape")
        self.epsilon = epsilon
        self.axes, self.entries = tuple(range(-len(self.shape), 0)), math.prod(self.shape)
        self.declare("weight", np.ones(self.shape))
        self.declare("bias", np.zeros(self.shape))

    weight = parameter("weight")
    bias = parameter("bias")

    def output_shape(self, input_shape):
        ends_with(self, input_shape, self.shape)
        return input_shape

    def mean(self, a):
        """The mean of every block, in a shape that broadcasts."""
        return a.mean(axis=self.axes, keepdims=True)

    def _centred(self, a):
        """P a = a - mean(a)"""
        return a - self.mean(a)

    def _rows(self, *arrays):
        """Blocks as rows, those of several directions behind each other."""
        return [a.reshape(-1, self.entries) for a in arrays]

    def _back(self, saved, z_bar):
        """x_bar = r (P z_bar - z mean(z z_bar)): dz/dx is symmetric."""
        z, r = saved.normalised, saved.rate
        if z.dtype.kind == "c":
            return r * (self._centred(z_bar) - z * self.mean(z * z_bar))
        x_bar = np.empty(shaped(z, z_bar=z_bar).shape, z.dtype)
        z_bar, z, out = self._rows(z_bar, z, x_bar)
        kernels.back(z_bar, z, r.reshape(-1), out)
        return x_bar

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """y = w z + b  with  z = r (x - m) = u / sqrt(mean(u^2) + epsilon / size^2)

        u = (x - m) / size; the largest |x - m|, from 1, is the size: its square may overflow.
        """
        ends_with(self, x.shape, self.shape)
        if x.dtype.kind == "c":
            centred = self._centred(x)
            size = np.maximum(np.abs(centred).max(axis=self.axes, keepdims=True), 1)
            u = centred / size
            deviation = np.sqrt(self.mean(u**2) + self.epsilon / size / size)
            z, r = u / deviation, 1 / (size * deviation)
            y = self.weight * z + self.bias
            return y, LayerNormSaved(x, y, z, r)
        y, z = np.empty(x.shape, x.dtype), np.empty(x.shape, x.dtype)
        blocks = x.shape[: x.ndim - len(self.shape)]
        r = np.empty(blocks + (1,) * len(self.shape), x.dtype)
        rows = self._rows(x, y, z)
        kernels.layer_norm(rows[0], self.weight.reshape(-1), self.bias.reshape(-1),
                           x.dtype.type(self.epsilon), *rows[1:], r.reshape(-1))
        return y, LayerNormSaved(x, y, z, r)

    def input_gradient(self, saved, y_bar):
        """x_bar = r (P z_bar - z mean(z z_bar))  with  z_bar = w y_bar  and  P a = a - mean(a)"""
        return self._back(saved, self.weight * y_bar)

    def parameter_bars(self, saved, y_bar, out=(None, None)):
        """w_bar = sum_s y_bar_s z_s;  b_bar = sum_s y_bar_s, over all blocks"""
        axes = self._in_front(saved)
        return np.add.reduce(y_bar * saved.normalised, axis=axes), np.add.reduce(y_bar, axis=axes)

    def _in_front(self, saved):
        """The axes of samples and of blocks."""
        return tuple(range(-saved.input.ndim, -len(self.shape)))

    def parameter_gradients(self, saved, y_bar, out=(None, None)):
        """w_bar_s = y_bar_s z_s;  b_bar_s = y_bar_s, over all blocks of sample s"""
        axes = self._in_front(saved)[1:]
        return np.add.reduce(y_bar * saved.normalised, axis=axes), np.add.reduce(y_bar, axis=axes)

    def tangent(self, saved, x_tangent, v=None, c=None):
        """y_tangent = w z_tangent + v z + c  with  z_tangent = r (P x_tangent - z mean(z
        x_tangent))
        """
        z_tangent, y_tangent = None, 0
        if x_tangent is not None:
            z_tangent = self._back(saved, x_tangent)
            y_tangent = self.weight * z_tangent
        if v is not None:
            y_tangent = y_tangent + self._spread(saved, v) * saved.normalised
            y_tangent += self._spread(saved, c)
        return y_tangent, z_tangent

    def _spread(self, saved, v):
        """A tangent (..., *shape) of a parameter beside samples and blocks."""
        end = v.ndim - len(self.shape)
        between = (1,) * (saved.input.ndim - len(self.shape))
        return v.reshape(v.shape[:end] + between + self.shape)

    def second_tangent(self, saved, moved, x_second):
        """y_second = w z_second + 2 v z_tangent.  With t = r P x_tangent and k = mean(z t):

        z_second = r (P x_second - z mean(z x_second)) - 2 k t + z (3 k^2 - mean(t^2))
        """
        z, r, v = saved.normalised, saved.rate, moved.theta_tangents[0]
        if moved.x_tangent is None:
            return np.zeros(v.shape[: v.ndim - len(self.shape)] + z.shape, z.dtype)
        t = r * self._centred(moved.x_tangent)
        k = self.mean(z * t)
        z_second = self._back(saved, unmoved(moved) if x_second is None else x_second)
        z_second = z_second - 2 * k * t + z * (3 * k**2 - self.mean(t**2))
        y_second = self.weight * z_second
        return y_second if v is None else y_second + 2 * self._spread(saved, v) * moved.left

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """With z_bar = w y_bar, z_bar_tangent = w y_bar_tangent + v y_bar and the rate's relative
        tangent q = r_tangent / r = -mean(z t), t = r x_tangent:

        x_bar_tangent = r (P z_bar_tangent - z mean(z z_bar_tangent))
                        + q r (P z_bar - z mean(z z_bar))
                        - r (z_tangent mean(z z_bar) + z mean(z_tangent z_bar))
        """
        z, r, v = saved.normalised, saved.rate, moved.theta_tangents[0]
        z_bar, z_bar_tangent = self.weight * y_bar, self.weight * y_bar_tangent
        if v is not None:
            z_bar_tangent = z_bar_tangent + self._spread(saved, v) * y_bar
        if moved.x_tangent is None:
            return self._back(saved, z_bar_tangent)
        x_tangent, z_tangent = moved.x_tangent, moved.left
        if z.dtype.kind == "c":
            q = -self.mean(z * r * x_tangent)
            return (self._back(saved, z_bar_tangent) + q * self._back(saved, z_bar)
                    - r * z_tangent * self.mean(z * z_bar) - r * z * self.mean(z_tangent * z_bar))
        x_bar_tangent = np.empty(shaped(z, z_bar_tangent=z_bar_tangent).shape, z.dtype)
        x_tangent, z_tangent, z_bar, z_bar_tangent, z, out = self._rows(
            x_tangent, z_tangent, z_bar, z_bar_tangent, z, x_bar_tangent)
        kernels.back_tangent(x_tangent, z_tangent, z_bar, z_bar_tangent, z, r.reshape(-1), out)
        return x_bar_tangent

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None, None)):
        """w_bar_tangent = sum_s (y_bar_tangent_s z_s + y_bar_s z_tangent_s);
        b_bar_tangent = sum_s y_bar_tangent_s
        """
        w_bar_tangent, b_bar_tangent = self.parameter_bars(saved, y_bar_tangent)
        if moved.left is not None:
            w_bar_tangent += np.add.reduce(y_bar * moved.left, axis=self._in_front(saved))
        return w_bar_tangent, b_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        """H_x = J^T H_y J + sum_i z_bar_i Hess(z_i), block by block of n entries, with z_bar = w
        y_bar and g = P z_bar:

        J_ab = w_a r (P_ab - z_a z_b / n)
        Hess_ab = r^2 ((g . z) (3 z_a z_b / n - P_ab) - z_a g_b - g_a z_b) / n
        """
        samples, n = len(y_bar), self.weight.size
        z = saved.normalised.reshape(samples, -1, n)  # sample, block, entry
        r, blocks = saved.rate.reshape(samples, -1, 1, 1), z.shape[1]
        P = np.eye(n, dtype=z.dtype) - z.dtype.type(1 / n)
        zz = np.einsum("sma,smb->smab", z, z) / n
        J = self.weight.reshape(n, 1) * r * (P - zz)
        H_y = H_y.reshape(samples, blocks, n, blocks, n)
        H_x = np.einsum("smia,sminj,snjb->smanb", J, H_y, J, optimize=True)
        g = self._centred(self.weight * y_bar).reshape(z.shape)
        gz, mixed = np.einsum("sma,sma->sm", g, z), np.einsum("sma,smb->smab", z, g)
        second_order = gz[..., None, None] * (3 * zz - P) - mixed - mixed.transpose(0, 1, 3, 2)
        for m in range(blocks):
            H_x[:, m, :, m] += r[:, m]**2 * second_order[:, m] / n
        return H_x.reshape(samples, blocks * n, blocks * n)

    def __repr__(self):
        notes = "" if self.epsilon == 1e-5 else f", epsilon={self.epsilon:g}"
        notes += "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({self.shape}{notes})"


class ScaleShiftSaved(NamedTuple):
    """What `ScaleShift.forward` leaves behind: input and output."""

    input: np.ndarray
    output: np.ndarray


class ScaleShift(Layer):
    """y_sf = w_f x_sf + b_f, at every place that a feature has, such as the pixels of an image.

    Batch normalisation in evaluation, with mean m, variance v and weights g, c, is two of them:
    fixed numbers w = 1 / sqrt(v + epsilon), b = -m w, then trained ones, g and c. That is what
    :func:`~secondorder.nets.from_torch` makes of it.

    Parameters
    ----------
    features : int
        Length of the first axis of one sample: (F,), or (F, H, W) for images.
    trainable : bool
        False keeps weight and bias fixed, out of ``network.theta``.

    Attributes
    ----------
    weight, bias : (F,) arrays
        w, at first 1, and b, at first 0.
    """

    many_directions = True
    features = Settled()

    def __init__(self, features, trainable=True):
        super().__init__(trainable)
        self.features = checks.whole_number(features, "features", 1)
        self.declare("weight", np.ones(self.features))
        self.declare("bias", np.zeros(self.features))

    weight = parameter("weight")
    bias = parameter("bias")

    def output_shape(self, input_shape):
        if not input_shape or input_shape[0] != self.features:
            raise ValueError(f"{self!r} takes samples whose first axis is {self.features}, got "
                             f"{tuple(input_shape)}")
        return input_shape

    def _beside(self, v, like):
        """Numbers (..., F) of the features beside samples and places."""
        return v.reshape(*v.shape[:-1], 1, self.features, *[1] * (like.ndim - 2))

    def _places(self, like):
        """The axes of places, from behind."""
        return tuple(range(2 - like.ndim, 0))

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """y_sf = w_f x_sf + b_f"""
        y = self._beside(self.weight, x) * x + self._beside(self.bias, x)
        return y, ScaleShiftSaved(x, y)

    def input_gradient(self, saved, y_bar):
        """x_bar_sf = w_f y_bar_sf"""
        return self._beside(self.weight, saved.input) * y_bar

    def parameter_bars(self, saved, y_bar, out=(None, None)):
        """w_bar_f = sum_s y_bar_sf x_sf;  b_bar_f = sum_s y_bar_sf, over all places"""
        axes = (-saved.input.ndim, *self._places(saved.input))
        return np.add.reduce(y_bar * saved.input, axis=axes), np.add.reduce(y_bar, axis=axes)

    def parameter_gradients(self, saved, y_bar, out=(None, None)):
        """w_bar_sf = y_bar_sf x_sf;  b_bar_sf = y_bar_sf, summed over places"""
        axes = self._places(saved.input)
        return np.add.reduce(y_bar * saved.input, axis=axes), np.add.reduce(y_bar, axis=axes)

    def tangent(self, saved, x_tangent, v=None, c=None):
        """y_tangent_sf = w_f x_tangent_sf + v_f x_sf + c_f"""
        x = saved.input
        y_tangent = 0 if x_tangent is None else self._beside(self.weight, x) * x_tangent
        if v is not None:
            y_tangent = y_tangent + self._beside(v, x) * x + self._beside(c, x)
        return y_tangent

    def second_tangent(self, saved, moved, x_second):
        """y_second_sf = w_f x_second_sf + 2 v_f x_tangent_sf"""
        x, v, x_tangent = saved.input, moved.theta_tangents[0], moved.x_tangent
        y_second = np.zeros_like(x) if x_second is None else self._beside(self.weight, x) * x_second
        if v is not None and x_tangent is not None:
            return y_second + 2 * self._beside(v, x) * x_tangent
        return y_second + np.zeros_like(x if v is None else self._beside(v, x))

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent_sf = w_f y_bar_tangent_sf + v_f y_bar_sf"""
        x_bar_tangent = self._beside(self.weight, saved.input) * y_bar_tangent
        v = moved.theta_tangents[0]
        return x_bar_tangent if v is None else x_bar_tangent + self._beside(v, saved.input) * y_bar

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None, None)):
        """w_bar_tangent_f = sum_s (y_bar_tangent_sf x_sf + y_bar_sf x_tangent_sf);
        b_bar_tangent_f = sum_s y_bar_tangent_sf
        """
        w_bar_tangent, b_bar_tangent = self.parameter_bars(saved, y_bar_tangent)
        if moved.x_tangent is not None:
            axes = (-saved.input.ndim, *self._places(saved.input))
            w_bar_tangent = w_bar_tangent + np.add.reduce(y_bar * moved.x_tangent, axis=axes)
        return w_bar_tangent, b_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        """H_x_sjk = w_j H_y_sjk w_k"""
        w = np.broadcast_to(self._beside(self.weight, saved.input)[0],
                            saved.input.shape[1:]).reshape(-1)
        return w[:, None] * H_y * w

    def __repr__(self):
        notes = "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({self.features}{notes})"
