"""Supplement D, the proof of (7): Eq. (15)-(17), with brackets that the print closes early mended.
"""

import numpy as np

from .eq_05_07_expectation import ele_cov, ehht


def outer(dh):
    """h'_i h'_i^T, (S, m, m)"""
    return dh[:, :, None] * dh[:, None, :]


def eq_15_expectation_error(W, H, dh):
    """Eq. (15): Ele-Cov(W^T H_i W, h'_i h'_i^T), (m, m)

    The mean of (4b) minus (6), which is fed with the exact E_i[H_i]; H (S, n, n).
    """
    return ele_cov(W.T @ H @ W, outer(dh))


def eq_16_covariance_bound(W, H, dh):
    """Eq. (16), right side: sum_{mu nu} Var([W^T H_i W]_{mu nu}) Var([h'_i h'_i^T]_{mu nu})"""
    return float(np.sum(eq_17_variance(W.T @ H @ W) * eq_17_variance(outer(dh))))


def eq_17_variance(X):
    """Eq. (17), first line: Var(X) = E_i[X_i^2] - E_i[X_i]^2, entry by entry

    For X_i = h'_i h'_i^T it is at most L^4.
    """
    return ele_cov(X, X)


def recursive_bound(error_above, W, H, dh):
    """How far (6) is off if what it is fed with is off by `error_above`, at most (Frobenius):

        max_r E_i[h'_ir^2] ||W||_2^2 error_above + ||(15)||_F

    Not in the paper, which says that errors are not accumulated.
    """
    grows = np.diag(ehht(dh)).max() * np.linalg.norm(W, 2) ** 2
    return float(grows * error_above + np.linalg.norm(eq_15_expectation_error(W, H, dh)))
