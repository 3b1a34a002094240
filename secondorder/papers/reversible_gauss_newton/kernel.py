"""The tangent kernel J J^T of any network, without J: layer by layer from its structure.

Outputs c of all samples s are the rows (c, s) of J. What each layer adds stands in ``rules``.
"""

import numpy as np

from ...checks import all_finite
from .rules import add_chain


def tangent_kernel(network, saved, samples, outputs):
    """J J^T (C, S, C, S) of the Jacobian of all outputs, in float64, from what the layers saved.

    FloatingPointError if an entry is not finite: products of large inputs or weights overflow
    before the outputs do.
    """
    K = np.zeros((outputs, samples, outputs, samples))
    bars = []
    for c in range(outputs):
        bar = np.zeros((samples, outputs), dtype=network.dtype)
        bar[:, c] = 1
        bars.append(bar)
    with np.errstate(over="ignore", invalid="ignore"):
        add_chain(network.chain, saved, bars, K, last=True)
    for c in range(outputs):  # rules fill the blocks (c, c') with c' <= c
        for other in range(c):
            K[other, :, c] = K[c, :, other].T
    if not all_finite(K):
        raise FloatingPointError("the tangent kernel J J^T is not finite although the outputs are: "
                                 "inputs, activations or weights are too large for its products")
    return K
