"""Eigenvalues and eigenvectors at an end of the spectrum, by products alone, with residuals."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from ...checks import number_in, one_of, whole_number
from ...checks.randomness import generator
from ..curvature import check_network
from ..operators import operator_of
from ..parameter_slices import parameter_slice
from ..counted import Counted

WHICH = ("LA", "SA", "LM")
ROUGH = 0.01  # how well the size of the matrix is known
SMALL = 300  # parameters up to which the matrix is made: products would be as many


class Eigenpairs(NamedTuple):
    """What :func:`eigenpairs` found.

    Attributes
    ----------
    values : (k,) array
        Falling.
    vectors : (n, k) array
        Columns of length 1, orthogonal to each other.
    residuals : (k,) array
        |C v - value v| of every pair: there is an eigenvalue of C no farther than this from the
        value, as C is symmetric.
    products : int
        How many products with C were made.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    products: int


def eigenpairs(network, loss, x, y, k=6, which="LA", kind="hessian", tolerance=None,
               max_iterations=500, rng=0, draws=1, l2=0.0, layer=None, parameter=None,
               batch_size=None, executor=None):
    """The k eigenpairs at an end of the spectrum of a curvature matrix, by SciPy's `eigsh`.

    Parameters
    ----------
    network, loss, x, y
        As for :func:`gradient`.
    k : int
        From 1 to n, the number of parameters.
    which : {"LA", "SA", "LM"}
        SciPy's names: largest, smallest, or largest in magnitude.
    kind : {"hessian", "gauss-newton", "fisher", "fisher-empirical", "fisher-sampled"}
    tolerance : float, optional
        Of the residuals, relative to the largest eigenvalue; by default eps^(2/3) of the network's
        precision, 4e-11 in float64. Errors of eigenvalues are about its square.
    max_iterations : int
        Restarts of the iteration.
    rng : None, int or numpy.random.Generator
        For the starting vectors, and before them for the targets of ``"fisher-sampled"``.
    draws : int
        Number of targets per sample, for ``"fisher-sampled"``.
    l2, layer, parameter, batch_size, executor
        As for :func:`trace`.

    Returns
    -------
    Eigenpairs

    Raises
    ------
    RuntimeError
        If some pairs do not converge; the message says how many did.
    ValueError, TypeError, FloatingPointError
        As :func:`trace`; more pairs than there are parameters.

    Notes
    -----
    Up to 300 parameters, and for more than half of all pairs, the matrix is made and taken apart.
    By products, a multiple eigenvalue comes as often as it is there: each copy takes another
    search, and so does the certainty that there are no more. Pairs that lie close together take
    many products: the smallest of a Gauss-Newton matrix with more parameters than samples times
    outputs hardly differ.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 4, 2], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> top = so.exact.eigenpairs(net, so.SquaredError(), x, np.ones((20, 2)), k=3)
    >>> H = so.exact.hessian(net, so.SquaredError(), x, np.ones((20, 2)))
    >>> bool(np.allclose(top.values, np.linalg.eigvalsh(H)[:-4:-1]))
    True
    """
    one_of(WHICH, which, "which")
    check_network(network)
    where, rng = parameter_slice(network, layer, parameter), generator(rng)
    n = where.stop - where.start
    k = whole_number(k, "k", 1)
    if k > n:
        raise ValueError(f"k must be at most {n}, the number of parameters, got {k}")
    tolerance = np.finfo(network.dtype).eps ** (2 / 3) if tolerance is None \
        else number_in(tolerance, "tolerance", 0, 1)
    max_iterations = whole_number(max_iterations, "max_iterations", 1)
    C = operator_of(kind, network, loss, x, y, rng, draws, l2=l2, layer=layer, parameter=parameter,
                    batch_size=batch_size, executor=executor)
    A = Counted(C)
    if n <= SMALL or 2 * k > n:
        A.products += n
        values, vectors = _chosen(*eigh(C.dense(max_bytes=np.inf)), k, which)
    else:
        values, vectors = _by_eigsh(A, k, which, rng, tolerance, max_iterations)
    falling = np.argsort(-values, kind="stable")
    values, vectors = values[falling], vectors[:, falling]
    residuals = np.linalg.norm(C @ vectors - values * vectors, axis=0)
    return Eigenpairs(values, vectors, residuals, A.products + k)


def _chosen(values, vectors, k, which):
    """The k pairs that `eigsh` would choose, of all of them, rising."""
    n = len(values)
    places = {"LA": np.arange(n - k, n), "SA": np.arange(k),
              "LM": np.argsort(np.abs(values), kind="stable")[n - k:]}[which]
    return values[places], vectors[:, places]


def _by_eigsh(A, k, which, rng, tolerance, max_iterations):
    """`eigsh`, again and again, until no pair is left that lies beyond the k pairs.

    All vectors of a Krylov space come from one start, and one start sees one vector of a multiple
    eigenvalue. So what was found is taken out of the matrix, and `eigsh` looks for the largest
    eigenvalue of the rest, from another start. If that lies beyond the last of the k pairs, it
    takes its place.

    ARPACK compares a residual with the eigenvalue itself, which at the lower end of a matrix
    without negative eigenvalues is 0 or next to it. C + s I has the same vectors, and with s twice
    the size of C, of the sign of the end that is wanted, no wanted eigenvalue is small beside it.
    What is taken out has the eigenvalue 0, which is the other end.
    """
    rest = _Deflated(A, np.empty((A.shape[0], 0), A.dtype))
    try:
        size = abs(_largest(rest, 1, ROUGH, max_iterations, rng)[0][0])
        if which != "LM":
            A.damping = A.dtype.type(2 * size if which == "LA" else -2 * size)
        values, vectors = _largest(rest, k, tolerance, max_iterations, rng)
        while True:
            rest.known = vectors
            value, vector = _largest(rest, 1, tolerance, max_iterations, rng)
            last = np.abs(values).argmin()
            if abs(value[0]) <= abs(values[last]) + tolerance * size:
                return values - A.damping, vectors
            values[last], vectors[:, last] = value[0], vector[:, 0]
    except ArpackNoConvergence as error:
        raise RuntimeError(f"eigenpairs: {len(error.eigenvalues)} of {k} converged in {A.products} "
                           "products; a larger tolerance or max_iterations helps") from error
    except ArpackError as error:
        raise RuntimeError(f"eigenpairs: ARPACK failed: {error}") from error


def _largest(A, k, tolerance, max_iterations, rng):
    """The k pairs of largest magnitude."""
    start = rng.standard_normal(A.shape[0]).astype(A.dtype)
    if not (A @ start).any():  # ARPACK cannot start where the matrix is zero
        return np.zeros(k, A.dtype), np.eye(A.shape[0], k, dtype=A.dtype)
    return eigsh(A, k, which="LM", v0=start, tol=tolerance, maxiter=max_iterations)


class _Deflated(LinearOperator):
    """A without the `known` vectors (n, k): (I - V V^T) A (I - V V^T)."""

    def __init__(self, A, known):
        super().__init__(A.dtype, A.shape)
        self.A, self.known = A, known

    def _matvec(self, v):
        return self._without(self.A @ self._without(v))

    def _without(self, v):
        return v - self.known @ (self.known.T @ v)

    def _adjoint(self):
        return self
