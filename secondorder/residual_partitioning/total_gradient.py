"""The total gradient u of Eq. (11): how far a unit can move, to first order, if no parameter moves
by more than one."""

import numpy as np

from ..nets import Activation, Linear
from ..rules import nearest_class

LAYERS = (Linear, Activation)


def require_explicit(layers):
    """Refuse, with `TypeError`, every layer that the printed equations do not speak of.

    They were written for affine layers and for activations applied unit by unit: `Linear`,
    `Activation`, and subclasses of them that override none of their passes.
    """
    for layer in layers:
        nearest_class(layer, LAYERS, "the explicit form of residual partitioning")


def input_with_bias(layer, y):
    """y (S, in) with the bias input y_s0 in front, (S, 1 + in): ones, or zeros if the layer has no
    bias."""
    first = np.ones_like(y[:, :1]) if layer.bias is not None else np.zeros_like(y[:, :1])
    return np.concatenate([first, y], axis=1)


def affine(layer, y, u):
    """[residual-partitioning] Eq. (11), affine layers: u^(l+1)_si = sum_{j>=0} |y_sj| + sum_{j>=1}
    |w_ij| u_sj.

    The first sum is there only if the layer is trained.

    Parameters
    ----------
    y, u : (S, in) arrays

    Returns
    -------
    (S, out) array
    """
    from_weights = np.abs(input_with_bias(layer, y)).sum(axis=1,
                                                         keepdims=True) if layer.trainable else 0
    return from_weights + np.einsum("ij,sj->si", np.abs(layer.weight), u)


def activation(slope, u):
    """[residual-partitioning] Eq. (11), activation layers: u^(l+1)_sj = |slope_sj| u_sj."""
    return np.abs(slope) * u


def total_gradients(layers, saved):
    """u^(1) = 0, u^(2), ..., u^(L) for a chain of `Linear` and `Activation` layers: a list of (S,
    m_l) arrays.

    Raises
    ------
    TypeError
        For any other layer; it is named.
    """
    require_explicit(layers)
    u = [np.zeros_like(saved[0].input)]
    for layer, kept in zip(layers, saved):
        u.append(activation(kept.slope, u[-1]) if isinstance(layer, Activation)
                 else affine(layer, kept.input, u[-1]))
    return u
