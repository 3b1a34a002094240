"""Where the parameters of a layer stand in a network's flat vector."""

import numbers

from ..checks import lookup, shown
from ..nets import Chain, Layer, Skip


def parameter_slice(network, layer=None, parameter=None):
    """Slice of ``network.theta`` that holds the parameters of a layer, or one of them.

    `layer` and `parameter` are as :class:`CurvatureOperator` says; None means all. A layer may be
    deep inside others. ValueError or TypeError where there is no such layer or parameter, or none
    that is trained, and for a `parameter` without one layer.
    """
    if layer is None:
        if parameter is not None:
            raise ValueError(f"parameter={shown(parameter)} needs layer, whose parameter it is")
        return slice(0, network.size)
    if isinstance(layer, slice):
        return _slice_of_several(network, layer, parameter)
    if isinstance(layer, str):
        layer, parameter = _named(network, layer, parameter)
    layer = _layer_of(network, layer)
    if not layer.size:
        raise ValueError(f"layer: {shown(layer)} has no trainable parameters")
    start = _start(network, layer)
    if parameter is None:
        return slice(start, start + layer.size)
    lookup(layer.parameters, parameter, "parameter")
    if not layer.trainable:
        raise ValueError(f"parameter: the {parameter} of {shown(layer)} is not trained")
    for name, value in layer.parameters.items():
        if name == parameter:
            break
        start += value.size
    return slice(start, start + value.size)


def _slice_of_several(network, layers, parameter):
    """From the first parameter of the layers in a slice to the last."""
    if parameter is not None:
        raise ValueError(f"parameter={shown(parameter)} needs one layer, whose parameter it is, "
                         f"got {shown(layers)}")
    if layers.step not in (None, 1):
        raise ValueError(f"layer must be a slice of layers in a row, got {shown(layers)}")
    try:
        slices = network.slices[layers]
    except TypeError:
        raise TypeError(f"layer must be a slice of whole numbers, got {shown(layers)}") from None
    if not slices or slices[0].start == slices[-1].stop:
        raise ValueError(f"layer: there are no trainable parameters in {shown(layers)} of the "
                         f"{len(network.layers)} layers")
    return slice(slices[0].start, slices[-1].stop)


def _named(network, name, parameter):
    """The layer and the parameter that a name means: numbers, and perhaps a parameter's name."""
    *path, last = name.split(".")
    if not last.isdecimal():
        if parameter is not None:
            raise ValueError(f"layer={name!r} names a parameter, and so does "
                             f"parameter={shown(parameter)}")
        parameter = last
    else:
        path.append(last)
    layers, layer = network.layers, None
    for number in path:
        if not number.isdecimal() or int(number) >= len(layers):
            layer = None
            break
        layer = layers[int(number)]
        layers = layer.layers if isinstance(layer, (Chain, Skip)) else ()
    if layer is None:
        raise ValueError(f"layer: there is no {shown(name)} in this network of "
                         f"{len(network.layers)} layers; names count from 0: '2', '0.1' (layer 1 "
                         "inside layer 0), '2.weight'")
    return layer, parameter


def _layer_of(network, layer):
    """A layer by its number, or itself if the network holds it."""
    layers = network.layers
    if isinstance(layer, Layer):
        if not any(inner is layer for inner in network.chain.sublayers()):
            raise ValueError(f"layer: {shown(layer)} is not in this network")
        return layer
    if isinstance(layer, bool) or not isinstance(layer, numbers.Integral):
        raise TypeError("layer must be a whole number, a name, a slice or a Layer, got "
                        f"{shown(layer)}")
    if not -len(layers) <= layer < len(layers):
        raise ValueError(f"layer {layer} is out of range: the network has {len(layers)} layers, "
                         "counted from 0")
    return layers[layer]


def _start(network, layer):
    """How many parameters stand before a layer's; its own come before those of layers inside."""
    start = 0
    for inner in network.chain.sublayers():
        if inner is layer:
            return start
        if inner.trainable:
            start += sum(value.size for value in inner.parameters.values())
    return start
