"""Signals that ask a command to end: all do what Ctrl-C does, where it does no harm.

Python tells a signal to the main thread between two of its own operations. A command that is in the
middle of a long computation in C (an eigen-decomposition of thousands of rows) would end minutes
later; so a thread watches, and ends the process where the command has not ended in time.

numba, broken off while it compiles, fails in strange ways, or the process crashes. A signal that
comes then is sent again when the function is compiled.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
GRACE = 4.0  # seconds from a signal until the process ends, whatever it does
WRITING = 20.0  # as long as it is writing files, or compiling
COMPILERS = ("numba", "llvmlite")


class Stopped(KeyboardInterrupt):
    """A signal, of that number, asked the command to end."""

    def __init__(self, number):
        super().__init__(number)
        self.number = int(number)


class _State:
    """What the handlers know: how many blocks wait, which signal came, and whether it came while a
    function was being compiled.
    """

    waiting = 0
    asked = None
    compiling = False
    last_will = None


def _handle(number, frame):
    if _State.asked is None:
        _State.asked = number
    _State.compiling = _in_a_compiler(frame)
    if not _State.waiting and not _State.compiling:
        raise Stopped(number)


def _in_a_compiler(frame):
    """Whether `frame`, or one that called it, is of a compiler."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in COMPILERS:
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def handled():
    """Within this block SIGTERM and SIGHUP raise `Stopped`, as does SIGINT, which is a
    KeyboardInterrupt.

    Signals that are ignored (``nohup``) stay ignored. Outside of the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = _numbers()
    before = {n: signal.getsignal(n) for n in numbers}
    kept_hook, kept_asked, _State.asked = sys.unraisablehook, _State.asked, None
    _State.compiling = False
    sys.unraisablehook = _quiet(kept_hook)
    try:
        for number, handler in before.items():
            if handler not in (signal.SIG_IGN, None):
                signal.signal(number, _handle)
        with _watched():
            yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        sys.unraisablehook, _State.asked = kept_hook, kept_asked


def _numbers():
    return [getattr(signal, name) for name in NAMES if hasattr(signal, name)]


@contextlib.contextmanager
def _watched():
    """Within this block a thread hears of signals, and ends the process if nobody else does."""
    if os.name == "nt":  # pipes do not wake there
        yield
        return
    hears, told = os.pipe()
    os.set_blocking(told, False)
    before, ended = signal.set_wakeup_fd(told, warn_on_full_buffer=False), threading.Event()
    threading.Thread(target=_watch, args=(hears, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        os.close(told)  # which the thread hears too


def _watch(hears, ended):
    """Wait for a signal, then for the end of the command; end the process if it does not come."""
    with open(hears, "rb", buffering=0) as stream:  # which stays open: a second signal is told too
        while True:
            select.select([stream], [], [])
            heard = stream.read(1)
            if not heard:
                return
            if heard[0] in _numbers() and signal.getsignal(heard[0]) is _handle:
                _see_to_the_end(heard[0], ended)
                return


def _see_to_the_end(number, ended):
    """Send the signal again where it came while compiling; end the process where it takes long."""
    started = time.monotonic()
    while not ended.wait(0.05):
        if _State.compiling:
            signal.pthread_kill(threading.main_thread().ident, number)
        patience = WRITING if _State.waiting or _State.compiling else GRACE
        if time.monotonic() - started > patience:
            _end(number)
            return


def _end(number):
    """End the process in the middle of a computation, after its last will."""
    will, name = _State.last_will, "interrupted" if number == signal.SIGINT else "terminated"
    try:
        if will is not None:
            will()
        print(f"secondorder: {name} in the middle of a computation", file=sys.stderr, flush=True)
    finally:
        os._exit(128 + number)


@contextlib.contextmanager
def last_will(function):
    """Within this block `function` is called, in another thread, if the process has to be ended in
    the middle of a computation: it writes what there is.
    """
    before, _State.last_will = _State.last_will, function
    try:
        yield
    finally:
        _State.last_will = before


if hasattr(os, "register_at_fork"):  # a worker's signals are not its parent's
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


def _quiet(hook):
    """A hook that is silent where a signal cannot raise; `check` tells it later."""

    def quiet(unraisable):
        if not isinstance(unraisable.exc_value, Stopped):
            hook(unraisable)

    return quiet


def check():
    """Raise `Stopped` if a signal came that could not raise it itself."""
    if _State.asked is not None and not _State.waiting:
        raise Stopped(_State.asked)


@contextlib.contextmanager
def deferred():
    """Within this block a signal waits for the end of it: imports and files are finished first."""
    asked = _State.asked
    _State.waiting += 1
    try:
        yield
    finally:
        _State.waiting -= 1
    if _State.asked is not asked:
        check()
