"""A network as a table, and a loss as the compiled passes see it."""

import importlib
from functools import cache, cached_property

import numpy as np

from .kinds import (ADD, COLUMNS, CONVOLUTION, FIXED, FORK, NOWHERE, RECURRENT, SECOND_TANGENTS,
                    SIN, SIZES, STEPS)


PRODUCT = 10**6  # multiplications up to which BLAS has a faster path for small matrices
NUMBERS = 2**15  # of a turn's windows and outputs: they stay in the cache


@cache
def functions(module):
    """A module of compiled functions: numba is loaded by the first pass, not by an import."""
    return importlib.import_module(f".{module}", __package__)


class Program:
    """The table of a network: a row a layer, first to last, settled once.

    Attributes
    ----------
    table : (L, columns) int64 array
        See :mod:`secondorder.compiled.kinds`. A layer's parameters stand in theta behind those of
        the layers before it, weight, then biases; what is fixed stands behind theta likewise.
    columns : dict
        The columns of the table as lists, by name.
    own : (L,) array
        The numbers of the layers.
    more : True or None
        Whether there are other kinds than linear layers, activations, recurrences, and what looks
        through windows.
    steps : (L, steps) int64 array or None
        Of the recurrences, if there are any.
    sizes : (L, sizes) int64 array or None
        Of the layers that look through windows, if there are any.
    has_second_tangents : bool
        Whether `second_order` knows the second tangents of all layers.
    layers : (table, more, steps, sizes)
        What the passes take first.
    room : int
        Numbers that the work array holds behind all batches, for a turn of windows.
    width : int
        Numbers that the work array holds for one sample.
    size, fixed : int
        P, and the number of fixed parameters.
    """

    def __init__(self, rows, dtype):
        self.dtype, table, forks, place, x = np.dtype(dtype), [], [], 0, NOWHERE
        numbers = [sum(row.n_W + row.n_b for row in rows if row.fixed == fixed)
                   for fixed in (False, True)]
        self.size, self.fixed = numbers
        free = [0, self.size]  # the next place in theta, and behind it
        for row in rows:
            W = free[row.fixed]
            b = W + row.n_W
            free[row.fixed] = b + row.n_b
            # the last of so many places for the steps of a recurrence; others have one
            depth, other = row.steps[0] if row.steps else 1, NOWHERE
            y, slope, curvature, last = (place + (depth * k - 1) * row.n_out for k in (1, 2, 3, 4))
            bar = curvature + row.n_out
            if row.kind == RECURRENT:
                other, bar = last, last + row.n_out
            table.append([row.kind, row.n_in, row.n_out, W, b, row.n_b, x, y, slope, curvature,
                          other, bar])
            if row.kind == FORK:
                forks.append((table[-1], x))
            elif row.kind == ADD:
                fork, table[-1][-2] = forks.pop()
                fork[-2] = bar
            if row.kind in (FORK, ADD):
                table[-1][COLUMNS.index("W")] = row.at
            place, x = bar + row.n_out, y
        self.table = np.array(table, dtype=np.int64).reshape(-1, len(COLUMNS))
        self.own = np.array([row.own for row in rows], dtype=self.dtype)
        self.width, self.n_in, self.n_out = place, rows[0].n_in, rows[-1].n_out
        self.widest = max(max(row.n_in, row.n_out) for row in rows)

        # whether products read v and write their result there, too
        self.pads = any(row.fixed and row.kind != FIXED for row in rows)
        self.more = True if any(SIN < row.kind < RECURRENT for row in rows) else None
        self.steps = None
        if any(row.kind == RECURRENT for row in rows):
            self.steps = np.array([row.steps or (1,) + (0,) * (len(STEPS) - 1) for row in rows])
        self.sizes, self.room = sizes_of(rows)
        self.layers = self.table, self.more, self.steps, self.sizes
        self.has_second_tangents = all(row.kind in SECOND_TANGENTS for row in rows)
        self.columns = dict(zip(COLUMNS, self.table.T.tolist()))


def sizes_of(rows):
    """The table of sizes, None where nothing looks through windows; and the numbers that the passes
    of one layer need behind all batches.
    """
    if all(row.kind < CONVOLUTION for row in rows):
        return None, 0
    sizes, room = np.zeros((len(rows), len(SIZES)), np.int64), 0
    for size, row in zip(sizes, rows):
        if row.sizes:
            size[:-1] = row.sizes
        if row.kind == CONVOLUTION:
            P, Q = size[3:5]
            channels = row.n_out // (P * Q)
            entries = row.n_W // channels
            columns = min(PRODUCT // row.n_W, NUMBERS // (entries + channels))
            size[-1] = max(1, columns // Q)
            room = max(room, 2 * (entries + channels) * size[-1] * Q + 2 * row.n_W)
    return sizes, room


class Criterion:
    """A loss as the compiled passes see it: `name` in the file `module` gives value and gradient,
    ``name_product`` the product with the Hessian, ``name_diagonal``, where it is needed, its
    diagonal. ``numbers()`` are the loss's own.
    """

    def __init__(self, module, name, numbers, dtype):
        self.module, self.name, self.numbers, self.dtype = module, name, numbers, dtype

    @cached_property
    def own(self):
        return np.array(self.numbers(), self.dtype).reshape(-1)

    @cached_property
    def start(self):
        return getattr(functions(self.module), self.name)

    @cached_property
    def product(self):
        return getattr(functions(self.module), f"{self.name}_product")

    @cached_property
    def diagonal(self):
        return getattr(functions(self.module), f"{self.name}_diagonal", None)
