"""Arrays that are used again at every step of an owner, such as an optimizer.

Making the arrays of a training step anew in every step can cost as much as the matrix products. A
:class:`Workspace` holds the work array of a network's compiled passes, and arrays by name. They are
for evaluations that only the owner uses; literal passes make their own.
"""

import contextlib
import math
import threading
from functools import partial

import numpy as np

from .kinds import COLUMNS
from .program import functions

_passes = partial(functions, "passes")
KEPT = 2**19  # numbers in a network's layers up to which a lent workspace is kept


def fresh(name, shape, dtype):
    """A new array, its entries not set: what stands for a workspace where there is none."""
    return np.empty(shape, dtype)


class Work:
    """The array that the passes of one program write into, for batches of `rows` samples, and views
    of what stands where.

    What was made is overwritten by the next batch: it belongs to one evaluation at a time.

    Attributes
    ----------
    outputs, p_bar : (rows, C) arrays
        Outputs of the network, and the gradient of every sample's loss in them.
    losses : (rows,) array
    notes : dict
        What a paper's room has made for batches of this length.
    """

    rows = 0

    def __init__(self, program):
        self.program, self._memory = program, np.empty(0, program.dtype)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_once"}

    def __setstate__(self, state):
        vars(self).update(state, _once=threading.RLock())  # a copy has a lock of its own

    def resize(self, rows):
        """Be ready for batches of another length."""
        program, size = self.program, rows * self.program.width + self.program.room
        if self._memory.size < size + rows:
            self._memory = np.empty(size + rows, program.dtype)
        self.rows, self.array, self.notes = rows, self._memory[:size], {}
        self.losses = self._memory[size : size + rows]
        self.outputs, self.p_bar = self.batches("y")[-1], self.batches("bar")[-1]
        return self

    def batches(self, name):
        """The matrices (rows, n_out) of all layers in a column of the table: outputs, ..."""
        program, S = self.program, self.rows
        return [self.array[place * S : (place + width) * S].reshape(S, width)
                for place, width in zip(program.columns[name], program.columns["n_out"])]

    def stacks(self, name):
        """The same of all steps: (steps, rows, n_out), one step where there are no more."""
        program, S = self.program, self.rows
        depths = [1] * len(program.table) if program.steps is None else program.steps[:, 0].tolist()
        return [self.array[(last - (depth - 1) * n) * S : (last + n) * S].reshape(depth, S, n)
                for last, n, depth in zip(program.columns[name], program.columns["n_out"], depths)]

    # -- passes ------------------------------------------------------------------------------------

    def forward(self, theta, x, criterion=None, t=None):
        """Outputs of all layers; with a loss and targets the losses too, and the gradients in the
        outputs. Returns whether outputs, and losses, are finite.
        """
        program, x = self.program, x if x.flags.carray else x.copy()
        self.x = x.reshape(len(x), -1)
        # One thread makes what threads share of a batch. An interrupt may leave the lock taken:
        # it lets its own thread in again, and the next batch has another one.
        self._once = threading.RLock()
        self._has_bars = self._has_curvatures = False
        finite = _passes().forward(*program.layers, program.own, theta, self.x, self.array)
        if criterion is None or not finite:
            return finite
        self.criterion, self.t = criterion, t if t.flags.carray else t.copy()
        return criterion.start(self.outputs, self.t, criterion.own, self.losses, self.p_bar)

    def curvatures(self):
        """Second derivatives of all activations, made once a batch."""
        if not self._has_curvatures:
            with self._once:
                if not self._has_curvatures:
                    program = self.program
                    _passes().curvatures(program.table, program.steps, self.x, self.array)
                    self._has_curvatures = True

    def output_gradients(self, theta):
        """Gradients in the outputs of all layers, made once a batch."""
        if not self._has_bars:
            with self._once:
                if not self._has_bars:
                    work = self.array
                    _passes().output_gradients(*self.program.layers, theta, work, work, self.rows)
                    self._has_bars = True

    def gradient(self, theta, total):
        """Gradient of the sum of the losses, in `total` (P,)."""
        if not self._has_bars:
            self.output_gradients(theta)
        _passes().parameter_gradient(*self.program.layers, self.x, self.array, self.array, total)

    def mean(self, total, l2, penalised):
        """total / rows + l2 penalised, in `total` (P,); returns whether all is finite."""
        number = self.program.dtype.type
        return _passes().mean(total, number(self.rows), number(l2), penalised)

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
        rows, p_bar = out.reshape(S, C * P), self.last(bars, "bar")
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
        self.curved(self.last(moving, "y")[self.rows :], self.last(moving, "bar")[: self.rows])
        _passes().gradient_tangent(*layers, theta, v, self.x, self.array, moving, part, product)
        if product is not total:
            total[...] = product[: total.size]

    def along(self, theta, v, room):
        """v^T gradient and v^T H v of the sum of the losses, as floats: by second tangents, or by a
        product where a layer has none.
        """
        program, second = self.program, functions("second_order")
        if not program.has_second_tangents:
            total, product = (room(name, v.shape, program.dtype) for name in ("total", "product"))
            self.gradient(theta, total)
            self.hessian_product(theta, v, product, room)
            return second.inner(v, total), second.inner(v, product)
        self.output_gradients(theta)
        self.curvatures()
        v, (moving, part) = self._padded(v, room), self._moving(room)
        _passes().tangents(*program.layers, theta, v, self.x, self.array, moving, part)
        p_tangent, bent = self.last(moving, "y")[self.rows :], self.last(moving, "bar")
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
        p_tangent, y_bar = self.last(moving, "y")[self.rows :], self.last(bars, "bar")
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

    def last(self, array, name):
        """The batch of the last layer in a column, in an array like this one or twice as long."""
        rows = self.rows * (array.size // self.array.size)
        place, width = self.program.columns[name][-1], self.program.n_out
        return array[place * rows : (place + width) * rows].reshape(rows, width)


class Workspace:
    """Arrays that are handed out again and again, by name and dtype.

    An array is made anew when a larger one is asked for; a smaller one (a shorter last batch) is a
    view of its beginning. What was handed out under a name is overwritten at the next request for
    that name.
    """

    def __init__(self):
        self._memory, self._views, self._work = {}, {}, None

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

    def __reduce__(self):
        """Copies and pickles start empty."""
        return Workspace, ()


class Lender:
    """Workspaces for one computation each: nobody else has them meanwhile, so that threads may ask
    the same network. What was given back is lent again; what is large is made anew every time.
    `width` numbers are what a network's layers make of one sample, `size` its parameters.
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
