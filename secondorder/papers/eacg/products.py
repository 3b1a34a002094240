"""Means of outer products and W^T B W: as formulas, and by half where the result is symmetric."""

import numpy as np

WIDTH = 128  # columns of a panel; at most so many of the result's rows are computed twice


def mean_outer(rows):
    """E_i[r_i r_i^T] (n, n) of the rows r_i (S, n); EhhT in the paper."""
    return rows.T @ rows / len(rows)


def symmetric(A):
    """(A + A^T) / 2."""
    return (A + A.T) / 2


# -- by half ---------------------------------------------------------------------------------------


def symmetric_product(P, Q):
    """P^T Q (m, m) of two (n, m) arrays, which the caller knows to be symmetric. Panels on and
    below the diagonal are computed, and their mirror images copied.
    """
    m = P.shape[1]
    product = np.empty((m, m), np.result_type(P, Q))
    for start in range(0, m, WIDTH):
        stop = min(start + WIDTH, m)
        panel = product[start:, start:stop]
        np.matmul(P[:, start:].T, Q[:, start:stop], out=panel)
        product[start:stop, stop:] = panel[stop - start:].T
    return product


def congruence(W, B):
    """W^T B W (m, m) for W (n, m) and a symmetric B (n, n)."""
    return symmetric_product(W, B @ W)


def second_moment(rows):
    """:func:`mean_outer` (m, m) of the rows r_i of an array (S, m), by half."""
    moment = symmetric_product(rows, rows)
    moment /= len(rows)
    return moment
