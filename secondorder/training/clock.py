"""Seconds of a step, without those in which numba compiles what it calls for the first time."""

import threading
import time

#: What numba tells of: it holds this lock while it compiles a function, or reads one that was kept.
COMPILING = "numba:compiler_lock"


class StepClock:
    """Measures a block of work; `seconds` then tells how long it took, compilation left out.

    What other threads compile meanwhile counts as work.

    Examples
    --------
    >>> with StepClock() as clock:
    ...     total = sum(range(1000))
    >>> 0 <= clock.seconds < 1
    True
    """

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        from numba.core import event  # its import is no part of a step either

        self._event, self._listener = event, _Compiling(event)
        event.register(COMPILING, self._listener)
        self._started = time.perf_counter()
        return self

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self._started - self._listener.seconds
        self._event.unregister(COMPILING, self._listener)


def _Compiling(event):
    """A listener of numba's events that adds up the time of the outermost ones of this thread."""

    class Compiling(event.Listener):
        def __init__(self):
            self.seconds, self.depth, self.thread = 0.0, 0, threading.get_ident()

        def on_start(self, told):
            if threading.get_ident() == self.thread:
                self.depth += 1
                if self.depth == 1:
                    self.started = time.perf_counter()

        def on_end(self, told):
            if threading.get_ident() == self.thread:
                self.depth -= 1
                if self.depth == 0:
                    self.seconds += time.perf_counter() - self.started

    return Compiling()
