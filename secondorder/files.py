"""Writing files so that nobody ever sees half of one: into a neighbour first, then renamed."""

import contextlib
import json
import os
import uuid
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def atomic(path):
    """A temporary neighbour of `path`, of its suffix; renamed to `path` when the block ends well.

    Raises
    ------
    FileNotFoundError
        If the directory does not exist.
    OSError
        If the directory cannot be written to. After any error the old file is untouched and no
        temporary one is left.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no such directory: {path.parent}")
    temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.filename is None or Path(error.filename) == temporary:  # a full disk names none
            raise type(error)(error.errno, error.strerror or str(error), str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path, text):
    """Write `text` in UTF-8, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path, data):
    """Write `data` as JSON, atomically; NumPy numbers and arrays become numbers and lists."""
    write_text(path, to_json(data) + "\n")


def write_arrays(path, **arrays):
    """Write named arrays as ``.npz``, atomically."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def write_figure(path, figure, dpi=110):
    """Write a matplotlib figure, atomically."""
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=dpi)


def output_directory(path):
    """Make the directory `path` (its parent has to exist) and see that it can be written to.

    Raises
    ------
    FileNotFoundError, NotADirectoryError, PermissionError
        Naming the path, before any work is done.
    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"not a directory: {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the parent of the output directory does not exist: {path.parent}")
    path.mkdir(exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write to the output directory: {path}")
    return path


@contextlib.contextmanager
def exclusive(directory):
    """Keep other processes that ask for it from writing to a directory; ends with the process at
    the latest.

    Where the system has no such locks (Windows) nothing is kept off.

    Raises
    ------
    BlockingIOError
        If another process is at it, naming the directory.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"another run is writing to {directory}; name another "
                                  "one") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(handle)


def to_json(data):
    """JSON text; numbers that are not finite become null, since JSON has no word for them."""
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value
