"""Solution of exercise 05_whose_slopes, with usual mistakes."""

import numpy as np

from secondorder.papers.low_rank.eq_10_26_network import eq_19_gamma as gamma
from secondorder.papers.low_rank.eq_10_26_network import eq_21_alpha as alpha


def eq_23_eta(sample, k, l):
    """eta^(k,l) (d_k, d_l), from alpha(sample, k, l) (d_k, d_l) and gamma(sample, ...) (d, d)."""
    return alpha(sample, k, l) @ gamma(sample, l)


def mistake_1(sample, k, l):
    return gamma(sample, k) @ alpha(sample, k, l)


def mistake_2(sample, k, l):
    return alpha(sample, k, l)


WRONG = [
    (mistake_1,
     "these are the slopes of the upper layer: alpha holds them already"),
    (mistake_2,
     "the step from the arguments of layer l to its outputs is missing"),
]
