"""Algorithm 1 line by line, corrected and as printed; train with :class:`ResidualPartitioning`."""

from typing import NamedTuple

import numpy as np

from ...checks import promised
from ...nets import Activation
from .coefficients import flatten
from .partitions import ratio
from .total_gradient import input_with_bias, total_gradients


class Step(NamedTuple):
    """What one run of the algorithm computes, flat (P,): W_dot, W_ddot and the update."""

    W_dot: np.ndarray
    W_ddot: np.ndarray
    delta: np.ndarray


def algorithm_1(evaluation, learning_rate=1.0):
    """Algorithm 1, corrected, with Z = Y_ddot u and r_si = sqrt(f_ii), from the output down.

    output:      Z_si = r_si sum_i' r_si' u_si'
    affine:      W_ddot_ij = sum_s Z_si |y_sj| / S;   Z_sj = sum_i Z_si |w_ij|
    activation:  Z_sj = | |slope_sj| Z_sj + Y_dot_sj curvature_sj u_sj |
    update:      dw_ij = -lambda W_dot_ij / W_ddot_ij, and 0 where W_ddot_ij is 0

    Parameters
    ----------
    evaluation : Evaluation
        Of a chain of `Linear` and `Activation` layers; the loss convex.
    learning_rate : float

    Returns
    -------
    Step

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    ValueError
        If the loss is not convex.
    """
    S, u, Y_dot, r = start(evaluation, "Algorithm 1")
    Z = r * np.sum(r * u[-1], axis=1, keepdims=True)
    W_dot, W_ddot = [], []
    layers = zip(evaluation.network.layers, evaluation.saved, u)
    for layer, saved, u_below in reversed(list(layers)):
        if isinstance(layer, Activation):
            Z = np.abs(np.abs(saved.slope) * Z + Y_dot * saved.curvature * u_below)
            Y_dot = Y_dot * saved.slope
            continue
        y = input_with_bias(layer, saved.input)
        if layer.trainable:
            W_dot.append(flatten(layer, Y_dot.T @ y / S))
            W_ddot.append(flatten(layer, Z.T @ np.abs(y) / S))
        Z, Y_dot = Z @ np.abs(layer.weight), Y_dot @ layer.weight
    return finished(W_dot, W_ddot, learning_rate)


def algorithm_1_as_printed(evaluation, learning_rate=1.0):
    """Algorithm 1, line by line as printed, with 0/0 = 0.

    The first backward line gives the product Y_ddot u, so that Y_ddot itself is what it gives over
    u. The affine line then puts sum_i (Y_ddot u)_i |w_ij| for the Y_ddot of the inputs, although
    that sum is their Y_ddot times u: one u_sj too many at every affine layer on the way down. Steps
    come out too small where u > 1; where u < 1 the result need not bound anything.

    Two lines can be read in two ways. The reading nearest to the correct one is taken: the first
    root of the first backward line ends before the sum, and |.| in the activation line spans both
    terms.

    Parameters
    ----------
    evaluation : Evaluation
        Of a chain of `Linear` layers, all of them trained, and `Activation` layers; the loss
        convex.
    learning_rate : float

    Returns
    -------
    Step

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    ValueError
        If an affine layer is not trained (it is named), or the loss is not convex: no line of the
        algorithm is made for either.
    """
    network, saved = evaluation.network, evaluation.saved
    S, u, Y_dot, r = start(evaluation, "Algorithm 1 as printed")
    for layer in network.layers:
        if not (layer.trainable or isinstance(layer, Activation)):
            raise ValueError("Algorithm 1 as printed updates every affine layer; "
                             f"{layer!r} is not trained")
    Y_ddot = ratio(r * np.sum(u[-1] * r, axis=1, keepdims=True), u[-1])
    W_dot, W_ddot = [], []
    for i in reversed(range(len(network.layers))):
        layer, own_saved = network.layers[i], saved[i]
        if isinstance(layer, Activation):
            Y_ddot = np.abs(Y_ddot * own_saved.slope**2 + Y_dot * own_saved.curvature)
            Y_dot = Y_dot * own_saved.slope
        else:
            y = input_with_bias(layer, own_saved.input)
            W_dot.append(flatten(layer, Y_dot.T @ y / S))
            W_ddot.append(flatten(layer, (Y_ddot * u[i + 1]).T @ np.abs(y) / S))
            Y_ddot = (Y_ddot * u[i + 1]) @ np.abs(layer.weight)
            Y_dot = Y_dot @ layer.weight
    return finished(W_dot, W_ddot, learning_rate)


def start(evaluation, name):
    """S, u at all layers, Y_dot = f_i (S, C) and r = sqrt(f_ii) (S, C) at the outputs."""
    u = total_gradients(evaluation.network.layers, evaluation.saved)
    evaluation.network.require_parameters()
    evaluation.require_current()
    loss, at = evaluation.loss_function, (evaluation.outputs, evaluation.y)
    promised(loss, "convex", f"{name}, with its roots of second derivatives,")
    return evaluation.samples, u, loss.gradient(*at), np.sqrt(loss.hessian_diagonal(*at))


def finished(W_dot, W_ddot, learning_rate):
    """The `Step` of lists that begin with the last layer."""
    W_dot, W_ddot = np.concatenate(W_dot[::-1]), np.concatenate(W_ddot[::-1])
    return Step(W_dot, W_ddot, -learning_rate * ratio(W_dot, W_ddot))
