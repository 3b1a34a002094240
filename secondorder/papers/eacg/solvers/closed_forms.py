"""A layer's systems solved directly: (11b) and ranks above in closed form, (11a) by eigenvectors.

Small factorisations are in float64 whatever the network's dtype.
"""

import numpy as np

from .cholesky import damped_solve
from ..products import mean_outer
from .systems import along_mean


def rank_one_form_1(B, G, mean, weight, damping):
    """Eq. (10b) with (11b) in closed form.

        D = -(G + weight (B u) m^T) / damping
        (weight |m|^2 B + damping I) u = -G m

    The second line is the system times m, with u = D m.
    """
    u = damped_solve(B, -G @ mean, weight * (mean @ mean), damping)
    return -(G + weight * np.outer(B @ u, mean)) / damping


def rank_one_form_2(B, G, mean, weight, damping):
    """Eq. (10b) with (11b) in closed form, along and across the mean input; q = |m|^2 > 0.

        D = -(G - (G m) m^T / q) / damping + u m^T / q
        (weight q B + damping I) u = -G m
    """
    q = mean @ mean
    u = damped_solve(B, -G @ mean, weight * q, damping)
    return -(G - np.outer(G @ mean, mean) / q) / damping + np.outer(u, mean) / q


def rank_one_coefficients(B, G, mean, weight, damping):
    """:func:`rank_one_form_2` as (s, w), w (n,), with D = s G + w m^T, also for a mean input of 0.
    """
    along, length = along_mean(G, mean)
    s = -1.0 / damping
    if not length:
        return s, np.zeros(len(G))
    return s, (damped_solve(B, -along, weight * length**2, damping) - s * along) / length


def factor_solution(B, G, F, weight, damping):
    """Eq. (10b) with F F^T (m, m) in the place of A, F (m, r): one small system in the span of F.
    Across that span it is -G / damping.
    """
    Q, singular, _ = np.linalg.svd(F.astype(np.float64), full_matrices=False)
    Q = Q[:, singular > 0]
    inside = spectral_solution(B, (G @ Q), singular[singular > 0] ** 2, weight, damping)
    return (-(G - (G @ Q) @ Q.T) / damping + inside @ Q.T).astype(G.dtype, copy=False)


def spectral_solution(B, G, of_A, weight, damping):
    """Eq. (10b) where A is diagonal with entries a = `of_A` (m,).

        B = U diag(b) U^T
        D = -U [(U^T G) / (weight b a^T + damping)]
    """
    of_B, U = np.linalg.eigh(B.astype(np.float64))
    return -U @ ((U.T @ G) / (weight * np.outer(of_B, of_A) + damping))


def eigenvector_solution(B, G, A, weight, damping):
    """Eq. (10b) with (11a), A = V diag(a) V^T: :func:`spectral_solution` of G V, turned back."""
    of_A, V = np.linalg.eigh(A.astype(np.float64))
    return (spectral_solution(B, G @ V, of_A, weight, damping) @ V.T).astype(G.dtype, copy=False)


def gram_coefficients(B, deltas, X, weight, damping):
    """C (n, S) such that C X solves Eq. (10b) with (11a), for inputs X (S, m) wider than the batch.

        weight B C K + damping C = -deltas^T / S
        K = X X^T / S

    The gradient is G = deltas^T X / S. Nothing of size (m, m) is made.
    """
    K = X @ X.T / len(X)
    of_K, P = np.linalg.eigh(K.astype(np.float64))
    return spectral_solution(B, (deltas.T / len(X)) @ P, of_K, weight, damping) @ P.T


def gram_remainder(B, R, X, weight, damping):
    """The solution (n, m) for a right side R (n, m) that is no combination of the inputs.

        D = -R / damping + C X
    """
    K = X @ X.T / len(X)
    of_K, P = np.linalg.eigh(K.astype(np.float64))
    M = weight / damping * (B @ (R @ X.T) / len(X))
    C = -spectral_solution(B, M @ P, of_K, weight, damping) @ P.T
    return -R / damping + C @ X


def exact_solution(system):
    """Eq. (10b) with (11a), exactly, by the shorter way: eigenvectors of A, or of the Gram matrix
    where inputs are wider.
    """
    B, X, weight, damping = system.B, system.X, system.weight, system.damping
    if X.shape[1] <= len(X):
        return eigenvector_solution(B, system.G, mean_outer(X), weight, damping)
    D = gram_coefficients(B, system.deltas, X, weight, damping).astype(X.dtype, copy=False) @ X
    if system.l2:
        D += gram_remainder(B, system.l2 * system.W, X, weight, damping)
    return D.astype(system.G.dtype, copy=False)
