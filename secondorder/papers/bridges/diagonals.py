"""The diagonal that bounds, of the first paper, and the diagonal of the Hessian, of the second."""

import numpy as np

from .. import low_rank, residual_partitioning
from ..residual_partitioning.section_2_setup import by_parameter, flat
from ..residual_partitioning.section_3_residual_partitioning import theorem_1
from ..residual_partitioning.section_4_partitioning_variables import theorem_2
from ..residual_partitioning.section_7_3_proof_of_theorem_2 import eq_46_fractions_at_outputs


def by_fractions(network, loss, x, y):
    """[residual-partitioning] (9) with the fractions of Theorem 2, layer by layer, (P,).

        W_ddot_ij = sum_s Y_ddot_si y_sj^2 / eps_sij
    """
    at = network.evaluate(loss, x, y)
    partitions, u = theorem_2(at)
    f_ii = loss.hessian_diagonal(at.outputs, at.y)
    # a diagonal Hessian of the loss needs no fractions at the outputs
    phi = 1.0 if loss.diagonal_hessian else eq_46_fractions_at_outputs(f_ii, u[-1])
    W_ddot = theorem_1(at, partitions, phi).W_ddot
    return flat(part for layer, W in zip(network.layers, W_ddot) if W is not None
                for part in by_parameter(layer, W))


def bounding(network, loss, x, y):
    """[residual-partitioning] the same as a step computes it, without any fraction, (P,)."""
    return residual_partitioning.bound(network, loss, x, y).curvature


def exact(network, loss, x, y):
    """[low-rank] Table 2: the diagonal of the Hessian, mean over the samples' outer products, (P,).
    """
    return np.mean([low_rank.SampleHessian(network, loss, x[i:i + 1], y[i:i + 1]).diagonal()
                    for i in range(len(x))], axis=0)
