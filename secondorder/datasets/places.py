"""Where data are looked up."""

import os
from pathlib import Path

from .. import checks
from ..files import user_cache_folder

DATA_VARIABLE = "SECONDORDER_DATA"


def find_directory(directory):
    """Existing directory for a user's name, found as `secondorder.datasets` describes."""
    place = locate(checks.path(directory, "directory"))
    if not place.is_dir():
        raise FileNotFoundError(f"not a directory: {place}")
    return place


def locate(name):
    """Path of a file or directory: below ``SECONDORDER_DATA`` if it is there, else as it stands,
    else where `download` puts what it fetches.
    """
    root = os.environ.get(DATA_VARIABLE)
    candidates = ([Path(root) / name] if root else []) + [Path(name), cache() / name]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    tried = ", ".join(map(str, candidates[:-1]))
    hint = "" if root else f" (the environment variable {DATA_VARIABLE} is not set)"
    raise FileNotFoundError(f"no such data file or directory: tried {tried}{hint}")


def cache():
    """Folder of downloaded data; it need not exist."""
    return user_cache_folder() / "secondorder" / "data"
