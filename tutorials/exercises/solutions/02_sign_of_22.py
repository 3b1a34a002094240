"""Solution of exercise 02_sign_of_22, with usual mistakes."""

import numpy as np


def eq_22_gradient(x, p):
    """Derivative of sum_i x_i^2 / p_i in eta, (n,), for x (n,) and p = softmax(eta) (n,)."""
    return p * (np.sum(x**2 / p) - x**2 / p**2)


def mistake_1(x, p):
    return p * (x**2 / p**2 - np.sum(x**2 / p))


def mistake_2(x, p):
    return -p * (np.sum(x**2 / p) + x**2 / p**2)


def mistake_3(x, p):
    return -(x**2) / p


WRONG = [
    (mistake_1,
     "both terms have the other sign: d(1/p)/dp is negative"),
    (mistake_2,
     "the two terms have opposite signs: p_i falls where another share grows"),
    (mistake_3,
     "every share changes with eta_i, not p_i alone: the sum over i' is missing"),
]
