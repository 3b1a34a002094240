"""Files are written whole or not at all: into a file beside them first, which is then renamed."""

import contextlib
import hashlib
import os
import re
import stat
import time
import uuid
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

#: Names of temporary files, which nothing else bears.
TEMPORARY = re.compile(r"\..*\.secondorder-[0-9a-f]{32}(\.\w+)?", re.DOTALL)


_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
          stat.S_IFBLK: "a device"}


@contextlib.contextmanager
def atomic(path):
    """A temporary neighbour of `path`, of its suffix; renamed to `path` when the block ends well.

    A link is followed: its target is exchanged, and the link stays. What stood there hands on its
    mode.

    FileNotFoundError if the directory does not exist. OSError if it cannot be written to, or if a
    directory, a device, a pipe, a socket or a file that may not be written to stands there. After
    any error the old file is untouched and no temporary one is left.
    """
    path = Path(path)
    target, before = _target(path)
    stem, suffix = target.stem[:60], target.suffix[:20]  # a name that fits may be followed by more
    temporary = target.with_name(f".{stem}.secondorder-{uuid.uuid4().hex}{suffix}")
    try:
        with naming(path, temporary), _marked_as_ours(temporary,
                                                      0o666 if before is None else 0o600):
            yield temporary
            if before is not None:
                os.chmod(temporary, stat.S_IMODE(before.st_mode))
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def naming(path, temporary=None):
    """Within this block an error of the system names `path` where it names no file, as that of a
    full disk does, or the temporary one.
    """
    try:
        yield
    except OSError as error:
        named = error.filename is not None and Path(error.filename) != temporary
        if error.errno is not None and not named:
            raise type(error)(error.errno, error.strerror or str(error), str(path)) from error
        raise


def _target(path):
    """Where a file goes that is written to `path`, and what the system says of a file there."""
    try:
        require_file(path)
        before = os.stat(path)
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path} may not be written to")
    except FileNotFoundError:
        before = None
    target = Path(os.path.realpath(path))
    for place in (path, target):
        if not place.parent.is_dir():
            raise FileNotFoundError(f"no such directory: {place.parent}")
    return target, before


def takes_files(directory):
    """Whether a file can be made in a directory: to write is the only way to know, as some file
    systems take nothing, whatever they say.
    """
    probe = Path(directory) / f".probe.secondorder-{uuid.uuid4().hex}.probe"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        probe.unlink(missing_ok=True)  # another run may have cleared it away
    except OSError:
        return False
    return True


def require_writable(path):
    """Raise OSError, with the path, unless a file can be written to `path`: before any work."""
    target, _ = _target(Path(path))
    if not takes_files(target.parent):
        raise PermissionError(f"cannot write {path}: {target.parent} may not be written to")


def require_file(path):
    """Raise OSError if there is nothing at `path` or, behind links, something else than a file. A
    pipe, which would wait for a writer, is not opened.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a directory, not a file")
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise FileExistsError(f"{path} is {kind}, not a file")


@contextlib.contextmanager
def _marked_as_ours(temporary, mode):
    """Make a file and keep it locked meanwhile: the lock ends with the process at the latest."""
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    try:
        if fcntl is not None:
            _lock(handle)
            yield
    finally:
        os.close(handle)
    if fcntl is None:  # Windows renames no open file
        yield


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
    """Lock an open file or directory for this process: True, or False if another one has locked it;
    None where the file system has no locks.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextlib.contextmanager
def exclusive(directory):
    """Keep other processes that ask for it from writing to a directory; ends with the process at
    the latest. Where the system has no such locks nothing is kept off.

    BlockingIOError names the directory if another process is at it.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        if _lock(handle) is False:
            raise BlockingIOError(f"another run is writing to {directory}; name another one")
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def one_writer(path):
    """Keep other runs, in this process or another one, from writing the file `path` meanwhile.

    The lock is a hidden neighbour that goes at the end; that of a process that was killed is
    nobody's any more. Where the system has no such locks nothing is kept off. BlockingIOError names
    the file if another run is at it.
    """
    if fcntl is None:
        yield
        return
    path = Path(path)
    target = Path(os.path.realpath(path))  # whatever links lead to it
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:32]
    lock = target.with_name(f".lock.secondorder-{digest}.lock")
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
        locked = _lock(handle)
        if locked is None:
            return handle
        with contextlib.suppress(FileNotFoundError):  # it was cleared away meanwhile
            if locked and os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        os.close(handle)
        time.sleep(pause)
    return None
