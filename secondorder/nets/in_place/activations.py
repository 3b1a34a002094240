"""Twins of the jets: value, slope and curvature of an activation function together, in place.

A twin takes the twin of the `Activation` layer, whose arrays ``value``, ``slope`` and ``curvature``
it writes into, and x; it returns the three. Large arrays go through the compiled lines of
:mod:`secondorder.nets.loops`, which stand between NumPy's exp, log1p and tanh.
"""

import numpy as np

from ...checks import LARGE
from ..layers import LeakyReLU, ReLU, Sigmoid, Sin, Softplus, Tanh
from .base import Twins

jets = Twins(None)


def _suits_loops(x):
    """Whether the compiled lines of `loops` take an array: large, real, in one piece."""
    return x.size >= LARGE and x.dtype in (np.float32, np.float64) and x.flags.c_contiguous


def _flat(*arrays):
    return [array.reshape(-1) for array in arrays]


def _loops():
    # here, so that numba is loaded by the first large array, not by an import
    from .. import loops

    return loops


@jets.register(ReLU)
@jets.register(LeakyReLU)
def leaky(twin, x):
    below, value, slope = x.dtype.type(twin.function.negative_slope), twin.value, twin.slope
    if _suits_loops(x):
        _loops().leaky(*_flat(x), below, *_flat(value, slope))
    else:
        slope[...] = twin.function.slope(x)
        np.multiply(x, slope, out=value)
    return value, slope, twin.no_curvature


def _exp_minus_size(x, out):
    """exp(-|x|)"""
    if _suits_loops(x):
        _loops().minus_size(*_flat(x, out))
    else:
        np.minimum(x, np.negative(x, out=out), out=out)
    return np.exp(out, out=out)


@jets.register(Tanh)
def tanh(twin, x):
    s, slope, curvature = np.tanh(x, out=twin.value), twin.slope, twin.curvature
    e = _exp_minus_size(x, slope)
    if _suits_loops(x):
        _loops().tanh_derivatives(*_flat(s, slope, curvature))
    else:
        np.square(2 * e / (1 + e * e), out=slope)
        np.multiply(-2 * s, slope, out=curvature)
    return s, slope, curvature


def _logistic(x, e, s, slope):
    """The logistic function `s` and its derivative, from e = exp(-|x|)."""
    _exp_minus_size(x, e)
    if _suits_loops(x):
        _loops().logistic(*_flat(x, e, s, slope))
    else:
        whole = 1 + e
        np.divide(np.exp(np.minimum(x, 0)), whole, out=s)
        np.divide(e, whole * whole, out=slope)


@jets.register(Sigmoid)
def sigmoid(twin, x):
    s, slope, curvature = twin.value, twin.slope, twin.curvature
    _logistic(x, curvature, s, slope)
    if _suits_loops(x):
        _loops().logistic_curvature(*_flat(s, slope, curvature))
    else:
        np.multiply(slope, 1 - 2 * s, out=curvature)
    return s, slope, curvature


@jets.register(Softplus)
def softplus(twin, x):
    value, slope, curvature = twin.value, twin.slope, twin.curvature
    _logistic(x, value, slope, curvature)
    np.log1p(value, out=value)
    if _suits_loops(x):
        _loops().add_part_above_zero(*_flat(x, value))
    else:
        value += np.maximum(x, 0)
    return value, slope, curvature


@jets.register(Sin)
def sin(twin, x):
    value, slope, curvature = twin.value, twin.slope, twin.curvature
    np.sin(x, out=value)
    np.cos(x, out=slope)
    np.negative(value, out=curvature)
    return value, slope, curvature
