"""Checkpoints: all that a run needs to go on bit for bit, in one file that is never half-written.

A checkpoint is an ``.npz`` archive: the arrays, and one text in JSON that says where each of them
belongs. Nothing in it is pickled, so that reading one runs no code.
"""

import hashlib
import json
import zipfile

import numpy as np

from .. import checks, files

FORMAT = 3
OLDER = 2  # without a recipe; of the data it has the digest alone, which `_difference` knows

_MISSING = object()
NUMBERS = "numbers"  # the entry that no reader can tell apart: a hash


def write_checkpoint(path, content):
    """Write nested dicts, lists, numbers, texts and arrays to `path`, atomically.

    Raises
    ------
    TypeError
        If something in it is of another kind, naming its place.
    OSError
        If the file cannot be written; the one before is untouched then.
    """
    arrays = {}
    text = json.dumps({"format": FORMAT, "content": _packed(content, arrays, "checkpoint")})
    files.write_arrays(path, text=np.array(text), **arrays)


def read_checkpoint(path):
    """What `train` wrote to a checkpoint: parameters, memory, generator, history, its place.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    dict
        ``theta`` (P,), ``state`` (of ``optimizer.state_dict()``), ``generator``, ``history``,
        ``epoch``, ``step``, ``seconds``, ``made_with``, which says what the run was, and
        ``recipe``, which says it in the caller's words.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If the file is no checkpoint, or damaged.
    """
    path = checks.path(path, "path")
    try:
        if path.exists() and not zipfile.is_zipfile(path):
            raise ValueError("it is no .npz archive")
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        record = json.loads(arrays.pop("text").item())
        if record["format"] not in (FORMAT, OLDER):
            raise ValueError(f"it has format {record['format']}, this version reads {FORMAT}")
        return {"recipe": {}} | _unpacked(record["content"], arrays)
    except FileNotFoundError:
        raise FileNotFoundError(f"no such checkpoint: {path}") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a checkpoint of a training run, or a damaged one: "
                         f"{error}") from error


def _packed(value, arrays, place):
    """`value` in JSON's own kinds, its arrays put aside under numbered names."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _packed(entry, arrays, f"{place}[{key!r}]")
                         for key, entry in value.items()}}
    if type(value) in (list, tuple):
        packed = [_packed(entry, arrays, f"{place}[{i}]") for i, entry in enumerate(value)]
        return {type(value).__name__: packed}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcUS":
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"array" if isinstance(value, np.ndarray) else "scalar": name}
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{place} is a {type(value).__name__}, which a checkpoint does not hold")


def _unpacked(value, arrays):
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "dict":
        return {key: _unpacked(entry, arrays) for key, entry in inner.items()}
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](_unpacked(entry, arrays) for entry in inner)
    return arrays[inner] if kind == "array" else arrays[inner][()]


def fingerprint(*arrays):
    """What tells arrays from others that differ in any bit, in shape or in dtype."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str};".encode())
        digest.update(np.ascontiguousarray(array).data)
    return {"shapes": [list(array.shape) for array in arrays],
            "dtypes": [array.dtype.name for array in arrays], NUMBERS: digest.hexdigest()[:32]}


def require_same(now, then, path, recipe, recipe_then):
    """Raise ValueError unless a run is what was written.

    Parameters
    ----------
    now, then : dict
        Facts of the two runs. The message names the first entry in which they differ.
    path : Path
    recipe, recipe_then : dict
        The same in the words of the caller, for the message alone: where what both tell differs,
        it names that instead.
    """
    difference = _difference(now, then)
    if difference is None:
        return
    both = [name for name in recipe if name in recipe_then]
    said = [(name, repr(recipe_then[name]), repr(recipe[name])) for name in both
            if recipe_then[name] != recipe[name]]
    told = ", ".join(f"{name} {written}, not {mine}"
                     for name, written, mine in said or [difference])
    raise ValueError(f"checkpoint {path}: was made with {told}; a run goes on only with everything "
                     "as it was")


def _difference(now, then):
    """Name, old and new value of the first entry in which two dicts differ, or None."""
    for name in dict.fromkeys([*now, *then]):
        mine, written = now.get(name, _MISSING), then.get(name, _MISSING)
        if isinstance(mine, dict) and isinstance(written, dict):
            inner = _difference(mine, written)
            if inner is not None:
                return f"{name}'s {inner[0]}", *inner[1:]
        elif isinstance(mine, dict) and NUMBERS in mine and isinstance(written, str):
            if mine[NUMBERS] != written:  # of the older format
                return name, "other than these", "these"
        elif mine is _MISSING or written is _MISSING or mine != written:
            if name == NUMBERS and _MISSING not in (mine, written):
                return name, "other than these", "these"
            return name, *("something that has no plain description" if value is _MISSING
                           else repr(value) for value in (written, mine))
    return None
