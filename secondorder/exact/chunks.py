"""Sums over a batch in chunks, worked out here or by an executor, added in one order."""

import contextlib
import functools

import numpy as np

from .. import checks
from ..nets import Network
from .symmetric import slices


class Chunks:
    """A batch that is worked through in chunks of `batch_size` samples, the last one shorter.

    The loss is a sum over samples, and so is everything here that is derived from it: a *task*, a
    function of the module that takes ``network, loss, x, y`` and whatever it needs besides, gives
    the sum over one chunk, and the sums are added from the first chunk to the last. The result
    depends on `batch_size` in its last digits, and not at all on who works the chunks out.

    The arguments are those of :func:`~secondorder.exact.gradient`, checked here for all chunks.
    For tasks that do without, loss and y may both be None. The `executor` is anything with
    ``submit`` that returns futures, such as a pool of processes or ``dask.distributed``'s
    ``client.get_executor()``; it is left running. With `own`, copies of x and y are kept, so that
    later changes of the caller's arrays change nothing here. `slices` are the chunks.
    """

    def __init__(self, network, loss, x, y, batch_size=None, executor=None, own=False):
        if not (isinstance(network, Network) and network.size):
            checks.instance_of(network, Network, "network").require_parameters()
        self.network, self.loss, self.x, self.y = network, loss, x, y
        self.executor, self.is_whole = checks.executor(executor, batch_size), batch_size is None
        if self.is_whole:  # what evaluates the batch checks it
            self.slices = [slice(None)]
            return
        if loss is not None:
            checks.check_loss(loss)
        length = checks.whole_number(batch_size, "batch_size", 1)
        # pickles forget another order, in which products would be added otherwise
        self.x = np.ascontiguousarray(network.check_input(x))
        self.y = None if loss is None else checks.plain_array(y, "targets")
        self.slices = slices(len(self.x), length)
        if loss is not None:  # the targets of all chunks, before any work
            loss.prepare_target(self.y, (len(self.x), *network.output_shape), network.dtype)
        if own:
            self.x, self.y = self.x.copy(), self.y.copy()

    @property
    def samples(self):
        return len(self.x)

    def total(self, task, *arguments, rows=()):
        """Sum over the chunks of ``task(network, loss, x, y, *arguments, *rows)``.

        The task is a function of a module, so that other processes find it by its name. `rows` have
        a row for every sample, and are cut like x and y.
        """
        total = None
        for _, part in self.results(task, *arguments, rows=rows):
            total = part if total is None else total + part
            del part  # so that the next chunk finds its room free
        return total

    def put(self, task, out, *arguments):
        """Write what a task makes of every chunk, a row for each sample, into `out` (S, ...)."""
        for where, part in self.results(task, *arguments):
            out[where] = part
        return out

    def results(self, task, *arguments, rows=()):
        """Yield every chunk's slice and what the task makes of it, first to last. The error of a
        task comes as it is, with a note that names the chunk.
        """
        calls = (self._call(task, where, arguments, rows) for where in self.slices)
        if self.executor is None:
            made, futures = (functools.partial(*call) for call in calls), []
        else:
            futures = [self.executor.submit(*call) for call in calls]
            made = (future.result for future in futures)
        try:
            for where, result in zip(self.slices, made):
                with self._named(where):
                    part = result()
                yield where, part
                del part, result
        finally:
            for future in futures:
                future.cancel()

    def _call(self, task, where, arguments, rows):
        if self.is_whole:
            return task, self.network, self.loss, self.x, self.y, *arguments, *rows
        y = None if self.y is None else self.y[where]
        return (task, self.network, self.loss, self.x[where], y, *arguments,
                *(row[where] for row in rows))

    @contextlib.contextmanager
    def _named(self, where):
        try:
            yield
        except Exception as error:
            if not self.is_whole:
                error.add_note(f"in chunk {self.slices.index(where) + 1} of {len(self.slices)} "
                               f"(samples {where.start} to {where.stop - 1}), whose samples are "
                               "counted from 0")
            raise
