"""Solution of exercise 12_gauss_newton_step, with usual mistakes."""

import numpy as np


def eq_5_gauss_newton(J, eps):
    """The step (p,) of least norm with J d nearest to -eps, and the rank of J.

    From J (n d_y, p) and eps (n d_y,).
    """
    rank = np.linalg.matrix_rank(J)
    return -np.linalg.pinv(J) @ eps, rank


def mistake_1(J, eps):
    return np.linalg.pinv(J) @ eps, np.linalg.matrix_rank(J)


def mistake_2(J, eps):
    return -J.T @ eps, np.linalg.matrix_rank(J)


def mistake_3(J, eps):
    return -(J.T @ eps) / np.sum(J**2, axis=0), np.linalg.matrix_rank(J)


WRONG = [
    (mistake_1,
     "the step goes uphill: J d must be -eps"),
    (mistake_2,
     "this is the gradient: its effect on the errors is -J J^T eps, not -eps"),
    (mistake_3,
     "this inverts the diagonal of J^T J alone"),
]
