"""What a run is made of, in plain values: two runs are the same where these agree."""

import hashlib
import weakref

import numpy as np

from ..nets import Network
from ..optimizers.schedules import Constant

NUMBERS = "numbers"  # the entry that no reader can tell apart: a digest
#: Attributes that hold what a run changes, or that are found under another name.
APART = {"parameters", "children", "chain", "details", "steps", "_all", "_theta", "_settled",
         "_owner"}
DEEPEST = 12  # an object may hold itself


def facts(optimizer):
    """The optimizer with its network, its loss and its base, but for their memory and for the
    parameters: these are what a run changes.
    """
    network = optimizer.network
    return described(optimizer) | {"fixed parameters": fingerprint(*network.fixed_parameters())}


def described(value, depth=0):
    """A value in JSON's kinds: an array by its digest, an object by its class and attributes.

    Of a function there is the name alone: whether its code is the same is not known.
    """
    value = value.rate if isinstance(value, Constant) else value
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        return fingerprint(value)
    if isinstance(value, float) and value != value:
        return "nan"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "__qualname__"):  # a function or a class
        return value.__qualname__
    if depth == DEEPEST or not hasattr(value, "__dict__") and not isinstance(
            value, (list, tuple, dict)):
        return str(value) if isinstance(value, np.dtype) else type(value).__qualname__
    if isinstance(value, (list, tuple)):
        return [described(entry, depth + 1) for entry in value]
    entries = value if isinstance(value, dict) else attributes(value)
    return {str(name): described(entry, depth + 1) for name, entry in entries.items()}


def attributes(thing):
    """Class and attributes of an object, without memory and parameters; a name that begins with an
    underscore without it.
    """
    own = {name: value for name, value in vars(thing).items()
           if name not in APART | set(getattr(thing, "state_names", ()))
           and not isinstance(value, weakref.ref)}
    if isinstance(thing, Network):
        own["layers"] = thing.layers
    own = {"learning_rate" if name == "schedule" else name.lstrip("_"): value
           for name, value in own.items()}
    return {"class": type(thing).__qualname__} | own


def fingerprint(*arrays):
    """What tells arrays from others that differ in any bit, in shape or in dtype."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str};".encode())
        digest.update(np.ascontiguousarray(array).data)
    return {"shapes": [list(array.shape) for array in arrays],
            "dtypes": [array.dtype.name for array in arrays], NUMBERS: digest.hexdigest()[:32]}


def require_same(now, then, path):
    """ValueError, which names the first entry in which they differ, unless a run is what was
    written.
    """
    difference = _difference(now, then)
    if difference is not None:
        name, mine, written = difference
        raise ValueError(f"checkpoint {path}: was made with {name} {written}, not {mine}; a run "
                         "goes on only with everything as it was")


def _difference(mine, written, name=""):
    """Name and both texts of the first entry in which two facts differ, or None."""
    if mine == written:
        return None
    if isinstance(mine, dict) and isinstance(written, dict):
        names = dict.fromkeys([*mine, *written])
        pairs = [(f"{name}'s {key}" if name else key, mine.get(key), written.get(key))
                 for key in names]
    elif _holds_facts(mine) and _holds_facts(written) and len(mine) == len(written):
        pairs = [(f"{name}[{place}]", *pair) for place, pair in enumerate(zip(mine, written))]
    elif name.endswith(f"'s {NUMBERS}"):
        return name, "these", "other than these"
    else:
        return name, repr(mine), repr(written)
    return next(filter(None, (_difference(one, other, entry) for entry, one, other in pairs)))


def _holds_facts(value):
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
