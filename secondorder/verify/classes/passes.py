"""The passes of a layer as its author writes them, and as the checker speaks of them.

The checker has one flat vector of all trainable parameters and its tangent. An author's pass gets
one array for each declared parameter and returns such arrays, in the order of `declare`; a layer
that is made of others has a flat vector for each of these. `run` stands between the two.
"""

import copy

import numpy as np

from ...nets import Layer
from ...nets.layers.base import Moved

#: What a pass takes as the checker speaks of it, after `saved`.
PASSES = {"forward": ("x",),
          "backward": ("y_bar",),
          "tangent": ("x_tangent", "theta_tangent"),
          "parameter_gradients": ("y_bar",),
          "second_tangent": ("x_tangent", "x_second", "theta_tangent"),
          "backward_tangent": ("x_tangent", "theta_tangent", "y_bar", "y_bar_tangent"),
          "input_hessian": ("y_bar", "H_y")}
#: Passes that return something for the input, then an array for each parameter.
PAIRS = ("backward", "backward_tangent")


class Unusable(Exception):
    """What a pass returned is not what it has to return: what is wrong, what came, a hint."""


def written(layer):
    """The passes that the layer's class writes itself; without parameters there are no gradients of
    them to write.
    """
    needs_none = not (layer.parameters or layer.children)
    return [name for name in PASSES if getattr(type(layer), name) is not getattr(Layer, name)
            or (name == "parameter_gradients" and needs_none)]


def sublayers(layer):
    """A layer and the layers inside it."""
    return list(layer.sublayers())


def parameter_arrays(layer, trainable=None):
    """(name, array) of all parameters of a layer and its sublayers, or of those (not) trainable."""
    layers, named = sublayers(layer), []
    for position, inner in enumerate(layers):
        if trainable is None or bool(inner.trainable) == trainable:
            prefix = "" if len(layers) == 1 else f"sublayer{position}."
            named += [(prefix + name, value) for name, value in inner.parameters.items()]
    return named


def slots(layer):
    """(name, slice or None, shape) of every array that a pass gets and returns: a place in the flat
    vector, None for what is fixed.
    """
    found, start = [], 0
    for name, value in layer.parameters.items():
        stop = start + value.size * bool(layer.trainable)
        found.append((name, slice(start, stop) if layer.trainable else None, value.shape))
        start = stop
    for number, child in enumerate(layer.children):
        stop = start + child.size
        found.append((f"layer {number} inside", slice(start, stop) if child.size else None,
                      (child.size,)))
        start = stop
    return found


def run(layer, name, saved, args, call=None):
    """One pass with the checker's arguments; (for the input, arrays for what is trained) of a pair,
    such arrays of `parameter_gradients`, else one array.

    Raises
    ------
    Unusable
        If the pass returns anything else.
    """
    call = call or (lambda function, names, given: function(*given))
    given, names = _as_written(layer, name, saved, args)
    result = call(getattr(layer, name), ("saved", *names), (saved, *given))
    if result is None:
        raise Unusable("returns None", "", "is its return missing?")
    if name in PAIRS:
        return _pair(layer, name, result)
    if name == "parameter_gradients":
        return _kept(layer, name, result)
    if name == "tangent" and isinstance(result, tuple):
        result = result[0]
    if not isinstance(result, np.ndarray):
        raise Unusable("must return an array", f"it returned {_said(result)}", "")
    return result


def _as_written(layer, name, saved, args):
    """The arguments of a pass after `saved`, and their names."""
    named = dict(zip(PASSES[name], args))
    if "theta_tangent" not in named:
        return args, PASSES[name]
    x_tangent, pieces = named["x_tangent"], _pieces(layer, named["theta_tangent"])
    if name == "tangent":
        return (x_tangent, *pieces), ("x_tangent", *[f"the tangent of {slot[0]}"
                                                     for slot in slots(layer)])
    moved = Moved(x_tangent, pieces, left(layer, saved, x_tangent, pieces))
    if name == "second_tangent":
        return (moved, named["x_second"]), ("moved", "x_second")
    return (moved, named["y_bar"], named["y_bar_tangent"]), ("moved", "y_bar", "y_bar_tangent")


def left(layer, saved, x_tangent, pieces):
    """What `tangent` leaves for the way back; None if it leaves nothing, or does not run."""
    try:  # with copies: what it changes in place is told where it is judged itself
        result = layer.tangent(*copy.deepcopy((saved, x_tangent, *pieces)))
    except Exception:  # `tangent` is judged on its own
        return None
    return result[1] if isinstance(result, tuple) and len(result) == 2 else None


def _pieces(layer, vector):
    """A flat vector (..., P) as one array for each parameter; for what is zero or fixed, zeros, or
    None for a layer that takes None.
    """
    def zeros(shape):
        return None if layer.many_directions else np.zeros(shape, _dtype(layer))
    return tuple(zeros(shape) if vector is None or place is None
                 else vector[..., place].reshape(vector.shape[:-1] + shape)
                 for _, place, shape in slots(layer))


def _dtype(layer):
    return next((value.dtype for _, value in parameter_arrays(layer)), np.float64)


def _pair(layer, name, result):
    """x_bar, and the arrays for what is trained."""
    first = "x_bar" if name == "backward" else "x_bar_tangent"
    needed = ", ".join([first, *[f"an array for {slot[0]}" for slot in slots(layer)]])
    if isinstance(result, np.ndarray) and not slots(layer):
        raise Unusable(f"must return a tuple, ({first},)", "it returned the array alone",
                       f"return ({first},), with a comma: arrays for parameters would follow")
    if not isinstance(result, (tuple, list)) or not result:
        raise Unusable(f"must return {needed}", f"it returned {_said(result)}", "")
    if not isinstance(result[0], np.ndarray):
        raise Unusable(f"must return {needed}", f"the first part, {first}, is {_said(result[0])}",
                       "")
    bars = result[1:]
    if len(bars) == 1 and isinstance(bars[0], (tuple, list)):
        bars = bars[0]
    return result[0], _kept(layer, name, bars)


def _kept(layer, name, bars):
    """The arrays for what is trained, of those for all parameters."""
    places = slots(layer)
    names = ", ".join(slot[0] for slot in places) or "none"
    if isinstance(bars, dict) or (len(bars) == 1 and isinstance(bars[0], dict)):
        raise Unusable("returns a dict for the parameters", "",
                       f"return the arrays one after the other, in the order of declare: {names}")
    bars = (bars,) if isinstance(bars, np.ndarray) else bars
    if not isinstance(bars, (tuple, list)) or len(bars) != len(places):
        count = f"{len(bars)} for them" if isinstance(bars, (tuple, list)) else _said(bars)
        raise Unusable("must return one array for each parameter, in the order of declare: "
                       f"{names}", f"it returned {count}", "")
    for (slot, place, _), bar in zip(places, bars):
        if place is not None and not isinstance(bar, (np.ndarray, np.generic)):
            raise Unusable("must return arrays", f"the part for {slot} is {_said(bar)}", "")
    return [np.asarray(bar) for (_, place, _), bar in zip(places, bars) if place is not None]


def _said(result):
    """What something is, in words."""
    if isinstance(result, (tuple, list)):
        parts = ", ".join(_said(part) for part in result[:5])
        return f"a {type(result).__name__} ({parts})"
    return "None" if result is None else f"a {type(result).__name__}"


def flat(bars, lead=0):
    """Arrays for the parameters as one vector (..., P), `lead` axes in front."""
    if not bars:
        return np.zeros(0)
    return np.concatenate([bar.reshape(*bar.shape[:lead], -1) for bar in bars], axis=-1)
