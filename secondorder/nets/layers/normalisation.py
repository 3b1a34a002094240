"""`LayerNorm`: every sample, or every row at the end of it, with mean 0 and variance 1."""

from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.images import ends_with
from .base import Layer, parameter
from .flat_vectors import flat, moving, pieces


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

    Means are over the last axes of x, of shape `shape`: a block. Samples, and the axes before the
    block, stand each for itself.

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

    def __init__(self, shape, epsilon=1e-5, trainable=True):
        super().__init__(trainable)
        self.shape = checks.shape(shape, "shape")
        self.epsilon = checks.positive_number(epsilon, "epsilon")
        self.axes = tuple(range(-len(self.shape), 0))
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

    def _back(self, saved, z_bar):
        """x_bar = r (P z_bar - z mean(z z_bar)): dz/dx is symmetric."""
        z = saved.normalised
        return saved.rate * (self._centred(z_bar) - z * self.mean(z * z_bar))

    def _sample_sums(self, a):
        """The sum over the axes between sample and block."""
        return a.reshape(len(a), -1, *self.shape).sum(axis=1)

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """y = w z + b  with  z = r (x - m) = u / sqrt(mean(u^2) + epsilon / size^2)

        u = (x - m) / size; the largest |x - m|, from 1, is the size: its square may overflow.
        """
        centred = self._centred(x)
        size = np.maximum(np.abs(centred).max(axis=self.axes, keepdims=True), 1)
        u = centred / size
        deviation = np.sqrt(self.mean(u**2) + self.epsilon / size / size)
        z, r = u / deviation, 1 / (size * deviation)
        y = self.weight * z + self.bias
        return y, LayerNormSaved(x, y, z, r)

    def input_gradient(self, saved, y_bar):
        """x_bar = r (P z_bar - z mean(z z_bar))  with  z_bar = w y_bar  and  P a = a - mean(a)"""
        return self._back(saved, self.weight * y_bar)

    def parameter_gradient(self, saved, y_bar):
        """w_bar = sum_s y_bar_s z_s;  b_bar = sum_s y_bar_s, over all blocks"""
        return self.parameter_gradients(saved, y_bar).sum(axis=0)

    def parameter_gradients(self, saved, y_bar):
        """w_bar_s = y_bar_s z_s;  b_bar_s = y_bar_s, over all blocks of sample s"""
        return flat(self, self._sample_sums(y_bar * saved.normalised), self._sample_sums(y_bar))

    def _normalised_tangent(self, saved, x_tangent):
        """z_tangent = r (P x_tangent - z mean(z x_tangent))"""
        return self._back(saved, moving(x_tangent, saved.input))

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent = w z_tangent + v z + c  with  z_tangent = r (P x_tangent - z mean(z
        x_tangent)); theta_tangent = (v, c)
        """
        v, c = pieces(self, theta_tangent)
        return self.weight * self._normalised_tangent(saved, x_tangent) + v * saved.normalised + c

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second = w z_second + 2 v z_tangent.  With t = r P x_tangent and k = mean(z t):

        z_second = r (P x_second - z mean(z x_second)) - 2 k t + z (3 k^2 - mean(t^2))
        """
        v, _ = pieces(self, theta_tangent)
        z, r = saved.normalised, saved.rate
        t = r * self._centred(moving(x_tangent, saved.input))
        k = self.mean(z * t)
        z_second = self._normalised_tangent(saved, x_second)
        z_second = z_second - 2 * k * t + z * (3 * k**2 - self.mean(t**2))
        return self.weight * z_second + 2 * v * self._normalised_tangent(saved, x_tangent)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """w_bar_tangent = sum_s (y_bar_tangent_s z_s + y_bar_s z_tangent_s);
        b_bar_tangent = sum_s y_bar_tangent_s.

        With z_bar = w y_bar, z_bar_tangent = w y_bar_tangent + v y_bar and the rate's relative
        tangent q = r_tangent / r = -mean(z t), t = r x_tangent:

        x_bar_tangent = r (P z_bar_tangent - z mean(z z_bar_tangent))
                        + q r (P z_bar - z mean(z z_bar))
                        - r (z_tangent mean(z z_bar) + z mean(z_tangent z_bar))
        """
        v, _ = pieces(self, theta_tangent)
        z, r, z_tangent = saved.normalised, saved.rate, self._normalised_tangent(saved, x_tangent)
        z_bar, z_bar_tangent = self.weight * y_bar, self.weight * y_bar_tangent + v * y_bar
        q = -self.mean(z * r * moving(x_tangent, saved.input))
        x_bar_tangent = (self._back(saved, z_bar_tangent)
                         + q * self._back(saved, z_bar)
                         - r * z_tangent * self.mean(z * z_bar)
                         - r * z * self.mean(z_tangent * z_bar))
        rows = flat(self, self._sample_sums(y_bar_tangent * z + y_bar * z_tangent),
                    self._sample_sums(y_bar_tangent))
        return x_bar_tangent, rows.sum(axis=0)

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
