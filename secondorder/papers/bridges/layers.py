"""Curvature of one layer's weights, as the third paper writes it and as the second does."""

import numpy as np

from .. import low_rank
from ..eacg.eq_04_hessian import (downwards, eq_4a_output_hessian, exact_step, layers_of, numbered)


def kronecker_mean(H, h):
    """[ea-cg] (4c): E_i[(h_i h_i^T) (x) H_i] over the weights (n, m) row by row, (n m, n m).

    The paper stacks columns; row by row the factors stand the other way round.
    """
    block = np.einsum("sab,sj,sl->ajbl", H, h, h) / len(h)
    return block.reshape(H.shape[1] * h.shape[1], -1)


def by_bias_hessians(network, loss, x, y, step=exact_step):
    """Hessian blocks of the weights of every layer by [ea-cg] (4a)-(4c); with the `step` of the
    Gauss-Newton matrix in the place of (4b) that one's.
    """
    evaluation = network.evaluate(loss, x, y)
    layers = layers_of(evaluation)
    top = eq_4a_output_hessian(loss, evaluation.outputs, evaluation.y)
    return [kronecker_mean(H, layer.h)
            for layer, H in zip(numbered(layers), downwards(layers, top, step))]


def by_outer_products(network, loss, x, y):
    """Hessian blocks of the weights of every trained layer by [low-rank] (78)-(80)."""
    H = low_rank.hessian(network, loss, x, y)
    weights = [slice(place.start, place.start + layer.weight.size)
               for layer, place in zip(network.layers, network.slices)
               if hasattr(layer, "weight")]
    return [H[own, own] for own in weights]
