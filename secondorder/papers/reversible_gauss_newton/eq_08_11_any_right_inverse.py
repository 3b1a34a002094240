"""4. Any right inverse of J will do: Theorem 4.3. Displays: (8) to (11), Assumptions 4.1, 4.2."""

import numpy as np


def surjective(J):
    """Assumptions 4.1 and 4.2: rank J = n d_y, the number of its rows; then J J^-| = I can be."""
    return np.linalg.matrix_rank(J) == len(J)


def eq_8_step(J_right, eps):
    """Eq. (8): d = -J^-| eps, with any right inverse of J, J J^-| = I."""
    return -J_right @ eps


def eq_9_gap(eps, first, second, theta, alpha, time):
    """Eq. (9), left side, O(alpha): |eps(theta^(1)_t) - eps(theta^(2)_t)|.

    All three are functions of theta. `first` and `second` give the steps (8) of two right inverses;
    both iterations start at theta.
    """
    one, two = (euler(step, theta, alpha, round(time / alpha))[-1] for step in (first, second))
    return np.linalg.norm(eps(one) - eps(two))


def eq_10_errors(loss, outputs, y):
    """Eq. (10): eps (n, d_y), the gradient of the SUM of the losses in the outputs."""
    return loss.gradient(outputs, y)


def eq_11_error_flow(eps):
    """Eq. (11): d eps/dt = -eps. Along (8) that asks for H = I: a softmax has -H eps, by (20)."""
    return -eps


def euler(field, theta, alpha, steps):
    """theta_{i+1} = theta_i + alpha field(theta_i), all of them: (steps + 1, ...)."""
    path = [np.array(theta, dtype=float)]
    for _ in range(steps):
        path.append(path[-1] + alpha * field(path[-1]))
    return np.array(path)
