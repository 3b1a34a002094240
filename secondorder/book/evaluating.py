"""Running the checks of a book, in processes or here, with how far it is on the terminal."""

import concurrent.futures
import time

from ..ledger.registry import REGISTRY
from ..studies.running import duration
from ..training.progress import Line
from .parts import evidence


class Progress(Line):
    """Checks done of `total`, and the time left."""

    def __init__(self, total):
        super().__init__()
        self.total, self.done, self.began = total, 0, time.monotonic()

    def step(self, *_):
        """One more check is done."""
        self.done += 1
        left = (time.monotonic() - self.began) / self.done * (self.total - self.done)
        self.show(f"{self.done}/{self.total} checks, {duration(left)} left")


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
