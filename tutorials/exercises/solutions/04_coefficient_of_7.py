"""Solution of exercise 04_coefficient_of_7, with usual mistakes."""

import numpy as np

from secondorder.papers.low_rank.eq_10_26_network import eq_21_alpha as alpha
from secondorder.papers.low_rank.eq_10_26_network import eq_23_eta as eta


def eq_7_a(sample, k):
    """a (C, d_k), from f_pp (C, C), u (C, d_n) and eta^(n,k) (d_n, d_k).

    They are `sample.f_pp`, `sample.u` and `eta(sample, sample.n, k)`.
    """
    return np.einsum("il,lm,ms->is", sample.f_pp, sample.u, eta(sample, sample.n, k))


def mistake_1(sample, k):
    return np.einsum("lm,ms->ls", sample.u, eta(sample, sample.n, k))


def mistake_2(sample, k):
    across = sample.u @ eta(sample, sample.n, k)
    return sample.f_pp @ across / len(sample.u)


def mistake_3(sample, k):
    return sample.f_pp @ sample.u @ alpha(sample, sample.n, k)


WRONG = [
    (mistake_1,
     "the Hessian of the loss in the outputs is missing: f_pp^il"),
    (mistake_2,
     "the sum over l is a sum, not a mean"),
    (mistake_3,
     "alpha is the Jacobian in the layer's outputs: eta, in its arguments, is asked for"),
]
