"""Checks of what networks and layers are made of, and of losses and activation functions."""

from collections.abc import Iterable

import numpy as np

from .brief import shown
from .values import instance_with, shape

# -- losses and activation functions ---------------------------------------------------------------

PROMISES = {"convex": ("that is convex in the outputs", ""),
            "diagonal_hessian": ("whose Hessian in the outputs is diagonal", "that of ")}
LOSS_PASSES = ("value", "gradient", "hessian", "hessian_product", "hessian_diagonal",
               "prepare_target")


def check_loss(loss):
    """Return `loss`; TypeError unless it is an instance with all passes of a loss."""
    return instance_with(loss, LOSS_PASSES, "loss must be a Loss instance such as SquaredError()")


def check_activation(activation, names):
    """Return `activation`; TypeError, which tells `names`, unless it has the three functions."""
    return instance_with(activation, ("value", "slope", "curvature"),
                         f"activation must be a name ({', '.join(names)}) or an object with "
                         "value(x), slope(x) and curvature(x)")


def evaluated(network, loss):
    """Raise TypeError or ValueError unless these are a network with outputs (S, C), and a loss."""
    if not hasattr(network, "chain"):
        raise TypeError(f"network must be a Network, got {type(network).__name__}")
    check_loss(loss)
    vector_shape(network.output_shape)


def promised(loss, flag, what, instead=""):
    """Raise ValueError unless a loss has a flag that `what` needs; `instead` ends the message."""
    if not getattr(loss, flag, False):
        kind, of = PROMISES[flag]
        raise ValueError(f"{what} needs a loss {kind}; {of}{loss!r} is not{instead}")


class NoModel(TypeError):
    """A loss is asked for the model of its targets and has none."""


def no_model(loss):
    """Raise `NoModel` for a loss."""
    raise NoModel(f"{type(loss).__name__} is not the negative log-likelihood of a model of the "
                    "targets, so it has no exact or sampled Fisher matrix; kind='empirical' needs "
                    "no model")


# -- layers and networks ---------------------------------------------------------------------------


def layers(value, layer_class):
    """Return layers as a tuple: instances of `layer_class`, one or more, none of them twice."""
    if not isinstance(value, Iterable):
        raise TypeError(f"layers: expected a sequence of Layer instances, got {shown(value)}")
    value = tuple(value)
    if not value:
        raise ValueError("layers: at least one layer is needed")
    ids = set()
    for outer in value:
        if not isinstance(outer, layer_class):
            raise TypeError(f"layers: expected Layer instances, got {shown(outer)}")
        for layer in outer.sublayers():
            if id(layer) in ids:
                raise ValueError(f"layers: {layer!r} stands in the network twice; parameters are "
                                 "not shared between places, use a copy (layer.copy())")
            ids.add(id(layer))
    return value


def names_of_its_own(cls, base, reserved):
    """Raise TypeError if a class, or a mixin of it, takes a name that `base` needs for itself."""
    for name in reserved:
        owner = next((c for c in cls.__mro__ if name in vars(c)), base)
        if not issubclass(base, owner):
            raise TypeError(f"class {owner.__qualname__} defines {name!r}, a name that every "
                            f"{base.__name__} uses itself: choose another one")


def memory_names(cls, base, reserved):
    """Raise TypeError unless `state_names` of a class are names that `base` leaves to it."""
    names = cls.state_names
    if isinstance(names, property):
        return
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"class {cls.__qualname__}: state_names must be a tuple of names, got "
                        f"{shown(names)}")
    for name in names:
        if name in reserved or names.count(name) > 1:
            why = ("stands there twice" if name not in reserved else
                   f"is a name that every {base.__name__} uses itself: choose another one")
            raise TypeError(f"class {cls.__qualname__}: {name!r} in state_names {why}")


def initialised(layer):
    """Raise TypeError unless the constructor of `Layer` ran before parameters are declared."""
    if not hasattr(layer, "parameters"):
        raise TypeError(f"{type(layer).__name__} must call super().__init__() before it declares "
                        "parameters")


def parameter(value, name):
    """Return a copy of `value`, whole numbers as float64; TypeError unless it holds numbers."""
    value = np.array(value, order="C")
    if value.dtype.kind not in "fcbiu":
        raise TypeError(f"parameter {name} must hold numbers, got dtype {value.dtype}")
    return value if value.dtype.kind in "fc" else value.astype(np.float64)


def declared(layer, name):
    """Return the parameter `name` of a layer; ValueError if it has none of that name."""
    if name not in layer.parameters:
        raise ValueError(f"{layer!r} was made without a {name}")
    return layer.parameters[name]


def not_laid_out(layer):
    """Raise ValueError if a layer is in a network, whose vector of parameters holds its own."""
    if layer.owner() is not None:
        raise ValueError(f"{layer!r} is in a network already, whose theta was laid out with "
                         f"trainable={layer.trainable}; set it before the network is made")


def free_layers(chain):
    """Raise ValueError if a layer of a chain is in a network already."""
    for layer in chain.sublayers():
        if layer.owner() is not None:
            raise ValueError(f"{layer!r} belongs to another network; use a copy (layer.copy())")


def stated_shape(layer, input_shape):
    """Raise ValueError unless a layer takes this shape of one sample, if it states its own."""
    stated = layer.input_shape
    if stated is not None and tuple(input_shape) != tuple(stated):
        raise ValueError(f"{layer!r} takes an input of shape {tuple(stated)}, got "
                         f"{tuple(input_shape)}")


def kept_shape(layer, before, after):
    """Return the shape `after` the inner layers; ValueError unless it is that `before` them."""
    if tuple(after) != tuple(before):
        raise ValueError(f"{layer!r}: the inner layers turn shape {tuple(before)} into "
                         f"{tuple(after)}; a skip connection needs the same shape")
    return after


def input_shape(given, chain):
    """Return the shape of one input of a chain, as given, or else as a layer states it."""
    stated = chain.input_shape if given is None else given
    if stated is None:
        first = next((layer for layer in chain.layers if not layer.keeps_shape), None)
        why = ("no layer states its own" if first is None
               else f"{first!r} takes inputs of more than one shape")
        raise ValueError(f"input_shape must be given, as {why}")
    return shape(stated, "input_shape")


def vector_shape(output_shape):
    """Return the shape of one output; ValueError unless it is that of a vector, as losses need."""
    if len(output_shape) != 1:
        raise ValueError("losses act on outputs of shape (S, C), but the network ends in shape "
                         f"{output_shape}")
    return output_shape


def some_parameters(network):
    """Raise ValueError if nothing in a network is trainable."""
    if network.size == 0:
        raise ValueError("the network has no trainable parameters")


def require_real(network, what):
    """Raise ValueError if a network computes with complex numbers, for `what` needs real ones."""
    if network.dtype.kind == "c":
        raise ValueError(f"{what} needs real numbers, got {network.dtype}")


def unchanged(then, now):
    """Raise RuntimeError unless the arrays of all parameters, `then` and `now`, are equal."""
    if not all(map(np.array_equal, then, now)):
        raise RuntimeError("the network's parameters have changed since this evaluation; call "
                           "network.evaluate again")
