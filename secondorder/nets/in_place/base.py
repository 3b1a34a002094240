"""What all twins share: arrays that are used again, and how a twin is found by class."""

import math
from inspect import getattr_static

import numpy as np


class Buffer:
    """An array of a twin: made when it is first asked for, and then the same one again.

    Parameters
    ----------
    shape : callable
        From the twin to the shape of the array.
    """

    def __init__(self, shape):
        self.shape = shape

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, twin, owner=None):
        # asked only once for each length of a batch: from then on the twin's own attribute is found
        if twin is None:
            return self
        array = vars(twin)[self.name] = twin.memory(self.name, self.shape(twin))
        return array


def like_x():
    """A buffer shaped like a batch of inputs."""
    return Buffer(lambda twin: (twin.rows, *twin.input_shape))


def like_y():
    """A buffer shaped like a batch of outputs."""
    return Buffer(lambda twin: (twin.rows, *twin.output_shape))


class Buffered:
    """Owner of buffers, for batches of `rows` samples.

    An array of a shorter batch is a view of the beginning of that of a longer one.

    Attributes
    ----------
    dtype : numpy.dtype
    rows : int
    """

    rows = 0

    def __init__(self, dtype):
        self.dtype, self._memory = np.dtype(dtype), {}

    def memory(self, name, shape):
        """The array `name`, its entries not set, in the memory that this name had before."""
        size, memory = math.prod(shape), self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = np.empty(size, self.dtype)
        return memory[:size].reshape(shape)

    def resize(self, rows):
        """Be ready for batches of another length."""
        self.rows = rows
        for name in self._memory:
            vars(self).pop(name, None)


class Promoted(Exception):
    """A layer of a user's returned another dtype than the network's, for which no array is here."""


class InPlace(Buffered):
    """Twin of a layer in a network: its passes, which write into arrays that are used again.

    A pass takes what the layer's own takes and returns the same numbers, in arrays that the next
    call overwrites. What belongs to the parameters goes to `out`, a piece of a flat vector (size,),
    or of rows (S, size). Passes that a twin does not define are the layer's own.

    Parameters
    ----------
    layer : Layer
        In a network, so that its parameters stay where they are.
    input_shape : tuple of int
        Of one sample.
    dtype : numpy.dtype
        The network's.

    Attributes
    ----------
    layer, input_shape, dtype
        As given.
    output_shape : tuple of int
        Of one sample.
    size : int
        Number of the layer's trained parameters.
    rows : int
        Length of the batches; see `resize`.
    """

    def __init__(self, layer, input_shape, dtype):
        super().__init__(dtype)
        self.layer, self.size = layer, layer.size
        self.input_shape = tuple(input_shape)
        self.output_shape = tuple(layer.output_shape(self.input_shape))

    def forward(self, x):
        """``y, saved``."""
        y, saved = self.layer.forward(x)
        if y.dtype != self.dtype:
            raise Promoted
        return y, saved

    def input_gradient(self, saved, y_bar):
        """``x_bar``."""
        return self.layer.input_gradient(saved, y_bar)

    def parameter_gradient(self, saved, y_bar, out):
        """``theta_bar`` in `out` (size,)."""
        out[...] = self.layer.parameter_gradient(saved, y_bar)
        return out

    def parameter_gradients(self, saved, y_bar, out):
        """``theta_bars`` in `out` (S, size)."""
        out[...] = self.layer.parameter_gradients(saved, y_bar)
        return out

    def tangent(self, saved, x_tangent, theta_tangent):
        """``y_tangent``."""
        return self.layer.tangent(saved, x_tangent, theta_tangent)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        """``x_bar_tangent, theta_bar_tangent``, the latter in `out` (size,).

        Without `needs_input` the former may be None.
        """
        x_bar_tangent, out[...] = self.layer.backward_tangent(saved, x_tangent, theta_tangent,
                                                              y_bar, y_bar_tangent)
        return x_bar_tangent, out


class Twins:
    """Twins by class: a decorator to register one, a look-up to find it.

    The twin of a class stands for its subclasses too, but for none that overrides anything beside
    special methods, itself or by a mixin, nor for an object with a method of its own: what was
    changed would have no effect.

    Parameters
    ----------
    literal : object
        What stands for those that have no twin.
    """

    def __init__(self, literal):
        self.literal, self.registry, self._found = literal, {}, {}

    def register(self, cls):
        """Decorator: register the twin of a class."""
        def add(twin):
            self.registry[cls] = twin
            self._found.clear()
            return twin
        return add

    def find(self, one):
        """The twin that stands for an object."""
        cls = type(one)
        if cls not in self._found:
            self._found[cls] = self._of_class(cls)
        twin, methods = self._found[cls]
        return twin if methods.isdisjoint(vars(one)) else self.literal

    def _of_class(self, cls):
        """The twin for a class, and the names that an object of that class must not shadow."""
        parent = next((c for c in cls.__mro__ if c in self.registry), None)
        names = {name for name in dir(parent) if not name.startswith("__")} if parent else ()
        if any(getattr_static(cls, name) is not getattr_static(parent, name) for name in names):
            parent = None
        if parent is None:
            return self.literal, frozenset()
        return self.registry[parent], frozenset(name for name in names
                                                if callable(getattr_static(parent, name)))
