"""Solution of exercise 06_step_without_cancellation, with usual mistakes."""

import numpy as np


def step_length(g_dot_grad, g_H_g, g_norm, sigma):
    """The minimiser s >= 0, 0 where the slope goes up, infinite where there is no minimum."""
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2  # per unit of length: c = sigma now
    if sigma == 0:
        return -a / h / g_norm if h > 0 else np.inf
    root = np.sqrt(h**2 - 2 * a * sigma)
    s = -2 * a / (h + root) if h > 0 else (root - h) / sigma
    return s / g_norm


CASES = [
    ((-1.0, -1e9, 1.0, 1.0), "h is negative here: then the denominator h + root cancels, and the "
     "printed numerator does not"),
    ((-1.0, 1e9, 1.0, 1.0), "h is positive here: then the printed numerator cancels"),
    ((-1.0, -1.0, 1.0, 0.0), "without the cubic term and with a negative curvature there is no "
     "minimum: the step is infinite"),
]


def mistake_1(g_dot_grad, g_H_g, g_norm, sigma):
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2
    if sigma == 0:
        return -a / h / g_norm if h > 0 else np.inf
    root = np.sqrt(h**2 - 2 * a * sigma)
    return (root - h) / sigma / g_norm


def mistake_2(g_dot_grad, g_H_g, g_norm, sigma):
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2
    if sigma == 0:
        return -a / h / g_norm if h > 0 else np.inf
    return 2 * a / (h + np.sqrt(h**2 - 2 * a * sigma)) / g_norm


def mistake_3(g_dot_grad, g_H_g, g_norm, sigma):
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    if sigma == 0:
        return -g_dot_grad / g_H_g if g_H_g > 0 else np.inf
    return -g_dot_grad / abs(g_H_g)


WRONG = [
    (mistake_1,
     "this is the printed form: root and h cancel where h is large"),
    (mistake_2,
     "the step has the sign of -a: a descent direction is followed forwards"),
    (mistake_3,
     "this is Newton's step, the limit where the curvature dominates: sigma takes part too"),
]
