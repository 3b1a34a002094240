"""7.2. Bounding l = 1: the inputs do not move, and the weights alone share a change.

Displays: (16) to (18). y (S, k) has y_s0 in column 0.
"""

import numpy as np

from .section_2_setup import ratio


def eq_16_jensen(y, dw, eps):
    """Eq. (16): sum_{j>=0} (dw_ij y_sj)^2 / eps_sij, above (sum_j dw_ij y_sj)^2, (S, out)."""
    return ratio((dw * y[:, None]) ** 2, eps).sum(axis=2)


def eq_17_bound_of_outputs(W):
    """Eq. (17): sum_ij W_ij, which is above sum_si Y^(2)_si."""
    return np.sum(W)


def eq_18_coefficients(y, Y_dot, Y_ddot, eps):
    """Eq. (18): W_dot_ij = sum_s Y_dot_si y_sj, W_ddot_ij = sum_s Y_ddot_si y_sj^2 / eps_sij."""
    return Y_dot.T @ y, np.einsum("si,sij->ij", Y_ddot, ratio(y[:, None] ** 2, eps))
