"""A layer's flat vectors cut into its parameters, and put together; fixed layers have none."""

import numpy as np


def pieces(layer, vector):
    """The part of a flat vector (size,) for every parameter of a layer, in the order of their
    declaration; zeros where `vector` is None, which means zero, or the layer is not trained.
    """
    if vector is None or not layer.trainable:
        return [np.zeros_like(value) for value in layer.parameters.values()]
    return list(layer.split(vector))


def flat(layer, *gradients):
    """Gradients (..., *shape) in all parameters of a layer as one array (..., size); the
    parameters' shapes are taken off the end, and a layer that is not trained has an empty one.
    """
    rows = []
    for value, gradient in zip(layer.parameters.values(), gradients, strict=True):
        lead = gradient.shape[:gradient.ndim - value.ndim]
        rows.append(gradient.reshape(*lead, value.size))
    whole = np.concatenate(rows, axis=-1)
    return whole if layer.trainable else whole[..., :0]


def moving(tangent, like):
    """A tangent, or zeros like the array that it moves where it is None."""
    return np.zeros_like(like) if tangent is None else tangent
