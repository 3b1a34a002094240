"""Where the parameters of a layer stand in a network's flat vector."""

import numbers

from ..checks import lookup
from ..nets import Layer


def place(network, layer=None, parameter=None):
    """Slice of ``network.theta`` that holds a layer's parameters, or one of them.

    Parameters
    ----------
    network : Network
    layer : int or Layer, optional
        Number of a layer in ``network.layers``, activations counted, or one of the network's
        layers itself, however deep inside others. None: all parameters.
    parameter : str, optional
        ``"weight"``, ``"bias"``, or as the layer names it. None: all of the layer.

    Raises
    ------
    ValueError, TypeError
        No such layer or parameter, or none that is trained; `parameter` without `layer`.
    """
    if layer is None:
        if parameter is not None:
            raise ValueError(f"parameter={parameter!r} needs layer, whose parameter it is")
        return slice(0, network.size)
    layer = _layer_of(network, layer)
    if not layer.size:
        raise ValueError(f"layer: {layer!r} has no trainable parameters")
    start = _start(network, layer)
    if parameter is None:
        return slice(start, start + layer.size)
    lookup(layer.parameters, parameter, "parameter")
    if not layer.trainable:
        raise ValueError(f"parameter: the {parameter} of {layer!r} is not trained")
    for name, value in layer.parameters.items():
        if name == parameter:
            return slice(start, start + value.size)
        start += value.size
    return None


def _layer_of(network, layer):
    """A layer by its number, or itself if the network holds it."""
    layers = network.layers
    if isinstance(layer, Layer):
        if not any(inner is layer for inner in network.chain.sublayers()):
            raise ValueError(f"layer: {layer!r} is not in this network")
        return layer
    if isinstance(layer, bool) or not isinstance(layer, numbers.Integral):
        raise TypeError(f"layer must be a whole number or a Layer, got {layer!r}")
    if not -len(layers) <= layer < len(layers):
        raise ValueError(f"layer {layer} is out of range: the network has {len(layers)} layers, "
                         "counted from 0")
    return layers[layer]


def _start(network, layer):
    """How many parameters stand before those of a layer: a layer's own come before those inside."""
    start = 0
    for inner in network.chain.sublayers():
        if inner is layer:
            return start
        if inner.trainable:
            start += sum(value.size for value in inner.parameters.values())
    return start
