"""Bounding the second-order model through one layer at a time, as the paper's equations read.

Coefficients of the univariate quadratics are arrays: ``Y_dot``, ``Y_ddot`` (S, m) for changes of units, ``W_dot``,
``W_ddot`` (out, 1 + in) for changes of parameters, bias in column 0.
"""

from typing import NamedTuple

import numpy as np

from ..checks import lookup
from ..nets import Activation
from . import partitions as choose
from .partitions import ratio
from .total_gradient import input_with_bias, total_gradients

CORRECTIONS = {"abs": np.abs, "max": lambda a: np.maximum(a, 0), "none": lambda a: a}


def output_change(layer, y, dW, dY):
    """[residual-partitioning] Eq. (4): first-order change of an affine output, (S, out).

    dY^(l+1)_si = sum_{j>=0} dW_ij y_sj + sum_{j>=1} w_ij dY_sj; the product dW_ij dY_sj is left out.

    Parameters
    ----------
    y, dY : (S, in) arrays
    dW : (out, 1 + in) array
    """
    return input_with_bias(layer, y) @ dW.T + dY @ layer.weight.T


def squared_change_bound(layer, y, dW, dY, partition):
    """[residual-partitioning] Eq. (7), right side, (S, out): a bound on the squared change of every output.

    It is sum_{j>=0} (dW_ij y_sj)^2 / eps_sij + sum_{j>=1} (w_ij dY_sj)^2 / phi_sij. With dY = 0 and
    phi = 0 this is Eq. (16).

    Raises
    ------
    ValueError
        If a part of the change is not zero although its fraction is.
    """
    parts = dW[None] * input_with_bias(layer, y)[:, None, :], layer.weight[None] * dY[:, None, :]
    if any(((part != 0) & (fraction == 0)).any() for part, fraction in zip(parts, partition)):
        raise ValueError("a part of the change is not zero although its fraction is: the bound would be infinite")
    own, below = (ratio(part**2, fraction) for part, fraction in zip(parts, partition))
    return own.sum(axis=2) + below.sum(axis=2)


class AffineBound(NamedTuple):
    """Coefficients below an affine layer: of its parameters (out, 1 + in) and of its inputs (S, in)."""

    W_dot: np.ndarray
    W_ddot: np.ndarray
    Y_dot: np.ndarray
    Y_ddot: np.ndarray


def affine(layer, y, Y_dot, Y_ddot, partition):
    """[residual-partitioning] Eq. (9): from the outputs' quadratics to those of the weights and of the inputs.

    W_dot_ij = sum_s Y_dot_si y_sj                 Y_dot_sj = sum_i Y_dot_si w_ij
    W_ddot_ij = sum_s Y_ddot_si y_sj^2 / eps_sij   Y_ddot_sj = sum_i Y_ddot_si w_ij^2 / phi_sij

    With phi = 0 (nothing below is trained) the left column is Eq. (18), and Y_ddot is void (zero).

    Parameters
    ----------
    y : (S, in) array
    Y_dot, Y_ddot : (S, out) arrays
    partition : Partition
    """
    y = input_with_bias(layer, y)
    w = layer.weight
    return AffineBound(
        W_dot=np.einsum("si,sj->ij", Y_dot, y),
        W_ddot=np.einsum("si,sij->ij", Y_ddot, ratio(y[:, None, :] ** 2, partition.eps)),
        Y_dot=np.einsum("si,ij->sj", Y_dot, w),
        Y_ddot=np.einsum("si,sij->sj", Y_ddot, ratio(w[None] ** 2, partition.phi)),
    )


def activation(Y_dot, Y_ddot, slope, curvature, negative_curvature="abs"):
    """[residual-partitioning] Eq. (41) and the activation lines of Algorithm 1: quadratics below an activation layer.

    Y_dot_sj = Y_dot_si slope_sj; Y_ddot_sj = |Y_ddot_si slope_sj^2 + Y_dot_si curvature_sj|, i = j. Eq. (41) itself
    has no absolute value (``negative_curvature="none"``); without it a negative coefficient turns Jensen's inequality
    round.

    Returns
    -------
    (S, m) array, (S, m) array
    """
    correct = lookup(CORRECTIONS, negative_curvature, "negative_curvature")
    return Y_dot * slope, correct(Y_ddot * slope**2 + Y_dot * curvature)


def output(f_i, f_ii, phi):
    """[residual-partitioning] Eqs. (15), (45): the loss's own quadratics, Y_dot = f_i and Y_ddot = f_ii / phi.

    Parameters
    ----------
    f_i, f_ii : (S, C) arrays
        Gradient, and diagonal of the Hessian, of f in the outputs.
    phi : (S, C) array, or 1 where the Hessian is diagonal.
    """
    return f_i, ratio(f_ii, phi)


class ExplicitBound(NamedTuple):
    """The bound with every array of the derivation.

    gradient, curvature : (P,), in the order of ``network.theta``.
    y, u : lists of (S, m_l), the inputs and total gradients of all layers and, last, of the output.
    Y_dot, Y_ddot : lists of (S, m_l), likewise.
    W_dot, W_ddot : lists, (out, 1 + in) for trained affine layers, else None.
    partitions : list of Partition, None for activation layers.
    """

    gradient: np.ndarray
    curvature: np.ndarray
    y: list
    u: list
    Y_dot: list
    Y_ddot: list
    W_dot: list
    W_ddot: list
    partitions: list


def partitions_of(evaluation, rng=None):
    """A partition for every affine layer, None for activation layers: that of Theorem 2, or arbitrary ones with `rng`.

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    """
    layers, saved = evaluation.network.layers, evaluation.saved
    us = total_gradients(layers, saved)
    made = []
    for layer, kept, u in zip(layers, saved, us):
        if isinstance(layer, Activation):
            made.append(None)
        else:
            at = layer, kept.input, u
            made.append(choose.optimal(*at) if rng is None else choose.arbitrary(*at, rng))
    return made


def explicit_bound(evaluation, partitions=None, output_phi="optimal", negative_curvature="abs"):
    """The bound of Theorem 1, (2)-(3), built layer by layer from the printed equations and explicit partitions.

    Parameters
    ----------
    evaluation : Evaluation
        Of a chain of `Linear` and `Activation` layers.
    partitions : list of Partition or None
        One for each layer, None for activation layers; default: those of Theorem 2.
    output_phi : "optimal", (S, C) array or None
        Fractions at the loss: Eq. (46), or any valid ones, both for convex losses. None: the loss's Hessian is diagonal
        and is not partitioned; its absolute value is taken, as a bound needs it where the loss is not convex.
    negative_curvature : {"abs", "max", "none"}

    Returns
    -------
    ExplicitBound

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    ValueError
        If a partition is not valid, an option is unknown, `output_phi` gives no bound for this loss, or nothing is
        trained.
    """
    lookup(CORRECTIONS, negative_curvature, "negative_curvature")
    network, saved = evaluation.network, evaluation.saved
    layers, u = network.layers, total_gradients(network.layers, saved)
    network.require_parameters()
    evaluation.require_current()
    partitions = partitions_of(evaluation) if partitions is None else partitions
    if [made is None for made in partitions] != [isinstance(layer, Activation) for layer in layers]:
        raise ValueError(f"partitions: expected {len(layers)} entries, None for activation layers and a Partition for "
                         "all others")
    Y_dot, Y_ddot = ([a] for a in output_quadratics(evaluation, u[-1], output_phi))
    W_dot, W_ddot, pieces = [], [], []
    for i in reversed(range(len(layers))):
        layer, kept = layers[i], saved[i]
        if isinstance(layer, Activation):
            below = activation(Y_dot[-1], Y_ddot[-1], kept.slope, kept.curvature, negative_curvature)
            W_dot.append(None), W_ddot.append(None)
        else:
            choose.check(partitions[i], layer, kept.input, u[i])
            made = affine(layer, kept.input, Y_dot[-1], Y_ddot[-1], partitions[i])
            below = made.Y_dot, made.Y_ddot
            W_dot.append(made.W_dot if layer.trainable else None)
            W_ddot.append(made.W_ddot if layer.trainable else None)
            if layer.trainable:
                pieces.append((flatten(layer, made.W_dot), flatten(layer, made.W_ddot)))
        Y_dot.append(below[0]), Y_ddot.append(below[1])
    gradient, curvature = (np.concatenate(parts) for parts in zip(*pieces[::-1]))
    inputs = [kept.input for kept in saved] + [evaluation.outputs]
    return ExplicitBound(gradient, curvature, inputs, u, Y_dot[::-1], Y_ddot[::-1], W_dot[::-1], W_ddot[::-1],
                         partitions)


def output_quadratics(evaluation, u, output_phi):
    """Y_dot, Y_ddot (S, C) at the outputs, whose total gradient is u; `output_phi` as for :func:`explicit_bound`."""
    loss, p, y = evaluation.loss_function, evaluation.outputs, evaluation.y
    f_i, f_ii = loss.gradient(p, y) / evaluation.samples, loss.hessian_diagonal(p, y) / evaluation.samples
    if isinstance(output_phi, str):
        lookup({"optimal": None}, output_phi, "output_phi")
    if output_phi is None:
        if not loss.diagonal_hessian:
            raise ValueError(f"output_phi=None needs a loss whose Hessian in the outputs is diagonal; that of {loss!r} "
                             "is not, so the result would not be a bound; use 'optimal' or fractions")
        return output(f_i, np.abs(f_ii), 1.0)
    if not loss.convex:
        raise ValueError("output_phi='optimal' and fractions need a loss that is convex in the outputs; "
                         f"{loss!r} is not")
    if isinstance(output_phi, str):
        return output(f_i, f_ii, choose.optimal_output(f_ii, u))
    choose.check_output(output_phi, f_ii, u)
    return output(f_i, f_ii, output_phi)


def flatten(layer, W):
    """(out, 1 + in) with the bias in column 0 -> the layer's flat order, weight then bias."""
    parts = [W[:, 1:].ravel()] + ([W[:, 0]] if layer.bias is not None else [])
    return np.concatenate(parts)


def unflatten(layer, vector):
    """The inverse of :func:`flatten`; column 0 is zero if the layer has no bias."""
    pieces = layer.split(vector)
    bias = pieces[1] if layer.bias is not None else np.zeros_like(pieces[0][:, 0])
    return np.concatenate([bias[:, None], pieces[0]], axis=1)
