"""Where data are looked up."""

import os
from pathlib import Path

from .. import checks

DATA_VARIABLE = "SECONDORDER_DATA"


def find_directory(directory):
    """Existing directory for a name that the user gave, looked up as the package's head says."""
    place = locate(checks.path(directory, "directory"))
    if not place.is_dir():
        raise FileNotFoundError(f"not a directory: {place}")
    return place


def locate(name):
    """Path of a file or directory: below ``SECONDORDER_DATA`` if it is there, else as it stands."""
    root = os.environ.get(DATA_VARIABLE)
    candidates = ([Path(root) / name] if root else []) + [Path(name)]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    tried = ", ".join(str(candidate) for candidate in candidates)
    hint = "" if root else f" (the environment variable {DATA_VARIABLE} is not set)"
    raise FileNotFoundError(f"no such data file or directory: tried {tried}{hint}")
