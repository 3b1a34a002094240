"""What all layers share: parameters, their place in a network, and seven passes.

A layer maps ``x`` (S, ...) to ``y`` (S, ...), one row per sample, and knows seven passes:

========================  ==========================================================================================
``forward``               output, and what the other passes need (``saved``)
``backward``              reverse mode; summed over samples for the parameters
``parameter_gradients``   reverse mode, one row per sample
``tangent``               forward mode (the R-operator going forward)
``second_tangent``        second directional derivative along a straight line in parameter space
``backward_tangent``      the derivative of ``backward`` along a direction (the R-operator going backward)
``input_hessian``         J^T H J + sum_i y_bar_i Hess(y_i), sample by sample
========================  ==========================================================================================

Passes are pure: they change neither their arguments nor the layer. Parameters of a layer travel as one flat vector of
length ``layer.size``: each parameter in C order, in the order in which it was declared (weight, then bias).
``_bar`` marks the derivative of a scalar with respect to a quantity, ``_tangent`` its derivative along a direction,
``_second`` its second derivative along that direction.
Of the arguments of a pass `x_tangent`, `x_second` and `theta_tangent` may be None, in any combination, which means zero;
no other argument may, and no pass returns None: what has no entries is an empty array.
"""

import copy
import weakref

import numpy as np

from ..checks import fitting
from .activations import place


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
    the sample axis) where it knows it, and overrides `output_shape` if its output has another shape than its input.

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
        target[...] = fitting(value, target, f"{name} of {self!r}")

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
        self.parameters.bound = False  # a layer whose network is gone is free again
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

    @property
    def keeps_shape(self):
        """Whether the output has the shape of the input whatever that is: so unless `output_shape` says otherwise."""
        return type(self).output_shape is Layer.output_shape

    # -- the seven passes -------------------------------------------------------------------------------------------

    def _missing(self, name):
        raise TypeError(f"layer {type(self).__name__} does not define the pass {name}")

    def output_shape(self, input_shape):
        """Shape of the output, without the sample axis, for an input of shape `input_shape`; ValueError if it does not fit."""
        if self.input_shape is not None and tuple(input_shape) != tuple(self.input_shape):
            raise ValueError(f"{self!r} takes an input of shape {tuple(self.input_shape)}, got {tuple(input_shape)}")
        return input_shape

    def forward(self, x):
        """Return ``y, saved``; saved is a NamedTuple with at least `input` (x) and `output` (y), and what else the other passes need."""
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
