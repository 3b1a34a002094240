"""A user's layer on the bench: its parameters, random cases off its kinks, and references from
differences alone.
"""

import contextlib
import copy

import numpy as np

from ...exact.finite_differences import Difference
from ...nets.layers.chain import STILL
from ..differences import at_zero, central, nested, stacked
from ..recorder import pure_call
from .passes import flat, parameter_arrays, run

#: At most this many entries of an input or of the parameters are differenced; larger ones are
#: sampled.
MOST_ENTRIES = 300
#: At least this many of every parameter, and of the columns of a Hessian that costs two differences
#: an entry.
_FEWEST = 12
_REDRAWS = 30
_PROBE_STEP = 2e-3
_SMOOTH = 1e-4


class Subject:
    """A copy of a layer with a random case, and what differences say about it.

    The passes are checked at `x` and `theta`, which is flat; `blocks` are the trainable parameters
    in it, (name, slice, shape). Nothing was called on `unused`, a copy with the same parameters.
    """

    def __init__(self, layer, recorder, input_shape, samples, rng, size=1.0):
        self.layer, self.recorder, self.rng = layer, recorder, rng
        self.shape = (samples, *input_shape)
        self.arrays = parameter_arrays(layer, trainable=True)
        self.theta = self._read()
        self.blocks, start = [], 0
        for name, value in self.arrays:
            self.blocks.append((name, slice(start, start + value.size), value.shape))
            start += value.size
        self.size = size
        self.x = size * rng.standard_normal(self.shape)
        self.unused = copy.deepcopy(layer)

    # -- parameters --------------------------------------------------------------------------------

    def _read(self):
        return np.concatenate([np.zeros(0)]
                              + [np.ravel(value).astype(float) for _, value in self.arrays])

    @contextlib.contextmanager
    def at(self, theta):
        """Put a flat vector into the parameters, in place; they are restored exactly."""
        originals = [value.copy() for _, value in self.arrays]
        try:
            for (_, value), (_, where, shape) in zip(self.arrays, self.blocks):
                value[...] = theta[where].reshape(shape)
            yield
        finally:
            for (_, value), old in zip(self.arrays, originals):
                value[...] = old

    def move_parameters(self):
        """Set all parameters, fixed ones too, to random values near the old ones, in place."""
        for _, value in parameter_arrays(self.layer):
            size = float(np.sqrt(np.mean(value**2))) if value.size else 0.0
            value += self.rng.uniform(-0.5, 0.5, value.shape) * (size or 1.0)
        self.theta = self._read()
        self.unused = copy.deepcopy(self.layer)

    # -- evaluation --------------------------------------------------------------------------------

    def call(self, name, *args):
        """One pass on copies of its arguments; changes in place are reported, of parameters too."""
        before = [(label, value, value.copy()) for label, value in parameter_arrays(self.layer)]
        def called(function, names, given):
            return pure_call(self.recorder, name, function, names, given, same=(STILL,))

        result = (called(self.layer.forward, ("x",), args) if name == "forward"
                  else run(self.layer, name, args[0], args[1:], called))
        for label, value, old in before:
            if not np.array_equal(value, old):
                value[...] = old
                self.recorder.fact(name, f"parameter {label} left alone", False,
                                   f"changes the parameter {label} in place")
        return result

    def forward(self, x=None, theta=None):
        """Output at x and theta (default: the point of the case)."""
        with self.at(self.theta if theta is None else theta):
            return np.array(self.layer.forward(np.array(self.x if x is None else x))[0],
                            dtype=float)

    def after_forward(self, name, x, theta, *args):
        """A pass right after the forward pass it belongs to, at x and theta."""
        with self.at(theta):
            saved = self.layer.forward(np.array(x))[1]
            return run(self.layer, name, saved, copy.deepcopy(args))

    def draw_off_kinks(self, weights):
        """Redraw x until wide differences of <weights, forward> are accurate: no kink is near."""
        best = (np.inf, self.x)
        for _ in range(_REDRAWS):
            parts = [self.input_gradient(self.x, self.theta, weights, _PROBE_STEP)]
            if self.theta.size:
                parts.append(self.parameter_gradients(self.x, self.theta, weights, _PROBE_STEP))
            roughness = max(_roughness(part) for part in parts)
            if roughness < best[0]:
                best = (roughness, self.x)
            if roughness < _SMOOTH:
                break
            self.x = self.size * self.rng.standard_normal(self.shape)
        self.x = best[1]

    # -- references: first order, by differences of forward ----------------------------------------

    def input_gradient(self, x, theta, y_bar, step=None):
        """d <y_bar, forward> / dx, like x; one entry of all rows at a time: they are apart."""
        width = x[0].size
        entries = _sample(width, MOST_ENTRIES)

        def inner(moves):
            point = x.reshape(len(x), -1).copy()
            point[:, entries] += moves
            return (y_bar * self.forward(point.reshape(x.shape),
                                         theta)).reshape(len(x), -1).sum(axis=1)
        difference = central(inner, np.zeros(entries.size), step)
        return _spread(difference, entries, width, x.shape)

    def parameter_gradients(self, x, theta, y_bar, step=None):
        """d <y_bar_s, forward_s> / dtheta for every sample, (S, P)."""
        most = max(MOST_ENTRIES // max(len(self.blocks), 1), _FEWEST)
        entries = np.concatenate([where.start + _sample(where.stop - where.start, most)
                                  for _, where, _ in self.blocks])

        def inner(values):
            point = theta.copy()
            point[entries] = values
            return (y_bar * self.forward(x, point)).reshape(len(x), -1).sum(axis=1)
        difference = central(inner, theta[entries], step)
        return _spread(difference, entries, theta.size, (len(x), theta.size))

    def parameter_gradient(self, x, theta, y_bar):
        """d <y_bar, forward> / dtheta, (P,)."""
        rows = self.parameter_gradients(x, theta, y_bar)
        return Difference(rows.value.sum(axis=0), rows.error.sum(axis=0))

    def moved(self, t, x_tangent, theta_tangent, x_second=0.0):
        """x + t x_tangent + t^2/2 x_second and theta + t theta_tangent."""
        theta = self.theta if theta_tangent is None else self.theta + t * theta_tangent
        return self.x + t * x_tangent + t * t / 2 * x_second, theta

    def tangent(self, path, t=0.0):
        """d forward / dt along a path t -> (x, theta), like y."""
        return at_zero(lambda s: self.forward(*path(t + s)))

    # -- references: second order, by differences of a first-order pass or of forward twice --------

    def second_tangent(self, x_tangent, x_second, theta_tangent, exact):
        """Second derivative of forward along the path `moved`."""
        def path(t):
            return self.moved(t, x_tangent, theta_tangent, x_second)
        if not exact:
            return nested(lambda t: self.tangent(path, t))
        return at_zero(lambda t: self.after_forward("tangent", *path(t), x_tangent + t * x_second,
                                                    theta_tangent))

    def backward_tangent(self, which, x_tangent, theta_tangent, y_bar, y_bar_tangent, exact):
        """Derivative of x_bar (which = 0) or of theta_bar (1) along a direction."""
        def state(t):
            return *self.moved(t, x_tangent, theta_tangent), y_bar + t * y_bar_tangent
        if exact:
            def result(t):
                x_bar, bars = self.after_forward("backward", *state(t))
                return flat(bars) if which else x_bar
            return at_zero(result)
        reference = (self.input_gradient, self.parameter_gradient)[which]
        return nested(lambda t: reference(*state(t)))

    def input_hessian(self, y_bar, H_y, exact):
        """Hessian in x of <y_bar, y> + (y - y0)^T H_y (y - y0) / 2, (S, n, n), by columns."""
        samples, width = len(self.x), self.x[0].size
        y0 = self.forward()
        columns = _sample(width, MOST_ENTRIES if exact else _FEWEST)

        def moved(u):
            point = self.x.reshape(samples, -1).copy()
            point[:, columns] += u
            return point.reshape(self.x.shape)

        def bar(y):
            change = np.einsum("sij,sj->si", H_y, (y - y0).reshape(samples, -1))
            return y_bar + change.reshape(y.shape)

        def gradient(u):
            x = moved(u)
            return self.after_forward("backward", x, self.theta, bar(self.forward(x)))[0]

        def value_gradient(u):
            x = moved(u)  # the bar is held fixed: the chain rule by hand
            return self.input_gradient(x, self.theta, bar(self.forward(x)))
        if exact:
            difference = central(gradient, np.zeros(columns.size))
        else:
            difference = stacked([nested(lambda t, e=e: value_gradient(t * e))
                                  for e in np.eye(columns.size)])
        return _spread(difference, columns, width, (samples, width, width))


def _sample(count, most):
    """Which of `count` entries are differenced: all, or a sample that is the same in every call."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(count).choice(count, most, replace=False))


def none_if_empty(vector):
    """None for a vector without entries: for a pass this means that a layer has no parameters."""
    return vector if vector.size else None


def _spread(difference, entries, count, shape):
    """Put differenced entries (last axis) at their places; the others get an infinite error."""
    lead = difference.value.shape[:-1]
    value, error = np.zeros((*lead, count)), np.full((*lead, count), np.inf)
    value[..., entries], error[..., entries] = difference
    return Difference(value.reshape(shape), error.reshape(shape))


def _roughness(difference):
    judged = np.isfinite(difference.error)
    size = np.abs(difference.value[judged]).max(initial=0) or 1.0
    return difference.error[judged].max(initial=0) / size
