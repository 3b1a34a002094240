"""Theorems 1 and 2 and their proofs, display by display: sums of quadratics, and fractions.

Arrays as in `coefficients`: units (S, m), parameters (out, 1 + in) with the bias at j = 0. ``y``
(S, 1 + in) has the 1 of the bias in column 0; ``w`` (out, in) has no bias.
"""

import numpy as np

from .partitions import Partition, ratio


# -- Theorem 1 -------------------------------------------------------------------------------------

def objective(f):
    """Eq. (1): L = sum_s f(y_hat_s | x_s), from the losses f (S,) of the samples."""
    return np.sum(f)


def quadratic(dot, ddot, change):
    """A univariate quadratic of every entry: W = W_dot dw + W_ddot dw^2 / 2, and Y alike."""
    return dot * change + ddot * change**2 / 2


def bound_at_layer(loss, Y, W):
    """Eq. (2), corrected: L_l = L(0) + sum_sj Y_sj + sum over l' >= l, ij of W_ij.

    Parameters
    ----------
    loss : float
        L(0).
    Y : (S, m_l) array
        The quadratics of the inputs of layer l.
    W : list of (out, 1 + in) arrays
        Those of the parameters of layer l and of all trained layers above.
    """
    return loss + np.sum(Y) + sum(np.sum(W_above) for W_above in W)


def bound_at_input(loss, W):
    """Eq. (3), corrected: L_1 = L(0) + sum over l, ij of W_ij, from all trained layers' W."""
    return loss + sum(np.sum(W_of_layer) for W_of_layer in W)


def sums_of_fractions(eps, phi):
    """Eq. (5), left side: sum_{j>=0} eps_sij + sum_{j>=1} phi_sij, (S, out)."""
    return np.sum(eps, axis=2) + np.sum(phi, axis=2)


def bound_of_outputs(W, Y):
    """Eq. (8), right side: sum_ij W_ij + sum_sj Y_sj; without Y it is that of (17)."""
    return np.sum(W) + np.sum(Y)


def split_loss(f, y, dy, phi):
    """Eq. (15), right side, sample by sample: sum_i phi_si f(y_s + dy_si e_i / phi_si), (S,).

    Parameters
    ----------
    f : callable
        Outputs (S, C) -> losses (S,).
    y, dy, phi : (S, C) arrays
    """
    unit = np.eye(y.shape[1])
    return sum(phi[:, i] * f(y + ratio(dy[:, i], phi[:, i])[:, None] * unit[i])
               for i in range(y.shape[1]))


# -- Theorem 2: the fractions ----------------------------------------------------------------------

def first_layer_fractions(y):
    """Eq. (31), corrected: eps_sj = |y_sj| / sum_{j'>=0} |y_sj'|, (S, 1 + in), for every output."""
    return np.abs(y) / np.sum(np.abs(y), axis=1, keepdims=True)


def fractions(y, w, u):
    """Eq. (37): eps = |y_sj| / d_si, phi = |w_ij| u_sj / d_si.

    d_si = sum_{j'>=0} |y_sj'| + sum_{j'>=1} |w_ij'| |u_sj'|
    """
    d = np.sum(np.abs(y), axis=1, keepdims=True) + np.abs(u) @ np.abs(w).T
    return fractions_of_total_gradient(y, w, u, d)


def fractions_of_total_gradient(y, w, u, u_above):
    """Eqs. (10), (32), (38): eps_sij = |y_sj| / u^(l+1)_si, phi_sij = |w_ij| |u_sj| / u^(l+1)_si.

    Parameters
    ----------
    u : (S, in) array
        Total gradients of the layer's inputs, zero at the first layer.
    u_above : (S, out) array
        Those of its outputs.

    Returns
    -------
    Partition
    """
    return Partition(eps=np.abs(y)[:, None, :] / u_above[:, :, None],
                     phi=np.abs(w)[None] * np.abs(u)[:, None, :] / u_above[:, :, None])


# -- Theorem 2: the sums of the induction ----------------------------------------------------------

def sum_up_to(W_ddot):
    """Eqs. (25), (26), (40), left sides: sum over l' <= l, ij of W_ddot_ij, from a list."""
    return sum(np.sum(W_ddot_of_layer) for W_ddot_of_layer in W_ddot)


def weighted_by_u(Y_ddot, u):
    """Right sides of (25), (33), (39), (43) without the constant: sum_si Y_ddot_si u_si^2."""
    return np.sum(Y_ddot * u**2)


def quantity(Y_ddot, u, W_ddot):
    """Eqs. (27), (28), (34): sum_sj Y_ddot_sj u_sj^2 + sum_ij W_ddot_ij, at one layer."""
    return np.sum(Y_ddot * u**2) + np.sum(W_ddot)


def quantity_of_first_layer(Y_ddot_above, y, eps):
    """Eq. (30): sum_si Y_ddot_si sum_{j>=0} y_sj^2 / eps_sij."""
    return np.sum(Y_ddot_above * np.sum(ratio(y[:, None, :] ** 2, eps), axis=2))


def quantity_by_fractions(Y_ddot_above, y, w, u, partition):
    """Eq. (36): sum_si Y_ddot_si (sum_j (w_ij u_sj)^2 / phi_sij + sum_j y_sj^2 / eps_sij)."""
    below = np.sum(ratio((w[None] * u[:, None, :]) ** 2, partition.phi), axis=2)
    own = np.sum(ratio(y[:, None, :] ** 2, partition.eps), axis=2)
    return np.sum(Y_ddot_above * (below + own))


def quantity_below_activation(Y_dot, Y_ddot, slope, curvature, u):
    """Eq. (41): sum_sj (Y_ddot_sj slope_sj^2 + Y_dot_sj curvature_sj) u_sj^2."""
    return np.sum((Y_ddot * slope**2 + Y_dot * curvature) * u**2)


def bound_of_equal_changes(loss, W_dot, W_ddot, dw, c):
    """Eq. (44), corrected: L(0) + sum W_dot dw + c^2 / 2 sum W_ddot, where all |dw| = c."""
    return loss + np.sum(W_dot * dw) + c**2 / 2 * np.sum(W_ddot)


def quantity_at_outputs(f_ii, phi, u):
    """Eq. (45): sum_si (1 / phi_si) f_ii u_si^2."""
    return np.sum(1 / phi * f_ii * u**2)


def decrease(loss, W_dot, W_ddot, rate):
    """The bound at -rate W_dot / W_ddot: L(0) - (rate - rate^2 / 2) sum W_dot^2 / W_ddot."""
    return loss - (rate - rate**2 / 2) * np.sum(ratio(W_dot**2, W_ddot))


def step(W_dot, W_ddot):
    """The change of every weight after (9): dw_ij = -(1 / W_ddot_ij) W_dot_ij."""
    return -1 / W_ddot * W_dot


# -- beyond the paper ------------------------------------------------------------------------------

def sum_rule(Z_L, u_L, activations):
    """The sum of all W_ddot: sum_si Z_si u_si at the outputs, and what the activations add.

        sum over activations, sj of (Z_sj^(l) - |slope_sj| Z_sj^(l+1)) u_sj^(l)

    Parameters
    ----------
    activations : list of (Z^(l), slope, Z^(l+1), u^(l)), arrays (S, m_l)
    """
    added = (np.sum((Z - np.abs(slope) * Z_above) * u) for Z, slope, Z_above, u in activations)
    return np.sum(Z_L * u_L) + sum(added)


def implicit_step(W_dot, W_ddot, w, rate, mu):
    """The step with a penalty (mu / 2) w^2: dw = -(W_dot + mu w) / (W_ddot / rate + mu)."""
    return -(W_dot + mu * w) / (W_ddot / rate + mu)
