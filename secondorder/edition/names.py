"""Keys of papers, labels as people write them, names of functions."""

import importlib.util
import re
import sys

from ..ledger.labels import canonical
from ..ledger.registry import PAPERS


def checked_key(key):
    """The key of a paper of one's own: letters, digits and hyphens, which also name its folder."""
    if not isinstance(key, str):
        raise TypeError(f"key must be a text as 'my-paper', got {key!r}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*", key):
        raise ValueError("key must be letters, digits and hyphens, as in 'my-paper', got "
                         f"{key!r:.100}; --out names another folder")
    if key.lower() in PAPERS:
        raise ValueError(f"key {key!r} is one of the package's own papers")
    return key


def refuse_module(key):
    """Refuse the name of a Python module, which a folder of this name would hide."""
    if key in sys.stdlib_module_names or key.isidentifier() and importlib.util.find_spec(key):
        raise ValueError(f"key {key!r} is a Python module, which a folder of this name would hide: "
                         f"take '{key}-paper'")


def labels_of(displays, tell):
    """Pairs of a label and a numbered display, in their order: numbers as people ask for them.

    A display that is printed twice with one number stands once; another one with a number that is
    taken gets `-again` behind it, the next one `-again-2`. ``tell(text)`` is called for each.
    """
    taken, pairs, again = {}, [], {}
    for display in displays:
        plain = re.sub(r"[\\${}]", "", display.label)
        label = re.sub(r"[^\w.*'+-]+", "-", plain).strip("-.") or "tag"
        before = taken.get(canonical(label))
        if before is not None and "".join(before.split()) == "".join(display.formula.split()):
            tell(f"{display.file}, line {display.line}: ({label}) is printed again, unchanged")
            continue
        if before is not None:
            first = label
            while canonical(label) in taken:
                again[first] = again.get(first, 0) + 1
                label = f"{first}-again" + (f"-{again[first]}" if again[first] > 1 else "")
            tell(f"{display.file}, line {display.line}: the number ({first}) is borne twice; the "
                 f"later display stands as {label}")
        taken[canonical(label)] = display.formula
        pairs.append((label, display))
    return pairs


def function_names(labels):
    """The names of the functions that check these labels: `equation_2_1a`."""
    names = {}
    for label in labels:
        first = name = "equation_" + (re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_") or "tag")
        count = 1
        while name in names.values():
            count += 1
            name = f"{first}_{count}"
        names[label] = name
    return names
