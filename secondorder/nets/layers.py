"""Explicit layers: `Linear` and `Activation`, and what all layers share.

A layer maps ``x`` (S, ...) to ``y`` (S, ...), one row a sample, and knows seven passes:

========================  ==========================================================================================
``forward``               output, and what the other passes need (``saved``)
``backward``              reverse mode; summed over samples for the parameters
``parameter_gradients``   reverse mode, one row a sample
``tangent``               forward mode (the R-operator going forward)
``second_tangent``        second directional derivative along a straight line in parameter space
``backward_tangent``      the derivative of ``backward`` along a direction (the R-operator going backward)
``input_hessian``         J^T H J + sum_i y_bar_i Hess(y_i), sample by sample
========================  ==========================================================================================

Passes are pure: they change neither their arguments nor the layer. Parameters of a layer travel as one flat vector of
length ``layer.size``: each parameter in C order, in the order in which it was declared (weight, then bias).
``_bar`` marks the derivative of a scalar with respect to a quantity, ``_tangent`` its derivative along a direction,
``_second`` its second derivative along that direction.
"""

import copy
import weakref
from typing import NamedTuple

import numpy as np

from ..randomness import generator
from . import initialisers
from .activations import activation_function, place
from .workspace import fresh


class Parameters(dict):
    """Parameters by name. Once a network holds them, setting one copies into the array that is there."""

    bound = False

    def __setitem__(self, name, value):
        if self.bound:
            self[name][...] = value
        else:
            super().__setitem__(name, value)


class Layer:
    """Base of all layers.

    A subclass declares its parameters with :meth:`declare` and defines the seven passes. It states `input_shape` (without
    the sample axis) where it knows it.

    Parameters
    ----------
    trainable : bool
        A layer that is not trainable keeps its parameters out of ``network.theta``.

    Attributes
    ----------
    takes_new : bool
        Whether `forward` and `input_gradient` take ``new`` (see :mod:`secondorder.nets.workspace`). A subclass that changes one
        of them says so itself, or goes without.
    """

    input_shape = None
    takes_new = False
    _owner = None

    def __init__(self, trainable=True):
        self._trainable = bool(trainable)
        self.parameters = Parameters()
        self._owner = None

    def __init_subclass__(cls, **kwargs):
        """A subclass that changes `backward` must not inherit halves of its parent's `backward`."""
        super().__init_subclass__(**kwargs)
        halves = [half for half in ("input_gradient", "parameter_gradient") if place(cls, "backward") < place(cls, half)]
        changed = min(place(cls, name) for name in ("forward", "backward", "input_gradient"))
        if changed < place(cls, "takes_new"):
            cls.takes_new = False
        for half in halves:
            setattr(cls, half, getattr(Layer, half))

    # -- parameters -------------------------------------------------------------------------------------------------

    @property
    def trainable(self):
        """Whether the parameters belong to ``network.theta``; settled once the layer is in a network."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        if self.owner() is not None:
            raise ValueError(f"{self!r} is in a network already, whose theta was laid out with trainable={self._trainable}; set "
                             "trainable before the network is made")
        self._trainable = bool(value)

    def declare(self, name, value):
        """Add a parameter called `name` that starts as a copy of the array `value` (whole numbers become float64)."""
        if not hasattr(self, "parameters"):
            raise TypeError(f"{type(self).__name__} must call super().__init__() before it declares parameters")
        value = np.array(value, order="C")
        if value.dtype.kind not in "fcbiu":
            raise TypeError(f"parameter {name} must hold numbers, got dtype {value.dtype}")
        self.parameters[name] = value if value.dtype.kind in "fc" else value.astype(np.float64)

    def assign(self, name, value):
        """Copy `value` into the parameter `name`; every view of it sees the change."""
        target = self.parameters[name]
        value = np.asarray(value)
        if value.shape != target.shape:
            raise ValueError(f"{name} of {self!r} has shape {target.shape}, got {value.shape}")
        if not np.can_cast(value.dtype, target.dtype, casting="same_kind"):
            raise TypeError(f"{name} of {self!r} holds {target.dtype}, got {value.dtype}")
        target[...] = value

    @property
    def size(self):
        """Number of trainable parameters."""
        return sum(value.size for value in self.parameters.values()) if self.trainable else 0

    def split(self, vector):
        """Cut a flat vector (size,) or (..., size) into views shaped like the parameters, in their order."""
        pieces, start = [], 0
        for value in self.parameters.values():
            stop = start + value.size
            pieces.append(vector[..., start:stop].reshape(vector.shape[:-1] + value.shape))
            start = stop
        return tuple(pieces)

    def sublayers(self):
        """This layer and all layers inside it."""
        yield self

    def bind(self, theta, owner):
        """Move the trainable parameters into the flat vector `theta` (size,), keeping their values."""
        for layer in self.sublayers():
            layer._owner = weakref.ref(owner)
        if self.trainable:
            self.parameters.bound = False
            for name, view in zip(self.parameters, self.split(theta)):
                view[...] = self.parameters[name]
                self.parameters[name] = view
        self.parameters.bound = True

    def convert(self, dtype):
        """Give the parameters another dtype (used by the network, before it binds them)."""
        for name, value in self.parameters.items():
            self.parameters[name] = np.array(value, dtype=dtype, order="C")

    def _unbound(self):
        """The parameters as copies that belong to no network."""
        return Parameters((name, value.copy()) for name, value in self.parameters.items())

    def owner(self):
        """The network that this layer belongs to, or None."""
        return self._owner() if self._owner is not None else None

    def __getstate__(self):
        state = self.__dict__.copy()
        state["_owner"] = None
        state["parameters"] = self._unbound()
        return state

    def copy(self):
        """An independent copy that belongs to no network."""
        return copy.deepcopy(self)

    def __repr__(self):
        shapes = ", ".join(f"{name} {value.shape}" for name, value in getattr(self, "parameters", {}).items())
        return f"{type(self).__name__}({shapes})"

    # -- the seven passes -------------------------------------------------------------------------------------------

    def _missing(self, name):
        raise TypeError(f"layer {type(self).__name__} does not define the pass {name}")

    def output_shape(self, input_shape):
        """Shape of the output, without the sample axis, for an input of shape `input_shape`; ValueError if it does not fit."""
        if self.input_shape is not None and tuple(input_shape) != tuple(self.input_shape):
            raise ValueError(f"{self!r} takes an input of shape {tuple(self.input_shape)}, got {tuple(input_shape)}")
        return input_shape

    def forward(self, x):
        """Return ``y, saved``."""
        self._missing("forward(x)")

    def backward(self, saved, y_bar):
        """Return ``x_bar`` (like x) and ``theta_bar`` (size,), the latter summed over samples."""
        self._missing("backward(saved, y_bar)")

    def parameter_gradients(self, saved, y_bar):
        """Return (S, size): ``theta_bar`` of every sample alone."""
        self._missing("parameter_gradients(saved, y_bar)")

    def tangent(self, saved, x_tangent, theta_tangent):
        """Return ``y_tangent``; `x_tangent` (like x) or `theta_tangent` (size,) may be None, which means zero."""
        self._missing("tangent(saved, x_tangent, theta_tangent)")

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """Return ``y_second``, second derivative of y while x moves along (x_tangent, x_second) and theta along a straight line."""
        self._missing("second_tangent(saved, x_tangent, x_second, theta_tangent)")

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """Return ``x_bar_tangent, theta_bar_tangent``: the derivative of `backward` along a direction."""
        self._missing("backward_tangent(saved, x_tangent, theta_tangent, y_bar, y_bar_tangent)")

    def input_hessian(self, saved, y_bar, H_y):
        """Return H_x (S, in, in) = J^T H_y J + sum_i y_bar_i Hess(y_i) for H_y (S, out, out)."""
        self._missing("input_hessian(saved, y_bar, H_y)")

    # -- halves of `backward`, for those who need only one of them ---------------------------------------------------

    def input_gradient(self, saved, y_bar):
        """``backward(saved, y_bar)[0]``; a layer may skip the work for the parameters."""
        return self.backward(saved, y_bar)[0]

    def parameter_gradient(self, saved, y_bar):
        """``backward(saved, y_bar)[1]``; a layer may skip the work for the input."""
        return self.backward(saved, y_bar)[1]


class LinearSaved(NamedTuple):
    """What `Linear.forward` leaves behind: input (S, in) and output (S, out)."""

    input: np.ndarray
    output: np.ndarray


class Linear(Layer):
    """y = x W^T + b.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool
    trainable : bool
        False keeps weight and bias fixed, out of ``network.theta``.
    init : str or callable
        Name of an initialiser (see :mod:`secondorder.nets.initialisers`) or ``f(shape, fan_in, fan_out, rng) -> array``.
    rng : None, int or numpy.random.Generator

    Attributes
    ----------
    weight : (out, in) array, a writable view
    bias : (out,) array or None
    """

    takes_new = True

    def __init__(self, in_features, out_features, bias=True, trainable=True, init="uniform", rng=None):
        super().__init__(trainable)
        for name, value in (("in_features", in_features), ("out_features", out_features)):
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, got {value!r}")
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if not isinstance(bias, (bool, np.bool_)):
            raise TypeError(f"bias must be True or False, got {bias!r}")
        self.in_features, self.out_features = int(in_features), int(out_features)
        self.input_shape = (self.in_features,)
        draw, rng = initialisers.initialiser(init), generator(rng)
        shapes = {"weight": (self.out_features, self.in_features)} | ({"bias": (self.out_features,)} if bias else {})
        for name, shape in shapes.items():
            self.declare(name, self._drawn(draw(shape, self.in_features, self.out_features, rng), shape))

    @staticmethod
    def _drawn(values, shape):
        """What an initialiser returned, if it is of use."""
        values = np.asarray(values)
        if values.dtype.kind not in "biuf" or values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"init must return finite real numbers of shape {shape}, got {values.dtype} of shape {values.shape}")
        return values

    @property
    def weight(self):
        return self.parameters["weight"]

    @weight.setter
    def weight(self, value):
        self.assign("weight", value)

    @property
    def bias(self):
        return self.parameters.get("bias")

    @bias.setter
    def bias(self, value):
        if "bias" not in self.parameters:
            raise ValueError(f"{self!r} was made without a bias")
        self.assign("bias", value)

    def _unpack(self, vector):
        """weight-shaped and bias-shaped pieces of a flat vector; the second is None without bias."""
        return (self.split(vector) + (None,))[:2]

    def output_shape(self, input_shape):
        super().output_shape(input_shape)
        return (self.out_features,)

    def forward(self, x, new=fresh):
        y = new("output", (len(x), self.out_features), np.result_type(x, self.weight))
        np.matmul(x, self.weight.T, out=y)
        if self.bias is not None:
            y += self.bias
        return y, LinearSaved(x, y)

    def backward(self, saved, y_bar):
        return y_bar @ self.weight, self._theta_bar(saved, y_bar)

    def input_gradient(self, saved, y_bar, new=fresh):
        x_bar = new("input_gradient", saved.input.shape, np.result_type(y_bar, self.weight))
        return np.matmul(y_bar, self.weight, out=x_bar)

    def parameter_gradient(self, saved, y_bar):
        return self._theta_bar(saved, y_bar)

    def _theta_bar(self, saved, y_bar):
        theta_bar = np.empty(self.size, dtype=y_bar.dtype)
        if self.trainable:
            weight_bar, bias_bar = self._unpack(theta_bar)
            np.matmul(y_bar.T, saved.input, out=weight_bar)
            if bias_bar is not None:
                y_bar.sum(axis=0, out=bias_bar)
        return theta_bar

    def parameter_gradients(self, saved, y_bar):
        rows = np.empty((len(y_bar), self.size), dtype=y_bar.dtype)
        if self.trainable:
            weight_bars, bias_bars = self._unpack(rows)
            np.multiply(y_bar[:, :, None], saved.input[:, None, :], out=weight_bars)
            if bias_bars is not None:
                bias_bars[...] = y_bar
        return rows

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = np.zeros_like(saved.output) if x_tangent is None else x_tangent @ self.weight.T
        if theta_tangent is not None and self.trainable:
            weight_tangent, bias_tangent = self._unpack(theta_tangent)
            y_tangent += saved.input @ weight_tangent.T
            if bias_tangent is not None:
                y_tangent += bias_tangent
        return y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output) if x_second is None else x_second @ self.weight.T
        if theta_tangent is not None and x_tangent is not None and self.trainable:
            weight_tangent, _ = self._unpack(theta_tangent)
            y_second += 2 * (x_tangent @ weight_tangent.T)
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_bar_tangent = y_bar_tangent @ self.weight
        theta_bar_tangent = self._theta_bar(saved, y_bar_tangent)
        if self.trainable:
            if theta_tangent is not None:
                weight_tangent, _ = self._unpack(theta_tangent)
                x_bar_tangent += y_bar @ weight_tangent
            if x_tangent is not None:
                weight_bar_tangent, _ = self._unpack(theta_bar_tangent)
                weight_bar_tangent += y_bar.T @ x_tangent
        return x_bar_tangent, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        return self.weight.T @ H_y @ self.weight

    def __repr__(self):
        notes = ("" if "bias" in self.parameters else ", bias=False") + ("" if self.trainable else ", trainable=False")
        return f"{type(self).__name__}({self.in_features}, {self.out_features}{notes})"


class ActivationSaved(NamedTuple):
    """What `Activation.forward` leaves behind: input, output, slope (first derivative), curvature (second), all like x."""

    input: np.ndarray
    output: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


class Activation(Layer):
    """y = s(x), entry by entry.

    Parameters
    ----------
    function : str or ActivationFunction
        ``"relu"``, ``"tanh"``, ... or an object with `value`, `slope` and `curvature`.
    """

    takes_new = True

    def __init__(self, function):
        super().__init__(trainable=False)
        self.function = activation_function(function)

    def forward(self, x, new=fresh):
        f = self.function
        if getattr(f, "takes_new", False):
            y, slope, curvature = f.jet(x, new)
        elif hasattr(f, "jet"):
            y, slope, curvature = f.jet(x)
        else:
            y, slope, curvature = f.value(x), f.slope(x), f.curvature(x)
        return y, ActivationSaved(x, y, slope, curvature)

    def backward(self, saved, y_bar):
        return y_bar * saved.slope, self._no_parameters(y_bar)

    def input_gradient(self, saved, y_bar, new=fresh):
        return np.multiply(y_bar, saved.slope, out=new("input_gradient", y_bar.shape, np.result_type(y_bar, saved.slope)))

    def parameter_gradients(self, saved, y_bar):
        return np.empty((len(y_bar), 0), dtype=y_bar.dtype)

    def tangent(self, saved, x_tangent, theta_tangent):
        return np.zeros_like(saved.output) if x_tangent is None else saved.slope * x_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output) if x_second is None else saved.slope * x_second
        if x_tangent is not None:
            y_second = y_second + saved.curvature * x_tangent**2
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_bar_tangent = y_bar_tangent * saved.slope
        if x_tangent is not None:
            x_bar_tangent = x_bar_tangent + y_bar * saved.curvature * x_tangent
        return x_bar_tangent, self._no_parameters(y_bar)

    def input_hessian(self, saved, y_bar, H_y):
        samples = len(y_bar)
        slope = saved.slope.reshape(samples, -1)
        H_x = slope[:, :, None] * H_y * slope[:, None, :]
        diagonal = np.arange(slope.shape[1])
        H_x[:, diagonal, diagonal] += (y_bar * saved.curvature).reshape(samples, -1)
        return H_x

    @staticmethod
    def _no_parameters(like):
        return np.empty(0, dtype=like.dtype)

    def __repr__(self):
        name = getattr(self.function, "name", type(self.function).__name__)
        return f"{type(self).__name__}({name})"
