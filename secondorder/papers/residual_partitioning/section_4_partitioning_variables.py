"""4. Choosing partitioning variables: Theorem 2.

Displays: (10), (11), ``theorem_2``.
"""

import numpy as np

from ...nets import Activation
from .section_2_setup import own_inputs, ratio


def eq_10_fractions(y, w, u, u_above):
    """Eq. (10): eps_sij = |y_sj| / u^(l+1)_si, phi_sij = |w_ij| u_sj / u^(l+1)_si.

    y (S, k) has y_s0 in column 0; u (S, in) and u_above (S, out) are the total gradients (11) of
    the layer's inputs and outputs.
    """
    u_above = u_above[:, :, None]
    return ratio(np.abs(y)[:, None], u_above), ratio(np.abs(w) * u[:, None], u_above)


def eq_11_affine(y, w, u=None, y_0=0):
    """Eq. (11), affine layers: u^(l+1)_si = sum_{j>=0} |y_sj| + sum_{j>=1} |w_ij| u_sj, (S, out).

    Without u, which then is 0, as nothing below is trained, the second sum is left out. y may also
    come without column 0, and the number in it as `y_0`.
    """
    own = np.abs(y).sum(axis=1, keepdims=True, initial=y_0)
    below = np.zeros(len(w), w.dtype) if u is None else u @ np.abs(w).T
    return own + below


def eq_11_activation(slope, u):
    """Eq. (11), activations: u^(l+1)_sj = |slope_sj| u_sj, (S, m). (i = j; printed is y_sj.)"""
    return np.abs(slope) * u


def theorem_2(evaluation):
    """Theorem 2: the fractions of (10) at the total gradients of (11), from the input upwards.

    Of a chain of `Linear` and `Activation` layers: a list with (eps, phi) for affine layers and
    None for activations, and the list of u^(1) = 0, u^(2), ..., u^(L), (S, m_l) each.
    """
    partitions, u = [], [np.zeros_like(evaluation.x)]
    for layer, saved in zip(evaluation.network.layers, evaluation.saved):
        if isinstance(layer, Activation):
            u.append(eq_11_activation(saved.slope, u[-1]))
            partitions.append(None)
        else:
            y = own_inputs(layer, saved.input)
            u.append(eq_11_affine(y, layer.weight, u[-1]))
            partitions.append(eq_10_fractions(y, layer.weight, *u[-2:]))
    return partitions, u
