"""Making what a function returns wrong, in one output and one way at a time."""

import copy

import numpy as np

PERCENT, LARGEST, SIGN = "0.1 %", "largest entry", "sign"
NOTHING, NEGATED, NEXT = "does nothing", "negated", "plus one"


def parts(value):
    """The outputs of a returned value by name; a single array, number or list has no name."""
    if isinstance(value, tuple):
        return dict(zip(_names(value), value))
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    if _is_plain_object(value):
        return {name: item for name, item in vars(value).items() if leaves(item)}
    return {"": value}


def _names(value):
    return getattr(value, "_fields", None) or [str(k) for k in range(len(value))]


def _is_plain_object(value):
    module = type(value).__module__.partition(".")[0]
    return hasattr(value, "__dict__") and (module == "secondorder" or module.startswith("edition_"))


def with_part(value, name, part):
    """A copy of a returned value in which the output of that name is another."""
    if isinstance(value, tuple):
        items = [part if key == name else item for key, item in zip(_names(value), value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {key: part if str(key) == name else item for key, item in value.items()}
    if _is_plain_object(value):
        changed = copy.copy(value)
        object.__setattr__(changed, name, part)
        return changed
    return part


def leaves(value):
    """The numbers and numeric arrays in nested tuples, lists and dicts."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, np.ndarray):
        return [value] if value.dtype.kind in "iufc" and value.size else []
    number = isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)
    return [value] if number else []


def on_leaves(value, change):
    """A copy of nested tuples, lists and dicts with every leaf changed."""
    if isinstance(value, dict):
        return {key: on_leaves(item, change) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [on_leaves(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return change(value) if leaves(value) else value


def made_wrong(value, mode):
    """A copy of one output that is wrong in the given way."""
    if mode == NEGATED:
        return not value
    if mode == NEXT:
        return value + 1
    if mode == SIGN:
        return on_leaves(value, lambda leaf: -leaf)
    if mode == PERCENT:
        return on_leaves(value, lambda leaf: leaf * 1.001)
    largest = max(np.abs(leaf).max() for leaf in leaves(value))
    return on_leaves(value, lambda leaf: np.where(np.abs(leaf) == largest, leaf * 1.01, leaf)[()])


def modes_of(part):
    """In which ways an output can be wrong; none for zeros, texts and objects."""
    if isinstance(part, (bool, np.bool_)):
        return (NEGATED,)
    if isinstance(part, (int, np.integer)):
        return (NEXT,)
    numbers = leaves(part)
    return (PERCENT, LARGEST, SIGN) if any(np.any(leaf) for leaf in numbers) else ()
