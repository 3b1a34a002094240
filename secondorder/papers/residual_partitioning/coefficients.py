"""Coefficients of the univariate quadratics, one layer at a time, as the paper's equations read.

They are arrays: ``Y_dot``, ``Y_ddot`` (S, m) for changes of units, ``W_dot``, ``W_ddot``
(out, 1 + in) for changes of parameters, bias in column 0.
"""

from typing import NamedTuple

import numpy as np

from ...checks import lookup
from .partitions import ratio
from .total_gradient import input_with_bias

CORRECTIONS = {"abs": np.abs, "max": lambda a: np.maximum(a, 0), "none": lambda a: a}


def output_change(layer, y, dW, dY):
    """Eq. (4): first-order change of an affine output, (S, out).

    dY^(l+1)_si = sum_{j>=0} dW_ij y_sj + sum_{j>=1} w_ij dY_sj; the product dW_ij dY_sj is left
    out.

    Parameters
    ----------
    y, dY : (S, in) arrays
    dW : (out, 1 + in) array
    """
    return input_with_bias(layer, y) @ dW.T + dY @ layer.weight.T  # (6)


def squared_change_bound(layer, y, dW, dY, partition):
    """Eq. (7), right side, (S, out): a bound on squared changes.

    It is sum_{j>=0} (dW_ij y_sj)^2 / eps_sij + sum_{j>=1} (w_ij dY_sj)^2 / phi_sij. With dY = 0 and
    phi = 0 this is Eq. (16). The partition must be one that `partitions.check` accepts.
    """
    parts = dW[None] * input_with_bias(layer, y)[:, None, :], layer.weight[None] * dY[:, None, :]
    own, below = (ratio(part**2, fraction) for part, fraction in zip(parts, partition))
    return own.sum(axis=2) + below.sum(axis=2)  # (7), (36)


class AffineBound(NamedTuple):
    """Coefficients of an affine layer's parameters (out, 1 + in) and of its inputs (S, in)."""

    W_dot: np.ndarray
    W_ddot: np.ndarray
    Y_dot: np.ndarray
    Y_ddot: np.ndarray


def affine(layer, y, Y_dot, Y_ddot, partition):
    """Eq. (9): from the outputs' quadratics to the weights' and inputs'.

    W_dot_ij = sum_s Y_dot_si y_sj                 Y_dot_sj = sum_i Y_dot_si w_ij
    W_ddot_ij = sum_s Y_ddot_si y_sj^2 / eps_sij   Y_ddot_sj = sum_i Y_ddot_si w_ij^2 / phi_sij

    With phi = 0 (nothing below is trained) the left column is Eq. (18), and Y_ddot is void (zero).

    Parameters
    ----------
    y : (S, in) array
    Y_dot, Y_ddot : (S, out) arrays
    partition : Partition
    """
    y, w = input_with_bias(layer, y), layer.weight
    return AffineBound(
        W_dot=np.einsum("si,sj->ij", Y_dot, y),
        # (25), (29), (30), (35)
        W_ddot=np.einsum("si,sij->ij", Y_ddot, ratio(y[:, None, :] ** 2, partition.eps)),
        Y_dot=np.einsum("si,ij->sj", Y_dot, w),
        Y_ddot=np.einsum("si,sij->sj", Y_ddot, ratio(w[None] ** 2, partition.phi)))  # (28), (34)


def activation(Y_dot, Y_ddot, slope, curvature, negative_curvature="abs"):
    """Eq. (41), Algorithm 1: quadratics below an activation layer.

    Y_dot_sj = Y_dot_si slope_sj; Y_ddot_sj = |Y_ddot_si slope_sj^2 + Y_dot_si curvature_sj|, i = j.
    Eq. (41) itself has no absolute value (``negative_curvature="none"``); without it a negative
    coefficient turns Jensen's inequality round.

    Returns
    -------
    (S, m) array, (S, m) array
    """
    correct = lookup(CORRECTIONS, negative_curvature, "negative_curvature")
    return Y_dot * slope, correct(Y_ddot * slope**2 + Y_dot * curvature)  # (41), (42)


def output(f_i, f_ii, phi):
    """Eqs. (15), (45): at the loss, Y_dot = f_i and Y_ddot = f_ii / phi.

    Parameters
    ----------
    f_i, f_ii : (S, C) arrays
        Gradient, and diagonal of the Hessian, of f in the outputs.
    phi : (S, C) array, or 1 where the Hessian is diagonal.
    """
    return f_i, ratio(f_ii, phi)  # (15), (45)


def flatten(layer, W):
    """(out, 1 + in) with the bias in column 0 -> the layer's flat order, weight then bias."""
    parts = [W[:, 1:].ravel()] + ([W[:, 0]] if layer.bias is not None else [])
    return np.concatenate(parts)


def unflatten(layer, vector):
    """The inverse of :func:`flatten`; column 0 is zero if the layer has no bias."""
    pieces = layer.split(vector)
    bias = pieces[1] if layer.bias is not None else np.zeros_like(pieces[0][:, 0])
    return np.concatenate([bias[:, None], pieces[0]], axis=1)
