"""Flows in function space and in the parameters, and how far Euler's method stays from them: Eqs.
(3), (9), (18)-(32).
"""

import numpy as np


def gradient_flow(eps):
    """Eq. (3): d f / dt = -eps."""
    return -eps


def newton_flow(H, eps):
    """Eq. (18): d f / dt = -H^{-1} eps."""
    return -np.linalg.solve(H, eps)


def error_rate(H, J, theta_rate):
    """Eq. (20): d eps / dt = H J d theta / dt

    Eq. (25) leaves H out, as it is I for half the squared error.
    """
    return H @ (J @ theta_rate)


def function_rate(J, theta_rate):
    """Eq. (4), left side: d f / dt = J d theta / dt, which is to be -eps."""
    return J @ theta_rate


def gauss_newton_error_rate(J, eps):
    """Eq. (25): d eps / dt = -J J+ eps, along (23) and for H = I."""
    return -J @ np.linalg.pinv(J) @ eps


def error_flow(eps):
    """Eqs. (11), (26), (27): d eps / dt = -eps."""
    return -eps


def generalised_flow(J, H, eps):
    """Eq. (21) at alpha = 1:

        d theta / dt = -(J^T H J)+ J^T eps
    """
    return -np.linalg.pinv(J.T @ H @ J, rcond=1e-10, hermitian=True) @ (J.T @ eps)  # (21)


def projection(H, J):
    """The matrix of Eq. (22), with which d eps / dt = -alpha A eps along the flow (21):

        A = H J (J^T H J)+ J^T
    """
    return H @ J @ np.linalg.pinv(J.T @ H @ J, rcond=1e-10, hermitian=True) @ J.T  # (22)


def error_decay(eps, time):
    """The solution of Eqs. (26) and (27), d eps / dt = -eps:

        eps(t) = e^{-t} eps(0)
    """
    return np.exp(-time) * eps  # (26), (27)


def euler(field, start, rate, steps):
    """Points (steps + 1, ...) of Euler's method:

        theta_{i+1} = theta_i + rate * field(theta_i)
    """
    points = [np.array(start, dtype=float)]
    for _ in range(steps):
        points.append(points[-1] + rate * field(points[-1]))
    return np.array(points)


def gap(eps, first, second, start, alpha, time):
    """Theorem 4.3, Eq. (9), left side: |eps(theta^(1)_t) - eps(theta^(2)_t)|.

    Both iterations are (8), theta_{i+1} = theta_i - alpha J^-| eps, with a right inverse each:
    `first` and `second` give -J^-| eps at theta.
    """
    steps = round(time / alpha)
    one, two = euler(first, start, alpha, steps)[-1], euler(second, start, alpha, steps)[-1]
    return np.linalg.norm(eps(one) - eps(two))


def order(alphas, gaps):
    """Theorem 4.3, Eq. (9), right side: the k of O(alpha^k), the slope of log gap in log alpha."""
    return np.polyfit(np.log(alphas), np.log(gaps), 1)[0]


def euler_bound(rate, K, lipschitz, time):
    """The right sides of Eqs. (28) and (29), with K = 2 L / max |d^2 theta / dt^2|:

        (alpha / K) (e^{L t} - 1)
    """
    return rate / K * np.expm1(lipschitz * time)  # (28), (29)


def split_error(first, second, between):
    """The right sides of Eqs. (30) and (31): two iterations are at most as far apart in eps as each
    is from its own flow, and the flows from each other.

        L_eps |theta_1 - theta_1(t)| + |eps_1(t) - eps_2(t)| + L_eps |theta_2 - theta_2(t)|

    `between`, the distance of the two flows in eps, is 0, as both flows have the same f(t).
    """
    return first + between + second


def split_by_parameters(lipschitz_eps, first_off, second_off):
    """Eq. (31): L_eps |theta_1 - theta_1(t)| + 0 + L_eps |theta_2 - theta_2(t)|."""
    return lipschitz_eps * first_off + 0 + lipschitz_eps * second_off


def total_bound(rate, K, K_other, lipschitz, lipschitz_other, lipschitz_eps, time):
    """The right side of Eq. (32), corrected:

        2 L_eps (alpha / min K) (e^{max L t} - 1)
    """
    smaller, larger = min(K, K_other), max(lipschitz, lipschitz_other)
    return 2 * lipschitz_eps * euler_bound(rate, smaller, larger, time)


def total_bound_as_printed(rate, K, K_other, lipschitz, lipschitz_other, lipschitz_eps, time):
    """The right side of Eq. (32) as printed, without the factor 2 for the two errors:

    L_eps (alpha / min K) (e^{max L t} - 1)
    """
    K_bar, L_bar = min(K, K_other), max(lipschitz, lipschitz_other)
    return lipschitz_eps * euler_bound(rate, K_bar, L_bar, time)
