"""An interrupt ends a run after the running step, so that what is left is whole."""

import contextlib
import signal
import threading

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
           if hasattr(signal, name)]


@contextlib.contextmanager
def heard_between_steps():
    """Within this block the first of the `SIGNALS` waits; a second one is heard at once.

    It goes to the handler that it had before, as Ctrl-C to the one that raises KeyboardInterrupt.
    A signal without a handler in Python ends the process as ever. Only the main thread hears
    signals.

    Yields
    ------
    callable
        To be called between two steps: hands a signal that waits to its handler.
    """
    handlers, waiting = {}, []

    def hear(number, frame):
        if waiting:
            waiting.clear()
            handlers[number](number, frame)
        else:
            waiting.append(number)

    def between_steps():
        while waiting:
            number = waiting.pop()
            handlers[number](number, None)

    if threading.current_thread() is threading.main_thread():
        handlers = {number: handler for number in SIGNALS
                    if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, hear)
    try:
        yield between_steps
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    between_steps()
