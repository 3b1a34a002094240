"""A layer's systems solved directly: (11b) and ranks above in closed form, (11a) by eigenvectors.

Small factorisations are in float64 whatever the network's dtype.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .conjugate_gradients import along_mean
from .hessians import mean_outer


def damped_solver(B, weight, damping):
    """The function right (n, ...) -> (weight B + damping I)^-1 right, in float64, for a positive
    semidefinite B (n, n).

    A float32 matrix is factorised as it is, at half the cost, and residuals in float64 make up for
    it; where they do not, because the system is too badly conditioned, float64 takes over. Where
    weight |B| is far below the damping, 1 / damping is near enough to start from, and nothing is
    factorised.

    Raises
    ------
    FloatingPointError
        If B is so indefinite that the damped matrix is not positive definite.
    """
    if B.dtype != np.float32:
        return _factorised(B.astype(np.float64), weight, damping)
    narrow = []

    def solve(right):
        right = right.astype(np.float64, copy=False)
        if not narrow:
            small = weight * np.linalg.norm(B) <= SMALL * damping
            narrow.append((lambda left: left / damping) if small
                          else _factorised(B.copy(), weight, damping))
        found = narrow[0](right)
        for _ in range(REFINEMENTS):
            left = right - weight * _wide_product(B, found) - damping * found
            found = found + narrow[0](left)
            # every correction makes the residual smaller by the same factor
            if np.abs(left).max(initial=0) <= REFINED * np.abs(right).max(initial=0):
                return found
        return _factorised(B.astype(np.float64), weight, damping)(right)

    return solve


REFINEMENTS, REFINED = 4, 1e-5  # how often, and the residual that leaves one correction to do
SMALL = 1e-2  # a correction then leaves at most this part of a residual


def _wide_product(B, v):
    """B v in float64 for a float32 matrix, a few rows at a time so that they stay in the cache."""
    rows = range(0, len(B), 64)
    return np.concatenate([B[start : start + 64].astype(np.float64) @ v for start in rows])


def _factorised(matrix, weight, damping):
    """:func:`damped_solver` in the precision of `matrix`, which is overwritten."""
    matrix *= matrix.dtype.type(weight)
    matrix[np.diag_indices_from(matrix)] += matrix.dtype.type(damping)
    try:  # of the transpose, whose columns are contiguous, so that nothing is copied
        factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise FloatingPointError("EA-CG: the damped curvature is not positive definite; the "
                                 "curvature has an eigenvalue at or below "
                                 f"{-damping / weight:g}") from error

    def solve(right):
        found = cho_solve(factor, right.astype(matrix.dtype, copy=False), check_finite=False)
        return found.astype(np.float64, copy=False)

    return solve


def damped_solve(B, right, weight, damping):
    """(weight B + damping I)^-1 right; see :func:`damped_solver`."""
    return damped_solver(B, weight, damping)(right)


def rank_one_form_1(B, G, mean, weight, damping):
    """(10b) with (11b): D = -(G + weight (B u) m^T) / damping, with (weight |m|^2 B + damping I) u
    = -G m.

    It follows from multiplying the system by m on the right, u = D m.
    """
    u = damped_solve(B, -G @ mean, weight * (mean @ mean), damping)
    return -(G + weight * np.outer(B @ u, mean)) / damping


def rank_one_coefficients(B, G, mean, weight, damping):
    """(s, w) such that D = s G + w m^T solves (10b) with (11b).

    Across m the system is damping D = -G, along it (weight |m|^2 B + damping I) u = -G m with u = D
    m: D = -(G - (G m) m^T / q) / damping + u m^T / q with q = |m|^2.

    Parameters
    ----------
    B : (n, n) array
    G : (n, m) array
    mean : (m,) array

    Returns
    -------
    (float, (n,) array)
    """
    along, length = along_mean(G, mean)
    s = -1.0 / damping
    if not length:
        return s, np.zeros(len(G))
    return s, (damped_solve(B, -along, weight * length**2, damping) - s * along) / length


def combined(s, G, w, mean):
    """s G + w m^T, (n, m)."""
    return s * G + np.outer(w, mean).astype(G.dtype, copy=False)


def factor_solution(B, G, F, weight, damping):
    """(10b) with F F^T (m, m) in the place of A, F of shape (m, r): one small system in the span of
    F, -G / damping across it.

    Parameters
    ----------
    B : (n, n) array
    G : (n, m) array
    F : (m, r) array
    """
    Q, singular, _ = np.linalg.svd(F.astype(np.float64), full_matrices=False)
    Q = Q[:, singular > 0]
    inside = spectral_solution(B, (G @ Q), singular[singular > 0] ** 2, weight, damping)
    return (-(G - (G @ Q) @ Q.T) / damping + inside @ Q.T).astype(G.dtype, copy=False)


def spectral_solution(B, G, of_A, weight, damping):
    """(10b) where A is diagonal with entries `of_A` (m,): B = U diag(b) U^T and D = -U [(U^T G) /
    (weight b a^T + damping)].
    """
    of_B, U = np.linalg.eigh(B.astype(np.float64))
    return -U @ ((U.T @ G) / (weight * np.outer(of_B, of_A) + damping))


def eigenvector_solution(B, G, A, weight, damping):
    """(10b) with (11a): A = V diag(a) V^T, and :func:`spectral_solution` of G V turned back.

    Parameters
    ----------
    B : (n, n) array
    G : (n, m) array
    A : (m, m) array
    """
    of_A, V = np.linalg.eigh(A.astype(np.float64))
    return (spectral_solution(B, G @ V, of_A, weight, damping) @ V.T).astype(G.dtype, copy=False)


def gram_coefficients(B, deltas, X, weight, damping):
    """C (n, S) such that C X solves (10b) with (11a) for the gradient G = deltas^T X / S, X (S, m)
    wider than the batch.

    weight B C K + damping C = -deltas^T / S with K = X X^T / S: nothing of size (m, m) is made.
    """
    K = X @ X.T / len(X)
    of_K, P = np.linalg.eigh(K.astype(np.float64))
    return spectral_solution(B, (deltas.T / len(X)) @ P, of_K, weight, damping) @ P.T


def gram_remainder(B, R, X, weight, damping):
    """The same for a right side R (n, m) that is no combination of the inputs: -R / damping + C X,
    (n, m).
    """
    K = X @ X.T / len(X)
    of_K, P = np.linalg.eigh(K.astype(np.float64))
    M = weight / damping * (B @ (R @ X.T) / len(X))
    C = -spectral_solution(B, M @ P, of_K, weight, damping) @ P.T
    return -R / damping + C @ X


def exact_solution(system):
    """(10b) with (11a), exactly, by the shorter way: eigenvectors of A, or of the Gram matrix where
    inputs are wider.
    """
    B, X, weight, damping = system.B, system.X, system.weight, system.damping
    if X.shape[1] <= len(X):
        return eigenvector_solution(B, system.G, mean_outer(X), weight, damping)
    D = gram_coefficients(B, system.deltas, X, weight, damping).astype(X.dtype, copy=False) @ X
    if system.l2:
        D += gram_remainder(B, system.l2 * system.W, X, weight, damping)
    return D.astype(system.G.dtype, copy=False)
