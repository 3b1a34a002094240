"""Directories of outputs, and what in them may be replaced."""

import contextlib
import os
import sys
from pathlib import Path

from . import seals
from .reading import read_bytes
from .whole import exclusive, remove_stale, takes_files


def written_by(path, command):
    """Whether a file was written by this command, and is as it was written."""
    try:
        return seals.is_of(read_bytes(path), command)
    except OSError:
        return False


def replaceable(directory, names, command):
    """The paths of those files that a command is about to replace, all of its own making and
    unchanged.

    FileExistsError names the files of the directory that are there already and that this command
    did not write, or that were changed since.
    """
    there = [path for path in (Path(directory) / name for name in names) if os.path.lexists(path)]
    foreign = [str(path) for path in there if not written_by(path, command)]
    if foreign:
        raise FileExistsError(f"{', '.join(foreign)}: there already, and not as `secondorder "
                              f"{command}` wrote it, so not replaced; move it away or name another "
                              "directory")
    return there


def output_directory(path):
    """Make the directory `path` (its parent has to exist), see that it can be written to, and
    remove temporary files that killed runs left in it. An OSError names the path, before any work
    is done.
    """
    path = Path(path)
    if (path.exists() or path.is_symlink()) and not path.is_dir():
        raise NotADirectoryError(f"not a directory: {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the parent of the output directory does not exist: {path.parent}")
    try:
        path.mkdir(exist_ok=True)
    except PermissionError:
        raise PermissionError(f"cannot make the output directory {path}: {path.parent} may not be "
                              "written to") from None
    if not takes_files(path):
        raise PermissionError(f"cannot write to the output directory: {path}")
    remove_stale(path)
    return path


@contextlib.contextmanager
def own_outputs(place, names, command):
    """The directory of ``--out``, of this command alone, and those of its files `names` that it is
    about to replace; None and an empty list where no place is given.
    """
    if not place:
        yield None, []
        return
    out = output_directory(place)
    with exclusive(out):
        yield out, replaceable(out, names, command)


def user_cache_folder():
    """The folder in which this platform keeps a user's caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
