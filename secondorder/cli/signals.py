"""Signals that ask a command to end: all do what Ctrl-C does, where it does no harm."""

import contextlib
import signal
import sys
import threading

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end.

    Attributes
    ----------
    number : int
        Of the signal.
    """

    def __init__(self, number):
        super().__init__(number)
        self.number = int(number)


class _State:
    """What the handlers know: how many blocks wait, and which signal came."""

    waiting = 0
    asked = None


def _handle(number, frame):
    if _State.asked is None:
        _State.asked = number
    if not _State.waiting:
        raise Stopped(number)


@contextlib.contextmanager
def handled():
    """Within this block SIGTERM and SIGHUP raise `Stopped`, as does SIGINT, which is a
    KeyboardInterrupt.

    Signals that are ignored (``nohup``) stay ignored. Outside of the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers}
    kept_hook, kept_asked, _State.asked = sys.unraisablehook, _State.asked, None
    sys.unraisablehook = _quiet(kept_hook)
    try:
        for number, handler in before.items():
            if handler not in (signal.SIG_IGN, None):
                signal.signal(number, _handle)
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        sys.unraisablehook, _State.asked = kept_hook, kept_asked


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
