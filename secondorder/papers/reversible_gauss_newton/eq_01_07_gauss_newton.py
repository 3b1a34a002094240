"""3. Gauss-Newton as gradient descent on the outputs, and its other forms.

Displays: (1) to (7). J (n d_y, p), eps (n d_y,), H (n d_y, n d_y). A step d (p,) is what is added
to theta at alpha = 1.
"""

import numpy as np

from .section_5_pseudo_inverse import exact, gram_solve, times_pseudo_inverse


def eq_1_loss(losses):
    """Eq. (1): L = sum_i l(y_i, f(x_i, theta)), from the losses (n,) of the samples.

    It is a sum: a Gauss-Newton step does not shrink with the batch, as it would for the mean.
    """
    return np.sum(losses)


def eq_2_gradient_step(J, eps):
    """Eq. (2): d = -grad L = -J^T eps."""
    return -J.T @ eps


def eq_3_gradient_flow(eps):
    """Eq. (3): df/dt = -eps, gradient flow of the outputs themselves."""
    return -eps


def eq_4_defect(J_d, eps):
    """Eq. (4): J d = -eps; |J d + eps| / |eps| is what a step leaves undone of it (0 for no eps).
    """
    size = np.linalg.norm(eps)
    return float(np.linalg.norm(J_d + eps) / size) if size else 0.0


def eq_5_gauss_newton(J, eps, f=exact):
    """Eq. (5): d = -J^+ eps, the shortest of all steps that bring J d closest to -eps; and its
    rank.

    (J^+ eps)^T = eps^T (J^T)^+, with f(s) in the place of 1 / s for singular values s.
    """
    fit = times_pseudo_inverse(eps[None], J.T, f)
    return -fit.product[0], fit.rank


def eq_5_by_kernel(K, eps, J_T, f=exact):
    """Eq. (5) without J: d = -J^T (J J^T)^+ eps, from K = J J^T and the function J_T, a -> J^T a.

    And the rank: singular values below 1e-7 of the largest cannot be seen in K. The third says
    whether K knows all that `f` needs.
    """
    a, rank, sure = gram_solve(K, eps[:, None], f)
    return -J_T(a[:, 0]), rank, sure


def eq_6_hessian_view(J, gradient):
    """Eq. (6): d = -(J^T J)^+ grad L. It is (5), as grad L = J^T eps."""
    return -pinv(J.T @ J) @ gradient


def eq_7_generalised(J, H, gradient):
    """Eq. (7): d = -(J^T H J)^+ grad L, with H the Hessian of the loss in the outputs."""
    return -pinv(J.T @ H @ J) @ gradient


def pinv(M):
    """M^+ of a symmetric M: eigenvalues below 1e-10 of the largest are rounding."""
    return np.linalg.pinv(M, rcond=1e-10, hermitian=True)
