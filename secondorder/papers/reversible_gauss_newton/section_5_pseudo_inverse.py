"""5., Appendix K. The pseudo-inverse, and what is done with small singular values.

E S^+ for E (h, n) and the features S (d', n), without S^+. With S = U diag(s) V^T it is

    E S^+ = E V diag(f(s)) U^T,  f(s) = 1 / s,

and every other treatment of small s is another f. For n <= d' the Gram matrix S^T S = V diag(s^2)
V^T is enough: U^T = diag(1 / s) V^T S^T. But its squares lose the small s. Where f needs those, S
itself is decomposed, as in the paper. For J take S = J^T and E = eps^T.

All of it is in float64, whatever the arrays are.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

EPS = np.finfo(float).eps
#: A Gram matrix whose least eigenvalue is below this part of the largest lost half of its digits.
HALF_LOST = np.sqrt(EPS)
#: The square root of a rounding error in a Gram matrix, in parts of the largest singular value; and
#: of a singular value that "truncate" keeps, absolute.
SMALL = 1e-5


def exact(s):
    """f(s) = 1 / s."""
    return 1 / s


def truncate(s, strength=1e-2):
    """f(s) = 1 / s where s >= 1 % of the largest and s >= 1e-5, else 0: Section 5."""
    return np.where((s >= strength * s.max(initial=0)) & (s >= SMALL), 1 / s, 0)


def damp(s, strength=1e-2):
    """f(s) = 1 / (s + 1 % of the largest): Appendix K."""
    return 1 / (s + strength * s.max(initial=0))


def tikhonov(s, strength=1e-4):
    """f(s) = s / (s^2 + c s_max^2): what the authors' code calls damping."""
    return s / (s * s + strength * s.max(initial=0) ** 2)


#: Name -> f(s); "noise" is no function of s.
FORMS = {"exact": exact, "truncate": truncate, "damp": damp, "tikhonov": tikhonov}


class Fit(NamedTuple):
    """`product`, E S^+ (h, d'); `reached`, E S^+ S (h, n), E itself, the same object, where S has
    independent columns; `rank`, how many singular values are in use.
    """

    product: np.ndarray
    reached: np.ndarray
    rank: int


def times_pseudo_inverse(E, S, f=exact):
    """E S^+ with f(s) in the place of 1 / s, as a `Fit` in the dtype of E."""
    S64 = S.astype(float, copy=False)
    if S.shape[1] <= len(S):
        G = S64.T @ S64
        Y, rank, sure = gram_solve(G, E.T, f)
        if sure:
            reached = E if f is exact and rank == len(G) else (Y.T @ G).astype(E.dtype, copy=False)
            return Fit((Y.T @ S64.T).astype(E.dtype, copy=False), reached, rank)
    U, s, Vt = np.linalg.svd(S64, full_matrices=False)
    r = np.count_nonzero(s > 2 * (max(S.shape) + 32) * np.finfo(S.dtype).eps * s[0])
    f_s, EV = f(s[:r]), E @ Vt[:r].T
    return Fit((EV * f_s @ U[:, :r].T).astype(E.dtype, copy=False),
               (EV * (f_s * s[:r]) @ Vt[:r]).astype(E.dtype, copy=False),
               int(np.count_nonzero(f_s)))


def gram_solve(G, E, f=exact):
    """G^+ E (n, k) for G = S^T S (n, n) and E, with f(s) / s in the place of 1 / s^2.

    And how many singular values of S are in use, and whether G knows all s that f needs: where none
    is small, or where f gives less weight to small ones than to the largest.
    """
    if f is exact:
        factor, failed = lapack.dpotrf(G.T, lower=True, clean=False)
        size = np.abs(G).sum(axis=0).max()  # failed alone says too little: rounding may hide it
        if not failed and lapack.dpocon(factor, size, uplo="L")[0] > HALF_LOST:
            return lapack.dpotrs(factor, E, lower=True)[0], len(G), True
    values, V = np.linalg.eigh(G)
    least, most = f(np.array([SMALL, 1.0]))
    sure = bool(least < most or values[0] > HALF_LOST * values[-1])
    used = values > (0 if sure else 2 * (len(G) + 32) * EPS * values[-1])
    s, V = np.sqrt(values[used]), V[:, used]
    f_s = f(s)
    return V @ ((f_s / s)[:, None] * (V.T @ E)), int(np.count_nonzero(f_s)), sure


def noise(E, S, rng, strength=0.1, features=None):
    """E (S + N)^+, N normal with 10 % of the standard deviation of S: Appendix K.

    There is no noise in rows of S from number `features` on: the ones of a bias.
    """
    own = S[:features]
    N = own.std() * rng.standard_normal(own.shape[::-1]).T
    noisy = np.vstack([own + strength * N.astype(S.dtype), S[len(own):]])
    product, _, rank = times_pseudo_inverse(E, noisy)
    return Fit(product, (product @ S).astype(E.dtype, copy=False), rank)
