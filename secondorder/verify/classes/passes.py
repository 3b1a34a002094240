"""The passes of a layer as its author writes them, and as the checker speaks of them.

The checker has one flat vector of all trainable parameters and its tangent. An author's pass gets
one array for each declared parameter and returns such arrays, in the order of `declare`; a layer
that is made of others has a flat vector for each of these. `run` stands between the two.
"""

import copy

import numpy as np

from ...nets import Layer
from ...nets.layers.pieces import Moved

#: What a pass takes as the checker speaks of it, after `saved`.
PASSES = {"forward": ("x",),
          "backward": ("y_bar",),
          "tangent": ("x_tangent", "theta_tangent"),
          "parameter_gradients": ("y_bar",),
          "second_tangent": ("x_tangent", "x_second", "theta_tangent"),
          "backward_tangent": ("x_tangent", "theta_tangent", "y_bar", "y_bar_tangent"),
          "input_hessian": ("y_bar", "H_y")}
#: How to call what a pass returns for the input.
RESULTS = {"backward": "x_bar", "tangent": "y_tangent", "second_tangent": "y_second",
           "backward_tangent": "x_bar_tangent", "input_hessian": "H_x"}
#: Passes that return something for the input, then an array for each parameter.
PAIRS = ("backward", "backward_tangent")


class Unusable(Exception):
    """What a pass returned is not what it has to return: what is wrong, what came, a hint."""


def written(layer):
    """The passes that the layer's class writes itself."""
    needs_none = not (layer.parameters or layer.children)
    return [name for name in PASSES if getattr(type(layer), name) is not getattr(Layer, name)
            or (name == "parameter_gradients" and needs_none)]


def parameter_arrays(layer, trainable=None):
    """(name, array) of all parameters of a layer and its sublayers, or of those (not) trainable."""
    layers = list(layer.sublayers())
    return [(name if len(layers) == 1 else f"sublayer{position}.{name}", value)
            for position, inner in enumerate(layers)
            if trainable is None or bool(inner.trainable) == trainable
            for name, value in inner.parameters.items()]


def slots(layer):
    """(name, place in the flat vector or None, shape) of what a pass gets and returns."""
    own = [(name, value.shape) for name, value in layer.parameters.items()]
    inside = [(f"layer {number} inside", (child.size,))
              for number, child in enumerate(layer.children)]
    return [(name, cut and slice(*cut[:2]), shape)
            for (name, shape), cut in zip(own + inside, layer.cuts)]


def run(layer, name, saved, args, call=None):
    """One pass with the checker's arguments: (for the input, arrays for what is trained) of a pair,
    such arrays of `parameter_gradients`, else one array. Anything else is `Unusable`.
    """
    call = call or (lambda function, names, given: function(*given))
    given, names = _as_written(layer, name, saved, args)
    result = call(getattr(layer, name), ("saved", *names), (saved, *given))
    if result is None:
        raise Unusable("returns None", "", "is its return missing?")
    if name in PAIRS:
        first, *bars = _parts(layer, result, RESULTS[name])
        return first, bars
    if name == "parameter_gradients":
        return _parts(layer, result)
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
    others = [other for other in PASSES[name] if other not in ("x_tangent", "theta_tangent")]
    return (moved, *[named[other] for other in others]), ("moved", *others)


def left(layer, saved, x_tangent, pieces):
    """What `tangent` leaves for the way back; None if it leaves nothing, or does not run."""
    try:  # with copies: what it changes in place is told where it is judged itself
        result = layer.tangent(*copy.deepcopy((saved, x_tangent, *pieces)))
    except Exception:  # `tangent` is judged on its own
        return None
    return result[1] if isinstance(result, tuple) and len(result) == 2 else None


def _pieces(layer, vector):
    """A flat vector (..., P) as one array for each parameter; zeros or None for what is still."""
    dtype = next((value.dtype for _, value in parameter_arrays(layer)), np.float64)

    def zeros(shape):
        return None if layer.many_directions else np.zeros(shape, dtype)
    return tuple(zeros(shape) if vector is None or place is None
                 else vector[..., place].reshape(vector.shape[:-1] + shape)
                 for _, place, shape in slots(layer))


def _parts(layer, result, first=None):
    """The arrays returned for what is trained, after one for the input if `first` is its name."""
    places, parts = slots(layer), (result,) if isinstance(result, np.ndarray) else result
    lead = [first] * bool(first)
    if first and isinstance(parts, (tuple, list)) and len(parts) == 2 and isinstance(
            parts[1], (tuple, list)):
        parts = (parts[0], *parts[1])  # x_bar, [w_bar, b_bar]
    kept = [True] * len(lead) + [place is not None for _, place, _ in places]
    if (not isinstance(parts, (tuple, list)) or len(parts) != len(kept)
            or (first and not places and parts[0] is result)
            or not all(isinstance(part, (np.ndarray, np.generic))
                       for part, needed in zip(parts, kept) if needed)):
        names = ", ".join([*lead, *[f"an array for {name}" for name, *_ in places]]) or "nothing"
        hint = ("arrays stand one after the other, in the order of declare" if places else
                f"return ({first},), with a comma: arrays for parameters would follow" if first
                else "")
        raise Unusable(f"must return {names}", f"it returned {_said(result)}", hint)
    return [np.asarray(part) for part, needed in zip(parts, kept) if needed]


def _said(result):
    """What something is, in words."""
    if isinstance(result, (tuple, list)):
        return f"a {type(result).__name__} ({', '.join(_said(part) for part in result[:5])})"
    return "None" if result is None else f"a {type(result).__name__}"


def flat(bars, lead=0):
    """Arrays for the parameters as one vector (..., P), `lead` axes in front."""
    if not bars:
        return np.zeros(0)
    return np.concatenate([bar.reshape(*bar.shape[:lead], -1) for bar in bars], axis=-1)


def labelled(layer, name, result):
    """(what it is, array) for every array that a pass returns, of samples or summed over them."""
    kept = [slot for slot, place, _ in slots(layer) if place is not None]
    if name in PAIRS:
        return [(RESULTS[name], result[0]),
                *((f"{slot} part", bar) for slot, bar in zip(kept, result[1]))]
    if name == "parameter_gradients":
        return [(f"{slot} rows", bar) for slot, bar in zip(kept, result)]
    return [(RESULTS[name], result)]
