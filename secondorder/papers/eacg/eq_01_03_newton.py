"""Newton's method on a function f, and what to do about negative eigenvalues: Eq. (1)-(3).

Shapes: theta, gradient, d (P,); H (P, P) is the Hessian of f.
"""

import numpy as np


def eq_1_minimiser(f, candidates):
    """Eq. (1): the theta with the least f(theta), among candidates (N, P)."""
    return min(candidates, key=f)


def eq_2_solution(gradient, hessian, theta, steps=20):
    """Eq. (2): theta* with grad f(theta*) = 0, by steps of Newton's method from theta.

    `gradient` and `hessian` are functions of theta. Where f is not convex, theta* may be a saddle
    point or a maximum.
    """
    for _ in range(steps):
        theta = theta + newton_direction(gradient(theta), hessian(theta))
    return theta


def eq_3_linearised_gradient(gradient, H, d):
    """Eq. (3), left side of grad f + (Hess f) d = 0: the gradient after d, to first order."""
    return gradient + H @ d


def quadratic_model(value, gradient, H, d):
    """Below Eq. (2): f(theta + d) ~ f + grad f^T d + d^T H d / 2"""
    return value + gradient @ d + d @ H @ d / 2


def newton_direction(gradient, H):
    """Below Eq. (3): d = -H^-1 grad f; the step is eta d."""
    return -np.linalg.solve(H, gradient)


def property_1_model(value, gradient, H, V, k):
    """Property 1: g(k) = f + grad f^T v + v^T H v / 2 with v = k_1 v_1 + ... + k_s v_s

    V (P, s) has eigenvectors with negative eigenvalues in its columns: g is concave.
    """
    return quadratic_model(value, gradient, H, V @ k)


def pos_eig(A, gamma=-1.0):
    """Pos-Eig(A) = V diag(lambda') V^T, (n, n), lambda' = gamma lambda where lambda < 0.

    gamma = -1 takes absolute values, gamma = 0 drops what is negative, gamma = 1 leaves A as it is.
    The columns of V are the eigenvectors, as `eigh` has them.
    """
    eigenvalues, V = np.linalg.eigh(A)
    return (V * positive(eigenvalues, gamma)) @ V.T


def positive(eigenvalues, gamma):
    """gamma lambda where lambda < 0, else lambda: of eigenvalues, or of a diagonal matrix (n,)."""
    return np.where(eigenvalues < 0, gamma * eigenvalues, eigenvalues)


def pos_eig_as_printed(Q, eigenvalues, gamma=-1.0):
    """Pos-Eig as printed, Q^T diag(lambda') Q: right if the *rows* of Q are the eigenvectors."""
    return Q.T @ np.diag(positive(eigenvalues, gamma)) @ Q
