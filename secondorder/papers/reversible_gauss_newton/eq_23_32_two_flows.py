"""Appendix C, the proof of Theorem 4.3: two flows with one error, and Euler's method beside each.

Displays: (23) to (32), for H = I. With another Hessian of the loss, such as a softmax has,
d eps/dt is -H eps along both flows, and neither (25) nor (26), (27) hold; the theorem does, as
df/dt = -eps still is one law for both.
"""

import numpy as np

from .eq_08_11_any_right_inverse import eq_8_step, eq_11_error_flow


def eq_23_flow(J, eps):
    """Eq. (23): dtheta/dt = -J^+ eps."""
    return -np.linalg.pinv(J) @ eps


eq_24_flow = eq_8_step  # dtheta/dt = -J^-| eps


def eq_25_error_rate(J, eps):
    """Eq. (25): d eps/dt = -J J^+ eps along (23)."""
    return -J @ np.linalg.pinv(J) @ eps


eq_26_27_error_flow = eq_11_error_flow  # along (23), and along (24)


def eq_26_27_solved(eps, time):
    """eps(t) = e^{-t} eps(0)."""
    return np.exp(-time) * eps


def eq_28_29_euler_bound(alpha, K, L, time):
    """Eqs. (28), (29): |theta_i - theta(t_i)| <= (alpha / K)(e^{L t} - 1).

    L is a Lipschitz constant of the field. K, which the text leaves open, is 2 L / max |theta''|.
    """
    return alpha / K * np.expm1(L * time)


def eq_30_triangle(first, between, second):
    """Eq. (30): |eps(theta_i) - eps(theta(t_i))| + |eps(theta(t_i)) - eps(theta~(t_i))| + |eps(
    theta~(t_i)) - eps(theta~_i)|: of each iteration from its flow, and of the flows.
    """
    return first + between + second


def eq_31_in_theta(L_eps, first, second):
    """Eq. (31): L_eps |theta_i - theta(t_i)| + 0 + L_eps |theta~_i - theta~(t_i)|.

    The term in the middle is 0: both flows have one f(t).
    """
    return eq_30_triangle(L_eps * first, 0, L_eps * second)


def eq_32_bound(alpha, K, K_tilde, L, L_tilde, L_eps, time):
    """Eq. (32): 2 L_eps (alpha / min K)(e^{max L t} - 1).

    The 2, for two errors of Euler's method, is missing in print: `eq_32_as_printed`.
    """
    return 2 * eq_32_as_printed(alpha, K, K_tilde, L, L_tilde, L_eps, time)


def eq_32_as_printed(alpha, K, K_tilde, L, L_tilde, L_eps, time):
    """L_eps (alpha / min K)(e^{max L t} - 1)."""
    return L_eps * eq_28_29_euler_bound(alpha, min(K, K_tilde), max(L, L_tilde), time)
