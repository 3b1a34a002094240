"""One small damped system by Cholesky's factorisation, in float64 whatever the dtype given."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

REFINEMENTS, REFINED = 4, 1e-5  # how often, and the residual that leaves one correction to do
SMALL = 1e-2  # a correction then leaves at most this part of a residual


def damped_solve(B, right, weight, damping):
    """(weight B + damping I)^-1 right; see :func:`damped_solver`."""
    return damped_solver(B, weight, damping)(right)


def damped_solver(B, weight, damping):
    """The function right (n, ...) -> (weight B + damping I)^-1 right, in float64, for a positive
    semidefinite B (n, n).

    A float32 matrix is factorised as it is, at half the cost, and residuals in float64 make up for
    it; where they do not, because the system is too badly conditioned, float64 takes over. Where
    weight |B| is far below the damping, 1 / damping is near enough to start from, and nothing is
    factorised.

    Raises
    ------
    FloatingPointError
        If B is so indefinite that the damped matrix is not positive definite.
    """
    if B.dtype != np.float32:
        return _factorised(B.astype(np.float64), weight, damping)
    narrow = []

    def solve(right):
        right = right.astype(np.float64, copy=False)
        if not narrow:
            small = weight * np.linalg.norm(B) <= SMALL * damping
            narrow.append((lambda residual: residual / damping) if small
                          else _factorised(B.copy(), weight, damping))
        solution = narrow[0](right)
        for _ in range(REFINEMENTS):
            residual = right - weight * _wide_product(B, solution) - damping * solution
            solution = solution + narrow[0](residual)
            # every correction makes the residual smaller by the same factor
            if np.abs(residual).max(initial=0) <= REFINED * np.abs(right).max(initial=0):
                return solution
        return _factorised(B.astype(np.float64), weight, damping)(right)

    return solve


def _wide_product(B, v):
    """B v in float64 for a float32 matrix, a few rows at a time so that they stay in the cache."""
    rows = range(0, len(B), 64)
    return np.concatenate([B[start : start + 64].astype(np.float64) @ v for start in rows])


def _factorised(matrix, weight, damping):
    """:func:`damped_solver` in the precision of `matrix`, which is overwritten."""
    matrix *= matrix.dtype.type(weight)
    matrix[np.diag_indices_from(matrix)] += matrix.dtype.type(damping)
    try:  # of the transpose, whose columns are contiguous, so that nothing is copied
        factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise FloatingPointError("EA-CG: the damped curvature is not positive definite; the "
                                 "curvature has an eigenvalue at or below "
                                 f"{-damping / weight:g}") from error

    def solve(right):
        solution = cho_solve(factor, right.astype(matrix.dtype, copy=False), check_finite=False)
        return solution.astype(np.float64, copy=False)

    return solve
