"""`Recurrent`: the same layer at every step of a sequence, or again and again on its own output."""

from typing import NamedTuple

import numpy as np

from ... import checks
from ...checks.images import sequence, state, steps_of
from ...checks.randomness import generator
from .activation_functions import activation_function
from .base import Layer, parameter
from .initialisers import draw
from .flat_vectors import flat, moving, pieces


class RecurrentSaved(NamedTuple):
    """What `Recurrent.forward` leaves behind: input; output v_T (S, h); `states`, the list v_0 to
    v_T; `slopes` and `curvatures`, lists of A'(a_t) and A''(a_t) for t = 1 to T.
    """

    input: np.ndarray
    output: np.ndarray
    states: list
    slopes: list
    curvatures: list


def _jet(function, x):
    """Value, slope and curvature of a function, which need not define the three as one."""
    if hasattr(function, "jet"):
        return function.jet(x)
    return function.value(x), function.slope(x), function.curvature(x)


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
        T, where the sequence does not tell.
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

    def __init__(self, input_size, hidden_size=None, steps=None, activation="tanh", bias=True,
                 rng=None, trainable=True, init="uniform"):
        super().__init__(trainable)
        self.input_size = checks.whole_number(input_size, "input_size", 1)
        self.has_input = hidden_size is not None
        self.hidden_size = (checks.whole_number(hidden_size, "hidden_size", 1) if self.has_input
                            else self.input_size)
        self.steps = steps_of(steps, self.has_input)
        self.function = activation_function(activation)
        self.activation = activation
        has_bias, rng, h = checks.boolean(bias, "bias"), generator(rng), self.hidden_size
        if self.has_input:
            self.declare("weight_ih", draw(init, (h, self.input_size), h, h, rng))
        else:
            self.input_shape = (h,)
        self.declare("weight_hh", draw(init, (h, h), h, h, rng))
        if has_bias:
            self.declare("bias", draw(init, (h,), h, h, rng))

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
        """U, W, b from arrays in the order of the parameters; what is not there is 0 or None."""
        named = dict(zip(self.parameters, arrays))
        return named.get("weight_ih"), named["weight_hh"], named.get("bias", 0)

    def start(self, x):
        """v_0: x itself, or zeros where x is a sequence."""
        return np.zeros((len(x), self.hidden_size), dtype=x.dtype) if self.has_input else x

    def number_of_steps(self, x):
        """T."""
        return x.shape[1] if self.has_input else self.steps

    def argument(self, U, W, x, t, v):
        """U x_t + W v, with t from 1."""
        return v @ W.T + x[:, t - 1] @ U.T if self.has_input else v @ W.T

    def gathered(self, a_bars, saved):
        """Gradients of every sample in U, W and b from those in the arguments, a_1 to a_T:

        U_bar_sij = sum_t a_bar_tsi x_tsj;  W_bar_sij = sum_t a_bar_tsi v_(t-1)sj;
        b_bar_si = sum_t a_bar_tsi
        """
        a_bars = np.stack(a_bars)
        parts = [np.einsum("tsi,tsj->sij", a_bars, np.stack(saved.states[:-1]))]
        if self.has_input:
            parts.insert(0, np.einsum("tsi,stj->sij", a_bars, saved.input))
        return parts + [a_bars.sum(axis=0)] * (self.bias is not None)

    def summed(self, a_bars, states, x):
        """Gradients in U, W and b of the whole batch, from the gradients in the arguments, a_1 to
        a_T. Each is one product over all steps and samples; `states` are v_0 to v_(T-1):

        U_bar_ij = sum_ts a_bar_tsi x_tsj;  W_bar_ij = sum_ts a_bar_tsi v_(t-1)sj;
        b_bar_i = sum_ts a_bar_tsi
        """
        a_bars = np.concatenate(a_bars)
        parts = [a_bars.T @ np.concatenate(states)]
        if self.has_input:
            parts.insert(0, a_bars.T @ x.swapaxes(0, 1).reshape(-1, self.input_size))
        return parts + [a_bars.sum(axis=0)] * (self.bias is not None)

    def argument_gradients(self, saved, y_bar):
        """a_bar_t = A'(a_t) v_bar_t  with  v_bar_T = y_bar  and  v_bar_(t-1) = W^T a_bar_t:
        the list a_bar_1 to a_bar_T, and v_bar_0.
        """
        a_bars, v_bar = [], y_bar
        for slope in reversed(saved.slopes):
            a_bars.insert(0, slope * v_bar)
            v_bar = a_bars[0] @ self.weight_hh
        return a_bars, v_bar

    # -- the seven passes --------------------------------------------------------------------------

    def forward(self, x):
        """v_t = A(U x_t + W v_(t-1) + b) for t = 1 to T; y = v_T"""
        f, (U, W, b) = self.function, self.named(self.parameters.values())
        states, slopes, curvatures = [self.start(x)], [], []
        for t in range(1, self.number_of_steps(x) + 1):
            a = self.argument(U, W, x, t, states[-1]) + b
            for of_all, of_step in zip((states, slopes, curvatures), _jet(f, a)):
                of_all.append(of_step)
        return states[-1], RecurrentSaved(x, states[-1], states, slopes, curvatures)

    def input_gradient(self, saved, y_bar):
        """x_bar_t = U^T a_bar_t at every step, or x_bar = v_bar_0"""
        a_bars, v_bar = self.argument_gradients(saved, y_bar)
        return np.stack(a_bars, axis=1) @ self.weight_ih if self.has_input else v_bar

    def parameter_gradient(self, saved, y_bar):
        """W_bar = sum_st a_bar_ts v_(t-1)s^T;  U_bar = sum_st a_bar_ts x_ts^T;  b_bar = sum_st
        a_bar_ts
        """
        a_bars, _ = self.argument_gradients(saved, y_bar)
        return flat(self, *self.summed(a_bars, saved.states[:-1], saved.input))

    def parameter_gradients(self, saved, y_bar):
        """W_bar_s = sum_t a_bar_ts v_(t-1)s^T;  U_bar_s = sum_t a_bar_ts x_ts^T;  b_bar_s = sum_t
        a_bar_ts
        """
        a_bars, _ = self.argument_gradients(saved, y_bar)
        return flat(self, *self.gathered(a_bars, saved))

    def tangents(self, saved, x_tangent, theta_tangent):
        """a_tangent_t = W v_tangent_(t-1) + V v_(t-1) + U x_tangent_t + Y x_t + c  and
        v_tangent_t = A'(a_t) a_tangent_t, with theta_tangent = (Y, V, c): the lists for t = 1 to T,
        and v_tangent_0 before the second.
        """
        x, x_tangent = saved.input, moving(x_tangent, saved.input)
        U, W, _ = self.named(self.parameters.values())
        Y, V, c = self.named(pieces(self, theta_tangent))
        a_tangents, v_tangents = [], [self.start(x_tangent)]
        for t, (v, slope) in enumerate(zip(saved.states, saved.slopes), start=1):
            a_tangents.append(self.argument(U, W, x_tangent, t, v_tangents[-1])
                              + self.argument(Y, V, x, t, v) + c)
            v_tangents.append(slope * a_tangents[-1])
        return a_tangents, v_tangents

    def tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent = v_tangent_T with a_tangent_t = W v_tangent_(t-1) + V v_(t-1) + U x_tangent_t
        + Y x_t + c  and  v_tangent_t = A'(a_t) a_tangent_t; theta_tangent = (Y, V, c)
        """
        return self.tangents(saved, x_tangent, theta_tangent)[1][-1]

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """y_second = v_second_T  with

        a_second_t = W v_second_(t-1) + U x_second_t + 2 V v_tangent_(t-1) + 2 Y x_tangent_t
        v_second_t = A'(a_t) a_second_t + A''(a_t) a_tangent_t^2
        """
        x_tangent, x_second = (moving(a, saved.input) for a in (x_tangent, x_second))
        U, W, _ = self.named(self.parameters.values())
        Y, V, _ = self.named(pieces(self, theta_tangent))
        a_tangents, v_tangents = self.tangents(saved, x_tangent, theta_tangent)
        v_second = self.start(x_second)
        steps = zip(a_tangents, v_tangents, saved.slopes, saved.curvatures)
        for t, (a_tangent, v_tangent, slope, curvature) in enumerate(steps, start=1):
            a_second = (self.argument(U, W, x_second, t, v_second)
                        + 2 * self.argument(Y, V, x_tangent, t, v_tangent))
            v_second = slope * a_second + curvature * a_tangent**2
        return v_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """The derivative of `backward`, from t = T down, with theta_tangent = (Y, V, c):

        a_bar_tangent_t = A'(a_t) v_bar_tangent_t + A''(a_t) a_tangent_t v_bar_t
        v_bar_tangent_(t-1) = W^T a_bar_tangent_t + V^T a_bar_t
        x_bar_tangent_t = U^T a_bar_tangent_t + Y^T a_bar_t
        W_bar_tangent = sum_st a_bar_tangent_ts v_(t-1)s^T + a_bar_ts v_tangent_(t-1)s^T
        U_bar_tangent = sum_st a_bar_tangent_ts x_ts^T + a_bar_ts x_tangent_ts^T
        b_bar_tangent = sum_st a_bar_tangent_ts
        """
        x_tangent = moving(x_tangent, saved.input)
        U, W, _ = self.named(self.parameters.values())
        Y, V, _ = self.named(pieces(self, theta_tangent))
        a_tangents, v_tangents = self.tangents(saved, x_tangent, theta_tangent)
        a_bars, a_bar_tangents, v_bar, v_bar_tangent = [], [], y_bar, y_bar_tangent
        for slope, curvature, a_tangent in zip(*map(reversed, (saved.slopes, saved.curvatures,
                                                               a_tangents))):
            a_bars.insert(0, slope * v_bar)
            a_bar_tangents.insert(0, slope * v_bar_tangent + curvature * a_tangent * v_bar)
            v_bar_tangent = a_bar_tangents[0] @ W + a_bars[0] @ V
            v_bar = a_bars[0] @ W
        x_bar_tangent = v_bar_tangent
        if self.has_input:
            x_bar_tangent = np.stack(a_bar_tangents, axis=1) @ U + np.stack(a_bars, axis=1) @ Y
        parts = self.summed(a_bar_tangents, saved.states[:-1], saved.input)
        moved = self.summed(a_bars, v_tangents[:-1], x_tangent)
        for part, more in zip(parts[:1 + self.has_input], moved):
            part += more
        return x_bar_tangent, flat(self, *parts)

    def input_hessian(self, saved, y_bar, H_y):
        """With J_t = da_t/dx, from J_1 on: J_t = W A'(a_(t-1)) J_(t-1), plus U in the columns of
        x_t;

        H_x = (A'(a_T) J_T)^T H_y (A'(a_T) J_T) + sum_t J_t^T diag(v_bar_t A''(a_t)) J_t
        """
        samples, size = len(y_bar), saved.input[0].size
        columns = np.eye(size, dtype=y_bar.dtype).reshape(size, *saved.input.shape[1:])
        U, W, _ = self.named(self.parameters.values())
        v_bars = [y_bar]
        for slope in reversed(saved.slopes[1:]):
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
