"""Passes that an author left out, by differences of the two that he wrote, in float64.

A derivative along a line is a complex step where the layer's own passes take complex numbers and
agree there with central differences along two lines (``abs``, norms and ``conj`` break it without a
word); else a central difference of fourth order.
"""

import warnings

import numpy as np

from .base import HALVES, Layer
from .pieces import bars_of

STEP, TINY, AGREED = 1e-4, 1e-30, 1e-6
SUPPLIED = ("parameter_gradients", "tangent", "second_tangent", "backward_tangent", "input_hessian")


def missing(layer):
    """The passes of a layer that are supplied here."""
    cls, needless = type(layer), () if layer.parameters else ("parameter_gradients",)
    return [name for name in SUPPLIED if name not in needless and not layer.children
            and all(getattr(cls, own) is getattr(Layer, own)
                    for own in (name, *HALVES.get(name, ())))]


class Numerical:
    """The passes of one layer, by its `forward` and `backward` alone."""

    def __init__(self, layer):
        self.layer, self.analytic = layer, {}

    def at(self, t, x, x_tangent, theta_tangents, x_second=0.0):
        """A copy of the layer, with its parameters and its input moved along a curve."""
        layer, dtype = self.layer.copy(), np.complex128 if isinstance(t, complex) else np.float64
        layer.convert(dtype)
        for value, tangent in zip(layer.parameters.values(), theta_tangents):
            value += t * tangent
        return layer, x.astype(dtype) + t * x_tangent + t * t / 2 * x_second

    def derivative(self, name, f, lines):
        """d/dt f(t, *line) at 0 of several arrays, along the first of two lines."""
        if name not in self.analytic:
            self.analytic[name] = all(_agree(f, line) for line in lines)
        return (_complex if self.analytic[name] else _central)(f, lines[0])

    def lines(self, x, x_tangent, theta_tangents, *others):
        """The line that is asked for, and another one."""
        rng, like = np.random.default_rng(0), (x_tangent, *theta_tangents)
        first, *rest = (rng.normal(size=np.shape(a)) for a in like)
        return (x_tangent, theta_tangents, *others), (first, rest, *others)

    def parameter_gradients(self, saved, y_bar, x):
        """`backward` of every sample alone."""
        rows = []
        for s in range(len(x)):
            own = self.layer.forward(x[s : s + 1])[1]
            bars = self.layer.parameter_bars(own, y_bar[s : s + 1])
            rows.append([bars] if isinstance(bars, np.ndarray) else bars)
        return [np.stack(row) for row in zip(*rows)]

    def tangent(self, saved, x_tangent, *theta_tangents, x):
        def f(t, *line):
            layer, moved = self.at(t, x, *line)
            return (layer.forward(moved)[0],)

        return self.derivative("tangent", f, self.lines(x, x_tangent, theta_tangents))[0]

    def second_tangent(self, saved, moved, x_second, x):
        """Of second differences of `forward`, or of first ones of complex steps."""
        line = moved.x_tangent, moved.theta_tangents

        def f(t):
            layer, there = self.at(t, x, *line, x_second)
            return layer.forward(there)[0]

        self.tangent(saved, line[0], *line[1], x=x)  # tells whether complex steps can be trusted
        h = 10 * STEP / _size(line)
        if self.analytic["tangent"]:
            h = STEP / _size(line)
            g = [f(k * h + 1j * TINY).imag / TINY for k in (-2, -1, 1, 2)]
            return (8 * (g[2] - g[1]) - (g[3] - g[0])) / (12 * h)
        g = [f(k * h) for k in (-2, -1, 0, 1, 2)]
        return (16 * (g[1] + g[3]) - g[0] - g[4] - 30 * g[2]) / (12 * h * h)

    def backward_tangent(self, saved, moved, y_bar, y_bar_tangent, x):
        def f(t, x_tangent, theta_tangents, y_bar_tangent):
            layer, there = self.at(t, x, x_tangent, theta_tangents)
            result = layer.backward(layer.forward(there)[1], y_bar + t * y_bar_tangent)
            return result[0], *bars_of(result)

        lines = self.lines(x, moved.x_tangent, moved.theta_tangents, y_bar_tangent)
        return self.derivative("backward_tangent", f, lines)

    def input_hessian(self, saved, y_bar, H_y, x):
        """J^T H J with J from `backward`, and differences of `backward` for the rest."""
        samples, still = len(x), [np.zeros_like(a) for a in self.layer.parameters.values()]
        units = np.eye(y_bar[0].size, dtype=y_bar.dtype).reshape(-1, 1, *y_bar.shape[1:])
        J = np.stack([self.layer.input_gradient(saved, np.broadcast_to(e, y_bar.shape).copy())
                      .reshape(samples, -1) for e in units], axis=1)

        def f(t, *line):
            layer, there = self.at(t, x, *line)
            return (layer.input_gradient(layer.forward(there)[1], y_bar + 0 * t),)

        columns = []
        for e in np.eye(x[0].size).reshape(-1, *x.shape[1:]):
            lines = self.lines(x, np.broadcast_to(e, x.shape), still)
            columns.append(self.derivative("input_hessian", f, lines)[0].reshape(samples, -1))
        second = np.stack(columns, axis=2)
        return J.transpose(0, 2, 1) @ H_y @ J + (second + second.transpose(0, 2, 1)) / 2


def _size(line):
    """The largest entry of all arrays of a line; 1 where none is positive."""
    flat = [np.abs(part).max(initial=0) for a in line
            for part in (a if isinstance(a, (list, tuple)) else [a])]
    return max(flat) or 1.0


def _central(f, line):
    h = STEP / _size(line)
    g = [f(k * h, *line) for k in (-2, -1, 1, 2)]
    return tuple((8 * (c - b) - (d - a)) / (12 * h) for a, b, c, d in zip(*g))


def _complex(f, line):
    return tuple(np.imag(part) / TINY for part in f(1j * TINY, *line))


def _agree(f, line):
    """Whether a complex step gives what central differences give."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            pairs = list(zip(_complex(f, line), _central(f, line), strict=True))
    except Exception:  # whatever a pass raises that was never meant for complex numbers
        return False
    return all(np.shape(c) == np.shape(d)
               and np.abs(c - d).max(initial=0) <= AGREED * np.abs(d).max(initial=0)
               for c, d in pairs)
