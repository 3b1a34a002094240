"""Checks of numbers, names and shapes, and of arrays for a purpose."""

import copy
import difflib
import inspect
import math
import numbers
import os
import pathlib
from collections.abc import Iterable

import numpy as np

from .arrays import real_array
from .brief import shown

# -- numbers and flags -----------------------------------------------------------------------------


def real_number(value, name):
    """Return `value` as a float; TypeError unless it is real, ValueError unless it is finite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        value = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be below 1e308, got {shown(value)}") from None
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return value


def positive_number(value, name, largest=np.inf):
    """Return `value` as a float with 0 < value <= largest; TypeError or ValueError otherwise."""
    value = real_number(value, name)
    if value <= 0:
        raise ValueError(f"{name} must be above 0, got {value}")
    if value > largest:
        raise ValueError(f"{name} must be at most {largest:g}, got {value}")
    return value


def non_negative(value, name):
    """Return `value` as a finite float from 0; TypeError or ValueError otherwise."""
    return number_in(value, name, 0, np.inf)


def positive_weights(value, name):
    """Return `value`, above 0, as a float, or an array (C,) with one for each output."""
    if np.ndim(value) == 0:
        return positive_number(plain(value), name)
    value = real_array(value, name).astype(float)
    if value.ndim != 1 or not value.size:
        raise ValueError(f"{name} must be a number or an array (C,), got shape {value.shape}")
    for entry in value:
        positive_number(float(entry), name)
    return value


def plain(value):
    """`value` as plain Python: an array without axes as its number, another as a list."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def number_in(value, name, low, high):
    """Return `value` as a float with low <= value < high; TypeError or ValueError otherwise."""
    value = real_number(value, name)
    if not low <= value < high:
        bounds = f"at least {low:g}" + ("" if high == np.inf else f" and below {high:g}")
        raise ValueError(f"{name} must be {bounds}, got {value}")
    return value


def fraction(value, name):
    """Return `value` as a float with 0 < value < 1; TypeError or ValueError otherwise."""
    value = real_number(value, name)
    if not 0 < value < 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {value:g}")
    return value


def interval(value, name):
    """Return `value` as two finite floats, the smaller first; TypeError or ValueError otherwise."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise TypeError(f"{name} must be two numbers (low, high), got {shown(value)}")
    low, high = (real_number(end, name) for end in value)
    if not low < high:
        raise ValueError(f"{name} must be two numbers, the smaller first, got {shown(value)}")
    return low, high


def whole_number(value, name, smallest):
    """Return `value` as an int of at least `smallest`; TypeError or ValueError otherwise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    if value < smallest:
        raise ValueError(f"{name} must be at least {smallest}, got {shown(int(value))}")
    return int(value)


def boolean(value, name):
    """Return `value` as a bool; TypeError unless it is one."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_l2(l2):
    """Return the factor of a penalty as a float from 0; TypeError or ValueError otherwise."""
    return l2 if type(l2) is float and 0 <= l2 < np.inf else non_negative(l2, "l2")


def increasing(value, name):
    """Return `value`, two or more increasing numbers, as floats."""
    value = real_array(value, name).astype(float)
    if value.ndim != 1 or len(value) < 2 or (np.diff(value) <= 0).any():
        raise ValueError(f"{name} must be two or more increasing numbers, got shape {value.shape}")
    return value


def require_bytes(what, shape, dtype, max_bytes, instead=None):
    """Raise MemoryError if an array of this shape is larger than `max_bytes`."""
    real = isinstance(max_bytes, numbers.Real) and not isinstance(max_bytes, (bool, np.bool_))
    if not (real and max_bytes > 0):
        raise ValueError(f"max_bytes must be a positive number of bytes, got {shown(max_bytes)}")
    need = int(np.prod([int(n) for n in shape], dtype=object)) * np.dtype(dtype).itemsize
    if need > max_bytes:
        raise MemoryError(f"{what} of shape {tuple(shape)} needs {need:,} bytes "
                          f"({need / 2**30:.2f} GiB); the limit is "
                          + (f"max_bytes={max_bytes:,}, which the caller may raise"
                             if instead is None else f"{max_bytes:,}: {instead}"))


class Checked:
    """An attribute that is what ``check(value, name, *arguments)`` returns, whenever it is set."""

    def __init__(self, check, *arguments):
        self.check, self.arguments = check, arguments

    def __set_name__(self, cls, name):
        self.name = name

    def __set__(self, instance, value):
        instance.__dict__[self.name] = self.check(value, self.name, *self.arguments)


# -- names and kinds -------------------------------------------------------------------------------


def close_matches(name, names, cutoff=0.6):
    """At most three of `names` that are close to `name`, in capitals or not, the closest first."""
    by_lower = {str(known).lower(): known for known in names}
    close = difflib.get_close_matches(str(name)[:100].lower(), by_lower, n=3, cutoff=cutoff)
    return [by_lower[one] for one in close]


def did_you_mean(name, names, cutoff=0.6):
    """``"did you mean 'this' or 'that'? "`` with the names close to `name`; empty without any."""
    close = close_matches(name, names, cutoff)
    return f"did you mean {' or '.join(map(repr, close))}? " if close else ""


def lookup(table, name, what):
    """Return ``table[name]``; an error tells close matches. `what` is the argument's name."""
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a string, got {type(name).__name__}")
    if name in table:
        return table[name]
    raise ValueError(f"unknown {what} {shown(name)}: {did_you_mean(name, table)}choose from "
                     f"{', '.join(table)}")


def one_of(names, name, what):
    """Return `name` if it is one of `names`; raises as :func:`lookup` does."""
    return lookup({choice: choice for choice in names}, name, what)


def instance_of(value, cls, name):
    """Return `value`; TypeError unless it is an instance of `cls`, or of one of a tuple of them."""
    if not isinstance(value, cls):
        cls = cls[0] if isinstance(cls, tuple) else cls
        article = "an" if cls.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {cls.__name__}, got {shown(value)}")
    return value


def instance_with(value, methods, expected):
    """Return `value`; TypeError, with `expected` and what it lacks, unless it has these methods."""
    missing = [name for name in methods if not callable(getattr(value, name, None))]
    if isinstance(value, type) or missing:
        some = not isinstance(value, type) and len(missing) < len(methods)
        lacks = f", which lacks {', '.join(missing)}" if some else ""
        raise TypeError(f"{expected}, got {shown(value)}{lacks}")
    return value


def classes(value, name):
    """Return classes as a tuple; TypeError unless it is a sequence of classes."""
    if not isinstance(value, Iterable) or isinstance(value, (str, type)):
        raise TypeError(f"{name} must be a sequence of classes, got {shown(value)}")
    value = tuple(value)
    for cls in value:
        if not isinstance(cls, type):
            raise TypeError(f"{name} must hold classes, got {shown(cls)}")
    return value


def executor(value, batch_size):
    """Return an executor or None; TypeError without ``submit``, ValueError without a batch size."""
    if value is None:
        return None
    if isinstance(value, type) or not callable(getattr(value, "submit", None)):
        raise TypeError("executor must be a concurrent.futures.Executor, or have its submit(), got "
                        f"{shown(value)}")
    if batch_size is None:
        raise ValueError("executor needs batch_size, the number of samples that it is handed at a "
                         "time")
    return value


def function_of(value, name, count, what):
    """Return `value`; TypeError unless it takes `count` arguments. `what` says what it is."""
    if not callable(value):
        raise TypeError(f"{name} must be {what}, got {shown(value)}")
    if inspect.isgeneratorfunction(value) or inspect.iscoroutinefunction(value):
        raise TypeError(f"{name} must be {what}; {shown(value)} is a generator or coroutine, "
                        "of which a call runs nothing")
    try:
        signature = inspect.signature(value)
    except ValueError:  # some functions written in C do not tell
        return value
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        raise TypeError(f"{name} must be {what}; {shown(value)} does not take {count} arguments: "
                        f"{error}") from None
    return value


def path(value, name):
    """Return `value` as a Path; TypeError unless it is a text or a path, ValueError if empty."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a path, got {shown(value)}")
    if not str(value):
        raise ValueError(f"{name} must be a path, got an empty text")
    return pathlib.Path(value)


# -- shapes and dtypes -----------------------------------------------------------------------------


def shape(value, name):
    """Return a sample's shape as a tuple; TypeError or ValueError unless whole numbers above 0."""
    if isinstance(value, str) or not (hasattr(value, "__len__")
                                      or isinstance(value, numbers.Integral)):
        raise TypeError(f"{name} must be a tuple of whole numbers, got {shown(value)}")
    sizes = tuple(value) if hasattr(value, "__len__") else (value,)
    if not sizes:
        raise ValueError(f"{name} must be a tuple of at least one whole number, got {shown(value)}")
    return tuple(whole_number(n, name, 1) for n in sizes)


def shapes_alike(input_shape, output_shape):
    """Return two shapes, each as :func:`shape` does; ValueError unless they have the same size."""
    before, after = shape(input_shape, "input_shape"), shape(output_shape, "output_shape")
    if math.prod(before) != math.prod(after):
        raise ValueError(f"input_shape {before} and output_shape {after} have different numbers of "
                         "entries")
    return before, after


def widths(value, name):
    """Return the widths of a network's layers as a list, of two numbers at least."""
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a sequence of integers, got {shown(value)}")
    value = list(value)
    if len(value) < 2:
        raise ValueError(f"{name} needs at least an input and an output width, got {shown(value)}")
    return value


DTYPES = ("float64", "float32", "complex128")  # the last for the complex step


def network_dtype(value):
    """Return `value` as a dtype; ValueError unless its name is one of `DTYPES`."""
    try:
        name = np.dtype(value).name
    except TypeError:
        name = None
    if name not in DTYPES:
        raise ValueError(f"dtype must be 'float64' or 'float32', got {shown(value)}")
    return np.dtype(name)


# -- arrays ----------------------------------------------------------------------------------------


def initial_values(value, shape):
    """Return what an initialiser made as an array of finite real numbers of this shape."""
    value = np.asarray(value)
    if value.dtype.kind not in "biuf" or value.shape != shape or not np.isfinite(value).all():
        raise ValueError(f"init must return finite real numbers of shape {shape}, got "
                         f"{value.dtype} of shape {value.shape}")
    return value


def own_array(array, shape, dtype, name):
    """Return `array`, to be written to: of this shape and dtype, and not read-only."""
    instance_of(array, np.ndarray, name)
    if array.shape != tuple(shape):
        raise ValueError(f"{name} has shape {array.shape}, expected {tuple(shape)}")
    if array.dtype != dtype:
        raise TypeError(f"{name} must hold {dtype}, got {array.dtype}")
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only: pass a copy")
    return array


def converted(array, dtype, name):
    """Return a copy of `array` in `dtype`; ValueError if it holds numbers too large for that."""
    with np.errstate(over="ignore"):
        result = np.array(array, dtype=dtype, order="C")
    if np.isinf(result).any() and not np.isinf(array).any():
        raise ValueError(f"{name} holds numbers too large for {np.dtype(dtype)}")
    return result


def copied(value, what):
    """Return a deep copy of `value`; TypeError, named, if it holds what cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception as error:  # whatever an author's own class raises
        raise TypeError(f"{what} must be something that copy.deepcopy can copy, so that later "
                        f"changes of it have no effect; for this {type(value).__name__} it raises "
                        f"{type(error).__name__}: {error}") from error
