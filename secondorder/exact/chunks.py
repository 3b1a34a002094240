"""Sums over a batch in chunks, worked out here or by an executor, added in one order."""

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
        self.x = network.check_input(x)
        self.y = None if loss is None else checks.plain_array(y, "targets")
        self.slices = slices(len(self.x), length)
        if loss is not None:
            self._check_targets()
        if own:
            self.x, self.y = self.x.copy(), self.y.copy()

    @property
    def samples(self):
        return len(self.x)

    def _check_targets(self):
        """Refuse bad targets of any chunk; only one chunk of prepared ones is held at a time."""
        width = self.network.output_shape[-1]

        def prepare(where, samples):
            self.loss.prepare_target(self.y[where], (samples, width), self.network.dtype)

        try:
            if len(np.atleast_1d(self.y)) != self.samples:
                raise ValueError(f"targets have shape {self.y.shape}, expected one row for each of "
                                 f"the {self.samples} samples")
            for where in self.slices:
                prepare(where, where.stop - where.start)
        except (TypeError, ValueError):
            prepare(..., self.samples)  # its message counts the samples of the whole batch
            raise

    def total(self, task, *arguments, shape, dtype=None, rows=()):
        """Sum over the chunks of ``task(network, loss, x, y, *arguments, *rows)``, a new array of
        this shape, and of the network's dtype unless another is given.

        The task is a function of a module, so that other processes find it by its name. `rows` have
        a row for every sample, and are cut like x and y. RuntimeError if the executor fails, or
        brings something of another shape; the error of a task comes as it is, with a note of the
        chunk.
        """
        if self.is_whole:
            return task(self.network, self.loss, self.x, self.y, *arguments, *rows)
        dtype, total = self.network.dtype if dtype is None else np.dtype(dtype), None
        for where, part in self.results(task, *arguments, rows=rows):
            self.require_like(part, where, shape, dtype)
            if total is not None:
                total += part
            else:
                total = part if part.flags.writeable else part.copy()
            del part
        return total

    def put(self, task, out, *arguments):
        """Write what a task makes of every chunk, a row for each sample, into `out` (S, ...)."""
        for where, part in self.results(task, *arguments):
            self.require_like(part, where, out[where].shape, out.dtype)
            out[where] = part
        return out

    def results(self, task, *arguments, rows=()):
        """Yield every chunk's slice and what the task makes of it, first to last."""
        calls = (self._call(task, where, arguments, rows) for where in self.slices)
        results = self.made(calls, self.slices)
        for where in self.slices:
            yield where, next(results)

    def made(self, calls, places):
        """Yield what every call ``(task, *arguments)`` makes, one for each of the `places`: a
        chunk, a tuple of chunks, or the name of something else.

        Arrays go to a task row by row, wherever it runs: a pickle forgets other layouts, and with
        another layout products are added in another order.
        """
        if not self.is_whole:
            calls = (tuple(map(_by_rows, call)) for call in calls)
        attempts = (_attempt(*call) for call in calls)
        outcomes = attempts if self.executor is None else self._outcomes(calls, places)
        for where in places:  # a zip would hold what was made last
            result, error = next(outcomes)
            if error is not None:
                if not self.is_whole and not isinstance(where, str):
                    error.add_note(note_of(self._name(where)))
                raise error
            yield result
            del result  # so that the next chunk finds its room free

    def _call(self, task, where, arguments, rows):
        if self.is_whole:
            return task, self.network, self.loss, self.x, self.y, *arguments, *rows
        y = None if self.y is None else self.y[where]
        return (task, self.network, self.loss, self.x[where], y, *arguments,
                *(row[where] for row in rows))

    def _outcomes(self, calls, places):
        """What `_attempt` returns for every call, by the executor; nothing is left waiting."""
        futures, where = [], None
        try:
            for where, call in zip(places, calls):
                futures.append(self.executor.submit(_attempt, *call))
            for where in places:
                outcome = futures.pop(0).result()
                if not (isinstance(outcome, tuple) and len(outcome) == 2):
                    raise TypeError(f"{checks.shown(outcome)} is not what its task returned")
                yield outcome
                del outcome
        except Exception as error:  # whatever an executor raises
            raise RuntimeError(f"the executor failed at {self._name(where)}: "
                               f"{type(error).__name__}: {error}") from error
        finally:
            for future in futures:
                future.cancel()

    def _name(self, where):
        if isinstance(where, tuple):
            return " and ".join(map(self._name, where))
        return where if isinstance(where, str) else chunk_name(self.slices, where)

    def require_like(self, part, where, shape, dtype):
        """RuntimeError unless what came back from a place is an array of that shape and dtype."""
        kind = (part.shape, part.dtype) if isinstance(part, np.ndarray) else type(part).__name__
        if kind != (tuple(shape), dtype):
            raise RuntimeError(f"{self._name(where)} came back as {kind}, expected an array of "
                               f"shape {tuple(shape)} and {dtype}")


def chunk_name(slices, where):
    """What messages call a chunk."""
    return (f"chunk {slices.index(where) + 1} of {len(slices)} (samples {where.start} to "
            f"{where.stop - 1})")


def note_of(name):
    """What is added to the error of a chunk."""
    return f"in {name}, whose samples are counted from 0"


def _by_rows(value):
    """An array in C order; anything else as it is."""
    return np.asarray(value, order="C") if isinstance(value, np.ndarray) else value


def _attempt(task, *arguments):
    """What the task returns and None, or None and its error: an executor's own errors are told
    from those.
    """
    try:
        return task(*arguments), None
    except Exception as error:
        return None, error
