"""The total gradient u of Eq. (11): how far a unit can move, to first order, if no parameter moves
by more than one.
"""

import numpy as np

from ...nets import Activation, Linear
from ...nets.rules import nearest_class


def input_with_bias(layer, y):
    """y (S, in) with y_s0 in front, (S, 1 + in): ones, or zeros if the layer has no bias."""
    first = np.full_like(y[:, :1], layer.bias is not None)
    return np.concatenate([first, y], axis=1)


def affine(layer, y, u):
    """Eq. (11), affine layers, with the first sum only if it is trained.

    u^(l+1)_si = sum_{j>=0} |y_sj| + sum_{j>=1} |w_ij| u_sj.

    Parameters
    ----------
    y, u : (S, in) arrays

    Returns
    -------
    (S, out) array
    """
    from_weights = np.abs(input_with_bias(layer, y)).sum(axis=1, keepdims=True)
    from_below = np.einsum("ij,sj->si", np.abs(layer.weight), u)
    return from_weights + from_below if layer.trainable else from_below  # (33), (39)


def activation(slope, u):
    """Eq. (11), activation layers: u^(l+1)_sj = |slope_sj| u_sj."""
    return np.abs(slope) * u  # (43)


def total_gradients(layers, saved):
    """u^(1) = 0, u^(2), ..., u^(L) for a chain of `Linear` and `Activation` layers, (S, m_l) each.

    Raises
    ------
    TypeError
        For any other layer; it is named.
    """
    for layer in layers:  # the printed equations speak of no others
        nearest_class(layer, (Linear, Activation), "the explicit form of residual partitioning")
    u = [np.zeros_like(saved[0].input)]
    for layer, own_saved in zip(layers, saved):
        u.append(activation(own_saved.slope, u[-1]) if isinstance(layer, Activation)
                 else affine(layer, own_saved.input, u[-1]))
    return u
