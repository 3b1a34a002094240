"""Arrays for results: fresh ones, or reused ones from a `Workspace`.

Allocating the arrays of a training step anew in every step can cost as much as the matrix products. A pass that supports it takes
``new``, a function ``new(name, shape, dtype) -> array``, and writes its results into what that returns. By default it is
:func:`fresh`; an optimizer passes on arrays of its own workspace, and only to evaluations that nobody else sees.
"""

import functools
import math

import numpy as np


def fresh(name, shape, dtype):
    """A new array, its entries not set."""
    return np.empty(shape, dtype)


class Workspace:
    """Arrays that are handed out again and again, by owner, name and dtype.

    An array is made anew when a larger one is asked for; a smaller one (a shorter last batch) is a view of its beginning.
    What was handed out under a name is overwritten at the next request for that name.
    """

    def __init__(self):
        self._memory, self._views, self._owners = {}, {}, {}

    def of(self, owner):
        """A function ``new(name, shape, dtype)`` for one owner, such as a layer, told apart by identity."""
        key = id(owner)
        if key not in self._owners:
            self._owners[key] = functools.partial(self._array, key)
        return self._owners[key]

    def __reduce__(self):
        """Copies and pickles start empty: owners are known by identity, and the arrays hold nothing worth keeping."""
        return Workspace, ()

    def _array(self, owner, name, shape, dtype):
        view = self._views.get((owner, name, shape, dtype))
        if view is None:
            size, memory = math.prod(shape), self._memory.get((owner, name, dtype))
            if memory is None or memory.size < size:
                memory = self._memory[owner, name, dtype] = np.empty(size, dtype)
                self._views.clear()  # some of them look at memory that is given up
            view = self._views[owner, name, shape, dtype] = memory[:size].reshape(shape)
        return view
