"""Appendix N entry by entry: B, B A+ and B A+ A, Eqs. (65)-(80), as (h n, ...) matrices with h =
d/2.
"""

import numpy as np

from .jacobians import cross_derivative


def product_with_pseudo_inverse(state):
    """[reversible-gauss-newton] Eq. (72): (B A+)[i1 + h j1, i4 + h j4] = sum_k W2[i1, k] V1[k, i4]
    slope2[k, j1] (S^T S^{T+})[j1, j4].
    """
    T = state.S1.T @ np.linalg.pinv(state.S1.T)
    entries = np.einsum("ik,ka,kj,jm->jima", state.W2, state.V1, state.slope2, T)
    return _as_matrix(entries)


def product_back(state):
    """[reversible-gauss-newton] Eq. (78): (B A+ A)[i1 + h j1, i3 + h j3] = sum_k W2[i1, k] V1[k,
    i3] slope2[k, j1] (S^T S^{T+} S^T)[j1, j3].

    As S^T S^{T+} S^T = S^T it is B again, Eqs. (79)-(80).
    """
    T = state.S1.T @ np.linalg.pinv(state.S1.T) @ state.S1.T
    entries = np.einsum("ik,ka,kj,jb->jiba", state.W2, state.V1, state.slope2, T)
    return _as_matrix(entries)


def entries_of_b(state):
    """[reversible-gauss-newton] Eqs. (65), (66), (79), (80): B itself; see
    :func:`jacobians.cross_derivative`.
    """
    return cross_derivative(state)


def _as_matrix(entries):
    """[j, i, column sample or feature, a] -> rows i + h j, columns a + h (.)."""
    rows, half, columns, _ = entries.shape
    return entries.reshape(rows * half, columns * entries.shape[3])
