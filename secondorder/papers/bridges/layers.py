"""Curvature of one layer's weights, as the third paper writes it and as the second does."""

import numpy as np

from .. import eacg, low_rank


def inputs(network, x):
    """h_i^{t-1} of every linear layer of a chain, from the input up: a list of (S, m_t) arrays."""
    entering, h = [], x
    for layer in network.layers:
        if hasattr(layer, "weight"):
            entering.append(h)
        h = layer.forward(h)[0]
    return entering


def of_instances(network, loss, x, y, curvature="hessian"):
    """H_i^t of every instance and linear layer, a list of (S, n_t, n_t) arrays: [ea-cg] (4b) or its
    Gauss-Newton part, from batches of one, whose mean is the instance's own.
    """
    single = [eacg.bias_curvatures(network, loss, x[i:i + 1], y[i:i + 1], curvature)
              for i in range(len(x))]
    return [np.array(of_layer) for of_layer in zip(*single)]


def kronecker_mean(H, h):
    """[ea-cg] (4c): E_i[(h_i h_i^T) (x) H_i] over the weights (n, m) row by row, (n m, n m).

    The paper stacks columns; row by row the factors stand the other way round.
    """
    block = np.einsum("sab,sj,sl->ajbl", H, h, h) / len(h)
    return block.reshape(H.shape[1] * h.shape[1], -1)


def by_bias_hessians(network, loss, x, y, curvature="hessian"):
    """Hessian blocks of the weights of every layer by [ea-cg] (4b)-(4c)."""
    return [kronecker_mean(H, h) for H, h in zip(of_instances(network, loss, x, y, curvature),
                                                 inputs(network, x))]


def by_outer_products(network, loss, x, y):
    """Hessian blocks of the weights of every trained layer by [low-rank] (78)-(80)."""
    H = low_rank.hessian(network, loss, x, y)
    weights = [slice(place.start, place.start + layer.weight.size)
               for layer, place in zip(network.layers, network.slices)
               if hasattr(layer, "weight")]
    return [H[own, own] for own in weights]
