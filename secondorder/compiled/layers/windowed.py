"""Convolutions and poolings in a walk: which of their functions a pass calls.

`kind` and `size` are a layer's, its row of the table and of the table of sizes (see
:mod:`secondorder.compiled.kinds`). Batches are matrices; W and V are vectors; `chosen` is what
maxima keep; `room` is for a turn of windows.
"""

from ..compiling import inlined
from ..kinds import CONVOLUTION, MAX_POOL
from .convolution import (convolution_forward, convolution_input_gradient,
                          convolution_input_gradient_tangent, convolution_parameter_gradient,
                          convolution_parameter_gradient_tangent, convolution_parameter_gradients,
                          convolution_tangent)
from .pooling import (average_pool_forward, average_pool_input_gradient, max_pool_forward,
                      max_pool_input_gradient, max_pool_tangent)


@inlined
def kernels(W, size, y):
    """The matrix (O, C K K) of a vector of weights."""
    return W.reshape(y.shape[1] // (size[3] * size[4]), -1)


@inlined
def windowed_forward(kind, size, x, W, b, y, chosen, room):
    if kind == CONVOLUTION:
        convolution_forward(x, kernels(W, size, y), b, size, y, room)
    elif kind == MAX_POOL:
        max_pool_forward(x.reshape(-1), size, y.reshape(-1), chosen)
    else:
        average_pool_forward(x.reshape(-1), size, y.reshape(-1))


@inlined
def windowed_input_gradient(kind, size, y_bar, W, chosen, x_bar, room):
    if kind == CONVOLUTION:
        convolution_input_gradient(y_bar, kernels(W, size, y_bar), size, x_bar, room)
    elif kind == MAX_POOL:
        max_pool_input_gradient(y_bar.reshape(-1), chosen, size, x_bar.reshape(-1))
    else:
        average_pool_input_gradient(y_bar.reshape(-1), size, x_bar.reshape(-1))


@inlined
def windowed_parameter_gradient(kind, size, y_bar, x, W_bar, b_bar, room):
    if kind == CONVOLUTION:
        convolution_parameter_gradient(y_bar, x, size, kernels(W_bar, size, y_bar), b_bar, room)


@inlined
def windowed_parameter_gradients(kind, size, y_bar, x, rows, W, b, n_b, room):
    if kind == CONVOLUTION:
        return convolution_parameter_gradients(y_bar, x, size, rows, W, b, n_b, room)
    return True


@inlined
def windowed_tangent(kind, size, moves, x_tangent, x, W, V, c, chosen, y_tangent, room):
    """Poolings have one only where the input moves."""
    if kind == CONVOLUTION:
        convolution_tangent(moves, x_tangent, x, kernels(W, size, y_tangent),
                            kernels(V, size, y_tangent), c, size, y_tangent, room)
    elif not moves:
        y_tangent[:] = y_tangent.dtype.type(0)
    elif kind == MAX_POOL:
        max_pool_tangent(x_tangent.reshape(-1), chosen, size, y_tangent.reshape(-1))
    else:
        average_pool_forward(x_tangent.reshape(-1), size, y_tangent.reshape(-1))


@inlined
def windowed_gradient_tangent(kind, size, moves, x_tangent, x, y_bar_tangent, y_bar, W, V, chosen,
                              W_bar_tangent, b_bar_tangent, x_bar_tangent, room):
    """What reaches the input only where the input moves."""
    if kind == CONVOLUTION:
        convolution_parameter_gradient_tangent(
            moves, x_tangent, y_bar_tangent, y_bar, x, size, kernels(W_bar_tangent, size, y_bar),
            b_bar_tangent, room)
        if moves:
            convolution_input_gradient_tangent(y_bar_tangent, y_bar, kernels(W, size, y_bar),
                                               kernels(V, size, y_bar), size, x_bar_tangent, room)
    elif moves:
        windowed_input_gradient(kind, size, y_bar_tangent, W, chosen, x_bar_tangent, room)
