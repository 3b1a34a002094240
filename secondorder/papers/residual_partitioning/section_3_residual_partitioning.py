"""3. Residual partitioning: Theorem 1; 3.1. Bounding through affine layers.

Displays: (2), (3), ``theorem_1``, and in 3.1 (4) to (9). In print (2) and (3) lack L(0) and the
biases: ``eq_3_as_printed``. For an affine layer, y (S, k) has y_s0 in column 0 (`own_inputs`), and
so has what belongs to its weights: dw, W, eps.
"""

from typing import NamedTuple

import numpy as np

from ...kernels import in_loops
from ...nets import Activation
from .section_2_setup import own_inputs, ratio
from .section_7_1_loss import coefficients_of_loss


@in_loops
def quadratic(dot, ddot, change):
    """W_ij = W_dot_ij dw_ij + W_ddot_ij dw_ij^2 / 2, and Y_sj of dy_sj in the same way."""
    return dot * change + ddot * change**2 / 2


def eq_2_bound_at_layer(loss, Y, W):
    """Eq. (2): L_l = L(0) + sum_sj Y_sj + sum over l' >= l, ij of W_ij.

    Y (S, m_l) are the quadratics of the inputs of layer l; W (out, k), a list, those of the weights
    of this layer and of all above. L(0) is missing in print, where j also starts at 1.
    """
    return eq_3_bound(loss, W) + np.sum(Y)


def eq_3_bound(loss, W):
    """Eq. (3): L_1 = L(0) + sum over l in P, i, j >= 0 of W_ij; W as in (2), of all layers."""
    return loss + sum(np.sum(W_l) for W_l in W)


def eq_3_as_printed(W):
    """Without L(0), and j starts at 1: a step of a bias costs nothing."""
    return sum(np.sum(W_l[:, 1:]) for W_l in W)


class Coefficients(NamedTuple):
    """Of the quadratics of a layer's weights (out, k) and of its inputs (S, in).

    Of a network they are lists over the layers: W is None for an activation, and of Y the last
    entry belongs to the outputs.
    """

    W_dot: np.ndarray
    W_ddot: np.ndarray
    Y_dot: np.ndarray
    Y_ddot: np.ndarray


def theorem_1(evaluation, partitions, phi, correct=np.abs):
    """Theorem 1: the bound from any fractions, by induction from the loss down to the input.

    Of a chain of `Linear` and `Activation` layers. `partitions` has (eps, phi) for affine layers
    and None for activations; `phi` (S, C) are the fractions at the outputs, or 1.0 where the loss's
    Hessian is diagonal.
    """
    S, loss, at = evaluation.samples, evaluation.loss_function, (evaluation.outputs, evaluation.y)
    Y = coefficients_of_loss(loss.gradient(*at) / S, loss.hessian_diagonal(*at) / S, phi)
    rows = [(None, None, *Y)]
    layers = zip(evaluation.network.layers, evaluation.saved, partitions)
    for layer, saved, fractions in reversed(list(layers)):
        if isinstance(layer, Activation):
            rows.append((None, None, *coefficients_below_activation(
                *rows[-1][2:], saved.slope, saved.curvature, correct)))
        else:
            rows.append(eq_9_coefficients(own_inputs(layer, saved.input), layer.weight,
                                          *rows[-1][2:], *fractions))
    W_dot, W_ddot, Y_dot, Y_ddot = map(list, zip(*rows[::-1]))
    return Coefficients(W_dot[:-1], W_ddot[:-1], Y_dot, Y_ddot)


# -- 3.1 Bounding through affine layers ------------------------------------------------------------

def eq_4_output_change(y, w, dw, dy):
    """Eq. (4): dy^(l+1)_si = sum_{j>=0} dw_ij y_sj + sum_{j>=1} w_ij dy_sj, (S, out).

    The products dw_ij dy_sj are left out.
    """
    return y @ dw.T + dy @ w.T


def products_left_out_of_4(g, u):
    """What bounds sum_sij g_si dw_ij dy_sj, with g the gradient in the layer's outputs. Ours.

    |g_si dw_ij dy_sj| <= |g_si| (u_sj dw_ij^2 + dy_sj^2 / u_sj) / 2. So (1/S) sum_s |g_si| u_sj
    joins W_ddot_ij, j >= 1, (out, in), and sum_i |g_si| joins Z_sj = Y_ddot_sj u_sj, (S, 1).
    """
    return np.abs(g).T @ u / len(g), np.abs(g).sum(axis=1, keepdims=True)


def eq_5_sums_of_fractions(eps, phi):
    """Eq. (5): sum_{j>=0} eps_sij + sum_{j>=1} phi_sij, (S, out), which are 1; eps, phi >= 0."""
    return eps.sum(axis=2) + phi.sum(axis=2)


def eq_6_squared_change(y, w, dw, dy, eps, phi):
    """Eq. (6): (sum_j eps_sij dw_ij y_sj / eps_sij + sum_j phi_sij w_ij dy_sj / phi_sij)^2."""
    own, below = dw * y[:, None], w * dy[:, None]
    return ((eps * ratio(own, eps)).sum(axis=2) + (phi * ratio(below, phi)).sum(axis=2)) ** 2


def eq_7_jensen(y, w, dw, dy, eps, phi):
    """Eq. (7): sum_{j>=0} (dw_ij y_sj)^2 / eps_sij + sum_{j>=1} (w_ij dy_sj)^2 / phi_sij."""
    own, below = dw * y[:, None], w * dy[:, None]
    return ratio(own**2, eps).sum(axis=2) + ratio(below**2, phi).sum(axis=2)


def eq_8_bound_of_outputs(W, Y):
    """Eq. (8): sum_ij W_ij + sum_sj Y_sj, which is above sum_si Y^(l+1)_si."""
    return np.sum(W) + np.sum(Y)


def eq_9_coefficients(y, w, Y_dot, Y_ddot, eps, phi):
    """Eq. (9): from the quadratics of the outputs to those of weights and inputs.

    W_dot_ij = sum_s Y_dot_si y_sj                  Y_dot_sj = sum_i Y_dot_si w_ij
    W_ddot_ij = sum_s Y_ddot_si y_sj^2 / eps_sij    Y_ddot_sj = sum_i Y_ddot_si w_ij^2 / phi_sij

    Below the first layer of P, phi is 0, and Y_ddot_sj is void (0).
    """
    return Coefficients(Y_dot.T @ y,
                        np.einsum("si,sij->ij", Y_ddot, ratio(y[:, None] ** 2, eps)),
                        Y_dot @ w,
                        np.einsum("si,sij->sj", Y_ddot, ratio(w**2, phi)))


@in_loops
def minimiser(dot, ddot):
    """After (9): dw_ij = -W_dot_ij / W_ddot_ij, gradient descent at the rate 1 / W_ddot_ij."""
    return -dot / ddot


def coefficients_below_activation(Y_dot, Y_ddot, slope, curvature, correct=np.abs):
    """Y_dot_sj slope_sj and |Y_ddot_sj slope_sj^2 + Y_dot_sj curvature_sj|, (S, m) each.

    The appendix announces this step and does not contain it. Its number is (41); the absolute
    value is in Algorithm 1. A negative number would turn Jensen's inequality round further down:
    `correct` says what becomes of it, and is `numpy.abs` or another of `NEGATIVE_CURVATURE`.
    """
    return Y_dot * slope, correct(Y_ddot * slope**2 + Y_dot * curvature)


def above_zero(a):
    """max(a, 0): in the place of |a| it bounds as well, and is smaller. Ours."""
    return np.maximum(a, 0)


NEGATIVE_CURVATURE = {"abs": np.abs, "max": above_zero}
