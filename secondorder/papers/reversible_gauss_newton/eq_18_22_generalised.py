"""Appendices A and B. Generalised Gauss-Newton, with the Hessian H of the loss in the outputs.

Displays: (18) to (22). eps (n d_y,), H (n d_y, n d_y), J (n d_y, p).
"""

import numpy as np

from .eq_01_07_gauss_newton import pinv


def eq_18_newton_flow(H, eps):
    """Eq. (18): df/dt = -H^{-1} eps, Newton's method for the outputs."""
    return -np.linalg.solve(H, eps)


def eq_19_step(J, H, eps):
    """Eq. (19): d = -J^+ H^{-1} eps. It is (7) where J is surjective and H > 0."""
    return -np.linalg.pinv(J) @ np.linalg.solve(H, eps)


def eq_19_errors(loss, outputs, y):
    """H^+ eps (n, d_y), sample by sample: what (19) puts in the place of eps.

    H^+, as a softmax has no H^{-1}: its H = diag(q) - q q^T is 0 along the ones. Its eps = q - y is
    in the range of H, and H^+ eps is `of_cross_entropy`.
    """
    eps, H = loss.gradient(outputs, y), loss.hessian(outputs, y)
    return (np.linalg.pinv(H, hermitian=True) @ eps[:, :, None])[:, :, 0]


def of_cross_entropy(q, y):
    """H^+ eps of a softmax q (n, c) in closed form: mean_k(y_k / q_k) - y / q."""
    ratio = y / q
    return ratio.mean(axis=1, keepdims=True) - ratio


def pinv_of_generalised(J, H):
    """Appendix A: (J^T H J)^+ = J^+ H^{-1} J^{T+} where J is surjective and H > 0."""
    return np.linalg.pinv(J) @ np.linalg.solve(H, np.linalg.pinv(J.T))


def eq_20_error_rate(H, J, theta_rate):
    """Eq. (20): d eps/dt = H J dtheta/dt. (25) leaves H out: there it is I."""
    return H @ (J @ theta_rate)


def eq_21_flow(J, H, eps):
    """Eq. (21) at alpha = 1: dtheta/dt = -(J^T H J)^+ J^T eps."""
    return -pinv(J.T @ H @ J) @ (J.T @ eps)


def eq_22_projection(H, J):
    """Eq. (22): A = H J (J^T H J)^+ J^T, with d eps/dt = -alpha A eps along (21), and A A = A.

    In print A is orthogonal in a^T H b. It is so in a^T H^{-1} b: A H is symmetric, H A is not.
    """
    return H @ J @ pinv(J.T @ H @ J) @ J.T
