"""Checkpoints: all that a run needs to go on bit for bit, in one file that is never half-written.

A checkpoint is an ``.npz`` archive: the arrays, and one text in JSON that says where each of them
belongs. Nothing in it is pickled, so that reading one runs no code.
"""

import json
import math
import numbers

import numpy as np

from .. import checks, files
from ..optimizers.description import NUMBERS

FORMAT = 5  # 4 and below were written with runs of another form
WHAT = "a checkpoint of a training run"

_MISSING = object()


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
        arrays = files.read_arrays(path, WHAT)
    except FileNotFoundError:
        raise FileNotFoundError(f"no such checkpoint: {path}") from None
    with files.damage_told(path, WHAT):
        record = json.loads(arrays.pop("text").item())
        if record["format"] != FORMAT:
            raise ValueError(f"it has format {record['format']}, this version reads {FORMAT}: the "
                             "run cannot go on here; begin it anew with another file")
        content = _unpacked(record["content"], arrays)
        _require_content(content)
        return content


_KINDS = {"theta": np.ndarray, "state": dict, "generator": dict, "history": list, "epoch": int,
          "step": int, "seconds": float, "made_with": dict, "recipe": dict}
_IN_A_RECORD = ("epoch", "step", "seconds", "train_loss")


def _require_content(content):
    """ValueError unless it has all that a run goes on from, each of its kind, and they agree."""
    for name, kind in _KINDS.items():
        if name not in content:
            raise ValueError(f"it has no {name}")
        if type(content[name]) is not kind:
            raise ValueError(f"its {name} is {content[name]!r}, not a {kind.__name__}")
    for name in ("epoch", "step", "seconds"):
        if not 0 <= content[name] < math.inf:
            raise ValueError(f"its {name} is {content[name]!r}")
    for record in content["history"]:
        for name in _IN_A_RECORD:
            number = record[name]
            if not isinstance(number, numbers.Real) or isinstance(number, (bool, np.bool_)):
                raise ValueError(f"a record of its history has the {name} {number!r}")
    last = content["history"][-1]
    for name in ("epoch", "step"):
        if last[name] != content[name]:
            raise ValueError(f"its {name} is {content[name]}, the last record's {last[name]}")


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


def require_same(now, then, path, recipe, recipe_then):
    """Raise ValueError, naming the first entry in which they differ, unless a run is what was
    written.

    `now` and `then` are facts of the two runs; `recipe` and `recipe_then` tell the same in the
    words of the caller, for the message alone: where what both tell differs, it names that instead.
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


def _difference(mine, written, name=""):
    """Name, old and new text of the first entry in which two facts differ, or None."""
    if isinstance(mine, dict) and isinstance(written, dict):
        entries = [(f"{name}'s {key}" if name else key, mine.get(key, _MISSING),
                    written.get(key, _MISSING)) for key in dict.fromkeys([*mine, *written])]
    elif _holds_facts(mine) and _holds_facts(written) and len(mine) == len(written):
        entries = [(f"{name}[{place}]", *pair) for place, pair in enumerate(zip(mine, written))]
    elif mine == written:
        return None
    elif name.endswith(f"'s {NUMBERS}"):
        return name, "other than these", "these"
    else:
        return name, *("something that has no plain description" if value is _MISSING
                       else repr(value) for value in (written, mine))
    differences = (_difference(*pair, entry) for entry, *pair in entries)
    return next((one for one in differences if one is not None), None)


def _holds_facts(value):
    """Whether a value is a list in which some entries are facts in their turn."""
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
