"""The experiments: the criterion (14), and the error that Tables 2-5 list."""

import numpy as np

from ...checks import real_array
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
    """:func:`layer_error` of every layer, (k,).

    Parameters
    ----------
    approximate, exact : sequences of k symmetric arrays (n_t, n_t)

    Raises
    ------
    TypeError, ValueError
        No sequences of square, symmetric, finite matrices; different lengths or shapes.
    """
    approximate, exact = _matrices(approximate, "approximate"), _matrices(exact, "exact")
    if [B.shape for B in approximate] != [H.shape for H in exact]:
        raise ValueError("approximate and exact must hold matrices of the same shapes, got "
                         f"{[B.shape for B in approximate]} and {[H.shape for H in exact]}")
    return np.array([layer_error(B, H) for B, H in zip(approximate, exact)])


def total_error(errors):
    """sqrt(sum_t error_t^2), the last row of Tables 2-5.

    Parameters
    ----------
    errors : (..., k) array

    Raises
    ------
    TypeError, ValueError
        No real numbers, no axis of layers, NaN or infinite entries.
    """
    errors = real_array(errors, "errors")
    if errors.ndim == 0 or errors.shape[-1] == 0:
        raise ValueError(f"errors must have an axis of layers, got shape {errors.shape}")
    return np.sqrt(np.sum(np.square(errors), axis=-1))


def _matrices(value, name):
    """`value` as a list of symmetric matrices of finite real numbers."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise TypeError(f"{name} must be a sequence of matrices, got {value!r}")
    if len(value) == 0:
        raise ValueError(f"{name} holds no matrix")
    matrices = [real_array(matrix, f"{name}[{t}]") for t, matrix in enumerate(value)]
    for t, M in enumerate(matrices):
        if M.ndim != 2 or M.shape[0] != M.shape[1]:
            raise ValueError(f"{name}[{t}] has shape {M.shape}, expected a square matrix")
        if not np.allclose(M, M.T, rtol=0, atol=1e-5 * np.abs(M).max()):
            raise ValueError(f"{name}[{t}] is not symmetric")
    return matrices
