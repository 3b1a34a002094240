"""Checks of what networks, layers and losses are given, and of what their passes made."""

from collections.abc import Iterable

import numpy as np

from .values import all_finite, finite, instance_with, plain_array, shape

# -- batches and targets ---------------------------------------------------------------------------


def batch(x, shape, dtype):
    """Return inputs x (S, *shape) in `dtype`.

    Raises
    ------
    TypeError
        Not real numbers (complex ones pass where `dtype` is complex).
    ValueError
        Wrong shape, no sample, NaN or infinite entries, numbers too large for `dtype`.
    """
    x = plain_array(x, "x")
    if x.dtype.kind not in ("buifc" if dtype.kind == "c" else "buif"):
        raise TypeError(f"x must hold real numbers, got dtype {x.dtype}")
    if x.ndim != 1 + len(shape) or x.shape[1:] != shape:
        expected = ", ".join(["S", *map(str, shape)])
        raise ValueError(f"x has shape {x.shape}, expected ({expected}): one row per sample")
    if len(x) == 0:
        raise ValueError(f"x is an empty batch, shape {x.shape}")
    with np.errstate(over="ignore"):
        converted = x.astype(dtype, copy=False)
    if not all_finite(converted):
        what = (f"numbers too large for {dtype}" if np.isfinite(x).all()
                else "NaN or infinite entries")
        raise ValueError(f"x holds {what}")
    return converted


def targets(target, shape, dtype, owner):
    """Return targets of outputs (S, C) = `shape` as an array like them; messages name `owner`."""
    target = plain_array(target, "targets")
    if target.dtype.kind not in "buif":
        raise TypeError(f"targets must be real numbers, got dtype {target.dtype}")
    if target.shape != tuple(shape):
        raise ValueError(f"targets of {type(owner).__name__} have shape {target.shape}, expected "
                         f"{tuple(shape)}: one row per sample, one column per output (a single "
                         "output takes y[:, None])")
    return finite(target.astype(dtype, copy=False), "targets", "hold")


def targets_between(target, low, high):
    """Return prepared targets; ValueError unless all are from `low` to `high`."""
    wrong = np.argwhere((target < low) | (target > high))
    if len(wrong):
        sample, output = map(int, wrong[0])
        raise ValueError(f"targets must be from {low} to {high:.3g}, got "
                         f"{target[sample, output]:.6g} in sample {sample}")
    return target


def labels(target, shape):
    """Return integer labels (S,) of outputs (S, C) = `shape`; each must lie from 0 to C - 1."""
    samples, classes = shape
    if target.dtype.kind not in "iu":
        raise TypeError(f"labels must be integers, got dtype {target.dtype}")
    if target.shape != (samples,):
        raise ValueError(f"labels have shape {target.shape}, expected ({samples},): one label per "
                         "sample")
    wrong = np.flatnonzero((target < 0) | (target >= classes))
    if len(wrong):
        bad = int(wrong[0])
        raise ValueError(f"label {int(target[bad])} of sample {bad} is out of range: the network "
                         f"has {classes} outputs, so labels run from 0 to {classes - 1}")
    return target


def class_targets(target, shape, dtype, owner):
    """Return targets that tell classes apart: labels (S,), or weights (S, C) in `dtype`."""
    target = plain_array(target, "targets")
    if shape[1] < 2:
        raise ValueError(f"{type(owner).__name__} tells classes apart and needs two or more "
                         f"outputs, got {shape[1]}")
    if target.ndim == 1:
        return labels(target, shape)
    if target.shape != tuple(shape):
        raise ValueError(f"targets of {type(owner).__name__} have shape {target.shape}, expected "
                         f"integer labels of shape ({shape[0]},) or weights of shape "
                         f"{tuple(shape)}")
    target = targets(target, shape, dtype, owner)
    if (target < 0).any():
        raise ValueError("class weights must not be negative")
    empty = np.flatnonzero(~target.any(axis=1))
    if len(empty):
        raise ValueError(f"the class weights of sample {int(empty[0])} are all zero: a one-hot row "
                         "holds a 1 at its class")
    return target


def rows(p, *others):
    """Raise unless outputs p are an array (S, C) of floats and all `others`, targets or vectors
    that go with them, are arrays of the same shape: a smaller one would be broadcast.
    """
    if getattr(p, "ndim", None) != 2:
        raise ValueError(f"p must be an array (S, C) of outputs, got {_form(p)}")
    if p.dtype.kind not in "fc":
        raise TypeError(f"p must hold floating-point numbers, got {p.dtype}")
    for other in others:
        if getattr(other, "shape", None) != p.shape:
            raise ValueError(f"targets and vectors must be arrays of the shape {p.shape} of the "
                             f"outputs, got {_form(other)}")


def _form(value):
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" if shape is None else f"shape {shape}"


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
        raise TypeError(f"layers: expected a sequence of Layer instances, got {value!r}")
    value = tuple(value)
    if not value:
        raise ValueError("layers: at least one layer is needed")
    ids = set()
    for outer in value:
        if not isinstance(outer, layer_class):
            raise TypeError(f"layers: expected Layer instances, got {outer!r}")
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
                        f"{names!r}")
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
    """Return the shape of one input of a chain, the one that was given or else stated by a layer;
    ValueError, which tells why, if there is neither.
    """
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


# -- what a pass made ------------------------------------------------------------------------------


def outputs(p, saved, network):
    """Return the outputs of a network.

    Raises
    ------
    TypeError, FloatingPointError
        Names the first layer whose outputs have another dtype, or are not finite; `saved` is what
        the layers saved.
    """
    if p.dtype == network.dtype and all_finite(p):
        return p
    outputs = [(f"the outputs of layer {i}, {layer!r},", getattr(own_saved, "output", None))
               for i, (layer, own_saved) in enumerate(zip(network.layers, saved))]
    for name, y in [*outputs, ("the outputs of the network", p)]:
        if y is not None and y.dtype != network.dtype:
            raise TypeError(f"{name} must hold {network.dtype} like the network, got {y.dtype}")
        if y is not None and not np.isfinite(y).all():
            raise FloatingPointError(f"{name} are not finite")
    return p


def finite_result(result, what, network):
    """Return `result` (..., P); FloatingPointError naming the first layer not finite in it."""
    if not all_finite(result):
        raise FloatingPointError(f"{what} in the parameters of {place_not_finite(result, network)},"
                                 " is not finite")
    return result


def place_not_finite(result, network):
    """Name of the first layer in whose parameters `result` (..., P) is not finite."""
    places = enumerate(zip(network.layers, network.slices))
    return next(f"layer {i}, {layer!r}" for i, (layer, where) in places
                if not np.isfinite(result[..., where]).all())


def result_of(loss, name, array, target):
    """Raise unless what a loss returned has the shape and the dtype of the array `target`."""
    if getattr(array, "shape", None) != target.shape:
        raise ValueError(f"{loss!r}: {name} must have shape {target.shape}, one row per sample, "
                         f"got {np.shape(array)}")
    if array.dtype != target.dtype:
        raise TypeError(f"{loss!r}: {name} must hold {target.dtype} like the network, got "
                        f"{array.dtype}")


def losses(values, loss, p):
    """Raise unless a loss returned finite values, one for each row of the outputs p (S, C)."""
    result_of(loss, "value", values, p[:, 0])
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise FloatingPointError(f"{type(loss).__name__}: the loss of sample {bad} is "
                                 f"{values[bad]} although the outputs are finite")


def finite_mean(mean, loss):
    """Return the mean of the losses; FloatingPointError unless it is finite."""
    if not np.isfinite(mean):
        raise FloatingPointError(f"{type(loss).__name__}: the mean of the losses is not finite "
                                 "although they are")
    return mean
