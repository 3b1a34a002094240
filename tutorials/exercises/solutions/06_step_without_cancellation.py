"""Solution of exercise 06_step_without_cancellation, with usual mistakes."""

import numpy as np

LARGEST = np.finfo(float).max

def step_length(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    """The minimiser s >= 0; `ascent` may be ignored, the slope is never positive here."""
    if g_norm == 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2  # per unit of length: c = sigma now
    if sigma == 0:
        return min(-a / h / g_norm, largest) if h > 0 else largest
    root = np.sqrt(h**2 - 2 * a * sigma)
    s = -2 * a / (h + root) if h > 0 else (root - h) / sigma
    return s / g_norm


def mistake_1(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    if g_norm == 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2
    if sigma == 0:
        return min(-a / h / g_norm, largest) if h > 0 else largest
    root = np.sqrt(h**2 - 2 * a * sigma)
    return (root - h) / sigma / g_norm


def mistake_2(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    if g_norm == 0:
        return 0.0
    a, h = g_dot_grad / g_norm, g_H_g / g_norm**2
    if sigma == 0:
        return min(-a / h / g_norm, largest) if h > 0 else largest
    return 2 * a / (h + np.sqrt(h**2 - 2 * a * sigma)) / g_norm


WRONG = [
    (mistake_1,
     "this is the printed form: root and h cancel where h is large"),
    (mistake_2,
     "the step has the sign of -a: a descent direction is followed forwards"),
]
