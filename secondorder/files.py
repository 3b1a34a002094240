"""Files are written whole or not at all: into a file beside them first, which is then renamed."""

import contextlib
import hashlib
import json
import os
import re
import sys
import time
import uuid
import zipfile
from pathlib import Path

import numpy as np

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

#: Names of temporary files, which nothing else bears.
TEMPORARY = re.compile(r"\..*\.secondorder-[0-9a-f]{32}(\.\w+)?", re.DOTALL)


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
    stem, suffix = path.stem[:60], path.suffix[:20]  # a name that fits may be followed by no more
    temporary = path.with_name(f".{stem}.secondorder-{uuid.uuid4().hex}{suffix}")
    try:
        with _marked_as_ours(temporary):
            yield temporary
            os.replace(temporary, path)
    except OSError as error:
        if error.filename is None or Path(error.filename) == temporary:  # a full disk names none
            raise type(error)(error.errno, error.strerror or str(error), str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _marked_as_ours(temporary):
    """Make a file and keep it locked meanwhile: the lock ends with the process at the latest."""
    if fcntl is None:
        yield
        return
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def remove_stale(directory):
    """Remove temporary files that runs left in a directory because they were killed.

    A file that another process is writing is locked and stays; so does every file where the system
    has no locks.
    """
    for path in Path(directory).iterdir() if fcntl is not None else ():
        if TEMPORARY.fullmatch(path.name):
            with contextlib.suppress(OSError):  # gone meanwhile, or not ours to open
                handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    if _lock(handle):
                        path.unlink()
                finally:
                    os.close(handle)


def _lock(handle):
    """Lock an open file or directory for this process, if no other one has: whether that went
    well. False too where the file system has no locks.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_text(path, text):
    """Write `text` in UTF-8, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


# The functions below take the name of a `command` too: the file then says who wrote it, and
# `replaceable` lets that command, and nobody else, write over it.


def write_json(path, data, command=None):
    """Write `data` as JSON, atomically; NumPy numbers and arrays become numbers and lists."""
    mark = {} if command is None else {"command": command}
    write_text(path, to_json(mark | data if mark else data) + "\n")


def write_arrays(path, command=None, **arrays):
    """Write named arrays as ``.npz``, atomically."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
        if command is not None:
            stream.flush()
            with zipfile.ZipFile(temporary, "a") as archive:
                archive.comment = _mark(command)


def write_figure(path, figure, dpi=110, command=None):
    """Write a matplotlib figure, atomically."""
    mark = {} if command is None else {"metadata": {"Software": _mark(command).decode()}}
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=dpi, **mark)


def _mark(command):
    return f"secondorder {command}".encode()


def written_by(path, command):
    """Whether a ``.json``, ``.npz`` or ``.png`` file says that this command wrote it."""
    path = Path(path)
    try:
        if path.suffix == ".json":
            data = json.loads(path.read_text(encoding="utf-8"))
            return isinstance(data, dict) and data.get("command") == command
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                return archive.comment == _mark(command)
        return path.suffix == ".png" and b"Software\0" + _mark(command) in path.read_bytes()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def replaceable(directory, names, command):
    """Those files of a directory that a command is about to replace, all of its own making.

    Parameters
    ----------
    directory : Path
    names : iterable of str
        Of the files that the command writes.
    command : str

    Returns
    -------
    list of Path

    Raises
    ------
    FileExistsError
        Names the files that are there already and that this command did not write.
    """
    there = [path for path in (Path(directory) / name for name in names)
             if path.exists() or path.is_symlink()]
    foreign = [str(path) for path in there if not written_by(path, command)]
    if foreign:
        raise FileExistsError(f"{', '.join(foreign)}: there already, and not written by "
                              f"`secondorder {command}`, so not replaced; move it away or name "
                              "another directory")
    return there


def output_directory(path):
    """Make the directory `path` (its parent has to exist), see that it can be written to, and
    remove temporary files that killed runs left in it.

    Raises
    ------
    FileNotFoundError, NotADirectoryError, PermissionError
        Naming the path, before any work is done.
    """
    path = Path(path)
    if (path.exists() or path.is_symlink()) and not path.is_dir():
        raise NotADirectoryError(f"not a directory: {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the parent of the output directory does not exist: {path.parent}")
    path.mkdir(exist_ok=True)
    probe = path / f".probe.secondorder-{uuid.uuid4().hex}.probe"
    try:  # to write is the only way to know: some file systems take nothing, whatever they say
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        probe.unlink()
    except OSError:
        raise PermissionError(f"cannot write to the output directory: {path}") from None
    remove_stale(path)
    return path


@contextlib.contextmanager
def exclusive(directory):
    """Keep other processes that ask for it from writing to a directory; ends with the process at
    the latest.

    Where the system has no such locks nothing is kept off.

    Raises
    ------
    BlockingIOError
        If another process is at it, naming the directory.
    """
    if fcntl is None:
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


@contextlib.contextmanager
def one_writer(path):
    """Keep other runs, in this process or another one, from writing the file `path` meanwhile.

    The lock is a hidden neighbour that goes at the end; that of a process that was killed is
    nobody's any more. Where the system has no such locks nothing is kept off.

    Raises
    ------
    BlockingIOError
        If another run is at it, naming the file.
    """
    if fcntl is None:
        yield
        return
    path = Path(path)
    digest = hashlib.sha256(path.name.encode()).hexdigest()[:32]
    lock = path.resolve().parent / f".lock.secondorder-{digest}.lock"
    handle = _taken(lock, path)
    if handle is None:
        raise BlockingIOError(f"another run is writing to {path}; wait for its end, or name "
                              "another file")
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _taken(lock, path, tries=40, pause=0.005):
    """An open, locked file of the name `lock`, or None if somebody else keeps it locked.

    Whoever clears away what killed runs left locks a file for an instant, and removes it: then it
    is made again.
    """
    for _ in range(tries):
        try:
            handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(path)) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock.exists() and os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        except BlockingIOError:
            pass
        except OSError:
            return handle  # a file system without locks
        os.close(handle)
        time.sleep(pause)
    return None


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


def write_between(path, start, text, end="\n<!-- end -->"):
    """Write a text into a file between two marks; False if the file or the first mark is not there.
    """
    before = Path(path).read_text(encoding="utf-8") if Path(path).is_file() else ""
    head, mark, rest = before.partition(start)
    if mark:
        write_text(path, head + start + text + end + rest.partition(end.lstrip())[2])
    return bool(mark)


def user_cache_folder():
    """The folder in which this platform keeps a user's caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
