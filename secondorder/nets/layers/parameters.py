"""The parameters of a layer: arrays with names, and their place in a network's flat vector."""

import copy
import weakref
from operator import attrgetter
from typing import NamedTuple


from ... import checks


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


class Settled:
    """An attribute that the constructor alone sets, such as one that decides shapes."""

    def __set_name__(self, cls, name):
        self.name = name

    def __get__(self, layer, cls=None):
        if layer is None:
            return self
        if self.name not in layer.__dict__:
            raise AttributeError(f"{cls.__name__} has no {self.name} yet")
        return layer.__dict__[self.name]

    def __set__(self, layer, value):
        if self.name in layer.__dict__:
            raise AttributeError(f"{self.name} of {layer!r} stays what it was made with: make "
                                 "another one")
        layer.__dict__[self.name] = value


class Layout(NamedTuple):
    """Where things stand in a layer's flat vector: (start, stop, shape) of each.

    `cuts` is for every parameter, then for every layer inside, None for what has no place in it.
    `places` is for the pieces that layers hand on: of a chain the pieces of all layers in it, of
    which `shares` tells each layer its own; `first` is the first layer that has some.
    """

    cuts: list
    places: list
    shares: tuple = ()
    first: int = 0


def views(vector, cuts):
    """Views of a flat vector (..., size), one for each cut; None for None."""
    axes = vector.shape[:-1]
    return [cut and vector[..., cut[0]:cut[1]].reshape(axes + cut[2]) for cut in cuts]


class HasParameters:
    """What `Layer` is without its passes: parameters, and the layers inside."""

    children = ()
    _owner = _settled = None

    def __init__(self, trainable=True):
        self._trainable = checks.boolean(trainable, "trainable")
        self.parameters = Parameters()

    trainable = property(attrgetter("_trainable"), doc="Whether the parameters belong to "
                         "``network.theta``; settled in a network.")

    @trainable.setter
    def trainable(self, value):
        checks.not_laid_out(self)
        self._trainable = checks.boolean(value, "trainable")

    def declare(self, name, value):
        """Add a parameter that starts as a copy of `value`; whole numbers become float64.

        It is an attribute from then on: ``self.name`` is the array, and setting it copies into it.
        """
        checks.initialised(self)
        self.parameters[name] = checks.parameter(value, name)

    def __getattr__(self, name):  # of what is no attribute otherwise
        try:
            return self.__dict__["parameters"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None

    def __setattr__(self, name, value):
        if name in self.__dict__.get("parameters", ()) and not hasattr(type(self), name):
            self.assign(name, value)
        else:
            super().__setattr__(name, value)

    def assign(self, name, value):
        """Copy `value` into the parameter `name`; every view of it sees the change."""
        target = checks.declared(self, name)
        target[...] = checks.fitting(value, target, f"{name} of {self!r}")

    @property
    def size(self):
        """Number of trainable parameters, layers inside included."""
        own = sum(value.size for value in self.parameters.values()) if self._trainable else 0
        return own + sum(child.size for child in self.children) if self.children else own

    @property
    def layout(self):
        """What `laid_out` returns; settled once in a network."""
        inside = self._owner is not None and self._owner() is not None
        return self._settled if inside else self.laid_out()

    def laid_out(self):
        """The `Layout`: own parameters first, then the layers inside."""
        cuts, start = [], 0
        for value in self.parameters.values():
            stop = start + value.size * self._trainable
            cuts.append((start, stop, value.shape) if self._trainable else None)
            start = stop
        for child in self.children:
            stop = start + child.size
            cuts.append((start, stop, (stop - start,)) if stop > start else None)
            start = stop
        return Layout(cuts, cuts if any(cuts) else [])

    cuts = property(attrgetter("layout.cuts"), doc="Those of the `Layout`.")

    def split(self, vector):
        """Cut a flat vector (..., size) into views shaped like the parameters, then one flat vector
        for every layer inside; None for what has no place in it, and for all if `vector` is None.
        """
        return (None,) * len(self.cuts) if vector is None else views(vector, self.cuts)

    def pieces(self, vector):
        """The same as it is handed on by the layers that layers stand in: cut once for all inside,
        and empty where there is nothing.
        """
        return [] if vector is None else views(vector, self.layout.places)

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
            layer._settled, layer.parameters.bound = layer.laid_out(), False
            layer._owner = weakref.ref(owner)
            trained = bool(layer.trainable)
            vector = theta if trained else fixed
            if vector is not None:
                for name, value in layer.parameters.items():
                    at = start[trained]
                    view = vector[at : at + value.size].reshape(value.shape)
                    view[...] = value
                    layer.parameters[name] = view
                    start[trained] += value.size
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
        return self.__dict__ | {"_owner": None, "_settled": None, "parameters": unbound}

    def copy(self):
        """An independent copy that belongs to no network."""
        return copy.deepcopy(self)

    def __repr__(self):
        own = getattr(self, "parameters", {})
        shapes = ", ".join(f"{name} {value.shape}" for name, value in own.items())
        return f"{type(self).__name__}({shapes})"
