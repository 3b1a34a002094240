"""The diagonal that bounds, of the first paper, and the diagonal of the Hessian, of the second."""

import numpy as np

from .. import low_rank, residual_partitioning
from ..residual_partitioning.explicit import explicit_bound


def by_fractions(network, loss, x, y):
    """[residual-partitioning] (9) with the fractions of Theorem 2, layer by layer, (P,).

        W_ddot_ij = sum_s Y_ddot_si y_sj^2 / eps_sij
    """
    # a diagonal Hessian of the loss needs no fractions at the outputs
    output_phi = None if loss.diagonal_hessian else "optimal"
    return explicit_bound(network.evaluate(loss, x, y), output_phi=output_phi).curvature


def bounding(network, loss, x, y):
    """[residual-partitioning] the same as a step computes it, without any fraction, (P,)."""
    return residual_partitioning.bound(network, loss, x, y).curvature


def exact(network, loss, x, y):
    """[low-rank] Table 2: the diagonal of the Hessian, mean over the samples' outer products, (P,).
    """
    return np.mean([low_rank.SampleHessian(network, loss, x[i:i + 1], y[i:i + 1]).diagonal()
                    for i in range(len(x))], axis=0)
