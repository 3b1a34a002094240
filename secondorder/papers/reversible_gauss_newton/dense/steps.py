"""Gauss-Newton steps from a dense Jacobian: Eqs. (1), (2), (5)-(8), (19). All steps return what is
added at alpha = 1.
"""

import numpy as np


def objective(losses):
    """Eq. (1): L = sum_i l(y_i, f(x_i, theta)), from the losses (n,) of the samples."""
    return np.sum(losses)


def gradient_step(J, eps):
    """Eq. (2), for the sum of the losses: d = -J^T eps"""
    return -J.T @ eps


def gauss_newton(J, eps):
    """Eq. (5): the step d = -J+ eps of least norm among those that bring J d closest to -eps, for J
    (n d_y, p) and the gradient eps (n d_y,) of the SUM of the losses in the outputs.
    """
    return -np.linalg.pinv(J) @ eps  # (23)


def hessian_view(J, gradient):
    """Eq. (6), with the gradient J^T eps of the sum of the losses:

        d = -(J^T J)+ gradient
    """
    return -_pinv_of_product(J.T @ J, J) @ gradient


def generalised(J, H, gradient):
    """Eq. (7), with H the Hessian of the loss in the outputs (n d_y, n d_y):

        d = -(J^T H J)+ gradient
    """
    return -_pinv_of_product(J.T @ H @ J, J) @ gradient


def right_inverse_step(J_right, eps):
    """Eq. (8), with any right inverse of J: d = -J^-| eps"""
    return -J_right @ eps  # (24)


def functional_generalised(J, H, eps):
    """Eq. (19): d = -J+ H^{-1} eps"""
    return -np.linalg.pinv(J) @ np.linalg.solve(H, eps)


def pinv_of_generalised(J, H):
    """Appendix A, for a surjective J and H > 0: (J^T H J)+ = J+ H^{-1} J^{T+}"""
    return np.linalg.pinv(J) @ np.linalg.solve(H, np.linalg.pinv(J.T))


def kernel_step(J, eps):
    """The step (5) from the kernel J J^T: d = -J^T (J J^T)^{-1} eps"""
    return -J.T @ np.linalg.solve(J @ J.T, eps)


def cross_entropy_newton(p, y):
    """H+ eps of the softmax cross-entropy in closed form (n, c), with p the softmax:

        mean_k(y_k / p_k) - y / p

    The Hessian diag(p) - p p^T is singular along the ones vector, so that its inverse does not
    exist; eps = p - y lies in its range.
    """
    ratio = y / p
    return ratio.mean(axis=1, keepdims=True) - ratio


def _pinv_of_product(M, J):
    """Pseudo-inverse of a symmetric M of rank at most len(J); what is beyond is rounding."""
    values, vectors = np.linalg.eigh(M)
    large = np.abs(values) > len(M) * np.finfo(values.dtype).eps * np.abs(values).max()
    large[np.argsort(np.abs(values))[: max(0, len(values) - len(J))]] = False
    vectors = vectors[:, large]
    return (vectors / values[large]) @ vectors.T
