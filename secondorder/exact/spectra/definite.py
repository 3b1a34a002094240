"""Cholesky factors of matrices that are positive definite, and what is said of all others."""

import numpy as np
from scipy.linalg import cholesky, eigvalsh


def factor(A, what, remedy):
    """L (n, n), in float64 and lower triangular, with A = L L^T; LinAlgError, with the smallest
    eigenvalue, if A is not positive definite.

    What is singular to the rounding of A's own precision is not taken for positive definite.
    """
    rounding = len(A) * np.finfo(A.dtype).eps * np.abs(A.diagonal()).max()
    A = np.asarray(A, dtype=np.float64)
    try:
        L = cholesky(A, lower=True)
    except np.linalg.LinAlgError:
        L = None
    # every L_ii^2 is at least the smallest eigenvalue
    if L is None or (L.diagonal() ** 2).min() <= rounding:
        raise not_positive(what, eigvalsh(A, subset_by_index=[0, 0])[0], remedy)
    return L


def not_positive(what, smallest, remedy):
    """The error for a matrix with this eigenvalue."""
    return np.linalg.LinAlgError(f"{what} is not positive definite: its smallest eigenvalue found "
                                 f"is {smallest:.3g}; {remedy}")
