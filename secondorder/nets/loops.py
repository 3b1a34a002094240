"""Compiled lines of the activation functions: what stands between NumPy's exp, log1p and tanh,
which are faster than any loop.

Twins: the NumPy lines beside the calls in `secondorder.nets.layers.activation_functions`, which do
the same for small, complex and scattered arrays.
"""

from ..compiled import compiled


@compiled
def minus_size(x, out):
    """out = -|x|"""
    for i in range(x.size):
        out[i] = -abs(x[i])


@compiled
def logistic(x, e, value, slope):
    """The logistic function and its derivative, from e = exp(-|x|)."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.size):
        whole = e[i] + one
        value[i] = (e[i] if x[i] < zero else one) / whole
        slope[i] = e[i] / (whole * whole)


@compiled
def logistic_curvature(value, slope, curvature):
    """curvature = slope (1 - 2 value)"""
    one, minus_two = value.dtype.type(1), value.dtype.type(-2)
    for i in range(value.size):
        curvature[i] = (value[i] * minus_two + one) * slope[i]


@compiled
def add_part_above_zero(x, value):
    """value += max(x, 0)"""
    zero = x.dtype.type(0)
    for i in range(x.size):
        value[i] += x[i] if x[i] > zero else zero


@compiled
def tanh_derivatives(value, slope, curvature):
    """slope = sech^2 with sech = 2 e / (1 + e^2), from e = exp(-|x|) in slope's place;
    curvature = -2 value slope
    """
    one, two, minus_two = value.dtype.type(1), value.dtype.type(2), value.dtype.type(-2)
    for i in range(value.size):
        e = slope[i]
        sech = two * e / (one + e * e)
        t = sech * sech
        slope[i] = t
        curvature[i] = value[i] * t * minus_two


@compiled
def leaky(x, below, value, slope):
    """value = x and slope = 1 where x > 0, else below x and below."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.size):
        t = one if x[i] > zero else below
        slope[i] = t
        value[i] = x[i] * t
