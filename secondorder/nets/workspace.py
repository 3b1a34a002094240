"""Arrays for results: new ones, or the same ones again at every step of an optimizer.

Allocating the arrays of a training step anew in every step can cost as much as the matrix products.
There is one mechanism for all who make arrays: a pass, a rule, a loss or an activation that
supports it takes an argument `new`, and writes its results into what ``new(name, shape, dtype)``
returns. What accepts `new` is read from its signature, so that a layer that knows nothing of it
works as well. By default `new` is :data:`fresh`; an optimizer passes on arrays of its own
:class:`Workspace`, and only to evaluations that nobody else sees.

``new.of(layer)`` is the same for a layer inside, whose arrays are then its own.
``new.lending(theta_bar=piece)`` gives `piece` to whoever asks for an array of that name, so that a
layer writes its gradient straight to its place in a flat vector.
"""

import functools
import inspect
import math

import numpy as np


class Fresh:
    """A source of new arrays, their entries not set. It is also the base of all other sources."""

    def __call__(self, name, shape, dtype):
        return np.empty(shape, dtype)

    def of(self, owner):
        """The source for something inside, such as a layer of a chain, told apart by identity."""
        return self

    def lending(self, **arrays):
        """A source that gives these arrays where one of that name, shape and dtype is asked for."""
        return Lending(self, arrays)


fresh = Fresh()


class Lending(Fresh):
    """A source that lends some arrays by name and takes all others from another source."""

    def __init__(self, source, arrays):
        self.source, self.arrays = source, arrays

    def __call__(self, name, shape, dtype):
        array = self.arrays.get(name)
        fits = array is not None and array.shape == shape and array.dtype == dtype
        return array if fits else self.source(name, shape, dtype)

    def of(self, owner):
        return self.source.of(owner)


class Workspace(Fresh):
    """Arrays that are handed out again and again, by owner, name and dtype.

    An array is made anew when a larger one is asked for; a smaller one (a shorter last batch) is a
    view of its beginning. What was handed out under a name is overwritten at the next request for
    that name.
    """

    def __init__(self):
        self._memory, self._views, self._inside = {}, {}, {}

    def __call__(self, name, shape, dtype):
        view = self._views.get((name, shape, dtype))
        if view is None:
            size, memory = math.prod(shape), self._memory.get((name, dtype))
            if memory is None or memory.size < size:
                memory = self._memory[name, dtype] = np.empty(size, dtype)
                self._views.clear()  # some of them look at memory that is given up
            view = self._views[name, shape, dtype] = memory[:size].reshape(shape)
        return view

    def of(self, owner):
        """The workspace of an owner inside this one, such as a layer, told apart by identity."""
        key = id(owner)
        if key not in self._inside:
            self._inside[key] = Workspace()
        return self._inside[key]

    def __reduce__(self):
        """Copies and pickles start empty: owners are known by identity alone."""
        return Workspace, ()


@functools.cache
def _parameters(function):
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a function without a signature, such as a ufunc
        return frozenset()


def call(method, *arguments, **options):
    """Call a function or method with those of the options that it accepts by name."""
    accepted = _parameters(getattr(method, "__func__", method))
    if not accepted.issuperset(options):
        options = {name: value for name, value in options.items() if name in accepted}
    return method(*arguments, **options)
