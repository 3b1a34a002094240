"""Solution of exercise 01_total_gradient, with usual mistakes."""

import numpy as np

from secondorder.papers.residual_partitioning.total_gradient import input_with_bias


def affine(layer, y, u):
    """Total gradient above an affine layer: y (S, in), u (S, in), returns (S, out).

    `input_with_bias(layer, y)` is y with a column in front: ones, or zeros without a bias.
    """
    from_weights = np.abs(input_with_bias(layer, y)).sum(axis=1, keepdims=True)
    from_below = u @ np.abs(layer.weight).T
    return from_weights + from_below if layer.trainable else from_below


def mistake_1(layer, y, u):
    from_weights = np.abs(y).sum(axis=1, keepdims=True)
    from_below = u @ np.abs(layer.weight).T
    return from_weights + from_below if layer.trainable else from_below


def mistake_2(layer, y, u):
    from_weights = np.abs(input_with_bias(layer, y)).sum(axis=1, keepdims=True)
    return from_weights + u @ layer.weight.T if layer.trainable else u @ layer.weight.T


def mistake_3(layer, y, u):
    from_weights = np.abs(input_with_bias(layer, y)).sum(axis=1, keepdims=True)
    return from_weights + u @ np.abs(layer.weight).T


WRONG = [
    (mistake_1,
     "the bias can move too: the first sum starts at j = 0"),
    (mistake_2,
     "changes may add up in any sign: the weights enter with their absolute value"),
    (mistake_3,
     "a layer that is not trained has no first sum: its own weights do not move"),
]
