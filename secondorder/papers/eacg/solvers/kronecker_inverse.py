"""KFI, the Kronecker-factored inverse of KFAC and KFRA, a rival of EA-CG: Eq. (12), (13).

    (A (x) B + alpha I)^-1
        is replaced by  (A + pi sqrt(alpha) I)^-1 (x) (B + sqrt(alpha) / pi I)^-1

Unlike (9) there is no factor 1 - alpha; with a penalty alpha + l2 stands for alpha. pi balances the
two factors, as Martens and Grosse choose it: pi^2 = (tr A / m) / (tr B / n).
"""

import math

import numpy as np

from .cholesky import damped_solver
from ..products import mean_outer


def trace_norm_pi(trace_A, m, trace_B, n):
    """pi = sqrt((tr A / m) / (tr B / n)); 1 where a trace is zero."""
    if trace_A <= 0 or trace_B <= 0:
        return 1.0
    return float(np.sqrt((trace_A / m) / (trace_B / n)))


def factors(A, B, alpha):
    """Eq. (12), the damped factors: A + pi sqrt(alpha) I and B + sqrt(alpha) / pi I."""
    pi = trace_norm_pi(np.trace(A), len(A), np.trace(B), len(B))
    root = math.sqrt(alpha)  # a Python float: float32 stays float32
    return (A + pi * root * np.eye(len(A), dtype=A.dtype),
            B + root / pi * np.eye(len(B), dtype=B.dtype))


def inverse(A, B, alpha):
    """Eq. (12): the approximate inverse as a dense matrix (n m, n m)."""
    damped_A, damped_B = factors(A, B, alpha)
    return np.kron(np.linalg.inv(damped_A), np.linalg.inv(damped_B))


def direction(A, B, G, alpha):
    """The direction of KFAC and KFRA, (n, m), with the damped factors of Eq. (12).

        D = -(B + sqrt(alpha) / pi I)^-1 G (A + pi sqrt(alpha) I)^-1
    """
    damped_A, damped_B = factors(A, B, alpha)
    return -np.linalg.solve(damped_B, np.linalg.solve(damped_A, G.T).T)


def first_layer_factor(mean, pi, alpha):
    """Eq. (13): m m^T + pi sqrt(alpha) I, (m, m)."""
    return np.outer(mean, mean) + pi * np.sqrt(alpha) * np.eye(len(mean))


def first_layer_inverse(mean, pi, alpha, P):
    """P (n, m) times the inverse of Eq. (13), by Sherman and Morrison with c = pi sqrt(alpha).

        (P - (P m) m^T / (c + |m|^2)) / c
    """
    c = float(pi * np.sqrt(alpha))
    ahead = (P @ mean) / (c + mean @ mean)
    return (P - np.outer(ahead, mean)) / c  # c is a Python float: float32 stays float32


# -- without (m, m) matrices where inputs are wider than the batch ---------------------------------


def inputs_solver(X, c):
    """The function P (n, m) -> P (X^T X / S + c I)^-1.

    It takes the Gram matrix (S, S) where X is wider than the batch.
    """
    S, m = X.shape
    if m <= S:
        narrow = damped_solver(mean_outer(X), 1.0, c)
        return lambda P: narrow(P.T).T
    gram = damped_solver(X @ X.T / S, 1.0, c)
    return lambda P: (P - gram((P @ X.T).T / S).T.astype(P.dtype, copy=False) @ X) / c


COLUMNS = 1024  # that are solved for at a time


def by_columns(solve, P):
    """``solve(P)`` (n, m) in the dtype of P, by parts: what is float64 in it stays small."""
    solution = np.empty_like(P)
    for start in range(0, P.shape[1], COLUMNS):
        part = slice(start, start + COLUMNS)
        solution[:, part] = solve(P[:, part])
    return solution


def preconditioner(X, B, alpha):
    """The inverse of Eq. (12) for inputs X (S, m) and curvature B (n, n), as a function of an array
    (n, m).
    """
    pi = trace_norm_pi(np.sum(X**2) / len(X), X.shape[1], np.trace(B), len(B))
    root = np.sqrt(alpha)
    left, right = damped_solver(B, 1.0, root / pi), inputs_solver(X, pi * root)
    return lambda P: right(by_columns(left, P)).astype(P.dtype, copy=False)


def damped_inverse(A, B, alpha, shape):
    """The inverse of Eq. (12) for weights of `shape` (n, m) in coordinates V (n, r) of a span, in
    which the inputs' factor is A (r, r): a function of V.
    """
    n, m = shape
    pi = trace_norm_pi(np.trace(A), m, np.trace(B), n)
    root = np.sqrt(alpha)
    left, right = damped_solver(B, 1.0, root / pi), damped_solver(A, 1.0, pi * root)
    return lambda V: right(left(V).T).T


def gram_coefficients(deltas, X, left, c):
    """C (n, S) such that C X = L^-1 G (A + c I)^-1 for the gradient G = deltas^T X / S, with
    A = X^T X / S and ``left(P)`` = L^-1 P.

        C = L^-1 (deltas^T / S) (K + c I)^-1,    K = X X^T / S,

    since X (X^T X / S + c I)^-1 = (X X^T / S + c I)^-1 X. Neither L nor A meets anything of the
    inputs' width m.
    """
    S = len(X)
    return damped_solver(X @ X.T / S, 1.0, c)(left(deltas.T / S).T).T


def of_gradient(left, system):
    """L^-1 G (n, m), with ``left(P)`` = L^-1 P, for the gradient G = deltas^T X / S + l2 W.

    Where inputs are wider than the batch G has at most rank S without the penalty, and L^-1 is
    taken of deltas^T (n, S).
    """
    (S, m), dtype = system.X.shape, system.G.dtype
    if m <= S:
        return by_columns(left, system.G)
    product = left(system.deltas.T / S).astype(dtype, copy=False) @ system.X
    if system.l2:
        product += by_columns(left, system.l2 * system.W)
    return product


def solution_as_printed(system, rank_one=False):
    """KFI's direction for the weights of one layer, (n, m), with the matrices of Eq. (12).

    With A (m, m) it takes O(m^3) operations a step; `solution` avoids A where inputs are wider than
    the batch. Eq. (13), by Sherman and Morrison as in the paper, takes the place of the inputs'
    factor if `rank_one`.
    """
    alpha, B, G, mean = system.alpha + system.l2, system.B, system.G, system.mean_input
    if not rank_one:
        return direction(mean_outer(system.X), B, G, alpha)
    pi = trace_norm_pi(mean @ mean, len(mean), np.trace(B), len(B))
    damped_B = B + math.sqrt(alpha) / pi * np.eye(len(B), dtype=B.dtype)
    return -first_layer_inverse(mean, pi, alpha, np.linalg.solve(damped_B, G))


def solution(system, rank_one=False):
    """KFI's direction for the weights of one layer, (n, m), by Eq. (12).

    Eq. (13) takes the place of the inputs' factor if `rank_one`.
    """
    alpha, root = system.alpha + system.l2, np.sqrt(system.alpha + system.l2)
    X, B, mean, (n, m) = system.X, system.B, system.mean_input, system.G.shape
    if rank_one:
        pi = trace_norm_pi(mean @ mean, m, np.trace(B), n)
        D = -first_layer_inverse(mean, pi, alpha,
                                 of_gradient(damped_solver(B, 1.0, root / pi), system))
    elif m <= len(X):
        D = preconditioner(X, B, alpha)(-system.G)
    else:
        pi = trace_norm_pi(np.sum(X**2) / len(X), m, np.trace(B), n)
        C = gram_coefficients(system.deltas, X, damped_solver(B, 1.0, root / pi), pi * root)
        D = -C.astype(X.dtype, copy=False) @ X
        if system.l2:
            D -= preconditioner(X, B, alpha)(system.l2 * system.W)
    return D.astype(system.G.dtype, copy=False)
