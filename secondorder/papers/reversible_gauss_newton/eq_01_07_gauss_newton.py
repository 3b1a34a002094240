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


def eq_4_output_rate(J, theta_rate):
    """Eq. (4), left side: J dtheta/dt, which is to be -eps."""
    return J @ theta_rate


def defect(J_d, eps):
    """|J d + eps| / |eps|: what a step leaves undone of (4). 0 where eps is 0."""
    size = np.linalg.norm(eps)
    return float(np.linalg.norm(J_d + eps) / size) if size else 0.0


def eq_5_gauss_newton(J, eps, plus=times_pseudo_inverse):
    """Eq. (5): d = -J^+ eps, the shortest of all steps that bring J d closest to -eps.

    (J^+ eps)^T = eps^T (J^T)^+. `plus` takes E and S to E S^+, a `Fit`.
    """
    return -plus(eps[None], J.T).product[0]


def eq_5_by_kernel(K, eps, J_T, f=exact):
    """Eq. (5) without J: d = -J^T (J J^T)^+ eps, from K = J J^T and the function J_T, a -> J^T a.

    Returns
    -------
    d : (p,) array
    rank : int
        Singular values in use. Those below 1e-7 of the largest cannot be seen in K.
    sure : bool
        Whether K knows all that `f` needs.
    """
    a, rank, sure = gram_solve(K, eps[:, None], f)
    return -J_T(a[:, 0]), rank, sure


def eq_6_hessian_view(J, gradient):
    """Eq. (6): d = -(J^T J)^+ grad L. It is (5), as grad L = J^T eps."""
    return -pinv_of_product(J.T @ J, len(J)) @ gradient


def eq_7_generalised(J, H, gradient):
    """Eq. (7): d = -(J^T H J)^+ grad L, with H the Hessian of the loss in the outputs."""
    return -pinv_of_product(J.T @ H @ J, len(J)) @ gradient


def pinv_of_product(M, rank):
    """M^+ of a symmetric M whose rank is at most `rank`: what is beyond is rounding."""
    values, vectors = np.linalg.eigh(M)
    large = np.argsort(-np.abs(values))[:rank]
    large = large[np.abs(values[large]) > len(M) * np.finfo(float).eps * np.abs(values).max()]
    return vectors[:, large] / values[large] @ vectors[:, large].T
