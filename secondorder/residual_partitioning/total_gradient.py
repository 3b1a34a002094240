"""The total gradient u of Eq. (11): how far each unit can move, to first order, if every parameter moves by at most one."""

import numpy as np


def input_with_bias(layer, y):
    """y (S, in) with the bias input y_s0 in front, (S, 1 + in): ones, or zeros if the layer has no bias."""
    first = np.ones_like(y[:, :1]) if layer.bias is not None else np.zeros_like(y[:, :1])
    return np.concatenate([first, y], axis=1)


def weight_with_bias(layer):
    """w (out, 1 + in) with the bias in column 0 (zeros if the layer has none)."""
    bias = layer.bias if layer.bias is not None else np.zeros_like(layer.weight[:, 0])
    return np.concatenate([bias[:, None], layer.weight], axis=1)


def affine(layer, y, u):
    """[residual-partitioning] Eq. (11), affine layers: u^(l+1)_si = sum_{j>=0} |y_sj| + sum_{j>=1} |w_ij| u_sj.

    The first sum is there only if the layer is trained.

    Parameters
    ----------
    y, u : (S, in) arrays

    Returns
    -------
    (S, out) array
    """
    from_weights = np.abs(input_with_bias(layer, y)).sum(axis=1, keepdims=True) if layer.trainable else 0
    return from_weights + np.einsum("ij,sj->si", np.abs(layer.weight), u)


def activation(slope, u):
    """[residual-partitioning] Eq. (11), activation layers: u^(l+1)_sj = |slope_sj| u_sj."""
    return np.abs(slope) * u


def total_gradients(layers, saved):
    """u^(1) = 0, u^(2), ..., u^(L) for a chain of `Linear` and `Activation` layers: a list of (S, m_l) arrays."""
    u = [np.zeros_like(saved[0].input)]
    for layer, kept in zip(layers, saved):
        u.append(activation(kept.slope, u[-1]) if hasattr(kept, "slope") else affine(layer, kept.input, u[-1]))
    return u
