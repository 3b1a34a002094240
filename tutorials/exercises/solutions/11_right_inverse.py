"""Solution of exercise 11_right_inverse, with usual mistakes."""

import numpy as np

from secondorder.papers.reversible_gauss_newton.eq_12_13_jacobian import R, vec
from secondorder.papers.reversible_gauss_newton.eq_58_80_appendix_n import eq_65_66_B


def eq_57_delta(e2, state, delta1):
    """The change of the second matrix, from e2 (d/2, n), state.S2 (features, n) and delta1."""
    half, samples = e2.shape
    rest = vec(e2) - eq_65_66_B(state) @ vec(delta1)
    return R(rest, half, samples) @ np.linalg.pinv(state.S2)


def mistake_1(e2, state, delta1):
    half, samples = e2.shape
    rest = vec(e2) + eq_65_66_B(state) @ vec(delta1)
    return R(rest, half, samples) @ np.linalg.pinv(state.S2)


def mistake_2(e2, state, delta1):
    return e2 @ np.linalg.pinv(state.S2)


def mistake_3(e2, state, delta1):
    half, samples = e2.shape
    bracket = vec(e2) - eq_65_66_B(state) @ vec(delta1)
    return R(bracket, half, samples) @ state.S2.T


WRONG = [
    (mistake_1,
     "what the first change does already must be taken off, not added"),
    (mistake_2,
     "the change of the first matrix moves the second half too"),
    (mistake_3,
     "the transpose is no inverse: the pseudo-inverse of the features is asked for"),
]
