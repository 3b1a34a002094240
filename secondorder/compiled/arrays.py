"""Arrays that are used again at every step of an owner, such as an optimizer.

Making the arrays of a training step anew in every step can cost as much as the matrix products. A
:class:`Workspace` holds the work array of a network's compiled passes, and arrays by name. They are
for evaluations that only the owner uses; literal passes make their own.
"""

import contextlib
import math

import numpy as np

from .program import Work

KEPT = 2**19  # numbers in a network's layers up to which a lent workspace is kept


def fresh(name, shape, dtype):
    """A new array, its entries not set: what stands for a workspace where there is none."""
    return np.empty(shape, dtype)


class Workspace:
    """Arrays that are handed out again and again, by name and dtype.

    An array is made anew when a larger one is asked for; a smaller one (a shorter last batch) is a
    view of its beginning. What was handed out under a name is overwritten at the next request for
    that name.
    """

    def __init__(self):
        self._memory, self._views, self._inside, self._work = {}, {}, {}, None

    def __call__(self, name, shape, dtype):
        view = self._views.get((name, shape, dtype))
        if view is None:
            size, memory = math.prod(shape), self._memory.get((name, dtype))
            if memory is None or memory.size < size:
                memory = self._memory[name, dtype] = np.empty(size, dtype)
                self._views.clear()  # some of them look at memory that is given up
            view = self._views[name, shape, dtype] = memory[:size].reshape(shape)
        return view

    def work(self, program, rows):
        """The arrays of a network's compiled passes, for batches of `rows` samples."""
        work, self._work = self._work, None  # an interrupt here leaves none, not a half-made one
        if work is None or work.program is not program:
            work = Work(program)
        if work.rows != rows:
            work.resize(rows)
        self._work = work
        return work

    def of(self, owner):
        """The workspace of an owner inside this one, told apart by identity."""
        key = id(owner)
        if key not in self._inside:
            self._inside[key] = Workspace()
        return self._inside[key]

    def __reduce__(self):
        """Copies and pickles start empty: owners are known by identity alone."""
        return Workspace, ()


class Lender:
    """Workspaces for one computation each: nobody else has them meanwhile, so that threads may ask
    the same network. What was given back is lent again; what is large is made anew every time.

    Parameters
    ----------
    width, size : int
        Numbers that a network's layers make of one sample, and its parameters.
    """

    def __init__(self, width, size):
        self.width, self.size, self._idle = width, size, []

    @contextlib.contextmanager
    def lend(self, samples):
        """A workspace for a computation with so many samples, within a ``with``."""
        if samples * self.width + self.size > KEPT:
            yield Workspace()
            return
        try:
            workspace = self._idle.pop()
        except IndexError:
            workspace = Workspace()
        try:
            yield workspace
        finally:
            self._idle.append(workspace)
