"""A network as a table, and the arrays that its compiled passes write into."""

import functools
import importlib

import numpy as np

from .kinds import (ADD, COLUMNS, CONVOLUTION, FIXED, FORK, NOWHERE, RECURRENT, SECOND_TANGENTS,
                    SIN, SIZES, STEPS)


PRODUCT = 10**6  # multiplications up to which BLAS has a faster path for small matrices
NUMBERS = 2**15  # of a turn's windows and outputs: they stay in the cache


def _compiled(module):
    """A module of compiled functions: numba is loaded by the first pass, not by an import."""
    return importlib.import_module(f".{module}", __package__)


class Program:
    """The table of a network: a row a layer, settled once.

    Parameters
    ----------
    rows : sequence of Row
        The layers, first to last.
    dtype : numpy.dtype
        float32 or float64.

    Attributes
    ----------
    table : (L, columns) int64 array
        See :mod:`secondorder.compiled.kinds`. A layer's parameters stand in theta behind those of
        the layers before it, weight, then biases; what is fixed stands behind theta likewise.
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
    dense : bool
        Whether there are linear layers and activations alone.
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
        self.notes = {}  # what a paper's room has settled about it
        self._columns = dict(zip(COLUMNS, self.table.T.tolist()))

    def column(self, name):
        """A column of the table as a list."""
        return self._columns[name]


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
    """A loss as the compiled passes see it.

    Parameters
    ----------
    module, name : str
        The file and the name of the function that gives value and gradient; ``name_product`` is
        that of the product with the Hessian, ``name_diagonal``, where it is needed, of its
        diagonal.
    own : sequence of numbers
        The loss's own.
    dtype : numpy.dtype
    """

    def __init__(self, module, name, own, dtype):
        functions = _compiled(module)
        self.start, self.product = getattr(functions, name), getattr(functions, f"{name}_product")
        self.diagonal = getattr(functions, f"{name}_diagonal", None)
        self.own = np.array(own, dtype).reshape(-1)


class Work:
    """The array that the passes of one program write into, for batches of `rows` samples, and views
    of what stands where.

    What was made is overwritten by the next batch: it belongs to one evaluation at a time.

    Attributes
    ----------
    outputs, p_bar : (rows, C) arrays
        Outputs of the network, and the gradient of every sample's loss in them.
    losses : (rows,) array
    """

    rows = 0

    def __init__(self, program):
        self.program, self._memory = program, np.empty(0, program.dtype)

    def resize(self, rows):
        """Be ready for batches of another length."""
        program, size = self.program, rows * self.program.width + self.program.room
        if self._memory.size < size + rows:
            self._memory = np.empty(size + rows, program.dtype)
        self.rows, self.array = rows, self._memory[:size]
        self.losses = self._memory[size : size + rows]
        self.outputs, self.p_bar = self.batches("y")[-1], self.batches("bar")[-1]
        return self

    def batches(self, name):
        """The matrices (rows, n_out) of all layers in a column of the table: outputs, ..."""
        program, S = self.program, self.rows
        return [self.array[place * S : (place + width) * S].reshape(S, width)
                for place, width in zip(program.column(name), program.column("n_out"))]

    def stacks(self, name):
        """The same of all steps: (steps, rows, n_out), one step where there are no more."""
        program, S = self.program, self.rows
        depths = [1] * len(program.table) if program.steps is None else program.steps[:, 0].tolist()
        return [self.array[(last - (depth - 1) * n) * S : (last + n) * S].reshape(depth, S, n)
                for last, n, depth in zip(program.column(name), program.column("n_out"), depths)]

    # -- passes ------------------------------------------------------------------------------------

    def forward(self, theta, x):
        """Outputs of all layers; returns whether those of the last are finite."""
        program, self.x = self.program, x.reshape(len(x), -1)
        self._has_bars = self._has_curvatures = False
        return _passes().forward(*program.layers, program.own, theta, self.x, self.array)

    def start(self, criterion, t):
        """Losses and the gradients in the outputs; returns whether the losses are finite."""
        self.criterion, self.t = criterion, t
        return criterion.start(self.outputs, t, criterion.own, self.losses, self.p_bar)

    def curvatures(self):
        """Second derivatives of all activations, made once a batch."""
        if not self._has_curvatures:
            program = self.program
            _passes().curvatures(program.table, program.steps, self.x, self.array)
            self._has_curvatures = True

    def output_gradients(self, theta):
        """Gradients in the outputs of all layers, made once a batch."""
        if not self._has_bars:
            work = self.array
            _passes().output_gradients(*self.program.layers, theta, work, work, self.rows)
            self._has_bars = True

    def gradient(self, theta, total):
        """Gradient of the sum of the losses, in `total` (P,)."""
        self.output_gradients(theta)
        _passes().parameter_gradient(*self.program.layers, self.x, self.array, self.array, total)

    def sample_gradients(self, theta, rows):
        """Gradient of every sample's loss, in `rows` (S, P); returns whether all is finite."""
        self.output_gradients(theta)
        return _passes().parameter_gradients(*self.program.layers, self.x, self.array, self.array,
                                             rows)

    def jacobian(self, theta, out):
        """Jacobian of the outputs, in `out` (S, C, P): rows of one output after the other."""
        program, (S, C, P) = self.program, out.shape
        bars, shifted = np.empty_like(self.array), program.table.copy()
        places = [COLUMNS.index("W"), COLUMNS.index("b")]
        shifted[shifted[:, places[0]] >= P, places[0]] += C * P  # what is fixed is out of reach
        rows, p_bar = out.reshape(S, C * P), self._last(bars, "bar")
        for c in range(C):
            p_bar[...] = 0
            p_bar[:, c] = 1
            _passes().output_gradients(*program.layers, theta, self.array, bars, S)
            _passes().parameter_gradients(shifted, *program.layers[1:], self.x, self.array, bars,
                                          rows)
            shifted[:, places] += P  # the next output's columns
        return out

    # -- products; what they write is not here, so that threads may share a batch ------------------

    def hessian_product(self, theta, v, total, room):
        """Hessian of the sum of the losses times v (P,), in `total`."""
        self.output_gradients(theta)
        self.curvatures()
        layers, (moving, part) = self.program.layers, self._moving(room)
        v, product = self._padded(v, room), self._padded(total, room, "padded product")
        _passes().tangents(*layers, theta, v, self.x, self.array, moving, part)
        self.curved(self._last(moving, "y")[self.rows :], self._last(moving, "bar")[: self.rows])
        _passes().gradient_tangent(*layers, theta, v, self.x, self.array, moving, part, product)
        if product is not total:
            total[...] = product[: total.size]

    def along(self, theta, v, room):
        """v^T gradient and v^T H v of the sum of the losses, as floats: by second tangents, or by a
        product where a layer has none.
        """
        program, second = self.program, _compiled("second_order")
        if not program.has_second_tangents:
            total, product = (room(name, v.shape, program.dtype) for name in ("total", "product"))
            self.gradient(theta, total)
            self.hessian_product(theta, v, product, room)
            return second.inner(v, total), second.inner(v, product)
        self.output_gradients(theta)
        self.curvatures()
        v, (moving, part) = self._padded(v, room), self._moving(room)
        _passes().tangents(*program.layers, theta, v, self.x, self.array, moving, part)
        p_tangent, bent = self._last(moving, "y")[self.rows :], self._last(moving, "bar")
        self.curved(p_tangent, bent[: self.rows])
        p_tangent, bent = p_tangent.reshape(-1), bent[: self.rows].reshape(-1)
        h = second.second_tangents(program.table, program.sizes, v, self.array, moving, part,
                                   self.rows)
        return (second.inner(self.p_bar.reshape(-1), p_tangent),
                second.inner(p_tangent, bent) + h)

    def curved(self, p_tangent, out):
        """The Hessian of the loss times tangents of the outputs, in `out`."""
        criterion = self.criterion
        criterion.product(self.outputs, self.t, criterion.own, p_tangent, out)

    def gauss_newton_product(self, theta, middle, v, total, room):
        """Sum over samples of J^T M J times v (P,), in `total`; ``middle(t)`` is M t for
        tangents t of the outputs; the loss's Hessian times t where it is None.
        """
        layers, (moving, part) = self.program.layers, self._moving(room)
        bars, v = room("bars", self.array.shape, self.program.dtype), self._padded(v, room)
        _passes().tangents(*layers, theta, v, self.x, self.array, moving, part)
        p_tangent, y_bar = self._last(moving, "y")[self.rows :], self._last(bars, "bar")
        if middle is None:
            self.curved(p_tangent, y_bar)
        else:
            y_bar[...] = middle(p_tangent)
        _passes().output_gradients(*layers, theta, self.array, bars, self.rows)
        _passes().parameter_gradient(*layers, self.x, self.array, bars, total)

    def _padded(self, vector, room, name="padded"):
        """The vector (P,); where passes need it, with zeros for what is fixed behind it."""
        program = self.program
        if not program.pads:
            return vector
        whole = room(name, (program.size + program.fixed,), program.dtype)
        whole[: program.size], whole[program.size :] = vector, 0
        return whole

    def _moving(self, room):
        """An array for tangents, and one for a part of a layer's."""
        program = self.program
        return (room("moving", (2 * self.array.size,), program.dtype),
                room("part", (self.rows * program.widest,), program.dtype))

    def _last(self, array, name):
        """The batch of the last layer in a column, in an array like this one or twice as long."""
        rows = self.rows * (array.size // self.array.size)
        place, width = self.program.column(name)[-1], self.program.n_out
        return array[place * rows : (place + width) * rows].reshape(rows, width)


@functools.cache
def _passes():
    return _compiled("passes")
