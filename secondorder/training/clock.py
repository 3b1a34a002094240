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

        class OfThisThread(event.TimingListener):
            def notify(self, told, thread=threading.get_ident()):
                if threading.get_ident() == thread:
                    super().notify(told)

        self._event, self._compiling = event, OfThisThread()
        event.register(COMPILING, self._compiling)
        self._started = time.perf_counter()
        return self

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self._started
        self._event.unregister(COMPILING, self._compiling)
        if self._compiling.done:
            self.seconds -= self._compiling.duration
