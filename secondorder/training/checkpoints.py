"""Checkpoints: all that a run needs to go on bit for bit, in one file that is never half-written.

A checkpoint is an ``.npz`` archive: the arrays, and one text in JSON that says where each of them
belongs. Nothing in it is pickled, so that reading one runs no code.
"""

import json

import numpy as np

from .. import checks, files

FORMAT = 6  # 5 and below were written with runs of another form
WHAT = "a checkpoint of a training run"


def write_checkpoint(path, content):
    """Write nested dicts, lists, numbers, texts and arrays to `path`, atomically.

    TypeError names the place of something of another kind. After an OSError the file before stands.
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
        ``epoch``, ``step``, ``seconds``, and ``made_with``, which says what the run was.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If the file is no checkpoint, or damaged.
    """
    path = checks.path(path, "path")
    try:
        arrays = files.read_arrays(path, WHAT)
    except FileNotFoundError:
        raise FileNotFoundError(f"no such checkpoint: {path}") from None
    with files.damage_told(path, WHAT):
        record = json.loads(arrays.pop("text").item())
        if record["format"] != FORMAT:
            raise ValueError(f"it has format {record['format']}, this version reads {FORMAT}: the "
                             "run cannot go on here; begin it anew with another file")
        return _unpacked(record["content"], arrays)


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
    if kind not in ("array", "scalar"):
        raise ValueError(f"it holds something of the kind {kind!r}")
    return arrays[inner] if kind == "array" else arrays[inner][()]
