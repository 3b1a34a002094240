"""How far a curvature is from the true mean Hessian: the metric of Tables 2-5, and bound (7)."""

import numpy as np

from ...checks import real_array
from .hessians import ele_cov
from .pos_eig import pos_eig
from .products import mean_outer

SYMMETRIC = 1e-5  # largest difference from the transpose, relative to the largest entry


def layer_error(approximate, exact):
    """||B - |E[H]| ||_F (n, n), with |.| the absolute values of the eigenvalues: an entry of Tables
    2-5. The exact mean E[H^t] itself is given.
    """
    return float(np.linalg.norm(approximate - pos_eig(exact, -1.0)))


def layer_errors(approximate, exact):
    """:func:`layer_error` of every layer, (k,).

    Parameters
    ----------
    approximate, exact : sequences of k arrays (n_t, n_t)

    Raises
    ------
    TypeError
        No sequences of real matrices.
    ValueError
        Different lengths or shapes, matrices that are not square, NaN or infinite entries.
    """
    approximate = _square_matrices(approximate, "approximate")
    exact = _square_matrices(exact, "exact")
    if len(approximate) != len(exact):
        raise ValueError(f"approximate holds {len(approximate)} matrices, exact {len(exact)}: one "
                         "for every layer is expected in both")
    for t, (B, H) in enumerate(zip(approximate, exact)):
        if B.shape != H.shape:
            raise ValueError(f"approximate[{t}] has shape {B.shape}, exact[{t}] {H.shape}")
    return np.array([layer_error(B, H) for B, H in zip(approximate, exact)])


def total_error(errors):
    """The last row of Tables 2-5: the root of the sum of squares over the layers (last axis).

    Parameters
    ----------
    errors : (..., k) array

    Raises
    ------
    TypeError
        No real numbers.
    ValueError
        No axis of layers, NaN or infinite entries.
    """
    errors = real_array(errors, "errors")
    if errors.ndim == 0 or errors.shape[-1] == 0:
        raise ValueError(f"errors must have an axis of layers, got shape {errors.shape}")
    return np.sqrt(np.sum(np.square(errors), axis=-1))


def _square_matrices(value, name):
    """`value` as a list of square matrices of finite real numbers."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise TypeError(f"{name} must be a sequence of matrices, got {value!r}")
    if len(value) == 0:
        raise ValueError(f"{name} holds no matrix")
    matrices = [real_array(matrix, f"{name}[{t}]") for t, matrix in enumerate(value)]
    for t, matrix in enumerate(matrices):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"{name}[{t}] has shape {matrix.shape}, expected a square matrix")
        if not np.allclose(matrix, matrix.T, rtol=0, atol=SYMMETRIC * np.abs(matrix).max()):
            raise ValueError(f"{name}[{t}] is not symmetric")
    return matrices


def carried(W, H):
    """W^T H_i W for every instance, (S, m, m)."""
    return W.T @ H @ W


def expectation_error(W, H, slope):
    """Eq. (15): the exact mean minus (6) with the exact E[H^t] in it, (m, m).

        Ele-Cov(W^T H_i W, h'_i h'_i^T)
    """
    return ele_cov(carried(W, H), slope[:, :, None] * slope[:, None, :])


def variance(X):
    """Eq. (17): Var(X) = E_i[X_i^2] - E_i[X_i]^2 over instances (1/S), entry by entry."""
    return ele_cov(X, X)


def covariance_bound(W, H, slope):
    """Eq. (16): sum over entries of Var([W^T H_i W]) Var([h' h'^T]), at least ||(15)||_F^2."""
    return float(np.sum(variance(carried(W, H)) * variance(slope[:, :, None] * slope[:, None, :])))


def lipschitz_bound(W, H, lipschitz):
    """Eq. (7): L^4 sum over entries of Var([W^T H_i W])."""
    return float(lipschitz**4 * np.sum(variance(carried(W, H))))


def monotone_bound(W, H, lipschitz):
    """A quarter of Eq. (7), where 0 <= h' <= L: L^4 / 4 sum over entries of Var([W^T H_i W]).

    A variable between 0 and L^2 has a variance of at most L^4 / 4.
    """
    return lipschitz_bound(W, H, lipschitz) / 4


def carried_bound(W, error_above, slope):
    """How large an error above is one step down, at most, in the Frobenius norm.

        max_r E_i[h'_ir^2] ||W||_2^2 ||Delta||_F
    """
    largest = np.max(np.mean(slope**2, axis=0))
    return largest * np.linalg.norm(W, 2) ** 2 * np.linalg.norm(error_above)


def recursive_bound(error_above, W, H, slope):
    """Bound on ||E[H^{t-1}] - (6)||_F where what (6) is fed with is off by `error_above`.

    max_r E[h'_r^2] ||W||_2^2 error_above + ||(15)||_F: the Hadamard product with a PSD matrix grows
    no norm by more than its largest diagonal entry.
    """
    grows = np.diag(mean_outer(slope)).max() * np.linalg.norm(W, 2) ** 2
    return float(grows * error_above + np.linalg.norm(expectation_error(W, H, slope)))
