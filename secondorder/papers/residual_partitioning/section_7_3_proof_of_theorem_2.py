"""7.3. Proof of Theorem 2: Lemma 3, and an induction over the layers.

Displays: (19) to (24), the lemma; (25) to (46), the induction. A function is the right side of its
display, whose left side is the display before it; one that says an earlier display once more is
that one under its own name. y (S, k) has y_s0 in column 0.
"""

import numpy as np

from .section_2_setup import ratio
from .section_4_partitioning_variables import eq_10_fractions


# -- Lemma 3 ---------------------------------------------------------------------------------------

def eq_19_lemma_3(x):
    """Eq. (19), Lemma 3: p_i = |x_i| / sum_i' |x_i'|, (..., n); there sum x_i^2 / p_i is least."""
    return ratio(np.abs(x), np.abs(x).sum(axis=-1, keepdims=True))


def eq_20_softmax(eta):
    """Eq. (20): p_i = exp(eta_i) / sum_i' exp(eta_i'), (..., n)."""
    e = np.exp(eta - eta.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def eq_21_derivatives(p):
    """Eq. (21): dp_i' / deta_i, (n, n): p_i (1 - p_i) where i' = i, else -p_i p_i'."""
    return np.diag(p) - np.outer(p, p)


def eq_22_gradient(x, p):
    """Eq. (22): the gradient in eta, p_i (sum_i' p_i' x_i'^2 / p_i'^2 - x_i^2 / p_i^2), (n,)."""
    return p * (np.sum(p * x**2 / p**2) - x**2 / p**2)


def eq_22_as_printed(x, p):
    """The last form of (22), with its sign turned round."""
    return p * (x**2 / p**2 - np.sum(p * x**2 / p**2))


def eq_23_where_all_are_equal(p, c):
    """Eq. (23): p_i (c - sum_i' p_i' c) = 0, the gradient where all x_i^2 / p_i^2 are c."""
    return p * (c - np.sum(p * c))


def eq_24_constant(x):
    """Eq. (24): c = (sum_i' |x_i'|)^2, which x_i^2 / p_i^2 is for every i at the p of (19)."""
    return np.sum(np.abs(x)) ** 2


# -- the induction: the sum over the layers up to l ------------------------------------------------

def eq_25_left(W_ddot):
    """Eq. (25), left side: sum over l' <= l, ij of W_ddot_ij, from a list."""
    return sum(np.sum(W_ddot_l) for W_ddot_l in W_ddot)


def eq_25_right(Y_ddot, u):
    """Eq. (25), right side: sum_si Y_ddot^(l+1)_si u^(l+1)_si^2, without the constant."""
    return np.sum(Y_ddot * u**2)


def eq_25_constant(Y_dot, curvature, u):
    """What an activation adds to the "const" of (25): sum_sj Y_dot_sj curvature_sj u_sj^2."""
    return np.sum(Y_dot * curvature * u**2)


def eq_26_last_layer_apart(W_ddot):
    """Eq. (26): sum over l' <= l - 1 of W_ddot, plus sum_ij W_ddot^(l)_ij."""
    return eq_25_left(W_ddot[:-1]) + np.sum(W_ddot[-1])


def eq_27_two_parts(Y_ddot, u, W_ddot):
    """Eq. (27): sum_sj Y_ddot_sj u_sj^2 + sum_ij W_ddot_ij at one layer, without the constant."""
    return np.sum(Y_ddot * u**2) + np.sum(W_ddot)


eq_28_two_parts = eq_27_two_parts  # at l = 1, where u = 0


def eq_29_first_layer(W_ddot):
    """Eq. (29): sum_ij W_ddot_ij, as u = 0 at the first layer."""
    return np.sum(W_ddot)


def eq_30_first_layer(Y_ddot_above, y, eps):
    """Eq. (30): sum_si Y_ddot^(2)_si sum_{j>=0} y_sj^2 / eps_sij."""
    return np.sum(Y_ddot_above * ratio(y[:, None] ** 2, eps).sum(axis=2))


def eq_31_fractions_of_first_layer(y):
    """Eq. (31): eps_sj = |y_sj| / sum_{j'>=0} |y_sj'|, (S, k), the same for every output."""
    return eq_19_lemma_3(y)


def eq_31_as_printed(y):
    """With j' from 1: the bias is left out below, and the fractions add up to more than 1."""
    return np.abs(y) / np.abs(y[:, 1:]).sum(axis=1, keepdims=True)


eq_32_fractions_of_first_layer = eq_10_fractions  # at u = 0
eq_33_least_of_first_layer = eq_25_right
eq_34_two_parts = eq_27_two_parts


def eq_35_by_weight(Y_ddot_above, y, w, u, eps, phi):
    """Eq. (35): sum_sij Y_ddot_si w_ij^2 / phi_sij u_sj^2 + sum_sij Y_ddot_si y_sj^2 / eps_sij."""
    return (np.einsum("si,sij,sj->", Y_ddot_above, ratio(w**2, phi), u**2)
            + np.einsum("si,sij->", Y_ddot_above, ratio(y[:, None] ** 2, eps)))


def eq_36_by_output(Y_ddot_above, y, w, u, eps, phi):
    """Eq. (36): sum_si Y_ddot_si (sum_j (w_ij u_sj)^2 / phi_sij + sum_{j>=0} y_sj^2 / eps_sij)."""
    below, own = ratio((w * u[:, None]) ** 2, phi), ratio(y[:, None] ** 2, eps)
    return np.sum(Y_ddot_above * (below.sum(axis=2) + own.sum(axis=2)))


def eq_37_fractions(y, w, u):
    """Eq. (37): eps_sij = |y_sj| / d_si, phi_sij = |w_ij| |u_sj| / d_si.

    d_si = sum_{j'>=0} |y_sj'| + sum_{j'>=1} |w_ij'| |u_sj'|
    """
    own, below = np.abs(y)[:, None], np.abs(w) * np.abs(u)[:, None]
    d = own.sum(axis=2, keepdims=True) + below.sum(axis=2, keepdims=True)
    return ratio(own, d), ratio(below, d)


eq_38_fractions = eq_10_fractions
eq_39_least_of_layer = eq_25_right
eq_40_unchanged = eq_25_left  # an activation has no parameters


def eq_41_below_activation(Y_dot, Y_ddot, slope, curvature, u):
    """Eq. (41): sum_sj (Y_ddot^(l+1)_sj slope_sj^2 + Y_dot^(l+1)_sj curvature_sj) u_sj^2."""
    return np.sum((Y_ddot * slope**2 + Y_dot * curvature) * u**2)


def eq_41_as_printed(Y_dot, Y_ddot, slope, curvature, u):
    """With a sum over i and one over j although i = j: m times too many terms."""
    return np.sum((np.einsum("si,sj->sij", Y_ddot, slope**2)
                   + np.einsum("si,sj->sij", Y_dot, curvature)) * u[:, None] ** 2)


def eq_42_below_activation(Y_ddot, slope, u):
    """Eq. (42): sum_sj Y_ddot^(l+1)_sj slope_sj^2 u_sj^2, without the constant."""
    return np.sum(Y_ddot * slope**2 * u**2)


eq_43_above_activation = eq_25_right  # as |slope_sj| u_sj is the u of the outputs


def eq_44_bound_of_equal_changes(loss, W_dot, W_ddot, dw, c):
    """Eq. (44): L_1 = L(0) + sum W_dot dw + c^2 / 2 sum W_ddot where all |dw_ij| = c.

    W_dot, W_ddot, dw are lists over layers.
    """
    return loss + sum(np.sum(a * b) for a, b in zip(W_dot, dw)) + c**2 / 2 * eq_25_left(W_ddot)


def eq_44_as_printed(W_ddot):
    """The last sum alone."""
    return eq_25_left(W_ddot)


def eq_45_at_outputs(f_ii, phi, u):
    """Eq. (45): sum_si f_ii / phi_si u_si^2."""
    return np.sum(ratio(f_ii, phi) * u**2)


def eq_46_fractions_at_outputs(f_ii, u):
    """Eq. (46): phi^(L)_si proportional to |u_si| sqrt(f_ii), (S, C). (Printed is phi^(l).)"""
    return eq_19_lemma_3(u * np.sqrt(f_ii))
