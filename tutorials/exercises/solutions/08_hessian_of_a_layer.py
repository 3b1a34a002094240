"""Solution of exercise 08_hessian_of_a_layer, with usual mistakes."""

import numpy as np


def eq_4b_hidden_hessian(W, H, h_bar, slope, curvature):
    """(S, m, m) from W (n, m), H (S, n, n); h_bar, slope and curvature (S, m)."""
    below = slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]
    return below + (curvature * h_bar)[:, :, None] * np.eye(W.shape[1])


def mistake_1(W, H, h_bar, slope, curvature):
    below = slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]
    return below - (curvature * h_bar)[:, :, None] * np.eye(W.shape[1])


def mistake_2(W, H, h_bar, slope, curvature):
    return slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]


def mistake_3(W, H, h_bar, slope, curvature):
    below = slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]
    return below + (slope * h_bar)[:, :, None] * np.eye(W.shape[1])


def mistake_4(W, H, h_bar, slope, curvature):
    below = slope[:, :, None] * (W.T @ H @ W) * slope[:, None, :]
    return below + (curvature * h_bar)[:, :, None] * np.ones((W.shape[1], W.shape[1]))


WRONG = [
    (mistake_1,
     "the diagonal is added: check the sign with one unit and one weight"),
    (mistake_2,
     "this is Gauss-Newton: the second derivative of the activation is missing"),
    (mistake_3,
     "the diagonal has the second derivative of the activation, not the first"),
    (mistake_4,
     "a unit's activation bends in its own argument alone: the last term is a diagonal matrix"),
]
