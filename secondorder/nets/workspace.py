"""Arrays that are used again at every step of an optimizer, and who writes into them.

Allocating the arrays of a training step anew in every step can cost as much as the matrix products.
What makes them once is a :class:`Workspace`: it holds the in-place twins of a network's passes and
of a loss (:mod:`secondorder.nets.in_place`), and arrays by name for its owner. Its arrays are for
evaluations that only the owner uses.
"""

import contextlib
import math

import numpy as np

from ..compiled.program import Work
from .in_place import in_place, losses


KEPT = 2**19  # numbers in a network's layers up to which a lent workspace is kept


def fresh(name, shape, dtype):
    """A new array, its entries not set: what stands for a workspace where there is none."""
    return np.empty(shape, dtype)


class Workspace:
    """Arrays that are handed out again and again, by owner, name and dtype.

    An array is made anew when a larger one is asked for; a smaller one (a shorter last batch) is a
    view of its beginning. What was handed out under a name is overwritten at the next request for
    that name.

    Parameters
    ----------
    by_layers : bool
        Whether evaluations in here run layer by layer also where the network has compiled passes.
        These use SciPy's BLAS, whose threads and those of NumPy's BLAS hinder each other: who goes
        on with products of NumPy's evaluates with those, too.
    """

    def __init__(self, by_layers=False):
        self.by_layers = by_layers
        self._memory, self._views, self._inside, self._twins = {}, {}, {}, {}

    def __call__(self, name, shape, dtype):
        view = self._views.get((name, shape, dtype))
        if view is None:
            size, memory = math.prod(shape), self._memory.get((name, dtype))
            if memory is None or memory.size < size:
                memory = self._memory[name, dtype] = np.empty(size, dtype)
                self._views.clear()  # some of them look at memory that is given up
            view = self._views[name, shape, dtype] = memory[:size].reshape(shape)
        return view

    def passes(self, network, rows):
        """The in-place twin of a network's chain, for batches of `rows` samples."""
        chain = network.chain
        return self.twin(("passes", id(chain)), rows,
                         lambda: in_place(chain, network.input_shape, network.dtype))

    def work(self, program, rows):
        """The arrays of a network's compiled passes, for batches of `rows` samples."""
        return self.twin(("work", id(program)), rows, lambda: Work(program))

    def criterion(self, loss, network, rows):
        """The in-place twin of a loss, for the outputs of a network."""
        outputs, dtype = network.output_shape[0], network.dtype
        return self.twin(("criterion", id(loss), outputs, dtype), rows,
                         lambda: losses.find(loss)(loss, outputs, dtype))

    def twin(self, key, rows, make):
        """What `make` gave for this key, ready for batches of `rows` samples.

        The twin must hold what the key tells by its identity, so that the number stays its own.
        """
        twin = self._twins.pop(key, None)  # an interrupt here leaves none, not a half-made one
        if twin is None:
            twin = make()
        if twin.rows != rows:
            twin.resize(rows)
        self._twins[key] = twin
        return twin

    def of(self, owner):
        """The workspace of an owner inside this one, such as a layer, told apart by identity."""
        key = id(owner)
        if key not in self._inside:
            self._inside[key] = Workspace()
        return self._inside[key]

    def __reduce__(self):
        """Copies and pickles start empty: owners are known by identity alone."""
        return Workspace, (self.by_layers,)


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
