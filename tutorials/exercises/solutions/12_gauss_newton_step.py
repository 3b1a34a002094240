"""Solution of exercise 12_gauss_newton_step, with usual mistakes."""

import numpy as np


def eq_5_gauss_newton(J, eps):
    """The step (p,) of least norm with J d nearest to -eps, from J (n d_y, p), eps (n d_y,)."""
    return -np.linalg.pinv(J) @ eps


def mistake_1(J, eps):
    return np.linalg.pinv(J) @ eps


def mistake_2(J, eps):
    return -J.T @ eps


def mistake_3(J, eps):
    return -(J.T @ eps) / np.sum(J**2, axis=0)


WRONG = [
    (mistake_1,
     "the step goes uphill: J d must be -eps"),
    (mistake_2,
     "this is the gradient: its effect on the errors is -J J^T eps, not -eps"),
    (mistake_3,
     "this inverts the diagonal of J^T J alone"),
]
