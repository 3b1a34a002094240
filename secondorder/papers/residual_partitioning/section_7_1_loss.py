"""7.1. Bounding l = L: a convex loss, by its outputs one at a time.

Displays: (12) to (15), each the objective sum_s f in another form. f takes outputs (S, C) and gives
losses (S,).
"""

import numpy as np

from .section_2_setup import eq_1_objective, ratio


def eq_12_objective(f, y, dy):
    """Eq. (12): sum_s f(y_s + dy_s)."""
    return eq_1_objective(f(y + dy))


def eq_13_by_components(f, y, dy):
    """Eq. (13): sum_s f(y_s + sum_i dy_s * e_i)."""
    return eq_1_objective(f(y + sum(dy * e for e in np.eye(y.shape[1]))))


def eq_14_by_fractions(f, y, dy, phi):
    """Eq. (14): sum_s f(sum_i phi_si (y_s + dy_s * e_i / phi_si)); over i, phi (S, C) sums to 1."""
    return eq_1_objective(f(sum(phi[:, [i]] * point for i, point in enumerate(points(y, dy, phi)))))


def eq_15_jensen(f, y, dy, phi):
    """Eq. (15): sum_s sum_i phi_si f(y_s + dy_s * e_i / phi_si), above (14) as f is convex."""
    return eq_1_objective(sum(phi[:, i] * f(point) for i, point in enumerate(points(y, dy, phi))))


def points(y, dy, phi):
    """y_s + dy_s * e_i / phi_si, one (S, C) array for every output i."""
    return [y + ratio(dy, phi) * e for e in np.eye(y.shape[1])]


def coefficients_of_loss(f_i, f_ii, phi):
    """(15) to second order: Y_dot_si = f_i and Y_ddot_si = f_ii / phi_si, (S, C).

    f_i, f_ii (S, C) are the derivatives of f in single outputs. Where its Hessian is diagonal
    nothing is to be split, and phi is 1.
    """
    return f_i, ratio(f_ii, np.asarray(phi))
