"""Interrupts of one step: at the k-th operation of Python, or by a timer."""

import contextlib
import signal
import sys


class Interrupter:
    """Raises KeyboardInterrupt before the k-th operation (bytecode) of the code that it watches.

    `watched` tells by a file's name whether its code is watched; k is `at`, from 0. A `handler` is
    called there instead, as the handler of a signal is; the code goes on after it.
    """

    def __init__(self, watched, at, handler=None):
        self.watched, self.at, self.handler, self._seen = watched, at, handler, 0

    def _told(self, frame, event, argument):
        if event == "call":
            if not self.watched(frame.f_code.co_filename):
                return None
            frame.f_trace = self._told  # Python 3.13 asks for it before it tells operations
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            self._seen += 1
            if self._seen > self.at:
                sys.settrace(None)
                if self.handler is None:
                    raise KeyboardInterrupt
                self.handler()
        return self._told

    def __call__(self, work):
        """Run some work; whether an interrupt came."""
        before = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # and Python 3.12 before it is told to trace
        try:
            sys.settrace(self._told)
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


@contextlib.contextmanager
def timer(seconds):
    """One KeyboardInterrupt by a signal, after so many seconds within this block."""
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
