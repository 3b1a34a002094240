"""Algorithm 1 as printed, kept so that its errata can be shown. Train with :class:`ResidualPartitioning` instead."""

from typing import NamedTuple

import numpy as np

from .bounding import flatten
from .partitions import ratio
from .total_gradient import input_with_bias, total_gradients


class PrintedStep(NamedTuple):
    """What one run of the printed algorithm computes, flat (P,): W_dot, W_ddot and the update."""

    W_dot: np.ndarray
    W_ddot: np.ndarray
    delta: np.ndarray


def algorithm_1_as_printed(evaluation, learning_rate=1.0):
    """[residual-partitioning] Algorithm 1, line by line as printed, with 0/0 = 0.

    Its first backward line defines the product Y_ddot u, so that Y_ddot itself is that divided by u once. The affine line then
    sets Y_ddot <- sum_i (Y_ddot u)_i |w_ij|, which is really Y_ddot_sj u_sj: from there on every coefficient is too large by the
    factor u_sj (too small where u < 1, and then it bounds nothing).

    Parameters
    ----------
    evaluation : Evaluation
        Of a chain of trained `Linear` and of `Activation` layers.
    learning_rate : float

    Returns
    -------
    PrintedStep
    """
    network, saved, S = evaluation.network, evaluation.saved, evaluation.samples
    u = total_gradients(network.layers, saved)
    f_ii = evaluation.loss_function.hessian_diagonal(evaluation.outputs, evaluation.y)
    Y_dot = evaluation.loss_function.gradient(evaluation.outputs, evaluation.y)
    r = np.sqrt(f_ii)
    Y_ddot = ratio(r * np.sum(u[-1] * r, axis=1, keepdims=True), u[-1])
    W_dot, W_ddot = [], []
    for i in reversed(range(len(network.layers))):
        layer, kept = network.layers[i], saved[i]
        if hasattr(kept, "slope"):
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
