"""`Recurrent`: the same layer at every step of a sequence, or again and again on its own output."""

from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.images import sequence, state, steps_of
from ...checks.randomness import generator
from .activation import ActivationSaved
from .activation_functions import activation_function, value_and_slope
from .base import Layer
from .parameters import Settled, parameter
from .initialisers import draw


class RecurrentSaved(NamedTuple):
    """What `Recurrent.forward` leaves behind: input; output v_T (S, h); `states`, v_0 to v_T; and
    of the activation at all steps, `inner`: `slopes` and `curvatures`, A'(a_t) and A''(a_t) for t =
    1 to T. Steps stand in front: (T, S, h).
    """

    input: np.ndarray
    output: np.ndarray
    states: np.ndarray
    inner: ActivationSaved

    slopes = property(lambda self: self.inner.slope)
    curvatures = property(lambda self: self.inner.curvature)


def by_steps(x):
    """Sequences (..., S, T, d) with the steps before the samples, or the other way round."""
    return x.swapaxes(-3, -2)


def turned(W):
    """W^T, of one direction or several, beside steps: (..., 1, j, i)."""
    return W[..., None, :, :].swapaxes(-1, -2)


class Recurrent(Layer):
    """A recurrence with shared weights, whose last state v_T is the output.

    Without an input at every step ([low-rank] Eq. (58)), ``Recurrent(h, steps=T)``:

    v_0 = x,    a_t = W v_(t-1) + b,    v_t = A(a_t)

    and with one, ``Recurrent(d, h)``, on sequences x (S, T, d):

    v_0 = 0,    a_t = U x_t + W v_(t-1) + b,    v_t = A(a_t)

    Parameters
    ----------
    input_size : int
        d, or h where there is no `hidden_size`.
    hidden_size : int, optional
        h; without it x is the first state, and there is no other input.
    steps : int, optional
        T, the number of steps; required without `hidden_size`, not allowed with it.
    activation : str or ActivationFunction
        A.
    bias : bool
    rng : None, int or numpy.random.Generator
    trainable : bool
        False keeps all weights fixed, out of ``network.theta``.
    init : str, number or callable
        As for `Linear`; fan in and fan out are h.

    Attributes
    ----------
    weight_ih : (h, d) array or None
        U, the first of the parameters.
    weight_hh : (h, h) array
        W; also called `weight`.
    bias : (h,) array or None

    Raises
    ------
    TypeError, ValueError
        If a number is not whole or too small. If `steps` is missing where there is no input at
        every step, or given where there is one.
    """

    many_directions = True
    input_size, hidden_size, has_input = (Settled() for _ in range(3))

    def __init__(self, input_size, hidden_size=None, steps=None, activation="tanh", bias=True,
                 rng=None, trainable=True, init="uniform"):
        super().__init__(trainable)
        self.input_size = checks.whole_number(input_size, "input_size", 1)
        self.has_input = hidden_size is not None
        self.hidden_size = (checks.whole_number(hidden_size, "hidden_size", 1) if self.has_input
                            else self.input_size)
        self.steps, self.activation = steps, activation
        has_bias, rng, h = checks.boolean(bias, "bias"), generator(rng), self.hidden_size
        if self.has_input:
            self.declare("weight_ih", draw(init, (h, self.input_size), h, h, rng))
        else:
            self.input_shape = (h,)
        self.declare("weight_hh", draw(init, (h, h), h, h, rng))
        if has_bias:
            self.declare("bias", draw(init, (h,), h, h, rng))

    steps, activation, function = (property(attrgetter(name))
                                   for name in ("_steps", "_activation", "_function"))

    @steps.setter
    def steps(self, value):
        self._steps = steps_of(value, self.has_input)

    @activation.setter
    def activation(self, value):
        self._function, self._activation = activation_function(value), value

    weight_ih = parameter("weight_ih")
    weight_hh = weight = parameter("weight_hh")
    bias = parameter("bias")

    def saved_arguments(self):
        """What the constructor takes, for :mod:`~secondorder.nets.saving`."""
        return {"input_size": self.input_size, "steps": self.steps, "activation": self.activation,
                "hidden_size": self.hidden_size if self.has_input else None,
                "bias": self.bias is not None}

    def output_shape(self, input_shape):
        (sequence if self.has_input else state)(self, input_shape, self.input_size)
        return (self.hidden_size,)

    # -- what a step is made of --------------------------------------------------------------------

    def named(self, arrays):
        """U, W, b from arrays in the order of the parameters; what is not there is None."""
        named = dict(zip(self.parameters, arrays))
        return named.get("weight_ih"), named["weight_hh"], named.get("bias")

    def start(self, x):
        """v_0: x itself, or zeros where x is a sequence."""
        return np.zeros((len(x), self.hidden_size), dtype=x.dtype) if self.has_input else x

    def number_of_steps(self, x):
        """T."""
        return x.shape[-2] if self.has_input else self.steps

    def argument(self, U, W, x, t, v):
        """U x_t + W v, with t from 1."""
        return v @ W.T + x[:, t - 1] @ U.T if self.has_input else v @ W.T

    def gathered(self, a_bars, saved):
        """Gradients of every sample in U, W and b from those in the arguments, a_1 to a_T:

        U_bar_sij = sum_t a_bar_tsi x_tsj;  W_bar_sij = sum_t a_bar_tsi v_(t-1)sj;
        b_bar_si = sum_t a_bar_tsi
        """
        a_bars = np.stack([*a_bars])
        parts = [np.einsum("tsi,tsj->sij", a_bars, np.stack([*saved.states[:-1]]))]
        if self.has_input:
            parts.insert(0, np.einsum("tsi,stj->sij", a_bars, saved.input))
        return parts + [a_bars.sum(axis=0)] * (self.bias is not None)

    def summed(self, a_bars, states, x):
        """Gradients in U, W and b of the whole batch, from the gradients in the arguments, a_1 to
        a_T. Each is one product over all steps and samples; `states` are v_0 to v_(T-1):

        U_bar_ij = sum_ts a_bar_tsi x_tsj;  W_bar_ij = sum_ts a_bar_tsi v_(t-1)sj;
        b_bar_i = sum_ts a_bar_tsi
        """
        def rows(a):
            return a.reshape(a.shape[:-3] + (-1, a.shape[-1]))

        bars = rows(a_bars).swapaxes(-1, -2)
        parts = [bars @ rows(states)]
        if self.has_input:
            parts.insert(0, bars @ rows(by_steps(x)))
        return parts + [a_bars.sum(axis=(-3, -2))] * (self.bias is not None)

    def argument_gradients(self, saved, y_bar):
        """a_bar_t = A'(a_t) v_bar_t  with  v_bar_T = y_bar  and  v_bar_(t-1) = W^T a_bar_t:
        a_bar_1 to a_bar_T, (..., T, S, h), and v_bar_0.
        """
        slopes, v_bar = saved.slopes, y_bar
        a_bars = np.empty(y_bar.shape[:-2] + slopes.shape, slopes.dtype)
        for t in reversed(range(len(slopes))):
            a_bar = a_bars[..., t, :, :]
            np.multiply(slopes[t], v_bar, out=a_bar)
            v_bar = a_bar @ self.weight_hh
        return a_bars, v_bar

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """v_t = A(U x_t + W v_(t-1) + b) for t = 1 to T; y = v_T"""
        U, W, b = self.named(self.parameters.values())
        T, h = self.number_of_steps(x), self.hidden_size
        v, slopes = np.empty((T + 1, len(x), h), x.dtype), np.empty((T, len(x), h), x.dtype)
        a = by_steps(x) @ U.T if self.has_input else np.zeros_like(slopes)
        if b is not None:
            a += b
        v[0] = self.start(x)
        for t in range(T):
            a[t] += v[t] @ W.T
            v[t + 1], slopes[t] = value_and_slope(self.function, a[t])
        y = v[T]
        return y, RecurrentSaved(x, y, v, ActivationSaved(self.function, a, v[1:], slopes))

    def input_gradient(self, saved, y_bar):
        """x_bar_t = U^T a_bar_t at every step, or x_bar = v_bar_0"""
        a_bars, v_bar = self.argument_gradients(saved, y_bar)
        return by_steps(a_bars @ self.weight_ih) if self.has_input else v_bar

    def parameter_bars(self, saved, y_bar, out=()):
        """W_bar = sum_st a_bar_ts v_(t-1)s^T;  U_bar = sum_st a_bar_ts x_ts^T;  b_bar = sum_st
        a_bar_ts
        """
        a_bars, _ = self.argument_gradients(saved, y_bar)
        return self.summed(a_bars, saved.states[:-1], saved.input)

    def parameter_gradients(self, saved, y_bar, out=()):
        """W_bar_s = sum_t a_bar_ts v_(t-1)s^T;  U_bar_s = sum_t a_bar_ts x_ts^T;  b_bar_s = sum_t
        a_bar_ts
        """
        a_bars, _ = self.argument_gradients(saved, y_bar)
        return self.gathered(a_bars, saved)

    def tangent(self, saved, x_tangent, *theta_tangents):
        """y_tangent = v_tangent_T with a_tangent_t = W v_tangent_(t-1) + V v_(t-1) + U x_tangent_t
        + Y x_t + c  and  v_tangent_t = A'(a_t) a_tangent_t; theta_tangents are Y, V, c
        """
        (U, W, _), (Y, V, c) = self.named(self.parameters.values()), self.named(theta_tangents)
        v, slopes, parts = saved.states, saved.slopes, []
        if V is not None:
            parts.append(v[:-1] @ turned(V))
            parts += [by_steps(saved.input) @ turned(Y)] if self.has_input else []
            parts += [] if c is None else [c[..., None, None, :]]
        if x_tangent is not None and self.has_input:
            parts.append(by_steps(x_tangent) @ U.T)
        first = x_tangent if not self.has_input and x_tangent is not None else 0
        a_tangents = sum(parts) if parts else np.zeros(x_tangent.shape[:-2] + slopes.shape, v.dtype)
        v_tangents = np.empty(a_tangents.shape[:-3] + v.shape, v.dtype)
        v_tangents[..., 0, :, :] = first
        for t in range(len(slopes)):
            a_tangents[..., t, :, :] += v_tangents[..., t, :, :] @ W.T
            np.multiply(slopes[t], a_tangents[..., t, :, :], out=v_tangents[..., t + 1, :, :])
        return v_tangents[..., -1, :, :], (a_tangents, v_tangents)

    def second_tangent(self, saved, moved, x_second):
        """y_second = v_second_T  with

        a_second_t = W v_second_(t-1) + U x_second_t + 2 V v_tangent_(t-1) + 2 Y x_tangent_t
        v_second_t = A'(a_t) a_second_t + A''(a_t) a_tangent_t^2
        """
        U, W, _ = self.named(self.parameters.values())
        Y, V, _ = self.named(moved.theta_tangents)
        a_tangents, v_tangents = moved.left
        parts = [np.zeros_like(a_tangents)]
        if V is not None:
            parts.append(2 * (v_tangents[..., :-1, :, :] @ turned(V)))
            if self.has_input and moved.x_tangent is not None:
                parts.append(2 * (by_steps(moved.x_tangent) @ turned(Y)))
        if x_second is not None and self.has_input:
            parts.append(by_steps(x_second) @ U.T)
        a_seconds = sum(parts)
        v_second = np.zeros_like(a_seconds[..., 0, :, :])
        if not self.has_input and x_second is not None:
            v_second = v_second + x_second
        for t, (slope, curvature) in enumerate(zip(saved.slopes, saved.curvatures)):
            a_second = a_seconds[..., t, :, :] + v_second @ W.T
            v_second = slope * a_second + curvature * a_tangents[..., t, :, :]**2
        return v_second

    def _back(self, saved, moved, y_bar, y_bar_tangent):
        """From t = T down, with V the tangent of W:

        a_bar_t = A'(a_t) v_bar_t;  v_bar_(t-1) = W^T a_bar_t
        a_bar_tangent_t = A'(a_t) v_bar_tangent_t + A''(a_t) a_tangent_t v_bar_t
        v_bar_tangent_(t-1) = W^T a_bar_tangent_t + V^T a_bar_t
        """
        W, (_, V, _) = self.weight_hh, self.named(moved.theta_tangents)
        a_tangents, _ = moved.left
        slopes = saved.slopes
        a_bars = np.empty(slopes.shape, slopes.dtype)
        a_bar_tangents = np.empty(a_tangents.shape, slopes.dtype)
        v_bar, v_bar_tangent = y_bar, y_bar_tangent
        for t in reversed(range(len(slopes))):
            curvature = self.function.curvature(saved.inner.input[t])
            a_bars[t] = slopes[t] * v_bar
            a_bar_tangents[..., t, :, :] = (slopes[t] * v_bar_tangent
                                            + curvature * v_bar * a_tangents[..., t, :, :])
            v_bar_tangent = a_bar_tangents[..., t, :, :] @ W
            if V is not None:
                v_bar_tangent += a_bars[t] @ V
            v_bar = a_bars[t] @ W
        return a_bars, a_bar_tangents, v_bar_tangent

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent_t = U^T a_bar_tangent_t + Y^T a_bar_t, with a_bar_tangent_t = A'(a_t)
        v_bar_tangent_t + A''(a_t) a_tangent_t v_bar_t from t = T down; or v_bar_tangent_0
        """
        a_bars, a_bar_tangents, v_bar_tangent = self._back(saved, moved, y_bar, y_bar_tangent)
        if not self.has_input:
            return v_bar_tangent
        x_bar_tangent, (Y, _, _) = a_bar_tangents @ self.weight_ih, self.named(moved.theta_tangents)
        if Y is not None:
            x_bar_tangent += a_bars @ Y[..., None, :, :]
        return by_steps(x_bar_tangent)

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=()):
        """W_bar_tangent = sum_st a_bar_tangent_ts v_(t-1)s^T + a_bar_ts v_tangent_(t-1)s^T
        U_bar_tangent = sum_st a_bar_tangent_ts x_ts^T + a_bar_ts x_tangent_ts^T
        b_bar_tangent = sum_st a_bar_tangent_ts
        """
        a_bars, a_bar_tangents, _ = self._back(saved, moved, y_bar, y_bar_tangent)
        v_tangents, x_tangent = moved.left[1], moved.x_tangent
        parts = self.summed(a_bar_tangents, saved.states[:-1], saved.input)
        x_tangent = np.zeros_like(saved.input) if x_tangent is None else x_tangent
        more = self.summed(a_bars, v_tangents[..., :-1, :, :], x_tangent)
        for part, other in zip(parts[: 1 + self.has_input], more):
            part += other
        return parts

    def input_hessian(self, saved, y_bar, H_y):
        """With J_t = da_t/dx, from J_1 on: J_t = W A'(a_(t-1)) J_(t-1), plus U in the columns of
        x_t;

        H_x = (A'(a_T) J_T)^T H_y (A'(a_T) J_T) + sum_t J_t^T diag(v_bar_t A''(a_t)) J_t
        """
        samples, size = len(y_bar), saved.input[0].size
        columns = np.eye(size, dtype=y_bar.dtype).reshape(size, *saved.input.shape[1:])
        U, W, _ = self.named(self.parameters.values())
        v_bars = [y_bar]
        for slope in saved.slopes[:0:-1]:
            v_bars.insert(0, (slope * v_bars[0]) @ W)
        below = np.broadcast_to(self.start(columns).T, (samples, self.hidden_size, size))
        H_x = 0
        steps = zip(v_bars, saved.slopes, saved.curvatures)
        for t, (v_bar, slope, curvature) in enumerate(steps, start=1):
            J = W @ below
            if self.has_input:
                J = J + U @ columns[:, t - 1].T
            H_x = H_x + np.einsum("sia,si,sib->sab", J, v_bar * curvature, J)
            below = slope[:, :, None] * J
        return H_x + below.transpose(0, 2, 1) @ H_y @ below

    def __repr__(self):
        kind = (f"{self.input_size}, {self.hidden_size}" if self.has_input
                else f"{self.input_size}, steps={self.steps}")
        name = getattr(self.function, "name", type(self.function).__name__)
        notes = "" if "bias" in self.parameters else ", bias=False"
        notes += "" if self.trainable else ", trainable=False"
        return f"{type(self).__name__}({kind}, activation={name}{notes})"
