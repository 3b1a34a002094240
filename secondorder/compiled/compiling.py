"""How functions are compiled by numba, and where what was compiled is kept.

The passes of a network and the updates stand beside this file, a paper's own in its room's
``compiled.py``, other loops in ``loops.py`` beside what they serve. Each bears the name and the
formula of its literal form. They take the scalars in the dtype of their arrays. No fast-math rules
are used, but for sums, which may be taken in any order, and for polynomials, whose products and
sums may be rounded together.

Compiled code is kept in the folder that the environment variable NUMBA_CACHE_DIR names, else in the
user's folder for caches. It is never kept beside the sources: an installed package would leave
files behind when it is removed.
"""

import contextlib
import functools
import hashlib
import os
import platform
import sys
import tempfile
import threading
from pathlib import Path

import numba
from numba import njit
from numba.core.sigutils import normalize_signature

from ..files import user_cache_folder

_placing = threading.Lock()  # the folder is handed to numba through a setting of the whole process


def compiled(function, **options):
    """Compile a loop at its first call, and keep the result on disk where a folder can be written.

    Division follows NumPy's rules: x / 0 is inf or NaN. A test for zero at every division would
    cost the SIMD code.
    """
    dispatcher = njit(error_model="numpy", **options)(function)
    with _placing:
        given = numba.config.CACHE_DIR
        folder = given or str(cache_folder())
        if not _writable(folder):  # in memory only; numba would go on to the folder of the sources
            return dispatcher
        try:
            numba.config.CACHE_DIR = folder
            dispatcher.enable_caching()
        except (RuntimeError, OSError):
            return dispatcher
        finally:
            numba.config.CACHE_DIR = given
    return _forgiving(dispatcher)


@functools.cache
def _writable(folder):
    """Whether a folder is there, or can be made, and can be written to."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # a full disk takes no file either
    except OSError:
        return False
    return True


def summing(function):
    """Compile a sum whose terms may be added in any order, as NumPy's own sums are."""
    return compiled(function, fastmath={"reassoc"})


def walk(function):
    """Compile a pass over a network's table; other Python threads run meanwhile."""
    return compiled(function, nogil=True)


def inlined(function):
    """A function whose lines numba writes into those of its caller: nothing is compiled twice."""
    return compiled(function, inline="always")


@functools.cache
def cache_folder():
    """Where compiled functions are kept if NUMBA_CACHE_DIR is not set.

    The name holds the versions of the package, numba and Python, and a digest of all files with
    compiled functions: numba looks only at the file of a function itself, not at those of the
    functions that it calls.
    """
    from .. import __version__

    digest = hashlib.sha256()
    for file in sources(Path(__file__).parent.parent):
        digest.update(file.read_bytes())
    name = (f"{__version__}-{digest.hexdigest()[:12]}-numba{numba.__version__}"
            f"-{sys.implementation.name}{platform.python_version()}")
    return user_cache_folder() / "secondorder" / "compiled" / name


def sources(package):
    """The files below the folder of the package in which compiled functions stand."""
    return sorted({*package.rglob("loops.py"), *package.rglob("compiled.py"),
                   *(package / "compiled").rglob("*.py")})


def _forgiving(dispatcher):
    """Compile anew, and write the cache anew, where a file of the cache is damaged or is for other
    types; keep what was compiled in memory alone where the cache takes no more (a full disk, a
    quota).

    numba numbers the files of a function. Two processes that write at the same time may take the
    same number for different types.
    """
    cache = getattr(dispatcher, "_cache", None)
    load, save = (getattr(cache, name, None) for name in ("load_overload", "save_overload"))

    def load_overload(signature, context):
        try:
            code = load(signature, context)
            types, _ = normalize_signature(signature)
            if code is None or code.signature.args == types:
                return code
        except Exception:  # whatever unpickling a damaged file raises
            pass
        _forget(cache)
        return None

    def save_overload(*arguments):
        try:
            save(*arguments)
        except OSError:
            _forget(cache)

    if load is not None and save is not None:
        cache.load_overload, cache.save_overload = load_overload, save_overload
    return dispatcher


def _forget(cache):
    """Remove the index of a cache: it may name a file of loops that was not written, or that is
    older than the index.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.unlink(cache._cache_file._index_path)
