"""What a run computes with, in plain values: a resumed run has to have the same.

A network, a loss and what stands in them are told by all that makes them compute what they do: a
class of the package by what its constructor takes, an author's class by its attributes too. Numbers
are told to the last bit, arrays by a digest. What has no plain description, a function for
instance, is told as such: whether it is the same cannot be known. Nor is the code of a class
compared.
"""

import hashlib
import inspect

import numpy as np

from ..nets import Network, saving
from ..nets.layers.base import Layer
from ..optimizers.settings import APART, settings

NUMBERS = "numbers"  # the entry that no reader can tell apart: a hash
_DEEPEST = 12
#: Attributes that do not decide what is computed, or are compared elsewhere.
_OF_THE_BASES = {"parameters", "children", "_owner", "chain", "_theta", "workspaces",
                 "settled"}


def fingerprint(*arrays):
    """What tells arrays from others that differ in any bit, in shape or in dtype."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str};".encode())
        digest.update(np.ascontiguousarray(array).data)
    return {"shapes": [list(array.shape) for array in arrays],
            "dtypes": [array.dtype.name for array in arrays], NUMBERS: digest.hexdigest()[:32]}


def computing(optimizer):
    """What an optimizer's network, its loss and it itself compute with: ``layers`` and
    ``criterion`` in plain values, and a list of what has no plain description.
    """
    untold, network = [], optimizer.network
    facts = {"layers": [_told(layer, f"layer {number}", untold)
                        for number, layer in enumerate(network.layers)],
             "criterion": _told(optimizer.loss, "the loss", untold)}
    if not _is_ours(type(network)):
        facts["kind of network"] = _told(network, "the network", untold)
    return facts, [*untold, *_settings_untold(optimizer)]


def _settings_untold(optimizer):
    """Settings that `optimizers.settings` leaves out, such as functions."""
    # `added`: left out by `settings` where it changes nothing
    known, name = {*settings(optimizer), *optimizer.added}, type(optimizer).__name__
    taken = inspect.signature(type(optimizer).__init__).parameters
    untold = [f"{argument} of {name}" for argument, given in list(taken.items())[1:]
              if argument not in {*known, *APART, *optimizer.state_names}
              and given.kind in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY)
              and (argument != "learning_rate" or optimizer.base is None)]
    return untold if optimizer.base is None else untold + _settings_untold(optimizer.base)


def _told(value, name, untold, depth=0):
    """One value in JSON's kinds, everything that it holds included."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):  # JSON knows no NaN, and 0 == -0
        return value if value == value and (value or str(value) == "0.0") else repr(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSU":
        return fingerprint(value)
    if isinstance(value, (complex, bytes, slice, range, np.dtype)):
        return repr(value)
    if depth == _DEEPEST or inspect.isroutine(value) or inspect.isclass(value):
        untold.append(name)
        return None
    if isinstance(value, (list, tuple)):
        return [_told(entry, f"{name}[{place}]", untold, depth + 1)
                for place, entry in enumerate(value)]
    if isinstance(value, dict):
        return {str(key): _told(entry, f"{name}[{key!r}]", untold, depth + 1)
                for key, entry in value.items()}
    entries = _attributes(value)
    if entries is None:
        untold.append(name)
        return {"class": type(value).__qualname__}
    return {"class": type(value).__qualname__} | {
        key: _told(entry, f"{key} of {name}", untold, depth + 1) for key, entry in entries.items()}


def _attributes(thing):
    """What makes an object compute what it does, by name; None where that cannot be known."""
    entries, cls = {}, type(thing)
    if isinstance(thing, Layer):
        entries["trainable"] = thing.trainable
    try:
        entries |= saving.arguments_of(thing)
        if _is_ours(cls):
            return entries
    except Exception:  # an argument is no attribute, or whatever an author's class raises
        pass
    slots = {str(name) for base in cls.__mro__
             for name in np.atleast_1d(vars(base).get("__slots__", ()))}
    if not hasattr(thing, "__dict__") and not hasattr(cls, "__slots__"):
        return None
    own = getattr(thing, "__dict__", {}) | {name: getattr(thing, name) for name in slots
                                            if hasattr(thing, name)}
    hidden = _OF_THE_BASES if isinstance(thing, (Layer, Network)) else ()
    return entries | {name: entry for name, entry in own.items() if name not in hidden}


def _is_ours(cls):
    return cls.__module__.partition(".")[0] == saving.PACKAGE
