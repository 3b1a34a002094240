"""Value and slope of the activation functions in one loop; the curvature in one of its own, where
it is asked for. All arrays are flat.

Tanh, sigmoid and softplus come from e = exp(-|x|) or q = exp(-2 |x|): slopes and curvatures keep
their relative accuracy in both tails.
"""

import math

from .compiling import elementwise, loop
from .exponential import exp_parts, log1p


@loop
def leaky(x, below, y, slope):
    """slope_j = 1 where x_j > 0, else `below`; y_j = slope_j x_j"""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for j in range(x.size):
        slope[j] = one if x[j] > zero else below
        y[j] = x[j] * slope[j]


@elementwise
def tanh(x, y, slope):
    """y_j = sign(x_j) (1 - q) / (1 + q); slope_j = sech(x_j)^2 = 4 q / (1 + q)^2"""
    zero, one, minus_two, four = (x.dtype.type(0), x.dtype.type(1), x.dtype.type(-2),
                                  x.dtype.type(4))
    for j in range(x.size):
        m, high, low = exp_parts(minus_two * abs(x[j]))
        scale = high * low
        q = (one + m) * high * low
        t = ((one - scale) - scale * m) / (one + q)  # 1 - q = (1 - 2^k) - 2^k m
        y[j] = -t if x[j] < zero else t
        slope[j] = four * (one + m) * high * low / ((one + q) * (one + q))


@elementwise
def sigmoid(x, y, slope):
    """y_j = 1 / (1 + exp -x_j); slope_j = e / (1 + e)^2"""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for j in range(x.size):
        m, high, low = exp_parts(-abs(x[j]))
        e = (one + m) * high * low
        y[j] = (e if x[j] < zero else one) / (one + e)
        slope[j] = e / ((one + e) * (one + e))


@elementwise
def softplus(x, y, slope):
    """y_j = max(x_j, 0) + log(1 + e); slope_j = 1 / (1 + exp -x_j)"""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for j in range(x.size):
        m, high, low = exp_parts(-abs(x[j]))
        e = (one + m) * high * low
        y[j] = (zero if x[j] < zero else x[j]) + log1p(e)
        slope[j] = (e if x[j] < zero else one) / (one + e)


@loop
def sin(x, y, slope):
    """y_j = sin x_j, slope_j = cos x_j"""
    for j in range(x.size):
        y[j] = math.sin(x[j])
        slope[j] = math.cos(x[j])


@elementwise
def one_sided(v, times, one):
    """times e (1 - e) / (1 + e)^3 with e = exp(v), v <= 0, a multiple of the logistic function's
    second derivative at v, which keeps its root at v = 0.

    w = 1 + e is rounded by d; w^2 (w + 3 d) is the cube of what was meant. In the tail the multiple
    is taken before e loses digits.
    """
    m, high, low = exp_parts(v)
    scale = high * low
    w = one + (one + m) * high * low
    d = (one + m) * high * low - (w - one)
    large = times * (one + m) * high * low
    return large * ((one - scale) - scale * m) / (w * w * (w + (d + d + d)))


@elementwise
def tanh_curvature(x, curvature):
    """curvature_j = -2 tanh(x_j) sech(x_j)^2 = -sign(x_j) 8 q (1 - q) / (1 + q)^3"""
    zero, one, minus_two, eight = (x.dtype.type(0), x.dtype.type(1), x.dtype.type(-2),
                                   x.dtype.type(8))
    for j in range(x.size):
        c = one_sided(minus_two * abs(x[j]), eight, one)
        curvature[j] = c if x[j] < zero else -c


@elementwise
def sigmoid_curvature(x, curvature):
    """curvature_j = -sign(x_j) e (1 - e) / (1 + e)^3"""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for j in range(x.size):
        c = one_sided(-abs(x[j]), one, one)
        curvature[j] = c if x[j] < zero else -c


@elementwise
def softplus_curvature(x, curvature):
    """curvature_j = e / (1 + e)^2, which keeps both tails, as slope_j (1 - slope_j) does not"""
    one = x.dtype.type(1)
    for j in range(x.size):
        m, high, low = exp_parts(-abs(x[j]))
        e = (one + m) * high * low
        curvature[j] = e / ((one + e) * (one + e))


@loop
def bent(y_bar_tangent, slope, y_bar, curvature, x_tangent, x_bar_tangent):
    """x_bar_tangent_j = y_bar_tangent_j slope_j + y_bar_j curvature_j x_tangent_j, for some
    directions one behind the other
    """
    for k in range(0, x_bar_tangent.size, slope.size):
        for j in range(slope.size):
            x_bar_tangent[k + j] = (y_bar_tangent[k + j] * slope[j]
                                    + y_bar[j] * curvature[j] * x_tangent[k + j])
