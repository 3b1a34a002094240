"""The expectation approximation: Eq. (5)-(7). E_i and covariances are over the batch, with 1/S."""

import numpy as np

from .eq_04_hessian import downwards, plus_diagonal


def ehht(h):
    """EhhT = E_i[h_i h_i^T], (m, m), of the rows h_i of an array (S, m)."""
    return h.T @ h / len(h)


def ele_cov(X, Y):
    """Ele-Cov: covariance over the instances of X and Y (S, ...), entry by entry."""
    return ((X - X.mean(axis=0)) * (Y - Y.mean(axis=0))).mean(axis=0)


def cov_t(h, H):
    """cov-t = Ele-Cov((h_i h_i^T) (x) 1_{n,n}, 1_{m,m} (x) H_i), (n m, n m); h (S, m), H (S, n, n)
    """
    m, n = h.shape[1], H.shape[1]
    return ele_cov(np.array([np.kron(np.outer(row, row), np.ones((n, n))) for row in h]),
                   np.array([np.kron(np.ones((m, m)), one) for one in H]))


def eq_5_mean_weight_hessian(h, H):
    """Eq. (5): E_i[Hess_{W^t} xi_i] = EhhT^{t-1} (x) E_i[Hess_{b^t} xi_i] + cov-t, (n m, n m)

    The approximation drops cov-t.
    """
    return np.kron(ehht(h), H.mean(axis=0)) + cov_t(h, H)


def eq_6_expectation_step(W, B, h_bar, dh, ddh):
    """Eq. (6): (W^T B W) (.) EhhT^{(t-1)'} + diag(E_i[h''_i (.) h_bar_i]), (m, m)

    B (n, n) is E_i[Hess_{b^t} xi_i], h_bar_i = W^T grad_{b^t} xi_i.
    """
    return plus_diagonal((W.T @ B @ W) * ehht(dh), (ddh * h_bar).mean(axis=0))


def expectation(layers, H):
    """Eq. (6) from E_i[H_i] down, H (S, C, C) of (4a): [B^1 .. B^k], which may be indefinite."""
    return downwards(layers, H.mean(axis=0), lambda t, B: eq_6_expectation_step(
        t.W, B, t.h_bar, t.dh, t.ddh))


def eq_7_lipschitz_bound(W, H, L):
    """Eq. (7), right side: L^4 sum_{mu nu} Var([W^T H_i W]_{mu nu}), where |sigma'| <= L

    It bounds ||(15)||_F^2, the error of one step (6). Where 0 <= sigma' <= L a quarter is enough: a
    number between 0 and L^2 has a variance of at most L^4 / 4.
    """
    carried = W.T @ H @ W
    return L**4 * np.sum(ele_cov(carried, carried))
