"""Pos-Eig: negative eigenvalues are multiplied by gamma <= 0 (below Property 1).

gamma = -1 takes absolute values, gamma = 0 drops what is negative. gamma = 1 changes nothing: it
gives the uncorrected matrix to whoever wants to compare.
"""

import numpy as np


def pos_eig(A, gamma=-1.0):
    """Pos-Eig(A) = V diag(lambda') V^T, lambda' = gamma lambda where lambda < 0, else lambda.

    The columns of V are the eigenvectors; the paper's Q holds them in its rows, so that its Q^T
    diag Q is the same.

    Parameters
    ----------
    A : (n, n) array
        Symmetric; only its lower triangle is read.
    gamma : float

    Returns
    -------
    (n, n) array
        Symmetric, with the dtype of A; computed in float64.
    """
    eigenvalues, V = np.linalg.eigh(A.astype(np.float64, copy=False))
    corrected = (V * pos_diagonal(eigenvalues, gamma)) @ V.T
    return ((corrected + corrected.T) / 2).astype(A.dtype, copy=False)


def pos_diagonal(entries, gamma):
    """Pos-Eig of a diagonal matrix, given and returned as its entries (n,)."""
    return np.where(entries < 0, entries.dtype.type(gamma) * entries, entries)


def pos_eig_as_printed(Q, eigenvalues, gamma=-1.0):
    """Q^T diag(lambda') Q (n, n), the definition as printed: the rows of Q (n, n) have to be the
    eigenvectors, as in A = Q^T diag(lambda) Q.
    """
    return Q.T @ np.diag(pos_diagonal(eigenvalues, gamma)) @ Q
