"""What all layers share: parameters, their place in a network, and seven passes.

A layer maps ``x`` (S, ...) to ``y`` (S, ...), one row per sample, and knows seven passes:

========================  ======================================================================
``forward``               output, and what the other passes need (``saved``)
``backward``              reverse mode; summed over samples for the parameters
``parameter_gradients``   reverse mode, one row per sample
``tangent``               forward mode (the R-operator going forward)
``second_tangent``        second directional derivative along a straight line in parameter space
``backward_tangent``      derivative of ``backward`` along a direction (R-operator going back)
``input_hessian``         J^T H J + sum_i y_bar_i Hess(y_i), sample by sample
========================  ======================================================================

Passes are pure: they change neither their arguments nor the layer. Parameters of a layer travel as
one flat vector of length ``layer.size``: each parameter in C order, in the order in which it was
declared (weight, then bias). ``_bar`` marks the derivative of a scalar with respect to a quantity,
``_tangent`` its derivative along a direction, ``_second`` its second derivative along that
direction. Of the arguments of a pass `x_tangent`, `x_second` and `theta_tangent` may be None, in
any combination, which means zero; no other argument may, and no pass returns None: what has no
entries is an empty array.
"""

import copy
import weakref
from operator import attrgetter

from ... import checks
from ..overriding import Follows


class Parameters(dict):
    """Parameters by name; once they are in a network, setting one copies into its array."""

    bound = False

    def __setitem__(self, name, value):
        if self.bound:
            self[name][...] = value
        else:
            super().__setitem__(name, value)


def parameter(name):
    """A property of a layer: the parameter `name`, or None if it was made without; setting it
    copies the value.
    """
    def get(layer):
        return layer.parameters.get(name)

    def put(layer, value):
        layer.assign(name, value)

    return property(get, put)


# what a layer has for itself; a subclass with another use for one of these names would not work
RESERVED = ("parameters", "trainable", "declare", "assign", "size", "split", "sublayers", "bind",
            "convert", "owner", "copy", "follows", "_trainable", "_owner", "_missing")


class Layer(Follows):
    """Base of all layers.

    A subclass declares its parameters with :meth:`declare` and defines the seven passes. It states
    `input_shape` (without the sample axis) where it knows it, and overrides `output_shape` if its
    output has another shape than its input.

    Parameters
    ----------
    trainable : bool
        A layer that is not trainable keeps its parameters out of ``network.theta``.

    Attributes
    ----------
    children : sequence of Layer
        The layers inside this one, if it is made of others; their parameters follow its own.

    Raises
    ------
    TypeError
        Where a subclass is defined that uses one of the names that every layer has for itself, such
        as `split` or `size`, for something else.

    Notes
    -----
    `backward` may be given as a whole or as its two halves, `input_gradient` and
    `parameter_gradient`, which are then used alone where only one is needed.
    """

    input_shape = None
    children = ()
    follows = {"input_gradient": ("backward",), "parameter_gradient": ("backward",)}
    _owner = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        checks.names_of_its_own(cls, Layer, RESERVED)

    def __init__(self, trainable=True):
        self._trainable = checks.boolean(trainable, "trainable")
        self.parameters = Parameters()

    # -- parameters --------------------------------------------------------------------------------

    trainable = property(attrgetter("_trainable"), doc="Whether the parameters belong to "
                         "``network.theta``; settled in a network.")

    @trainable.setter
    def trainable(self, value):
        checks.not_laid_out(self)
        self._trainable = checks.boolean(value, "trainable")

    def declare(self, name, value):
        """Add a parameter that starts as a copy of `value`; whole numbers become float64."""
        checks.initialised(self)
        self.parameters[name] = checks.parameter(value, name)

    def assign(self, name, value):
        """Copy `value` into the parameter `name`; every view of it sees the change."""
        target = checks.declared(self, name)
        target[...] = checks.fitting(value, target, f"{name} of {self!r}")

    @property
    def size(self):
        """Number of trainable parameters, layers inside included."""
        own = sum(value.size for value in self.parameters.values()) if self._trainable else 0
        return own + sum(child.size for child in self.children) if self.children else own

    def split(self, vector):
        """Cut a flat vector (..., size) into views shaped like the layer's own parameters."""
        pieces, start = [], 0
        for value in self.parameters.values():
            stop = start + value.size
            pieces.append(vector[..., start:stop].reshape(vector.shape[:-1] + value.shape))
            start = stop
        return tuple(pieces)

    def sublayers(self):
        """This layer and all layers inside it."""
        yield self
        for child in self.children:
            yield from child.sublayers()

    def bind(self, theta, owner, fixed=None):
        """Move the trainable parameters into the flat vector `theta` (size,), with their values;
        the others into `fixed`, if that is given.
        """
        start = {True: 0, False: 0}
        for layer in self.sublayers():
            layer._owner, layer.parameters.bound = weakref.ref(owner), False
            trained = bool(layer.trainable)
            vector = theta if trained else fixed
            if vector is not None:
                for name, view in zip(layer.parameters, layer.split(vector[start[trained]:])):
                    view[...] = layer.parameters[name]
                    layer.parameters[name] = view
                    start[trained] += view.size
            layer.parameters.bound = True

    def convert(self, dtype):
        """Give the parameters another dtype (used by the network, before it binds them)."""
        for layer in self.sublayers():
            layer.parameters.bound = False  # a layer whose network is gone is free again
            for name, value in layer.parameters.items():
                layer.parameters[name] = checks.converted(value, dtype, f"{name} of {layer!r}")

    def owner(self):
        """The network that this layer belongs to, or None."""
        return self._owner() if self._owner is not None else None

    def __getstate__(self):
        unbound = Parameters((name, value.copy()) for name, value in self.parameters.items())
        return self.__dict__ | {"_owner": None, "parameters": unbound}

    def copy(self):
        """An independent copy that belongs to no network."""
        return copy.deepcopy(self)

    def __repr__(self):
        own = getattr(self, "parameters", {})
        shapes = ", ".join(f"{name} {value.shape}" for name, value in own.items())
        return f"{type(self).__name__}({shapes})"

    @property
    def keeps_shape(self):
        """Whether the output has the shape of any input: unless `output_shape` is overridden."""
        return type(self).output_shape is Layer.output_shape

    # -- the seven passes -------------------------------------------------------------------------

    def _missing(self, name):
        raise TypeError(f"layer {type(self).__name__} does not define the pass {name}")

    def output_shape(self, input_shape):
        """Shape of the output for an input of shape `input_shape`, both without the sample axis.

        Raises
        ------
        ValueError
            If the layer does not take that shape.
        """
        checks.stated_shape(self, input_shape)
        return input_shape

    def forward(self, x):
        """Return ``y, saved``: y = f(x, theta), row by row.

        `saved` is a NamedTuple with at least `input` (x) and `output` (y), and what else the other
        passes need.
        """
        self._missing("forward(x)")

    def backward(self, saved, y_bar):
        """Return ``x_bar`` (like x) and ``theta_bar`` (size,).

        x_bar_sj = sum_i y_bar_si dy_si/dx_sj;  theta_bar_k = sum_si y_bar_si dy_si/dtheta_k
        """
        halves = type(self).input_gradient, type(self).parameter_gradient
        if Layer.input_gradient in halves or Layer.parameter_gradient in halves:
            self._missing("backward(saved, y_bar)")
        return self.input_gradient(saved, y_bar), self.parameter_gradient(saved, y_bar)

    def parameter_gradients(self, saved, y_bar):
        """Return (S, size): theta_bar_sk = sum_i y_bar_si dy_si/dtheta_k, every sample alone."""
        self._missing("parameter_gradients(saved, y_bar)")

    def tangent(self, saved, x_tangent, theta_tangent):
        """Return ``y_tangent``: y_tangent_si = sum_j dy_si/dx_sj x_tangent_sj + sum_k
        dy_si/dtheta_k theta_tangent_k.

        `x_tangent` (like x) or `theta_tangent` (size,) may be None, which means zero.
        """
        self._missing("tangent(saved, x_tangent, theta_tangent)")

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        """Return ``y_second``: d^2/dt^2 y(x + t x_tangent + (t^2/2) x_second, theta + t
        theta_tangent) at t = 0.
        """
        self._missing("second_tangent(saved, x_tangent, x_second, theta_tangent)")

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        """Return ``x_bar_tangent, theta_bar_tangent``: d/dt of `backward` while x, theta and y_bar
        move along tangents.
        """
        self._missing("backward_tangent(saved, x_tangent, theta_tangent, y_bar, y_bar_tangent)")

    def input_hessian(self, saved, y_bar, H_y):
        """Return H_x (S, in, in) for H_y (S, out, out).

        H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k + sum_i y_bar_si d^2 y_si / dx_sj dx_sk
        """
        self._missing("input_hessian(saved, y_bar, H_y)")

    # -- the halves of `backward` ------------------------------------------------------------------

    def input_gradient(self, saved, y_bar):
        """x_bar, the first half of `backward`."""
        return self.backward(saved, y_bar)[0]

    def parameter_gradient(self, saved, y_bar):
        """theta_bar, the second half of `backward`."""
        return self.backward(saved, y_bar)[1]
