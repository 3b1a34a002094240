"""The diagonal that bounds, of the first paper, and the diagonal of the Hessian, of the second."""

import numpy as np

from .. import low_rank, residual_partitioning


def bounding(network, loss, x, y):
    """[residual-partitioning] the curvatures of the univariate quadratics, (P,)."""
    return residual_partitioning.bound(network, loss, x, y).curvature


def exact(network, loss, x, y):
    """[low-rank] Table 2: the diagonal of the Hessian, mean over the samples' outer products, (P,).
    """
    return np.mean([low_rank.SampleHessian(network, loss, x[i:i + 1], y[i:i + 1]).diagonal()
                    for i in range(len(x))], axis=0)
