"""The rivals, KFAC and KFRA: Fisher and Gauss-Newton blocks, and KFI, Eq. (12), (13).

Letters as in `eq_09_11_ea_cg`. Both rivals put another B in the place of (8b)'s, and a product of
two inverses, KFI, in the place of the damped system.
"""

import math

import numpy as np

from .eq_01_03_newton import pos_eig
from .eq_04_hessian import downwards, gauss_newton_hessian, numbered, plus_diagonal
from .eq_05_07_expectation import ehht
from .eq_09_11_ea_cg import Solved, solve

# -- KFAC's curvature ------------------------------------------------------------------------------


def fisher_block(h_mu, g_mu, h_nu, g_nu):
    """[F_i]_{mu nu} = (h^{mu-1} h^{nu-1 T}) (x) (g^mu g^nu T), over Vec(W^mu) and Vec(W^nu)

    Of one instance, with g^t its gradient in b^t.
    """
    return np.kron(np.outer(h_mu, h_nu), np.outer(g_mu, g_nu))


def fisher_block_as_printed(h_mu, g_nu):
    """(h^{mu-1} h^{mu-1 T}) (x) (g^nu g^nu T): of another shape, unless mu = nu."""
    return np.kron(np.outer(h_mu, h_mu), np.outer(g_nu, g_nu))


def fisher_of_expectations(h, g):
    """E_i[h_i h_i^T] (x) E_i[g_i g_i^T], (n m, n m), for E_i[F_i^t]"""
    return np.kron(ehht(h), ehht(g))


def fisher(layers):
    """E_i[g_i g_i^T], t = 1 .. k: of the given targets' gradients the empirical Fisher matrix, as
    printed; of gradients for targets drawn from the model the sampled one.
    """
    return [ehht(layer.g) for layer in numbered(layers)]


def fisher_step(layer, F):
    """The exact Fisher matrix of an instance, (S, n_t, n_t), one layer down."""
    return gauss_newton_hessian(layer.W, F, layer.dh)


# -- KFRA's curvature ------------------------------------------------------------------------------


def gauss_newton_step(W, B, dh):
    """E_i[GN(Hess_{b^{t-1}} xi_i)] = (W^T B W) (.) EhhT^{(t-1)'}, (m, m): (6) without its diagonal
    """
    return (W.T @ B @ W) * ehht(dh)


def gauss_newton(layers, H, convex):
    """KFRA's recursion from H (S, C, C) of (4a): [B^1 .. B^k]. Where the loss is not convex in the
    outputs it would be indefinite, and the top block is corrected by Pos-Eig.
    """
    mean = H.mean(axis=0)
    return downwards(layers, mean if convex else pos_eig(mean),
                     lambda t, B: gauss_newton_step(t.W, B, t.dh))


# -- KFI -------------------------------------------------------------------------------------------


def pi_t(trace_A, m, trace_B, n):
    """pi_t = sqrt((tr A / m) / (tr B / n)), as Martens and Grosse have it; 1 where a trace is 0."""
    return math.sqrt(trace_A / m / (trace_B / n)) if trace_A > 0 and trace_B > 0 else 1.0


def eq_12_factors(A, B, alpha):
    """Eq. (12): H^t = A + pi_t sqrt(alpha) I and G^t = B + sqrt(alpha) / pi_t I"""
    pi, root = pi_t(np.trace(A), len(A), np.trace(B), len(B)), math.sqrt(alpha)
    return plus_diagonal(A.copy(), pi * root), plus_diagonal(B.copy(), root / pi)


def eq_12_inverse(A, B, alpha):
    """Eq. (12): (A (x) B + alpha I)^-1 ~ (H^t)^-1 (x) (G^t)^-1, (n m, n m)

    The product of both factors has two mixed terms more: KFI always damps too much.
    """
    H_t, G_t = eq_12_factors(A, B, alpha)
    return np.kron(np.linalg.inv(H_t), np.linalg.inv(G_t))


def kfi_as_printed(B, G, X, alpha, l2=0.0, limits=None):
    """D = -(G^t)^-1 G (H^t)^-1, (n, m), of KFAC and KFRA alike; a penalty l2 joins alpha."""
    H_t, G_t = eq_12_factors(ehht(X), B, alpha + l2)
    return Solved(-solve(G_t, solve(H_t, G.T).T))


def kfi(B, G, X, alpha, l2=0.0, limits=None):
    """:func:`kfi_as_printed`; where inputs are wider than the batch without H^t (m, m)."""
    if X.shape[1] <= len(X):
        return kfi_as_printed(B, G, X, alpha, l2)
    pi, root = pi_t(np.vdot(X, X) / len(X), X.shape[1], np.trace(B), len(B)), math.sqrt(alpha + l2)
    G_t = plus_diagonal(B.copy(), root / pi)
    return Solved(-times_inverse(solve(G_t, G), X, pi * root))


def kfi_bias(B, g, alpha, l2=0.0, limits=None):
    """d = -(B + alpha I)^-1 g, (n,): a bias has no second factor."""
    return Solved(-solve(plus_diagonal(B.copy(), alpha + l2), g))


def eq_13_first_factor(mean, pi, alpha):
    """Eq. (13): H^1 = E_i[h_i] E_i[h_i]^T + pi_1 sqrt(alpha) I, (m, m)"""
    return plus_diagonal(np.outer(mean, mean), pi * math.sqrt(alpha))


def eq_13_direction(B, G, X, alpha, l2=0.0, limits=None):
    """D = -(G^1)^-1 G (H^1)^-1 with H^1 of Eq. (13), never formed: Sherman and Morrison, (n, m)."""
    return kfi(B, G, X.mean(axis=0)[None], alpha, l2)


def times_inverse(P, X, c):
    """P (X^T X / S + c I)^-1 (n, m) without an (m, m) matrix, by Woodbury's formula

        (P - (P X^T / S) (X X^T / S + c I)^-1 X) / c

    With one row, the mean input, it is the formula of Sherman and Morrison for (13).
    """
    K = plus_diagonal(X @ X.T / len(X), c)
    return (P - solve(K, X @ P.T / len(X)).T @ X) / c
