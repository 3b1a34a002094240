"""Checks of arrays: plain ones, batches and targets, and what a pass made."""

import math

import numpy as np


def all_finite(array):
    """Whether all entries are finite: one product tells, unless squares overflow."""
    if array.dtype.kind == "f":
        flat = np.asarray(array).reshape(-1)  # of arrays that count their products too
        if math.isfinite(np.vdot(flat, flat)):  # unlike other products it never warns
            return True
    return bool(np.isfinite(array).all())


def plain_array(value, name):
    """Return `value` as an array; an error for masks, ragged rows and what NumPy cannot read."""
    if _has_a_mask(value):
        raise TypeError(f"{name} must be a plain array, got a masked one, whose mask would be lost")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is ragged, its rows differ in length: {error}") from error
    except (TypeError, RuntimeError) as error:  # a tensor with a gradient, or of another machine
        raise TypeError(f"{name} cannot be read as an array of NumPy: {error}") from error


def _has_a_mask(value):
    if not isinstance(value, (list, tuple)):
        return isinstance(value, np.ma.MaskedArray)
    kinds = set(map(type, value))  # most lists hold numbers alone
    inner = any(issubclass(kind, (list, tuple, np.ma.MaskedArray)) for kind in kinds)
    return inner and any(map(_has_a_mask, value))


def finite(array, name, verb="holds"):
    """Return `array`; ValueError if it holds NaN or infinite entries."""
    if not all_finite(array):
        raise ValueError(f"{name} {verb} NaN or infinite entries")
    return array


def real_array(array, name, shape=None, note=""):
    """Return `array` as finite real numbers, of `shape` if given; `note` ends that message."""
    array = plain_array(array, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    if shape is not None and array.shape != tuple(shape):
        raise ValueError(f"{name} has shape {array.shape}, expected {tuple(shape)}{note}")
    return finite(array, name)


def fitting(value, target, name, note=""):
    """Return `value` as an array that fits into the array `target`: its shape, no wider numbers."""
    value = plain_array(value, name)
    if value.shape != target.shape:
        raise ValueError(f"{name} has shape {value.shape}, expected {target.shape}{note}")
    if not np.can_cast(value.dtype, target.dtype, casting="same_kind"):
        raise TypeError(f"{name} must hold {target.dtype}, got {value.dtype}")
    return value


def like(value, target, what):
    """Return `value`; TypeError unless it is an array of the shape and dtype of `target`."""
    is_array = isinstance(value, np.ndarray)
    if is_array and value.shape == target.shape and value.dtype == target.dtype:
        return value
    kind = f"{value.dtype} array {value.shape}" if is_array else type(value).__name__
    raise TypeError(f"{what} must be a {target.dtype} array {target.shape}, got {kind}")


# -- batches and targets ---------------------------------------------------------------------------


def batch(x, shape, dtype, name="x"):
    """Return inputs x (S, *shape) in `dtype`, one sample or more, real and finite."""
    if (type(x) is np.ndarray and x.dtype == dtype and x.shape == (len(x), *shape) and len(x)
            and all_finite(x)):
        return x
    return _batch(plain_array(x, name), shape, dtype, name)


def _batch(x, shape, dtype, name):
    if x.dtype.kind not in ("buifc" if dtype.kind == "c" else "buif"):
        raise TypeError(f"{name} must hold real numbers, got dtype {x.dtype}")
    if x.ndim != 1 + len(shape) or x.shape[1:] != shape:
        expected = ", ".join(["S", *map(str, shape)])
        raise ValueError(f"{name} has shape {x.shape}, expected ({expected}): one row per sample")
    if len(x) == 0:
        raise ValueError(f"{name} is an empty batch, shape {x.shape}")
    with np.errstate(over="ignore"):
        converted = x.astype(dtype, copy=False)
    if not all_finite(converted):
        what = (f"numbers too large for {dtype}" if np.isfinite(x).all()
                else "NaN or infinite entries")
        raise ValueError(f"{name} holds {what}")
    return converted


def targets(target, shape, dtype, owner):
    """Return targets of outputs (S, C) = `shape` as an array like them; messages name `owner`."""
    target = plain_array(target, "targets")
    if target.dtype.kind not in "buif":
        raise TypeError(f"targets must be real numbers, got dtype {target.dtype}")
    if target.shape != tuple(shape):
        raise ValueError(f"targets of {type(owner).__name__} have shape {target.shape}, expected "
                         f"{tuple(shape)}: one row per sample, one column per output (a single "
                         f"output takes y[:, None]){_labels_hint(target, shape)}")
    return finite(target.astype(dtype, copy=False), "targets", "hold")


def _labels_hint(target, shape):
    """Where integer labels were given: what to give instead."""
    if target.dtype.kind not in "iu" or target.shape != tuple(shape[:1]) or shape[1] < 2:
        return ""
    return (f". Labels as rows are np.eye({shape[1]})[labels]. Your own loss takes labels by "
            "prepare_target:\n    def prepare_target(self, target, shape, dtype):\n"
            "        return secondorder.checks.labels(target, shape)")


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
    target = target if type(target) is np.ndarray else plain_array(target, "labels")
    samples, classes = shape
    if target.dtype.kind not in "iu":
        raise TypeError(f"labels must be integers, got dtype {target.dtype}: whole numbers take "
                        "labels.astype(int), other labels numpy.unique(labels, "
                        "return_inverse=True)[1]")
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
    target = target if type(target) is np.ndarray else plain_array(target, "targets")
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


# -- what a pass made ------------------------------------------------------------------------------


def outputs(p, saved, network):
    """Return the outputs of a network; an error names the first layer of another dtype, or NaN."""
    if p.shape[1:] != network.output_shape:
        raise ValueError(f"the outputs of the network have shape {p.shape}, expected (S, "
                         f"{', '.join(map(str, network.output_shape))})")
    if p.dtype == network.dtype and all_finite(p):
        return p
    outputs = [(f"the outputs of layer {i}, {layer!r},", getattr(own, "output", None))
               for i, (layer, own) in enumerate(zip(network.layers, saved.held))]
    for name, y in [*outputs, ("the outputs of the network", p)]:
        if y is not None and y.dtype != network.dtype:
            raise TypeError(f"{name} must hold {network.dtype} like the network, got {y.dtype}: "
                            "write constants as Python numbers (math.sqrt for np.sqrt) and make "
                            "arrays with the dtype of the input")
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


def losses(values, loss):
    """Raise FloatingPointError: a loss, or the mean of all, is not finite."""
    for bad in np.flatnonzero(~np.isfinite(values)):
        raise FloatingPointError(f"{type(loss).__name__}: the loss of sample {bad} is "
                                 f"{values[bad]} although the outputs are finite")
    raise FloatingPointError(f"{type(loss).__name__}: the mean of the losses is not finite "
                             "although they are")
