"""Solution of exercise 01_total_gradient, with usual mistakes."""

import numpy as np


def eq_11_affine(y, w, u=None, y_0=0):
    """Total gradient above an affine layer, (S, out), for w (out, in) and u (S, in).

    y (S, k) has a column of ones in front for the bias, or comes without it and with y_0 = 1; k = 0
    where the layer is not trained. Without u nothing below moves.
    """
    from_weights = y_0 + np.abs(y).sum(axis=1, keepdims=True)
    return from_weights + (np.zeros(len(w), w.dtype) if u is None else u @ np.abs(w).T)


def mistake_1(y, w, u=None, y_0=0):
    return eq_11_affine(y if y_0 else y[:, 1:], w, u)


def mistake_2(y, w, u=None, y_0=0):
    from_weights = y_0 + np.abs(y).sum(axis=1, keepdims=True)
    return from_weights + (np.zeros(len(w), w.dtype) if u is None else u @ w.T)


def mistake_3(y, w, u=None, y_0=0):
    return eq_11_affine(y, np.zeros_like(w), u, y_0)


WRONG = [
    (mistake_1,
     "the bias can move too: the first sum starts at j = 0"),
    (mistake_2,
     "changes may add up in any sign: the weights enter with their absolute value"),
    (mistake_3,
     "what is below moves as well: the second sum is missing"),
]
