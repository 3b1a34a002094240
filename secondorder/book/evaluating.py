"""Running the checks of a book, in processes or here, with how far it is on the terminal."""

import concurrent.futures
import shutil
import sys
import time

from ..ledger.registry import REGISTRY
from ..studies.running import duration
from .parts import evidence


class Progress:
    """One line on a terminal, written over: checks done of `total`, and the time left."""

    def __init__(self, total):
        self.total, self.done, self.began, self.stream = total, 0, time.monotonic(), sys.stderr
        self.shown = self.stream is not None and self.stream.isatty()

    def step(self, *_):
        """One more check is done."""
        self.done += 1
        if self.shown:
            self._write(self.line(time.monotonic() - self.began))

    def line(self, seconds):
        """What the line says after so many seconds."""
        left = seconds / self.done * (self.total - self.done)
        return f"{self.done}/{self.total} checks, {duration(left)} left"

    def end(self):
        """Wipe the line away."""
        if self.shown:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()

    def _write(self, text):
        room = max(1, shutil.get_terminal_size().columns - 1)
        self.stream.write("\r" + text[:room].ljust(min(room, 40)))
        self.stream.flush()


def asked(pool, entries, seeds, step):
    """Label -> a future of its evidence; a paper of the user's own, which another process could not
    import, is worked through here.

    Without a pool all are; ``step()`` is called when a check is done. `seeds` may be None: as many
    as `evidence.gathered` finds worth their time.
    """
    futures = {}
    for entry in entries:
        given = entry.paper, entry.labels[0], seeds
        if pool is not None and REGISTRY.papers[entry.paper] is not None:
            future = pool.submit(evidence.gathered, *given)
            future.add_done_callback(step)
        else:
            future = concurrent.futures.Future()
            future.set_result(evidence.gathered(*given))
            step()
        futures[entry.labels[0]] = future
    return futures
