"""What all layers share: parameters, their place in a network, and the passes.

A layer maps ``x`` (S, ...) to ``y`` (S, ...), one row per sample, and knows seven passes:

=================================================  =============================================
``forward(x)``                                     ``y, saved``
``backward(saved, y_bar)``                         ``x_bar, w_bar, b_bar, ...``
``parameter_gradients(saved, y_bar)``              ``w_bars, b_bars, ...``, one row a sample
``tangent(saved, x_tangent, *theta_tangents)``     ``y_tangent``, or ``y_tangent, left``
``backward_tangent(saved, moved, y_bar,            like `backward`
y_bar_tangent)``
``second_tangent(saved, moved, x_second)``         ``y_second``
``input_hessian(saved, y_bar, H_y)``               ``H_x``
=================================================  =============================================

Passes are pure: they change neither their arguments nor the layer. There is one array for each
declared parameter, in the order of `declare`, fixed ones too. ``_bar`` marks the derivative of a
scalar with respect to a quantity, ``_tangent`` its derivative along a direction, ``_second`` its
second derivative along that direction.

A network calls these passes through the methods at the end of `Layer`, which take flat vectors. The
layers of this package say ``many_directions = True``: any number of directions may stand in front,
as in (K, S, n), a tangent that is zero may be None, and arrays may be given for results (`out`).
For all others `between` calls a pass once for each direction.
"""

import copy
import weakref
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ... import checks
from ..overriding import place


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


class Moved(NamedTuple):
    """How a layer moves along a direction: the tangents of its input and of its parameters, in the
    order of `declare`, and what its pass `tangent` left for the way back.
    """

    x_tangent: np.ndarray | None
    theta_tangents: tuple
    left: object = None


def unmoved(moved):
    """Zeros like the tangent of the input."""
    return np.zeros_like(moved.x_tangent)


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


class Flat:
    """The passes with flat vectors (..., size), which are cut into pieces for the walk."""

    def flat_backward(self, saved, y_bar, out, needed):
        """`backward`: theta_bar goes to `out` (..., size) unless that is None; returns x_bar, or
        None unless it is needed.
        """
        return self.walk_back(saved, y_bar, self.pieces(out), needed)

    def flat_tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent and `Moved` along tangents of x and of the parameters (..., size); each may be
        None, which means zero.
        """
        return self.walk_along(saved, x_tangent, self.pieces(theta_tangent))

    def flat_backward_tangent(self, saved, moved, y_bar, y_bar_tangent, out, needed):
        """`backward_tangent`, like `flat_backward`."""
        return self.walk_back_along(saved, moved, y_bar, y_bar_tangent, self.pieces(out), needed)


# what a layer has for itself; a subclass with another use for one of these names would not work
RESERVED = ("parameters", "trainable", "declare", "assign", "size", "split", "sublayers", "bind",
            "convert", "owner", "copy",
            "cuts", "layout", "pieces", "_trainable", "_owner", "_missing", "_settled")

# a pass as a whole, and the two halves in which this package's layers write it
HALVES = {"backward": ("input_gradient", "parameter_bars"),
          "backward_tangent": ("input_gradient_tangent", "parameter_bars_tangent")}
PASSES = ("forward", *HALVES, *HALVES["backward"], *HALVES["backward_tangent"],
          "parameter_gradients", "tangent", "second_tangent", "input_hessian")


class Layer(Flat):
    """Base of all layers.

    A subclass declares its parameters with :meth:`declare` and defines the passes. It states
    `input_shape` (without the sample axis) where it knows it, and overrides `output_shape` if its
    output has another shape than its input.

    Parameters
    ----------
    trainable : bool
        A layer that is not trainable keeps its parameters out of ``network.theta``.

    Attributes
    ----------
    children : sequence of Layer
        The layers inside this one, if it is made of others; their parameters follow its own. Each
        of them counts as one more parameter in the passes: a flat vector.
    many_directions : bool
        Whether the passes take several directions at once, None for zero, and `out`. False for a
        subclass that overrides a pass and does not say so itself.

    Raises
    ------
    TypeError
        Where a subclass is defined that uses one of the names that every layer has for itself, such
        as `split` or `size`, for something else.

    Notes
    -----
    `backward` may be given as a whole or as its two halves, `input_gradient` and `parameter_bars`,
    of which only one is called where only one is needed; `backward_tangent` likewise, as
    `input_gradient_tangent` and `parameter_bars_tangent`.
    """

    input_shape = None
    children = ()
    many_directions = False
    _owner = _settled = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        checks.names_of_its_own(cls, Layer, RESERVED)
        if min(place(cls, name) for name in PASSES) < place(cls, "many_directions"):
            cls.many_directions = False
        for name, halves in HALVES.items():
            nearer = [half for half in halves if place(cls, half) < place(cls, name)]
            functions = [getattr(cls, half) for half in halves]
            if nearer and not {getattr(Layer, half) for half in halves} & {*functions}:
                setattr(cls, name, _whole(name, *functions))
            elif not nearer:
                for half in halves:
                    if place(cls, half) > place(cls, name):
                        setattr(cls, half, getattr(Layer, half))

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
        """Return ``y, saved``: y = f(x, theta), row by row, and what the other passes need."""
        self._missing("forward(x)")

    def backward(self, saved, y_bar):
        """Return ``x_bar`` (like x), and an array for each parameter.

        x_bar_sj = sum_i y_bar_si dy_si/dx_sj;  theta_bar_k = sum_si y_bar_si dy_si/dtheta_k
        """
        self._missing("backward(saved, y_bar)")

    def parameter_gradients(self, saved, y_bar):
        """Return an array for each parameter, one row a sample:
        theta_bar_sk = sum_i y_bar_si dy_si/dtheta_k.
        """
        if self.parameters or self.children:
            self._missing("parameter_gradients(saved, y_bar)")
        return ()

    def tangent(self, saved, x_tangent, *theta_tangents):
        """Return ``y_tangent``: y_tangent_si = sum_j dy_si/dx_sj x_tangent_sj + sum_k
        dy_si/dtheta_k theta_tangent_k; or that and what the way back needs, ``moved.left``.
        """
        self._missing("tangent(saved, x_tangent, *theta_tangents)")

    def second_tangent(self, saved, moved, x_second):
        """Return ``y_second``: d^2/dt^2 y(x + t x_tangent + (t^2/2) x_second, theta + t
        theta_tangent) at t = 0; `moved` has ``x_tangent`` and ``theta_tangents``.
        """
        self._missing("second_tangent(saved, moved, x_second)")

    def backward_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """Return what `backward` does: d/dt of that while x, theta and y_bar move along tangents,
        of which `moved` has ``x_tangent`` and ``theta_tangents``.
        """
        self._missing("backward_tangent(saved, moved, y_bar, y_bar_tangent)")

    def input_hessian(self, saved, y_bar, H_y):
        """Return H_x (S, in, in) for H_y (S, out, out).

        H_x_sjk = sum_ii' J_sij H_y_sii' J_si'k + sum_i y_bar_si d^2 y_si / dx_sj dx_sk
        """
        self._missing("input_hessian(saved, y_bar, H_y)")

    # -- the halves of `backward` and `backward_tangent` ------------------------------------------

    def input_gradient(self, saved, y_bar):
        """x_bar, the first half of `backward`."""
        return self.backward(saved, y_bar)[0]

    def parameter_bars(self, saved, y_bar):
        """An array for each parameter, the second half of `backward`."""
        return _bars(self.backward(saved, y_bar))

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """x_bar_tangent, the first half of `backward_tangent`."""
        return self.backward_tangent(saved, moved, y_bar, y_bar_tangent)[0]

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """An array for each parameter, the second half of `backward_tangent`."""
        return _bars(self.backward_tangent(saved, moved, y_bar, y_bar_tangent))

    # -- the same with flat vectors, as a network calls them ---------------------------------------

    def parameter_gradient(self, saved, y_bar, out=None):
        """theta_bar (..., size): the arrays of `parameter_bars` as one vector; in `out`, if that
        is given.
        """
        if out is None:
            return joined(self, self.parameter_bars(saved, y_bar))
        self.flat_backward(saved, y_bar, out, needed=False)
        return out

    def flat_parameter_gradients(self, saved, y_bar, out=None):
        """theta_bars (S, size): the arrays of `parameter_gradients` beside each other."""
        out = np.empty((len(y_bar), self.size), y_bar.dtype) if out is None else out
        if not out.shape[-1]:
            return out
        views = self.split(out)
        given = (views,) if self.many_directions else ()
        rows = self.parameter_gradients(saved, y_bar, *given)
        fill(self, views, rows, "parameter_gradients")
        return out

    # -- the same with pieces, as the layers in a row hand them on ---------------------------------

    def walk_back(self, saved, y_bar, pieces, needed):
        """`backward`: the bars go to `pieces`, if there are any; returns x_bar, or None unless it
        is needed.
        """
        if pieces:
            given = (pieces,) if self.many_directions else ()  # an author's own takes none
            fill(self, pieces, self.parameter_bars(saved, y_bar, *given), "backward")
        return self.input_gradient(saved, y_bar) if needed else None

    def walk_along(self, saved, x_tangent, pieces):
        """y_tangent and `Moved`; without `pieces` the parameters stand still."""
        pieces = pieces or (None,) * (len(self.parameters) + len(self.children))
        y_tangent = self.tangent(saved, x_tangent, *pieces)
        y_tangent, left = y_tangent if isinstance(y_tangent, tuple) else (y_tangent, None)
        return y_tangent, Moved(x_tangent, pieces, left)

    def walk_back_along(self, saved, moved, y_bar, y_bar_tangent, pieces, needed):
        """`backward_tangent`, like `walk_back`."""
        if pieces:
            given = (pieces,) if self.many_directions else ()
            bars = self.parameter_bars_tangent(saved, moved, y_bar, y_bar_tangent, *given)
            fill(self, pieces, bars, "backward_tangent")
        if not needed:
            return None
        return self.input_gradient_tangent(saved, moved, y_bar, y_bar_tangent)


def _whole(name, first, second):
    """A pass from its two halves."""
    def whole(self, saved, *bars):
        return first(self, saved, *bars), *second(self, saved, *bars)

    whole.made_of = first, second
    whole.__name__, whole.__doc__ = name, f"Both halves.\n\n{first.__doc__}\n{second.__doc__}"
    return whole


def _bars(result):
    """The arrays for the parameters of what `backward` returned: x_bar, w_bar, b_bar, ...; or
    x_bar, [w_bar, b_bar, ...].
    """
    bars = result[1:]
    return bars[0] if len(bars) == 1 and isinstance(bars[0], (tuple, list)) else bars


def shaped(like, **arrays):
    """ValueError unless arrays are shaped like another, directions in front; loops do not look at
    shapes. Returns the last of them.
    """
    for name, a in arrays.items():
        if a.shape[a.ndim - like.ndim :] != like.shape:
            raise ValueError(f"{name} has shape {a.shape}, expected {like.shape}")
    return a


def fill(layer, views, bars, name):
    """Write arrays for the parameters where they belong: those with a place in a flat vector."""
    bars = (bars,) if isinstance(bars, np.ndarray) else bars
    if len(bars) != len(views):
        raise TypeError(f"{layer!r}: {name} must return one array for each of its "
                        f"{len(views)} parameters, got {len(bars)}")
    for view, bar in zip(views, bars):
        if view is None or bar is view:
            continue
        if bar.shape != view.shape:
            raise ValueError(f"{layer!r}: {name} returned an array of shape {bar.shape} for a "
                             f"parameter, expected {view.shape}")
        view[...] = bar


def joined(layer, bars):
    """Arrays for the parameters as one array (..., size)."""
    bars = (bars,) if isinstance(bars, np.ndarray) else bars
    kept = [(bar, cut[2]) for bar, cut in zip(bars, layer.cuts, strict=True) if cut]
    if not kept:
        return np.empty(0)
    rows = [bar.reshape(bar.shape[: bar.ndim - len(shape)] + (-1,)) for bar, shape in kept]
    return np.concatenate(rows, axis=-1)
