"""The objective as functions of the parameters alone, as SciPy's optimizers want them."""

import numpy as np

from ..checks import check_l2, check_loss, copied, instance_of, real_array
from ..nets import Network
from .chunks import Chunks
from .curvature import evaluated, hessian_vector_product
from .curvature import gradient as gradient_of
from .dense import hessian as hessian_of
from .operators import HessianOperator


class Objective:
    """Mean loss plus (l2/2)|theta|^2 of a network, as functions of theta (P,); made by
    :func:`objective`.

    All functions compute in float64 on copies of the network, and never move the network itself.
    They may be called at any points in any order. Where something overflows `fun` is inf and the
    derivatives are NaN, so that an optimizer turns back.

    Attributes
    ----------
    start : (P,) array
        The network's parameters when this was made: where an optimizer may begin.
    """

    def __init__(self, network, loss, x, y, l2=0.0, batch_size=None, executor=None):
        instance_of(network, Network, "network").require_parameters()
        self._network, self._l2 = network.astype("float64"), check_l2(l2)
        self._loss = loss = copied(check_loss(loss), "the loss")
        chunks = Chunks(self._network, loss, x, y, batch_size, executor, own=True)
        self._chunks = {"batch_size": batch_size, "executor": executor}
        if chunks.is_whole:
            evaluation = self._network.evaluate(loss, x, y)  # it checks the data, and owns them
            self._data = evaluation.x, evaluation.y
        else:
            self._data = chunks.x, chunks.y
        self.start = self._network.theta.copy()

    def _problem(self, theta):
        """A network at theta, loss, x, y."""
        network = self._network.copy()
        network.theta = self._point(theta, "theta")
        return network, self._loss, *self._data

    def _point(self, vector, name):
        return real_array(vector, name, self.start.shape).astype(float)

    def fun(self, theta):
        """The objective at theta, a float; inf where outputs or losses overflow."""
        network, loss, x, y = self._problem(theta)
        try:
            chunks = Chunks(network, loss, x, y, **self._chunks)
            total = chunks.total(loss_sum)[0]
        except FloatingPointError:
            return np.inf
        return float(total / len(x) + self._l2 / 2 * (network.theta @ network.theta))

    def jac(self, theta):
        """Its gradient at theta, (P,)."""
        return self._derivative(gradient_of, theta)

    def hess(self, theta):
        """Its Hessian at theta, (P, P)."""
        return self._derivative(hessian_of, theta, dimensions=2)

    def hessp(self, theta, v):
        """Its Hessian at theta times v (P,): (P,)."""
        return self._derivative(hessian_vector_product, theta, self._point(v, "v"))

    def _derivative(self, function, theta, *vectors, dimensions=1):
        problem = self._problem(theta)
        try:
            return function(*problem, *vectors, l2=self._l2, **self._chunks)
        except FloatingPointError:
            return np.full(dimensions * self.start.shape, np.nan)

    def operator(self, theta):
        """The Hessian at theta as a :class:`HessianOperator`.

        It does not change when other points are asked for, as ``trust-constr`` needs it. Where
        something overflows, it or its products raise FloatingPointError.
        """
        network, *data = self._problem(theta)
        return HessianOperator(network, *data, l2=self._l2, **self._chunks)

    def __repr__(self):
        return f"Objective({self._network!r}, {self._loss!r}, l2={self._l2:g})"


def loss_sum(network, loss, x, y):
    """Sum of the losses, (1,): a task for :class:`Chunks`."""
    with np.errstate(over="ignore"):
        total = evaluated(network, loss, x, y).losses.sum(keepdims=True)
    if not np.isfinite(total[0]):
        raise FloatingPointError(f"the sum of the losses is {total[0]}")
    return total


def objective(network, loss, x, y, l2=0.0, batch_size=None, executor=None):
    """The objective for ``scipy.optimize.minimize``: `fun`, `jac`, `hess`, `hessp` of theta.

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`. The network itself is not moved.

    Returns
    -------
    Objective

    Raises
    ------
    ValueError, TypeError
        As :func:`gradient`.

    Examples
    --------
    ``"Newton-CG"``, ``"trust-ncg"`` and ``"trust-krylov"`` take ``hessp=f.hessp`` or
    ``hess=f.hess``, ``"trust-exact"`` and ``"dogleg"`` (where the Hessian is positive definite)
    ``hess=f.hess``, ``"trust-constr"`` any of these or ``hess=f.operator``.

    >>> import numpy as np, secondorder as so
    >>> from scipy.optimize import minimize
    >>> net, x = so.mlp([3, 4, 2], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> f = so.exact.objective(net, so.SquaredError(), x, np.sin(x[:, :2]), l2=0.01)
    >>> found = minimize(f.fun, f.start, jac=f.jac, hessp=f.hessp, method="trust-krylov")
    >>> net.theta = found.x
    >>> bool(np.abs(so.exact.gradient(net, so.SquaredError(), x, np.sin(x[:, :2]), 0.01)).max()
    ...      < 1e-4)
    True

    From many points at once, in other processes:

    >>> from concurrent.futures import ProcessPoolExecutor
    >>> from functools import partial
    >>> search = partial(minimize, f.fun, jac=f.jac, method="BFGS")
    >>> starts = np.random.default_rng(2).normal(size=(4, net.size))
    >>> with ProcessPoolExecutor(2) as pool:                        # doctest: +SKIP
    ...     best = min(pool.map(search, starts), key=lambda found: found.fun)
    """
    return Objective(network, loss, x, y, l2, batch_size, executor)
