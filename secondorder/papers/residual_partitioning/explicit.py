"""The bound built from explicit fractions, layer by layer: slow, and readable against the paper."""

from functools import partial
from typing import NamedTuple

import numpy as np

from ...checks import lookup, promised
from ...nets import Activation
from . import coefficients
from . import partitions as choose
from .total_gradient import total_gradients


class ExplicitBound(NamedTuple):
    """The bound with every array of the derivation.

    gradient, curvature : (P,), in the order of ``network.theta``; the others are lists by layer.
    y, u, Y_dot, Y_ddot : (S, m_l), at the inputs of all layers and, last, at the output.
    W_dot, W_ddot : (out, 1 + in) for trained affine layers, else None.
    partitions : a Partition, None for activation layers.
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
    """A partition for every affine layer: that of Theorem 2, or random ones with `rng`; else None.

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    """
    layers, saved = evaluation.network.layers, evaluation.saved
    choice = choose.optimal if rng is None else partial(choose.arbitrary, rng=rng)
    return [None if isinstance(layer, Activation) else choice(layer, own_saved.input, u)
            for layer, own_saved, u in zip(layers, saved, total_gradients(layers, saved))]


def explicit_bound(evaluation, partitions=None, output_phi="optimal", negative_curvature="abs"):
    """The bound of Theorem 1, (2)-(3), layer by layer, from explicit partitions.

    L(0) + sum_{l in P} sum_ij (W_dot_ij dw_ij + W_ddot_ij dw_ij^2 / 2), with (9) at affine layers
    and (41) at activations

    Parameters
    ----------
    evaluation : Evaluation
        Of a chain of `Linear` and `Activation` layers.
    partitions : list of Partition or None
        One for each layer, None for activation layers; default: those of Theorem 2.
    output_phi : "optimal", (S, C) array or None
        Fractions at the loss: Eq. (46), or any valid ones, both for convex losses. None: the loss's
        Hessian is diagonal and is not partitioned; its absolute value is taken, as a bound needs it
        where the loss is not convex.
    negative_curvature : {"abs", "max", "none"}

    Returns
    -------
    ExplicitBound

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    ValueError
        If a partition is not valid, an option is unknown, `output_phi` gives no bound for this
        loss, or nothing is trained.
    """
    lookup(coefficients.CORRECTIONS, negative_curvature, "negative_curvature")
    network, saved = evaluation.network, evaluation.saved
    layers, u = network.layers, total_gradients(network.layers, saved)
    network.require_parameters()
    evaluation.require_current()
    partitions = partitions_of(evaluation) if partitions is None else partitions
    if [one is None for one in partitions] != [isinstance(layer, Activation) for layer in layers]:
        raise ValueError(f"partitions: expected {len(layers)} entries, None for activation layers "
                         "and a Partition for all others")
    Y_dot, Y_ddot = ([a] for a in output_quadratics(evaluation, u[-1], output_phi))
    W_dot, W_ddot = [], []
    for layer, own_saved, partition, u_in in zip(layers[::-1], saved[::-1], partitions[::-1],
                                                 u[-2::-1]):
        if isinstance(layer, Activation):
            own = None, None
            below = coefficients.activation(Y_dot[-1], Y_ddot[-1], own_saved.slope,
                                            own_saved.curvature, negative_curvature)
        else:
            choose.check(partition, layer, own_saved.input, u_in)
            affine = coefficients.affine(layer, own_saved.input, Y_dot[-1], Y_ddot[-1], partition)
            own = (affine.W_dot, affine.W_ddot) if layer.trainable else (None, None)  # (26)
            below = affine.Y_dot, affine.Y_ddot  # (27)
        for collected, array in zip((W_dot, W_ddot, Y_dot, Y_ddot), (*own, *below)):
            collected.append(array)
    inputs = [own_saved.input for own_saved in saved] + [evaluation.outputs]
    return ExplicitBound(flat(layers, W_dot[::-1]), flat(layers, W_ddot[::-1]), inputs, u,
                         Y_dot[::-1], Y_ddot[::-1], W_dot[::-1], W_ddot[::-1], partitions)


def flat(layers, arrays):
    """One array (out, 1 + in) or None for each layer -> (P,)."""
    return np.concatenate([coefficients.flatten(layer, W) for layer, W in zip(layers, arrays)
                           if W is not None])


def output_quadratics(evaluation, u, output_phi):
    """Y_dot, Y_ddot (S, C) at the outputs; u, `output_phi` as for :func:`explicit_bound`."""
    loss, p, y = evaluation.loss_function, evaluation.outputs, evaluation.y
    f_i = loss.gradient(p, y) / evaluation.samples
    f_ii = loss.hessian_diagonal(p, y) / evaluation.samples
    if output_phi is None:
        promised(loss, "diagonal_hessian", "output_phi=None", "; use 'optimal' or fractions")
        return coefficients.output(f_i, np.abs(f_ii), 1.0)
    promised(loss, "convex", "output_phi='optimal' or fractions")
    if isinstance(output_phi, str):
        phi = lookup({"optimal": choose.optimal_output}, output_phi, "output_phi")(f_ii, u)
    else:
        phi = output_phi
        choose.check_output(phi, f_ii, u)
    return coefficients.output(f_i, f_ii, phi)
