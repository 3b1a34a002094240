"""Gauss-Newton steps from a dense Jacobian: Eqs. (2), (5)-(8), (19). All return what is added at
alpha = 1.
"""

import numpy as np


def gradient_step(J, eps):
    """[reversible-gauss-newton] Eq. (2): -J^T eps, for the sum of the losses."""
    return -J.T @ eps


def gauss_newton(J, eps):
    """[reversible-gauss-newton] Eq. (5): the step of least norm among those that bring J d closest
    to -eps.

    d = -J+ eps

    Parameters
    ----------
    J : (n d_y, p) array
    eps : (n d_y,) array
        Gradient of the SUM of the losses in the outputs.
    """
    return -np.linalg.pinv(J) @ eps


def hessian_view(J, gradient):
    """[reversible-gauss-newton] Eq. (6): -(J^T J)+ gradient, with the gradient J^T eps of the sum
    of the losses.
    """
    return -_pinv_of_product(J.T @ J, J) @ gradient


def generalised(J, H, gradient):
    """[reversible-gauss-newton] Eq. (7): -(J^T H J)+ gradient, with H the Hessian of the loss in
    the outputs (n d_y, n d_y).
    """
    return -_pinv_of_product(J.T @ H @ J, J) @ gradient


def right_inverse_step(J_right, eps):
    """[reversible-gauss-newton] Eq. (8): d = -J_right eps, with any right inverse of J."""
    return -J_right @ eps


def functional_generalised(J, H, eps):
    """[reversible-gauss-newton] Eq. (19): -J+ H^{-1} eps."""
    return -np.linalg.pinv(J) @ np.linalg.solve(H, eps)


def cross_entropy_newton(p, y):
    """H+ eps of the softmax cross-entropy in closed form, (n, c): mean_k(y_k / p_k) - y / p, with p
    the softmax.

    The Hessian diag(p) - p p^T is singular along the ones vector, so that its inverse does not
    exist; eps = p - y lies in its range.
    """
    ratio = y / p
    return ratio.mean(axis=1, keepdims=True) - ratio


def _pinv_of_product(M, J):
    """Pseudo-inverse of a symmetric M of rank at most len(J); what is beyond is rounding."""
    values, vectors = np.linalg.eigh(M)
    kept = np.abs(values) > len(M) * np.finfo(values.dtype).eps * np.abs(values).max()
    kept[np.argsort(np.abs(values))[: max(0, len(values) - len(J))]] = False
    vectors = vectors[:, kept]
    return (vectors / values[kept]) @ vectors.T
