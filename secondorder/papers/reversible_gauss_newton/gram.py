"""Pseudo-inverses that are applied, never formed: functions of a symmetric positive semidefinite
Gram matrix.

With S = U diag(s) V^T the product T S+ is T (S^T S)+ S^T, so that what is needed is (S^T S)+
applied to something small. The same functions of lambda = s^2 serve the Gram matrix of features (n,
n) and the tangent kernel J J^T (n C, n C).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, eigh, lapack, solve_triangular

#: The ways to treat small singular values, and the default strength of each.
FORMS = {"exact": None, "truncate": 1e-2, "damp": 1e-2, "tikhonov": 1e-4, "noise": 0.1}
SMALLEST = 1e-5  # of a singular value that "truncate" keeps, absolute
# beyond this size a rank is found by pivoted Cholesky, as eigenvalues would take minutes
LARGE = 4096


class GramInverse(NamedTuple):
    """A pseudo-inverse of a Gram matrix G (n, n), regularised or not.

    solve : (n, k) -> (n, k), G+ applied.
    rank : int, the number of directions that are kept.
    """

    solve: object
    rank: int


def singular_value_floor(data_dtype, gram_dtype, size):
    """The relative singular value that counts as zero: what rounding of the data and of a Gram
    matrix leaves undecided.
    """
    return max(np.sqrt(size * np.finfo(gram_dtype).eps), 32 * np.finfo(data_dtype).eps)


def gram_dtype(data_dtype, form, strength, size):
    """float64, unless the regularisation hides what float32 loses: relative singular values below
    sqrt(n * eps).
    """
    hidden = {"truncate": strength, "damp": strength, "tikhonov": np.sqrt(strength or 0)}.get(form,
                                                                                              0)
    single = np.dtype(data_dtype) == np.float32 and hidden >= np.sqrt(size
                                                                      * np.finfo(np.float32).eps)
    return np.dtype(np.float32 if single else np.float64)


def gram_matrix(rows, dtype, ones=False, part=2048):
    """rows @ rows.T (n, n) in another precision, a part of the columns at a time; `ones` appends a
    column of ones.
    """
    G = np.full((len(rows), len(rows)), 1.0 if ones else 0.0, dtype=dtype)
    for start in range(0, rows.shape[1], part):
        piece = rows[:, start:start + part].astype(dtype, order="C", copy=False)
        G += piece @ piece.T
    return G


def filtered(values, form, strength, floor):
    """f(lambda) with G+ = Q f(Lambda) Q^T for the eigenvalues `values` of a Gram matrix; zero where
    lambda counts as zero.

    exact 1 / lambda; truncate the same where s >= strength * s_max and s >= 1e-5; damp 1 / (s (s +
    strength s_max)); tikhonov 1 / (lambda + strength lambda_max).
    """
    s = np.sqrt(np.maximum(values, 0))
    top = s.max()
    kept = s > floor * top
    if form == "truncate":
        kept &= (s >= strength * top) & (s >= SMALLEST)
    s = np.where(kept, s, 1)
    denominators = {"damp": s * (s + (strength or 0) * top),
                    "tikhonov": s * s + (strength or 0) * top * top}
    return np.where(kept, 1 / denominators.get(form, s * s), 0)


def gram_inverse(G, form="exact", strength=None, floor=0.0):
    """The pseudo-inverse of a Gram matrix, ready to be applied.

    Parameters
    ----------
    G : (n, n) array, symmetric, positive semidefinite; it may be overwritten.
    form, strength
        As for :func:`filtered`.
    floor : float
        Singular values (square roots of eigenvalues) up to this times the largest one count as
        zero.

    Returns
    -------
    GramInverse
    """
    if form in ("exact", "noise"):
        factor, rcond = _cholesky(G)
        # the estimate is within a factor of 3 of the condition number in the 1-norm
        if rcond > 3 * floor**2:
            return GramInverse(lambda E: cho_solve((factor, True), E, check_finite=False), len(G))
        if len(G) > LARGE:
            return _pivoted(G, floor)
    values, vectors = eigh(G, check_finite=False)
    f = filtered(values, form, strength, floor)
    return GramInverse(lambda E: vectors @ (f[:, None] * (vectors.T @ E)), int(np.count_nonzero(f)))


def _cholesky(G):
    """Lower Cholesky factor (None if there is none) and an estimate of 1 / condition number in the
    1-norm.
    """
    size = np.abs(G).sum(axis=0).max()
    potrf, pocon = lapack.get_lapack_funcs(("potrf", "pocon"), (G,))
    factor, info = potrf(G.T, lower=True, clean=False)
    if info:
        return None, 0.0
    return factor, pocon(factor, size, uplo="L")[0]


def _pivoted(G, floor):
    """From P^T G P = L L^T with pivots, L (n, r): w of least squares in L w = e, then any a with
    L^T a = w has G a = e projected.

    Coefficients a that differ by a null vector of G = J J^T give the same J^T a.
    """
    pstrf, = lapack.get_lapack_funcs(("pstrf",), (G,))
    factor, pivots, rank, _ = pstrf(G, tol=max(floor**2, len(G) * np.finfo(G.dtype).eps)
                                    * G.diagonal().max(), lower=1)
    order, L = pivots - 1, np.tril(factor)[:, :rank]
    Q, R = np.linalg.qr(L)

    def solve(E):
        a = np.zeros_like(E, dtype=G.dtype)
        a[order[:rank]] = solve_triangular(L[:rank], solve_triangular(R, Q.T @ E[order]),
                                           lower=True, trans="T")
        return a

    return GramInverse(solve, int(rank))
