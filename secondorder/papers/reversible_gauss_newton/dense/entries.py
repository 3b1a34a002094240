"""Appendix N entry by entry, Eqs. (65)-(80): B, B A+ and B A+ A as (h n, ...) matrices, h = d/2."""

import numpy as np

from .jacobians import cross_derivative


def product_with_pseudo_inverse(state):
    """Eq. (72), with S' the slopes of the second features:

        (B A+)[i1 + h j1, i4 + h j4] = sum_k W2[i1, k] V1[k, i4] S'[k, j1] (S^T S^{T+})[j1, j4]
    """
    # (71)
    T = state.S1.T @ np.linalg.pinv(state.S1.T)
    # (68), (69), (70), (72)
    entries = np.einsum("ik,ka,kj,jm->jima", state.W2, state.V1, state.slope2, T)
    return _as_matrix(entries)  # (67)


def product_back(state):
    """Eq. (78), with S' the slopes of the second features and T = S^T S^{T+} S^T:

        (B A+ A)[i1 + h j1, i3 + h j3] = sum_k W2[i1, k] V1[k, i3] S'[k, j1] T[j1, j3]

    As S^T S^{T+} S^T = S^T it is B again, Eqs. (79)-(80).
    """
    T = state.S1.T @ np.linalg.pinv(state.S1.T) @ state.S1.T  # (77)
    # (74), (75), (76), (78), (79), (80)
    entries = np.einsum("ik,ka,kj,jb->jiba", state.W2, state.V1, state.slope2, T)
    return _as_matrix(entries)  # (73)


def entries_of_b(state):
    """B itself, Eqs. (65), (66), (79) and (80); see :func:`jacobians.cross_derivative`."""
    return cross_derivative(state)  # (65)


def _as_matrix(entries):
    """[j, i, sample or feature, a] -> rows i + h j, columns a + h (.)."""
    rows, half, columns, _ = entries.shape
    return entries.reshape(rows * half, columns * entries.shape[3])
