"""How a loop is compiled, and where what was compiled is kept.

Compiled code is kept in the folder that the environment variable NUMBA_CACHE_DIR names, else in the
user's folder for caches. It is never kept beside the sources: an installed package would leave
files behind when it is removed.
"""

import functools
import hashlib
import platform
import sys
import tempfile
import threading
import types
from pathlib import Path

from ..files import user_cache_folder

_placing = threading.RLock()  # the folder is handed to numba through a setting of the process


def loop(function):
    """A loop whose sums may be taken in any order, as NumPy's own are. It returns numbers alone and
    writes into arrays that it is given: numba hands out a new array by way of Python, where an
    interrupt would be lost.
    """
    return Kernel(function, {"reassoc", "contract"})


def elementwise(function):
    """A loop whose entries come from an exponential: every entry alone, in the order written; a
    product and the sum after it may be rounded once.
    """
    return Kernel(function, {"contract"})


def in_loops(function):
    """A formula that loops call for one entry; called from Python it runs as it stands."""
    function.in_loops = True
    return function


class Kernel:
    """A loop that is compiled at its first call; numba is imported then. What was compiled takes
    its place in the module where it stands.
    """

    def __init__(self, function, fastmath):
        functools.update_wrapper(self, function)
        self.function, self.fastmath, self._run = function, fastmath, None

    def __call__(self, *arguments):
        return (self._run or self.compiled())(*arguments)

    def compiled(self):
        """What runs: numba's function, or the loop itself where it is told not to compile."""
        with _placing:
            if self._run is None:
                self._run = _compiled(_with_compiled_calls(self.function), self.fastmath)
                there = self.function.__globals__
                if there.get(self.__name__) is self:
                    there[self.__name__] = self._run
        return self._run

    def __reduce__(self):  # a copy, a pickle: the same loop
        return self.__qualname__

    def __deepcopy__(self, memo):
        return self


def _with_compiled_calls(function):
    """The function, whose globals have numba's functions where they had kernels, or formulas that
    loops call.
    """
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    called = {name: value.compiled() for name, value in named.items() if isinstance(value, Kernel)}
    called |= {name: _entry(value) for name, value in named.items()
               if getattr(value, "in_loops", False)}
    if not called:
        return function
    copy = types.FunctionType(function.__code__, function.__globals__ | called, function.__name__,
                              function.__defaults__, function.__closure__)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy


def _entry(function):
    import numba

    return function if numba.config.DISABLE_JIT else numba.njit(error_model="numpy")(function)


def _compiled(function, fastmath):
    import numba

    if numba.config.DISABLE_JIT:
        return function
    from . import by_dtype  # noqa: F401  tells numba which form of an exponential is whose

    # x / 0 is inf or NaN, as in NumPy: a test at every division would cost the SIMD code
    dispatcher = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
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
    return dispatcher


@functools.cache
def _writable(folder):
    """Whether a folder is there, or can be made, and can be written to."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # a full disk takes no file either
    except OSError:
        return False
    return True


@functools.cache
def cache_folder():
    """Where compiled functions are kept if NUMBA_CACHE_DIR is not set.

    The name holds the versions of the package, numba and Python, and a digest of the files beside
    this one: numba looks only at the file of a function itself, not at those of the functions that
    it calls.
    """
    import numba

    from .. import __version__

    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    name = (f"{__version__}-{digest.hexdigest()[:12]}-numba{numba.__version__}"
            f"-{sys.implementation.name}{platform.python_version()}")
    return user_cache_folder() / "secondorder" / "kernels" / name
