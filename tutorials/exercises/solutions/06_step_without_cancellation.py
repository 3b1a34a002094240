"""Solution of exercise 06_step_without_cancellation, with usual mistakes."""

import numpy as np

LARGEST = np.finfo(float).max

def step_length(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    """The minimiser s >= 0, and 0 where the slope goes up; `ascent` may be ignored."""
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2  # per unit of length: c = sigma now
    if sigma == 0:
        return min(-a / h / g_norm, largest) if h > 0 else largest
    root = np.sqrt(h**2 - 2 * a * sigma)
    s = -2 * a / (h + root) if h > 0 else (root - h) / sigma
    return s / g_norm


CASES = [
    ((-1.0, -1e9, 1.0, 1.0), "h is negative here: then the denominator h + root cancels, and the "
     "printed numerator does not"),
    ((-1.0, 1e9, 1.0, 1.0), "h is positive here: then the printed numerator cancels"),
    ((-1.0, -1.0, 1.0, 0.0), "without the cubic term and with a negative curvature there is no "
     "minimum: the largest step is asked for"),
]


def mistake_1(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2
    if sigma == 0:
        return min(-a / h / g_norm, largest) if h > 0 else largest
    root = np.sqrt(h**2 - 2 * a * sigma)
    return (root - h) / sigma / g_norm


def mistake_2(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2
    if sigma == 0:
        return min(-a / h / g_norm, largest) if h > 0 else largest
    return 2 * a / (h + np.sqrt(h**2 - 2 * a * sigma)) / g_norm


def mistake_3(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    if g_norm == 0 or g_dot_grad > 0:
        return 0.0
    if sigma == 0:
        return min(-g_dot_grad / g_H_g, largest) if g_H_g > 0 else largest
    return -g_dot_grad / abs(g_H_g)


WRONG = [
    (mistake_1,
     "this is the printed form: root and h cancel where h is large"),
    (mistake_2,
     "the step has the sign of -a: a descent direction is followed forwards"),
    (mistake_3,
     "this is Newton's step, the limit where the curvature dominates: sigma takes part too"),
]
