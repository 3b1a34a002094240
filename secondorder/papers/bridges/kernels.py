"""The Gauss-Newton matrix of the third paper, a mean, and the kernel of the fourth, a sum."""

import numpy as np

from .. import reversible_gauss_newton


def eigenvalues(matrix, count):
    """The `count` largest eigenvalues of a symmetric matrix, from the largest down; zeros where it
    has fewer.
    """
    descending = np.linalg.eigvalsh(matrix)[::-1]
    return np.concatenate([descending, np.zeros(max(0, count - len(descending)))])[:count]


def kernel(network, x):
    """[reversible-gauss-newton] J J^T (S C, S C) of the parameters that are trained."""
    K = reversible_gauss_newton.ntk(network, x)
    return K.reshape(len(x) * K.shape[1], -1)


def mean_spectrum(network, x, count):
    """Eigenvalues of J^T J / S: those of J J^T, divided by the number of samples."""
    return eigenvalues(kernel(network, x), count) / len(x)
