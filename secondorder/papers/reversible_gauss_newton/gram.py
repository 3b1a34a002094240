"""Pseudo-inverses that are applied, never formed: functions of a symmetric positive semidefinite
Gram matrix.

With S = U diag(s) V^T,

    T S+ = T (S^T S)+ S^T

so that (S^T S)+ is applied to something small. The same functions of lambda = s^2 serve the Gram
matrix of features (n, n) and the tangent kernel J J^T (n C, n C).

Precision. A Gram matrix squares the condition number: singular values below sqrt(n eps) times the
largest one are lost in it. So all Gram matrices are in float64, also those of float32 features;
what is lost even then counts as zero, or is decided by a decomposition of the matrix itself where
that is small; and an exact inverse is judged by its residual (:func:`allowed`).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, eigh, lapack, solve_triangular

#: The ways to treat small singular values, and the default strength of each.
FORMS = {"exact": None, "truncate": 1e-2, "damp": 1e-2, "tikhonov": 1e-4, "noise": 0.1}
SMALLEST = 1e-5  # of a singular value that "truncate" keeps, absolute
# beyond this size a rank is found by pivoted Cholesky, as eigenvalues would take minutes
LARGE = 4096
EPS = np.finfo(np.float64).eps
# rounding of a small matrix is more than its size times eps: as if it had so many rows more
ROOM = 32
#: A Gram matrix whose reciprocal condition number is below this one has lost half of its digits.
HALF_LOST = float(np.sqrt(EPS))
#: A matrix with at most so many rows or columns is decomposed itself where its Gram matrix is lost.
SMALL = 64


class GramInverse(NamedTuple):
    """A pseudo-inverse of a Gram matrix G (n, n), regularised or not.

    solve : (n, k) -> (n, k), G+ applied.
    rank : int, the number of directions that are kept.
    independent : int, the rank of G, whatever the regularisation makes of it: for the others it is
    undecided whether they are zero.
    rcond : float, the smallest eigenvalue (or an estimate) over the largest one.
    applied : float, the same of what is applied: 1 / (largest eigenvalue times |G+|).
    lost : (n, k) -> float, how far rounding of G may move |S G+ E|, relative to its size; with
    `scaled` E holds S already, and |G+ E| is meant.
    """

    solve: object
    rank: int
    independent: int
    rcond: float
    applied: float
    lost: object


def allowed(dtype):
    """The relative residual that an exact inverse in a precision should reach: half its digits."""
    return float(np.sqrt(np.finfo(dtype).eps))


def gram_floor(data_dtype, size):
    """The relative singular value that counts as zero in a Gram matrix of `size` rows: below it
    the rounding of the data and of the matrix hides whether it is zero.
    """
    return max(np.sqrt(2 * (size + ROOM) * EPS), 32 * np.finfo(data_dtype).eps)


def decomposition_floor(data_dtype, shape):
    """The same in a decomposition of a matrix of this shape itself, in float64."""
    return max(2 * (max(shape) + ROOM) * EPS, 32 * np.finfo(data_dtype).eps)


def gram_matrix(rows, dtype=np.float64, ones=False, part=2048):
    """rows @ rows.T (n, n) in another precision, a part of the columns at a time; `ones` appends a
    column of ones.
    """
    G = np.full((len(rows), len(rows)), 1.0 if ones else 0.0, dtype=dtype)
    for start in range(0, rows.shape[1], part):
        piece = rows[:, start:start + part].astype(dtype, order="C", copy=False)
        G += piece @ piece.T
    return G


def filtered(values, form, strength, floor):
    """f(lambda) with G+ = Q f(Lambda) Q^T for the eigenvalues `values` of a Gram matrix.

        exact       1 / lambda
        truncate    1 / lambda where s >= strength * s_max and s >= 1e-5, otherwise 0
        damp        1 / (s (s + strength s_max))
        tikhonov    1 / (lambda + strength lambda_max)

    The first three are 0 where lambda counts as zero; the last one needs no such floor.
    """
    s = np.sqrt(np.maximum(values, 0))
    top = s.max()
    large = s > (0 if form == "tikhonov" else floor * top)
    if form == "truncate":
        large &= (s >= strength * top) & (s >= SMALLEST)
    s = np.where(large, s, 1)
    denominators = {"damp": s * (s + (strength or 0) * top),
                    "tikhonov": s * s + (strength or 0) * top * top}
    return np.where(large, 1 / denominators.get(form, s * s), 0)


def gram_inverse(G, form="exact", strength=None, floor=0.0):
    """The pseudo-inverse of a Gram matrix G (n, n), which may be overwritten, as a `GramInverse`.

    Form and strength are those of :func:`filtered`. Singular values (square roots of eigenvalues)
    up to `floor` times the largest one count as zero.
    """
    if form in ("exact", "noise"):
        factor, rcond = _cholesky(G)
        # the estimate is within a factor of 3 of the condition number in the 1-norm
        if rcond > 3 * floor**2:
            return GramInverse(lambda E: cho_solve((factor, True), E, check_finite=False), len(G),
                               len(G), rcond, rcond, lambda E, scaled=False: EPS / rcond)
        if len(G) > LARGE:
            return pivoted_inverse(G, floor)
    # divide and conquer: SciPy's default leaves twice the rounding in eigenvalues that are zero
    values, vectors = eigh(G, check_finite=False, driver="evd")
    f, top = filtered(values, form, strength, floor), values[-1]  # ascending
    return GramInverse(lambda E: vectors @ (f[:, None] * (vectors.T @ E)), int(np.count_nonzero(f)),
                       int(np.count_nonzero(filtered(values, "exact", None, floor))),
                       max(values[0], 0) / top if top > 0 else 0.0,
                       1 / (top * f.max()) if f.any() else 1.0,
                       lambda E, scaled=False: _lost(values, f, form, vectors.T @ E, scaled))


def _lost(values, f, form, components, scaled):
    """How far rounding may move s f(lambda) Q^T E, relative to its size.

    An eigenvalue is off by about eps lambda_max, and f, relative to f, by that over lambda; for
    "tikhonov" by that times f.
    """
    used = values > 0 if form == "tikhonov" else f > 0
    values, f = values[used], f[used]
    terms = f * np.linalg.norm(components[used], axis=1)
    terms *= 1 if scaled else np.sqrt(values)
    moved = terms * values.max(initial=0) * (f if form == "tikhonov" else 1 / values)
    size = np.linalg.norm(terms)
    return float(EPS * np.linalg.norm(moved) / size) if size else 0.0


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


def pivoted_inverse(G, floor):
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

    return GramInverse(solve, int(rank), int(rank), 0.0, floor**2, lambda E, scaled=False: 0.0)


def through_gram(T, S, f):
    """T S+ for T (h, n) and S (d', n), regularised or not, from S^T S = Q Lambda Q^T.

        T Q f(Lambda) Q^T S^T,  f(lambda) = 1 / lambda for the exact one
    """
    eigenvalues, Q = np.linalg.eigh(S.T @ S)
    return T @ Q @ np.diag(f(eigenvalues)) @ Q.T @ S.T
