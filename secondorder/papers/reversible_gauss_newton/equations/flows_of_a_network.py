"""Two flows of a real network, with the Moore-Penrose inverse and with the right inverse, and the
constants that Eqs. (28)-(32) need.
"""

from typing import NamedTuple

import numpy as np

from ..eq_08_11_any_right_inverse import euler
from ..eq_12_13_jacobian import eq_12_jacobian, from_theta, to_theta, vec
from ..eq_23_32_two_flows import eq_23_flow
from ..eq_33_57_proof import eq_56_57_step
from . import cases


class TwoFlows(NamedTuple):
    """Both flows of a real network to t = 1, and Euler's points at the rates `alpha`.

    Lists of two, Moore-Penrose inverse first: `ends` of the flows in the paper's order of
    parameters; `points` (one for each rate); `lipschitz` and `K` of each field.
    """

    at: object
    theta: np.ndarray  # where both begin
    alpha: np.ndarray
    ends: list
    points: list
    lipschitz: list
    K: list


def two_flows(rng):
    """Flows by a Runge-Kutta method, constants of the fields by differences along them."""
    at, alpha = cases.smooth_path(rng, bottleneck=5), np.array([0.1, 0.05, 0.025])
    at, start = at._replace(net=at.net.copy()), from_theta(at.net.theta, at.net)
    ends, points, lipschitz, K = [], [], [], []
    for kind in ("moore-penrose", "right"):
        def field(w, kind=kind):
            states, eps = at_parameters(at, w)
            return (eq_56_57_step(states, eps) if kind == "right"
                    else eq_23_flow(eq_12_jacobian(states), eps))

        path = np.array(runge_kutta(field, start, 10))
        ends.append(path[-1])
        points.append([euler(field, start, a, round(1 / a))[-1] for a in alpha])
        # the stretch of the field where the flow begins and ends, and half as much again for what
        # lies between and beside it
        lipschitz.append(1.5 * max(np.linalg.norm(derivative(field, w), 2) for w in path[[0, -1]]))
        second_order = (path[2:] - 2 * path[1:-1] + path[:-2]) * 100
        K.append(2 * lipschitz[-1] / (1.1 * np.linalg.norm(second_order, axis=1).max()))
    return TwoFlows(at, to_theta(start, at.net), alpha, ends, points, lipschitz, K)


def at_parameters(at, w):
    """States of the blocks, and eps in half order, of a case at parameters w; they stay in its
    network.
    """
    at.net.theta = to_theta(w, at.net)
    states = cases.states_at(at.net, at.x)
    half = len(states[-1].X1)
    eps = np.concatenate([vec(states[-1].X1 - at.y.T[:half]), vec(states[-1].X2 - at.y.T[half:])])
    return states, eps


def runge_kutta(field, w, steps):
    """Points of the classical fourth-order method from 0 to 1."""
    path, h = [w], 1 / steps
    for _ in range(steps):
        a = field(path[-1])
        b = field(path[-1] + h / 2 * a)
        c = field(path[-1] + h / 2 * b)
        d = field(path[-1] + h * c)
        path.append(path[-1] + h / 6 * (a + 2 * b + 2 * c + d))
    return path


def derivative(field, w, h=1e-5):
    """Jacobian of a field at w by central differences."""
    return np.stack([(field(w + h * e) - field(w - h * e)) / (2 * h) for e in np.eye(len(w))],
                    axis=1)


def eps_of(at, w):
    """eps of a case at parameters w."""
    return at_parameters(at, w)[1]


def stretch_of_eps(at, points):
    """The largest |J| at some points, and half as much again."""
    return 1.5 * max(np.linalg.norm(eq_12_jacobian(at_parameters(at, w)[0]), 2)
                     for w in points)
