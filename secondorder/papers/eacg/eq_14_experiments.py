"""The experiments: the criterion (14), and the error that Tables 2-5 list."""

import numpy as np

from .eq_01_03_newton import pos_eig


def eq_14_bounded_criterion(y_hat, y, delta=5.0, epsilon=0.2):
    """Eq. (14): C(y_hat_i | y_i) = 1 / (1 + exp(delta (y_i^T y_hat_i - epsilon))), (S,)

    For probabilities y_hat and unit vectors y (S, C); as a loss it is `so.BoundedCriterion`.
    """
    return 1 / (1 + np.exp(delta * (np.sum(y * y_hat, axis=1) - epsilon)))


def layer_error(approximate, exact):
    """|| B^t - |E_i[Hess_{b^t} xi_i]| ||_F: an entry of Tables 2-5; `exact` is the mean itself."""
    return float(np.linalg.norm(approximate - pos_eig(exact, -1.0)))


def layer_errors(approximate, exact):
    """:func:`layer_error` of every layer, (k,), for two lists of symmetric matrices (n_t, n_t).

    ValueError if the lists differ in length, or two matrices in shape.
    """
    if [np.shape(B) for B in approximate] != [np.shape(H) for H in exact]:
        raise ValueError("approximate and exact must hold matrices of the same shapes, got "
                         f"{list(map(np.shape, approximate))} and {list(map(np.shape, exact))}")
    return np.array([layer_error(B, H) for B, H in zip(approximate, exact)])


def total_error(errors):
    """sqrt(sum_t error_t^2), the last row of Tables 2-5, for errors (..., k)."""
    return np.sqrt(np.sum(np.square(errors), axis=-1))
