"""What an object was made with, in plain values that can be written down, compared and printed.

A class of this package is told by what its constructor takes, an author's class by its attributes
too; numbers to the last bit, arrays by a digest. What has no plain description, a function for
instance, is told as such: whether it is the same cannot be known. Nor is the code of a class
compared.
"""

import hashlib
import inspect

import numpy as np

from ..nets import Network, saving
from ..nets.layers.base import Layer
from .schedules import Constant

NUMBERS = "numbers"  # the entry that no reader can tell apart: a hash
APART = ("network", "loss", "l2", "base", "rng")  # told elsewhere, or drawn from once and kept
_DEEPEST = 12
#: Attributes that do not decide what is computed, or are compared elsewhere.
_OF_THE_BASES = {"parameters", "children", "_owner", "chain", "_theta", "workspaces", "settled"}


def fingerprint(*arrays):
    """What tells arrays from others that differ in any bit, in shape or in dtype."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str};".encode())
        digest.update(np.ascontiguousarray(array).data)
    return {"shapes": [list(array.shape) for array in arrays],
            "dtypes": [array.dtype.name for array in arrays], NUMBERS: digest.hexdigest()[:32]}


def computing(optimizer):
    """What an optimizer's network, its loss and it itself compute with: ``layers``, ``criterion``
    and ``optimizer`` in plain values, and a list of what has no plain description.
    """
    untold, network = [], optimizer.network
    facts = {"layers": [described(layer, f"layer {number}", untold)
                        for number, layer in enumerate(network.layers)],
             "criterion": described(optimizer.loss, "the loss", untold),
             "optimizer": settings(optimizer, untold)}
    if not _is_ours(type(network)):
        facts["kind of network"] = described(network, "the network", untold)
    return facts, untold


def given_arguments(cls, positional, named):
    """The arguments of a call of `cls` by name, defaults included, but for what stands elsewhere;
    empty if they do not fit (making the object says so).
    """
    signature = inspect.signature(cls.__init__)
    try:
        bound = signature.bind(None, *positional, **named)
    except TypeError:
        return {}
    bound.apply_defaults()
    given = {}
    for name, value in list(bound.arguments.items())[1:]:
        several = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        given |= value if several else {name: value}
    return {name: value for name, value in given.items() if name not in APART}


def settings(optimizer, untold):
    """An optimizer's settings: what it was made with, or was given since under the same name.

    Memory (`state_names`) is no setting: of a name that is both, the first value counts. Of a
    wrapper there is ``base`` too, with its ``method`` first.
    """
    values = {name: _present(optimizer, name, first) for name, first in optimizer._given.items()}
    values = {name: value for name, value in values.items()
              if name not in optimizer.added or optimizer.added[name] != value}
    values.pop("learning_rate", None)
    if optimizer.base is None:
        values = {"learning_rate": optimizer.schedule} | values
    of = type(optimizer).__name__
    told = {name: described(value, f"{name} of {of}", untold) for name, value in values.items()}
    if optimizer.base is None:
        return told
    base = {"method": type(optimizer.base).__name__} | settings(optimizer.base, untold)
    return {"base": base} | told


def _present(optimizer, name, first):
    """A setting as it is now; as it was given where the name is that of memory or of a method."""
    now = getattr(optimizer, name, first)
    return first if name in optimizer.state_names or inspect.ismethod(now) else now


def described(value, name, untold, depth=0):
    """One value in JSON's kinds, everything that it holds included; the `name` of what has no plain
    description joins the list `untold`.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, Constant):
        value = value.rate
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
        return [described(entry, f"{name}[{place}]", untold, depth + 1)
                for place, entry in enumerate(value)]
    if isinstance(value, dict):
        return {str(key): described(entry, f"{name}[{key!r}]", untold, depth + 1)
                for key, entry in value.items()}
    entries = _attributes(value)
    if entries is None:
        untold.append(name)
        return {"class": type(value).__qualname__}
    return {"class": type(value).__qualname__} | {
        key: described(entry, f"{key} of {name}", untold, depth + 1)
        for key, entry in entries.items()}


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
