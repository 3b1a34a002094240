"""What an optimizer was made with, in plain values that can be written down and compared."""

import hashlib
import inspect
import numbers

import numpy as np

from .schedules import Constant

APART = ("network", "loss", "l2", "base", "rng")  # told elsewhere, or drawn from once and kept


class Undescribed(Exception):
    """A value has no plain description, such as a function or a generator."""


#: What other libraries call an argument -> its name here.
ELSEWHERE = {"lr": "learning_rate", "weight_decay": "l2"}


def arguments(cls, positional, named):
    """Name -> description of the arguments of a call of `cls`, defaults included, but for what
    stands elsewhere or cannot be described; empty if they do not fit (making the object says so).
    TypeError for a name of another library's.
    """
    known = {}
    try:
        signature = inspect.signature(cls.__init__)
        known = signature.parameters
        bound = signature.bind(None, *positional, **named)
    except (TypeError, ValueError):
        for other in set(named).intersection(ELSEWHERE).difference(known):
            if ELSEWHERE[other] in known:
                raise TypeError(f"{cls.__name__} takes {ELSEWHERE[other]}=, not {other}=") from None
        return {}
    bound.apply_defaults()
    given = {}
    for name, value in list(bound.arguments.items())[1:]:
        several = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        given |= value if several else {name: value}
    return described_entries({name: value for name, value in given.items() if name not in APART})


def settings(optimizer):
    """An optimizer's settings: what it was made with, or was given since under the same name.

    Memory (`state_names`) is no setting: of a name that is both, the first value counts. Of a
    wrapper there is ``base`` too, with its ``method`` first.
    """
    present = {name: getattr(optimizer, name) for name in optimizer._given
               if name not in optimizer.state_names and hasattr(optimizer, name)}
    entries = optimizer._given | described_entries(present)
    for name, before in optimizer.added.items():  # left out, as in what was written without it
        if name in entries and entries[name] == before:
            del entries[name]
    if optimizer.base is not None:
        base = {"method": type(optimizer.base).__name__}
        return {"base": base | settings(optimizer.base)} | entries
    entries.pop("learning_rate", None)
    return described_entries({"learning_rate": optimizer.schedule}) | entries


def described_entries(entries, depth=0):
    """A dict of descriptions, without the entries that have none."""
    descriptions = {}
    for name, value in entries.items():
        try:
            descriptions[name] = described(value, depth)
        except Undescribed:
            continue
    return descriptions


def described(value, depth=0):
    """One value in plain kinds; raises Undescribed, also for objects more than two deep."""
    if isinstance(value, Constant):
        return value.rate
    if value is None or isinstance(value, (bool, np.bool_, str)):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        digest = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()[:32]
        return (f"array {value.shape} of {value.dtype} with sum {float(value.sum()):.17g}, "
                f"sha256 {digest}")
    if isinstance(value, (list, tuple)):
        return [described(entry, depth) for entry in value]
    if isinstance(value, dict):
        return {str(name): entry for name, entry in described_entries(value).items()}
    if depth == 2 or inspect.isroutine(value) or inspect.isclass(value) or not hasattr(
            value, "__dict__"):
        raise Undescribed
    return {"class": type(value).__name__} | described_entries(vars(value), depth + 1)
