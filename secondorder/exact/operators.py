"""Curvature matrices as SciPy linear operators, so that `eigsh`, `cg` and `minres` work."""

import copy

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..checks import (check_l2, check_loss, finite, instance_of, one_of, require_bytes,
                      unchanged)
from ..nets import Evaluation
from .chunks import Chunks
from .curvature import (check_network, evaluate, fisher_rows, gauss_newton_rows, hessian_rows,
                        mean_of, product_sum, score_rows)
from .dense import FISHER_KINDS, drawn_scores
from .diagonals import KINDS
from .parameter_slices import parameter_slice
from .symmetric import slices

BLOCK = 64  # columns of a dense matrix that are made at a time
COPIED = 4096  # entries of each vector that are copied at a time: columns become rows in the cache


class CurvatureOperator(LinearOperator):
    """A symmetric (P, P) operator at one point of a network, or its block of a layer.

    It stands for the point at which it was made: after a change of the network's parameters its
    products raise RuntimeError. Other data, another activation or another constant of the loss, set
    afterwards, do not reach it. Products keep nothing behind, so that threads may share it. Several
    vectors at once, ``operator @ V`` with V (P, K), go through the network together.

    A kind of matrix defines ``rows_of(evaluation, rows, *others)``, the sum over samples of the
    matrix times every row of `rows` (K, P).

    Parameters
    ----------
    network, loss, x, y
        As for :func:`~secondorder.exact.gradient`.
    l2 : float
        Adds l2 * I.
    layer : int, str, slice or Layer, optional
        Only the block of this layer: rows and columns of its parameters. A number counts
        ``network.layers``, activations included, and so does a slice, of layers in a row. Names
        are as in a ``state_dict``: ``"2"``, ``"0.1"`` for a layer inside another, ``"2.weight"``.
    parameter : str, optional
        Only the block of this parameter of the layer, ``"weight"`` or ``"bias"``.
    batch_size : int, optional
        Work through the samples in chunks of so many: a product needs the memory of one chunk, and
        makes its forward pass anew. Without it one forward pass is made and kept.
    executor : concurrent.futures.Executor, optional
        Who works the chunks out, with the same result bit for bit.

    Attributes
    ----------
    place : slice
        Where the block's parameters stand in ``network.theta``.
    evaluation : Evaluation or None
        The forward pass that is kept; None with `batch_size`.
    """

    rows_of = None

    def __init__(self, network, loss, x, y, l2=0.0, layer=None, parameter=None, batch_size=None,
                 executor=None):
        check_network(network)
        loss = copy.copy(check_loss(loss))
        chunks, evaluation = Chunks(network, loss, x, y, batch_size, executor, own=True), None
        if chunks.is_whole:
            evaluation = evaluate(network, loss, x, y)
        else:
            chunks.network = network.copy()
        self._set(network, evaluation, chunks, check_l2(l2), layer, parameter)

    @classmethod
    def at(cls, evaluation, l2=0.0, layer=None, parameter=None):
        """The operator at an evaluation that was made before."""
        check_network(instance_of(evaluation, Evaluation, "evaluation").network)
        operator = cls.__new__(cls)
        operator._set(evaluation.network, evaluation, None, check_l2(l2), layer, parameter)
        return operator

    def _set(self, network, evaluation, chunks, l2, layer, parameter):
        self.network, self.l2, self.place = network, l2, parameter_slice(network, layer, parameter)
        self.evaluation, self.chunks, self._others = evaluation, chunks, ()
        size = self.place.stop - self.place.start
        super().__init__(dtype=network.dtype, shape=(size, size))

    # -- products ----------------------------------------------------------------------------------

    def _products(self, rows):
        """Products of the whole matrix with every row of `rows` (K, P): (K, P)."""
        if self.rows_of is None:
            raise TypeError(f"{type(self).__name__} does not define rows_of(evaluation, rows)")
        if self.evaluation is not None:
            total = self.rows_of(self.evaluation, rows, *self._others)
            samples = self.evaluation.samples
        else:
            unchanged([self.chunks.network.all_parameters], [self.network.all_parameters])
            total = self.chunks.total(product_sum, self.rows_of, rows, rows=self._others)
            samples = self.chunks.samples
        return mean_of(self.network, total, samples, rows, self.l2, "the product")

    def _matvec(self, v):
        return self._products(self._embedded(v.reshape(1, -1)))[0, self.place]

    def _matmat(self, V):
        if V.shape[1] == 0:
            return np.empty(V.shape, dtype=self.dtype)
        return self._products(self._embedded(V.T))[:, self.place].T

    def _embedded(self, rows):
        """Rows (K, block) as rows (K, P) that are zero outside the block."""
        if not np.can_cast(rows.dtype, self.dtype, casting="same_kind"):
            raise TypeError(f"v must hold {self.dtype}, got {rows.dtype}")
        size, place = self.network.size, self.place
        if rows.shape[1] == size and rows.flags.c_contiguous and rows.dtype == self.dtype:
            return finite(rows, "v")
        whole = np.zeros((len(rows), size), dtype=self.dtype)
        for part in slices(rows.shape[1], COPIED):
            whole[:, place.start + part.start : place.start + part.stop] = rows[:, part]
        return finite(whole, "v")

    def _adjoint(self):
        return self

    def _transpose(self):
        return self

    def dense(self, max_bytes=2**30):
        """The matrix as an array, from products with the unit vectors.

        Raises
        ------
        MemoryError
            If it needs more than `max_bytes`.
        """
        require_bytes("the matrix", self.shape, self.dtype, max_bytes)
        matrix = np.empty(self.shape, dtype=self.dtype)
        for start in range(0, len(matrix), BLOCK):
            units = np.eye(len(matrix), min(BLOCK, len(matrix) - start), -start, dtype=self.dtype)
            matrix[:, start : start + BLOCK] = self.matmat(units)
        return matrix


class HessianOperator(CurvatureOperator):
    """Exact Hessian of the objective.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> from scipy.sparse.linalg import eigsh
    >>> net = so.mlp([3, 2], rng=0)      # one linear layer, squared error: the Hessian is known
    >>> x = np.random.default_rng(1).normal(size=(50, 3))
    >>> H = so.exact.HessianOperator(net, so.SquaredError(), x, np.zeros((50, 2)))
    >>> ones = np.ones((50, 1))
    >>> moments = np.hstack([x, ones]).T @ np.hstack([x, ones]) / 50
    >>> bool(np.isclose(eigsh(H, k=1)[0][0], np.linalg.eigvalsh(moments)[-1]))
    True

    *Generalised eigenpairs.* Where the Hessian is largest in units of the Gauss-Newton matrix G,
    H v = mu G v, SciPy's `lobpcg` finds by products alone. G must be positive definite; a penalty
    sees to that.

    >>> from scipy.linalg import eigh
    >>> from scipy.sparse.linalg import lobpcg
    >>> net = so.mlp([3, 4, 2], rng=0)
    >>> problem = net, so.SquaredError(), x, np.ones((50, 2))
    >>> H = so.exact.HessianOperator(*problem)
    >>> G = so.exact.GaussNewtonOperator(*problem, l2=0.1)
    >>> start = np.random.default_rng(2).normal(size=(net.size, 3))
    >>> values, vectors = lobpcg(H, start, B=G, maxiter=200, tol=1e-8)
    >>> bool(np.allclose(values, eigh(H.dense(), G.dense())[0][:-4:-1], atol=1e-6))
    True
    """

    rows_of = staticmethod(hessian_rows)


class GaussNewtonOperator(CurvatureOperator):
    """Generalised Gauss-Newton matrix, mean of J^T H_loss J."""

    rows_of = staticmethod(gauss_newton_rows)


class FisherOperator(CurvatureOperator):
    """Fisher matrix; see :func:`~secondorder.exact.fisher` for the kinds and when they coincide.

    The targets of ``kind="sampled"`` are drawn once, when the operator is made.
    """

    def __init__(self, network, loss, x, y, kind="exact", rng=None, draws=1, l2=0.0, layer=None,
                 parameter=None, batch_size=None, executor=None):
        super().__init__(network, loss, x, y, l2, layer, parameter, batch_size, executor)
        self._draw(kind, rng, draws)

    @classmethod
    def at(cls, evaluation, kind="exact", rng=None, draws=1, l2=0.0, layer=None, parameter=None):
        operator = super().at(evaluation, l2, layer, parameter)
        operator._draw(kind, rng, draws)
        return operator

    def _draw(self, kind, rng, draws):
        self.kind = one_of(FISHER_KINDS, kind, "kind")
        self.rows_of = ROWS_OF[kind]
        if kind == "sampled":
            self._others = drawn_scores(self.evaluation or self.chunks, rng, draws)
        elif self.evaluation is not None:  # made once for all products
            loss, p, y = self.evaluation.loss_function, self.evaluation.outputs, self.evaluation.y
            self._others = (loss.fisher(p) if kind == "exact" else loss.gradient(p, y),)


ROWS_OF = {"exact": fisher_rows, "empirical": score_rows, "sampled": score_rows}


def operator_of(kind, network, loss, x, y, rng=None, draws=1, **options):
    """The operator of a curvature matrix by name; see :func:`~secondorder.exact.diagonal`."""
    one_of(KINDS, kind, "kind")
    if kind == "hessian":
        return HessianOperator(network, loss, x, y, **options)
    if kind == "gauss-newton":
        return GaussNewtonOperator(network, loss, x, y, **options)
    targets = kind.removeprefix("fisher").removeprefix("-") or "exact"
    return FisherOperator(network, loss, x, y, targets, rng, draws, **options)
