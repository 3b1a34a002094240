"""Systems with a curvature matrix: (C + damping I)^-1 v, with the residual."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigvalsh
from scipy.sparse.linalg import ArpackError, eigsh

from ...checks import number_in, one_of, real_array, whole_number
from ...checks.randomness import generator
from ..conjugate_gradients import conjugate_gradients, power_of_two
from ..curvature import check_network
from ..dense import fisher, gauss_newton, hessian
from ..diagonals import KINDS, NAMES
from ..operators import operator_of
from ..parameter_slices import parameter_slice
from ..counted import Counted

METHODS = ("auto", "cholesky", "cg")
LARGEST = 2000  # parameters up to which "auto" makes the matrix
REMEDY = "a larger damping or l2 makes it so"


class Solution(NamedTuple):
    """What :func:`solve` found.

    Attributes
    ----------
    solution : (n,) or (n, K) array
        Like v.
    residual : float
        |v - (C + damping I) solution| / |v|, computed anew at the end; the largest of all columns,
        0 where v is 0.
    method : str
        ``"cholesky"`` or ``"cg"``.
    iterations : int
        Of conjugate gradients, over all columns; 0 for Cholesky.
    """

    solution: np.ndarray
    residual: float
    method: str
    iterations: int


def solve(network, loss, x, y, v, kind="hessian", damping=0.0, method="auto", tolerance=None,
          max_iterations=None, rng=None, draws=1, l2=0.0, layer=None, parameter=None,
          max_bytes=2**30, batch_size=None, executor=None):
    """Solve (C + damping I) s = v for a curvature matrix C of the objective.

    Parameters
    ----------
    network, loss, x, y
        As for :func:`gradient`.
    v : (n,) or (n, K) array
        One right side, or K of them as columns; n is the number of parameters of the network, or
        of the layer.
    kind : {"hessian", "gauss-newton", "fisher", "fisher-empirical", "fisher-sampled"}
    damping : float
        Not negative.
    method : {"auto", "cholesky", "cg"}
        ``"cholesky"``: from the matrix. ``"cg"``: conjugate gradients, from products alone.
        ``"auto"``: Cholesky up to 2000 parameters.
    tolerance : float, optional
        Of conjugate gradients: they end where the residual has shrunk to this part of |v|. By
        default eps^(2/3) of the network's precision, 4e-11 in float64.
    max_iterations : int, optional
        Of conjugate gradients, for a column; by default 10 n.
    rng, draws
        Of the targets of ``"fisher-sampled"``.
    l2 : float
        Adds l2 I to C, as everywhere; `damping` is no part of the objective.
    layer, parameter
        Only the block of a layer; see :class:`HessianOperator`.
    max_bytes : int
        Limit of the matrix, for Cholesky.
    batch_size, executor
        As for :func:`gradient`.

    Returns
    -------
    Solution

    Raises
    ------
    numpy.linalg.LinAlgError
        If C + damping I is not positive definite, with the smallest eigenvalue found. Cholesky
        sees it always; conjugate gradients where one of their directions does.
    RuntimeError
        If conjugate gradients do not reach the tolerance.
    ValueError, TypeError, MemoryError, FloatingPointError
        As :func:`hessian`.

    Examples
    --------
    *Influence* (Koh and Liang 2017). Leave sample i of N out, and the outputs at x_new move by
    about J(x_new) C^-1 g_i / N, g_i the gradient of its loss. Two lines give it for all samples:

    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 4, 1], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> problem, x_new = (net, so.SquaredError(), x, np.sin(x[:, :1])), np.ones((1, 3))
    >>> s = so.exact.solve(*problem, so.exact.jacobian(net, x_new)[0].T, "gauss-newton", 0.01)
    >>> influence = so.exact.sample_gradients(*problem) @ s.solution / len(x)     # (20, 1)

    *Saliency.* Optimal brain surgeon (Hassibi, Stork 1993) sets one weight to zero and trains the
    others anew. At a minimum the objective then rises by theta_i^2 / (2 [H^-1]_ii), to second
    order. :func:`diagonal` has the rise if the others stay.

    >>> inverse = so.exact.solve(*problem, np.eye(net.size), "gauss-newton", 0.01).solution
    >>> saliency = net.theta**2 / (2 * np.diag(inverse))
    """
    one_of(KINDS, kind, "kind")
    one_of(METHODS, method, "method")
    damping, rng = number_in(damping, "damping", 0, np.inf), generator(rng)
    check_network(network)
    where = parameter_slice(network, layer, parameter)
    n, dtype = where.stop - where.start, network.dtype
    v = _right_sides(v, n, network.dtype)
    # every column in units of its largest entry, so that its squares do not vanish
    unit = np.apply_along_axis(power_of_two, 0, v).astype(dtype)
    tolerance = np.finfo(dtype).eps ** (2 / 3) if tolerance is None \
        else number_in(tolerance, "tolerance", 0, 1)
    max_iterations = 10 * n if max_iterations is None \
        else whole_number(max_iterations, "max_iterations", 1)
    options = {"l2": l2, "layer": layer, "parameter": parameter, "batch_size": batch_size,
               "executor": executor}
    problem, what = (kind, network, loss, x, y, rng, draws), f"{NAMES[kind]} + {damping:g} I"
    if method == "cholesky" or method == "auto" and n <= LARGEST:
        C = matrix_of(*problem, max_bytes=max_bytes, **options)
        found = by_cholesky(C, damping, v / unit, what)
    else:
        A = Counted(operator_of(*problem, **options), damping)
        found = by_conjugate_gradients(A, v / unit, tolerance, max_iterations, what)
    return found._replace(solution=found.solution * unit)


def matrix_of(kind, network, loss, x, y, rng=None, draws=1, **options):
    """The matrix of a curvature by name, (n, n)."""
    if kind == "hessian":
        return hessian(network, loss, x, y, **options)
    if kind == "gauss-newton":
        return gauss_newton(network, loss, x, y, **options)
    targets = kind.removeprefix("fisher").removeprefix("-") or "exact"
    return fisher(network, loss, x, y, targets, rng, draws, **options)


def by_cholesky(C, damping, v, what):
    """A = C + damping I = L L^T, and s = L^-T L^-1 v."""
    A = C.astype(np.float64) + damping * np.eye(len(C)) if damping else C
    L = factor(A, what, REMEDY)
    s = cho_solve((L, True), v)
    return Solution(s.astype(C.dtype), _residual(A, s, v), "cholesky", 0)


def by_conjugate_gradients(A, v, tolerance, max_iterations, what):
    """Conjugate gradients, column by column, on an operator whose every direction is looked at."""
    product, columns = _guarded(A, what), []
    for right in v.reshape(len(v), -1).T:
        column, left, *_ = conjugate_gradients(product, right, tolerance, max_iterations)
        if np.linalg.norm(left) > tolerance * np.linalg.norm(right):
            raise RuntimeError(f"conjugate gradients: {max_iterations} iterations left a residual "
                               f"of {_residual(A, column, right):.2g}, wanted {tolerance:.2g}; a "
                               "larger damping, tolerance or max_iterations helps, or "
                               "method='cholesky'")
        columns.append(column)
    s, iterations = np.stack(columns, axis=1).reshape(v.shape), A.products
    return Solution(s, _residual(A, s, v), "cg", iterations)


def _guarded(A, what):
    """p -> A p; LinAlgError where p^T A p <= 0, to rounding of the largest curvature so far."""
    rounding, largest = A.shape[0] * np.finfo(A.dtype).eps, 0.0

    def product(p):
        nonlocal largest
        Ap = A @ p
        curvature = (p @ Ap) / (p @ p)
        largest = max(largest, abs(curvature))
        if curvature <= rounding * largest:
            raise not_positive(what, _smallest_eigenvalue(A, curvature), REMEDY)
        return Ap

    return product


def _smallest_eigenvalue(A, curvature):
    """The smallest eigenvalue that a short search finds; at most `curvature`, a vector's."""
    if A.shape[0] == 1:
        return curvature
    try:
        values = eigsh(A, k=1, which="SA", maxiter=20, tol=1e-3, return_eigenvectors=False,
                       v0=np.ones(A.shape[0], A.dtype))
    except ArpackError as error:  # what it has so far is good enough for a message
        values = getattr(error, "eigenvalues", np.empty(0))
    return min([curvature, *values])


def _residual(A, s, v):
    """|v - A s| / |v|, the largest of all columns."""
    left, size = (np.linalg.norm(np.atleast_2d(part.T), axis=1) for part in (v - A @ s, v))
    return float(np.max(left / np.where(size > 0, size, 1), initial=0))


def _right_sides(v, n, dtype):
    """v (n,) or (n, K) in the network's precision."""
    v = real_array(v, "v")
    if v.ndim not in (1, 2) or v.shape[0] != n or not v.size:
        raise ValueError(f"v has shape {v.shape}, expected ({n},) or ({n}, K): one entry per "
                         "parameter")
    return v.astype(dtype)


# -- positive definite matrices, and what is said of all others ------------------------------------


def factor(A, what, remedy):
    """L (n, n), in float64 and lower triangular, with A = L L^T; LinAlgError, with the smallest
    eigenvalue, if A is not positive definite.

    What is singular to the rounding of A's own precision is not taken for positive definite.
    """
    rounding = len(A) * np.finfo(A.dtype).eps * np.abs(A.diagonal()).max()
    A = np.asarray(A, dtype=np.float64)
    try:
        L = cholesky(A, lower=True)
    except np.linalg.LinAlgError:
        L = None
    # every L_ii^2 is at least the smallest eigenvalue
    if L is None or (L.diagonal() ** 2).min() <= rounding:
        raise not_positive(what, eigvalsh(A, subset_by_index=[0, 0])[0], remedy)
    return L


def not_positive(what, smallest, remedy):
    """The error for a matrix with this eigenvalue."""
    return np.linalg.LinAlgError(f"{what} is not positive definite: its smallest eigenvalue found "
                                 f"is {smallest:.3g}; {remedy}")
