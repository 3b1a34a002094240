"""Networks in files: their structure as JSON and their parameters as arrays, in one ``.npz``.

The structure says, layer by layer, the class and what its constructor takes. That is found without
a word from the layer: what a constructor takes is an attribute of the same name. (A class where
that is not so defines ``saved_arguments()``, a dict of them.) Nothing in a file is run: classes are
looked up by name in this package, or among those that the caller gives.
"""

import importlib
import inspect
import json

import numpy as np

from .. import checks, files
from .layers import ActivationFunction, Layer
from .network import Network

FORMAT = "secondorder network 2"
STRUCTURE = "structure"
WHAT = "a network that was saved"
PACKAGE = __name__.partition(".")[0]
DRAWN = {"rng": 0, "init": 0.0, "fixed_init": 0.0}  # decide numbers that the arrays replace


def save(network, path):
    """Write a network, its structure and all its parameters, to a file.

    Parameters
    ----------
    network : Network
    path : str or path
        Usually ends in ``.npz``; replaced whole or not at all. ``network.save(path)`` is the same.

    Raises
    ------
    TypeError, ValueError
        If it is no network, or an argument of a layer's constructor is not found, or is of a kind
        that JSON does not hold.
    OSError
        If the file cannot be written.
    """
    checks.instance_of(network, Network, "network")
    target, own = checks.path(path, "path"), type(network) is Network
    structure = {"format": FORMAT, "dtype": network.dtype.name,
                 "input_shape": list(network.input_shape),
                 "network": None if own else recipe_of(network),
                 "layers": [recipe_of(layer) for layer in network.layers] if own else None}
    arrays = {f"{number}.{name}": value for number, layer in enumerate(network.chain.sublayers())
              for name, value in layer.parameters.items()}
    files.write_arrays(target, **{STRUCTURE: np.array(json.dumps(structure))}, **arrays)


def load(path, classes=()):
    """Read a network that :func:`save` wrote.

    Parameters
    ----------
    path : str or path
    classes : sequence of type
        Classes of your own of which the file has layers, activation functions or networks. Their
        constructors are called with the arguments in the file. This package's classes are known.

    Returns
    -------
    Network

    Raises
    ------
    FileNotFoundError, OSError
        If there is nothing at `path`, or no file.
    ValueError
        If the file is damaged, or holds no network; the message names it.
    TypeError
        If the file holds a class that is neither of this package nor in `classes`.
    """
    path, known = checks.path(path, "path"), checks.classes(classes, "classes")
    try:
        arrays = files.read_arrays(path, WHAT)
        with files.damage_told(path, WHAT):
            structure = _structure(arrays)
            network = _built(structure, {cls.__name__: cls for cls in known})
            _fill(network, arrays)
    except FileNotFoundError:
        raise FileNotFoundError(f"no such file: {path}") from None
    except files.Damaged as error:
        if isinstance(error.__cause__, UnknownClass):
            raise TypeError(f"{path}: {error.__cause__}") from None
        raise
    return network


class UnknownClass(Exception):
    """A file names a class that is not known."""


# -- writing ---------------------------------------------------------------------------------------


def recipe_of(thing):
    """What makes a layer, an activation function or a network again, in JSON's own kinds."""
    cls = type(thing)
    arguments = {name: _packed(value, f"{name} of {thing!r}")
                 for name, value in arguments_of(thing).items()}
    entry = {"class": cls.__name__, "room": _room_of(cls), "arguments": arguments}
    return entry | {"trainable": thing.trainable} if isinstance(thing, Layer) else entry


def arguments_of(thing):
    """What the constructor of `thing` takes, by name, but for what only decides drawn numbers;
    TypeError if an argument is not found as an attribute.
    """
    if hasattr(thing, "saved_arguments"):
        return thing.saved_arguments()
    arguments = {}
    for name, given in inspect.signature(type(thing)).parameters.items():
        if name in DRAWN or given.kind in (given.VAR_POSITIONAL, given.VAR_KEYWORD):
            continue
        if not hasattr(thing, name):
            raise TypeError(f"{type(thing).__name__} cannot be saved: its constructor takes "
                            f"{name}, which is no attribute of it; keep it as self.{name}, or "
                            "define saved_arguments()")
        arguments[name] = _argument(thing, name)
    return arguments


def _argument(thing, name):
    """An attribute as the constructor takes it: a parameter as whether it is there."""
    if isinstance(inspect.getattr_static(type(thing), name, None), property) \
            and isinstance(thing, Layer) and (name in thing.parameters
                                              or getattr(thing, name) is None):
        return name in thing.parameters
    return getattr(thing, name)


def _packed(value, what):
    if isinstance(value, (Layer, ActivationFunction)):
        return recipe_of(value)
    if isinstance(value, (list, tuple)):
        return [_packed(entry, what) for entry in value]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{what} cannot be saved: it is a {type(value).__name__}, not a number, a "
                    "text, a layer, an activation function or a tuple of those")


def _room_of(cls):
    """The room of this package that offers a class, or None for one of the caller's own."""
    _, *parts = cls.__module__.split(".")
    if not parts:
        return None
    room = parts[1] if parts[0] == "papers" and len(parts) > 1 else parts[0]
    return room if _offered(room, cls.__name__) is cls else None


def _offered(room, name):
    """What a room of this package offers under a name, or None."""
    package = importlib.import_module(PACKAGE)
    if room not in package.__all__ or name not in getattr(getattr(package, room), "__all__", ()):
        return None
    return getattr(getattr(package, room), name)


# -- reading ---------------------------------------------------------------------------------------


def _structure(arrays):
    """The structure, taken from among the arrays; ValueError for another format."""
    structure = json.loads(arrays.pop(STRUCTURE).item())
    if structure["format"] != FORMAT:
        raise ValueError(f"its format is {structure['format']!r}, this version reads {FORMAT!r}")
    return structure


def _built(structure, known):
    """The network, with parameters that are still to be read."""
    dtype, own = structure["dtype"], structure["network"]
    if own is not None:
        network = _made(own, known, Network)
        return network if network.dtype == dtype else network.astype(dtype)
    layers = [_made(layer, known, Layer) for layer in structure["layers"]]
    return Network(layers, dtype=dtype, input_shape=tuple(structure["input_shape"]))


def _made(entry, known, kind):
    """What `recipe_of` described, by its constructor."""
    cls = _class_of(entry, known, kind)
    arguments = {name: _unpacked(value, known)
                 for name, value in entry["arguments"].items()}
    taken = inspect.signature(cls).parameters
    instance = cls(**{name: value for name, value in DRAWN.items() if name in taken} | arguments)
    if kind is Layer and instance.trainable != entry["trainable"]:
        instance.trainable = entry["trainable"]
    return instance


def _class_of(entry, known, kind):
    name, room = entry["class"], entry["room"]
    cls = known.get(name) if room is None else _offered(room, name)
    if cls is None and room is None:
        raise UnknownClass(f"it holds {name!r}, a class that is not of this package; give it with "
                           f"classes=[{name}]")
    if not (isinstance(cls, type) and issubclass(cls, kind)):
        raise ValueError(f"{name!r} of {room!r} is no {kind.__name__}")
    return cls


def _unpacked(value, known):
    if isinstance(value, list):
        return tuple(_unpacked(entry, known) for entry in value)
    if isinstance(value, dict):
        return _made(value, known, Layer if "trainable" in value else ActivationFunction)
    return value


def _fill(network, arrays):
    """Copy the arrays into the parameters; all of them, and no more."""
    for number, layer in enumerate(network.chain.sublayers()):
        for name, value in layer.parameters.items():
            array = arrays.pop(f"{number}.{name}")
            if (array.shape, array.dtype) != (value.shape, value.dtype):
                raise ValueError(f"{name} of {layer!r} is stored as {array.dtype} {array.shape}")
            value[...] = array
    if arrays:
        raise ValueError(f"it holds arrays of no layer: {', '.join(sorted(arrays))}")
