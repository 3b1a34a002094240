"""2. Notation and setup: (1), and the conventions that its text states.

Displays: ``eq_1_objective``.
"""

import numpy as np


def eq_1_objective(f):
    """Eq. (1): L = sum_s f(y_s | x_s), from the losses f (S,) of the samples.

    Here f is a sample's loss over S, as in Algorithm 1: the objective is a mean.
    """
    return np.sum(f)


def own_inputs(layer, y):
    """The y_sj that meet the weights of a layer, (S, k), from its inputs y (S, in).

    The bias is the weight w_i0 of an input y_s0 = 1, which then stands in column 0. A layer that is
    not trained, l not in P, has none: k = 0, and sums over j >= 0 are empty.
    """
    if not layer.trainable:
        return y[:, :0]
    return y if layer.bias is None else np.hstack([np.ones_like(y[:, :1]), y])


def by_parameter(layer, W):
    """W_ij (out, k) as a layer keeps its parameters: weight (out, in), bias (out,)."""
    if not layer.trainable:
        return ()
    return (W,) if layer.bias is None else (W[:, 1:], W[:, 0])


def flat(parts):
    """Arrays, one a parameter, in the order of theta -> (P,)."""
    return np.concatenate([part.reshape(-1) for part in parts])


def ratio(a, b):
    """a / b, and 0 where b is 0: what cannot move takes no fraction and bounds nothing."""
    out = np.zeros(np.broadcast(a, b).shape, np.result_type(a, b))
    return np.divide(a, b, out=out, where=b != 0)
