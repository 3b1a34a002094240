"""Curvature matrices as SciPy linear operators, so that `eigsh`, `cg` and `minres` work."""

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..checks import check_l2, instance_of, one_of, whole_number
from ..nets import Evaluation
from .curvature import (check_network, check_vector, evaluate, gauss_newton_product_at,
                        hessian_vector_product_at)
from .dense import FISHER_KINDS, fisher_scores


class CurvatureOperator(LinearOperator):
    """A symmetric (P, P) operator at one evaluation of a network.

    It stands for the point at which it was made: after a change of the network's parameters its
    products raise RuntimeError. Products keep nothing behind, so that threads may share it.

    Parameters
    ----------
    network, loss, x, y
        As for :func:`~secondorder.exact.gradient`.
    l2 : float
        Adds l2 * I.
    """

    def __init__(self, network, loss, x, y, l2=0.0):
        self._set(evaluate(network, loss, x, y), check_l2(l2))

    @classmethod
    def at(cls, evaluation, l2=0.0):
        """The operator at an evaluation that was made before."""
        check_network(instance_of(evaluation, Evaluation, "evaluation").network)
        operator = cls.__new__(cls)
        operator._set(evaluation, check_l2(l2))
        return operator

    def _set(self, evaluation, l2):
        self.evaluation, self.l2 = evaluation, l2
        super().__init__(dtype=evaluation.network.dtype, shape=2 * (evaluation.network.size,))

    def _product(self, v):
        """Product with v (P,), a new array."""
        raise TypeError(f"{type(self).__name__} does not define _product(v)")

    def _matvec(self, v):
        return self._product(check_vector(self.evaluation.network, np.asarray(v).reshape(-1)))

    def _matmat(self, V):
        products = [self._matvec(column) for column in V.T]
        return np.stack(products, axis=1) if products else np.empty(V.shape, dtype=self.dtype)

    def _adjoint(self):
        return self


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
    """

    def _product(self, v):
        return hessian_vector_product_at(self.evaluation, v, self.l2)


class GaussNewtonOperator(CurvatureOperator):
    """Generalised Gauss-Newton matrix, mean of J^T H_loss J."""

    def _product(self, v):
        e = self.evaluation
        return gauss_newton_product_at(
            e, v, lambda t: e.loss_function.hessian_product(e.outputs, e.y, t), self.l2)


class FisherOperator(CurvatureOperator):
    """Fisher matrix; see :func:`~secondorder.exact.fisher` for the kinds and when they coincide.

    The targets of ``kind="sampled"`` are drawn once, when the operator is made.
    """

    def __init__(self, network, loss, x, y, kind="exact", rng=None, draws=1, l2=0.0):
        super().__init__(network, loss, x, y, l2=l2)
        self._draw(kind, rng, draws)

    @classmethod
    def at(cls, evaluation, kind="exact", rng=None, draws=1, l2=0.0):
        operator = super().at(evaluation, l2=l2)
        operator._draw(kind, rng, draws)
        return operator

    def _draw(self, kind, rng, draws):
        self.kind, draws = one_of(FISHER_KINDS, kind, "kind"), whole_number(draws, "draws", 1)
        e = self.evaluation
        if kind == "exact":
            self._F, self._scores = e.loss_function.fisher(e.outputs), []
        else:
            self._F, self._scores = None, fisher_scores(e, kind, rng, draws)

    def _middle(self, t):
        if self.kind == "exact":
            return np.einsum("sij,sj->si", self._F, t)
        moved = (score * np.sum(score * t, axis=1, keepdims=True) for score in self._scores)
        return sum(moved) / len(self._scores)

    def _product(self, v):
        return gauss_newton_product_at(self.evaluation, v, self._middle, self.l2)
