"""Sabotage of the package's own rooms, with the exceptions that a file explains.

The machinery is the package's: `secondorder.ledger.sabotage`. While one writes a room,
``secondorder edition test low-rank 12 --all`` names what goes unnoticed.
"""

import tomllib
from pathlib import Path

from secondorder.ledger.registry import short_name  # noqa: F401
from secondorder.ledger.sabotage import Unnoticed, by_label, fails, unnoticed  # noqa: F401
from secondorder.ledger.spoiling import (  # noqa: F401
    LARGEST, NEGATED, NEXT, NOTHING, PERCENT, SIGN, made_wrong, modes_of)


def explained(path, found):
    """Findings that a file explains, the others, and entries of it that explain nothing.

    The file is TOML: tables `[[explained]]` with `label`, `implementation`, `reason`, and
    optionally `output` and `mode` (default: all).
    """
    entries = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("explained", [])
    used, open_ones = set(), []
    for one in found:
        matching = [k for k, entry in enumerate(entries) if _explains(entry, one)]
        used.update(matching)
        if not matching:
            open_ones.append(one)
    return open_ones, [entry for k, entry in enumerate(entries) if k not in used]


def _explains(entry, one):
    keys = ("label", "implementation", "output", "mode")
    return bool(entry.get("reason")) and all(entry.get(key, getattr(one, key)) == getattr(one, key)
                                             for key in keys)
