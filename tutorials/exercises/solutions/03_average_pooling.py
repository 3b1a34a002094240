"""Solution of exercise 03_average_pooling, with usual mistakes."""

import numpy as np


def up_pooling(layer, saved, u):
    """Total gradient above a pooling layer: u like its input, returns it like its output.

    `layer.tangent(saved, u)` is the layer's linear map applied to u.
    """
    return layer.tangent(saved, u)


def mistake_1(layer, saved, u):
    return np.prod(np.broadcast_to(layer.kernel_size, 2)) * layer.tangent(saved, u)


def mistake_2(layer, saved, u):
    return layer.forward(saved.input)[0]


def mistake_3(layer, saved, u):
    return u


WRONG = [
    (mistake_1,
     "an average over K entries moves by the average of their moves, not by the sum"),
    (mistake_2,
     "what is pooled is how far units can move, not what they are"),
    (mistake_3,
     "the result has the shape of the layer's output: u must be pooled"),
]
