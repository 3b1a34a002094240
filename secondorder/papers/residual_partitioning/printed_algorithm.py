"""Algorithm 1 as printed, kept to show its errata; train with :class:`ResidualPartitioning`."""

from typing import NamedTuple

import numpy as np

from ...checks import promised
from ...nets import Activation
from .coefficients import flatten
from .partitions import ratio
from .total_gradient import input_with_bias, total_gradients


class PrintedStep(NamedTuple):
    """What one run of the printed algorithm computes, flat (P,): W_dot, W_ddot and the update."""

    W_dot: np.ndarray
    W_ddot: np.ndarray
    delta: np.ndarray


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
    PrintedStep

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    ValueError
        If an affine layer is not trained (it is named), or the loss is not convex: no line of the
        algorithm is made for either.
    """
    network, saved, S = evaluation.network, evaluation.saved, evaluation.samples
    u = total_gradients(network.layers, saved)
    for layer in network.layers:
        if not (layer.trainable or isinstance(layer, Activation)):
            raise ValueError("Algorithm 1 as printed updates every affine layer; "
                             f"{layer!r} is not trained")
    loss, at = evaluation.loss_function, (evaluation.outputs, evaluation.y)
    promised(loss, "convex", "Algorithm 1 as printed, with its roots of second derivatives,")
    f_ii, Y_dot = loss.hessian_diagonal(*at), loss.gradient(*at)
    r = np.sqrt(f_ii)
    Y_ddot = ratio(r * np.sum(u[-1] * r, axis=1, keepdims=True), u[-1])
    W_dot, W_ddot = [], []
    for i in reversed(range(len(network.layers))):
        layer, kept = network.layers[i], saved[i]
        if isinstance(layer, Activation):
            Y_ddot = np.abs(Y_ddot * kept.slope**2 + Y_dot * kept.curvature)
            Y_dot = Y_dot * kept.slope
        else:
            y = input_with_bias(layer, kept.input)
            W_dot.append(flatten(layer, Y_dot.T @ y / S))
            W_ddot.append(flatten(layer, (Y_ddot * u[i + 1]).T @ np.abs(y) / S))
            Y_ddot = (Y_ddot * u[i + 1]) @ np.abs(layer.weight)
            Y_dot = Y_dot @ layer.weight
    W_dot, W_ddot = np.concatenate(W_dot[::-1]), np.concatenate(W_ddot[::-1])
    return PrintedStep(W_dot, W_ddot, -learning_rate * ratio(W_dot, W_ddot))
