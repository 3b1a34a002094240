"""Flows in function space and in the parameters, and how far Euler's method stays from them: Eqs.
(3), (9), (18)-(32).
"""

import numpy as np


def gradient_flow(eps):
    """[reversible-gauss-newton] Eq. (3): d f / dt = -eps."""
    return -eps


def newton_flow(H, eps):
    """[reversible-gauss-newton] Eq. (18): d f / dt = -H^{-1} eps."""
    return -np.linalg.solve(H, eps)


def error_rate(H, J, theta_rate):
    """[reversible-gauss-newton] Eq. (20): d eps / dt = H J d theta / dt. (Eq. (25) leaves out H.)
    """
    return H @ (J @ theta_rate)


def generalised_flow(J, H, eps):
    """[reversible-gauss-newton] Eq. (21) at alpha = 1: d theta / dt = -(J^T H J)+ J^T eps."""
    return -np.linalg.pinv(J.T @ H @ J, rcond=1e-10, hermitian=True) @ (J.T @ eps)


def projection(H, J):
    """[reversible-gauss-newton] Eq. (22): A = H J (J^T H J)+ J^T, so that d eps / dt = -alpha A eps
    along the flow (21).
    """
    return H @ J @ np.linalg.pinv(J.T @ H @ J, rcond=1e-10, hermitian=True) @ J.T


def error_decay(eps, time):
    """[reversible-gauss-newton] Eqs. (26), (27): e^{-t} eps(0), where d eps / dt = -eps."""
    return np.exp(-time) * eps


def euler(field, start, rate, steps):
    """Points (steps + 1, ...) of Euler's method: each adds rate * field(point)."""
    points = [np.array(start, dtype=float)]
    for _ in range(steps):
        points.append(points[-1] + rate * field(points[-1]))
    return np.array(points)


def euler_bound(rate, K, lipschitz, time):
    """[reversible-gauss-newton] Eqs. (28), (29): (alpha / K) (e^{L t} - 1), with K = 2 L / max |d^2
    theta / dt^2|.
    """
    return rate / K * np.expm1(lipschitz * time)


def split_error(first, second, between):
    """[reversible-gauss-newton] Eqs. (30), (31), right side: the distance of two iterations in eps
    is at most that of each from its own flow and that of the flows.

    L_eps |theta_1 - theta_1(t)| + |eps_1(t) - eps_2(t)| + L_eps |theta_2 - theta_2(t)|

    Parameters
    ----------
    first, second : float
        Bounds on the distance of each method from its own flow, in eps.
    between : float
        Distance of the two flows in eps: 0, as both flows have the same f(t).
    """
    return first + between + second


def total_bound(rate, K, K_other, lipschitz, lipschitz_other, lipschitz_eps, time):
    """[reversible-gauss-newton] Eq. (32), corrected: 2 L_eps (alpha / min K) (e^{max L t} - 1); a
    factor 2 is missing in print.
    """
    smaller, larger = min(K, K_other), max(lipschitz, lipschitz_other)
    return 2 * lipschitz_eps * euler_bound(rate, smaller, larger, time)
