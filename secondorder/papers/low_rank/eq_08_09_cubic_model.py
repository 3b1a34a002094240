"""The cubic model along a direction g, and the three ways to a mini-batch: Eq. (8), (9).

a = g^T grad f, h = g^T H g and c = sigma |g|^3. The third way is to take E[a] and E[h] along one g:
(38), (39) of a batch are that, so that it needs no line here.
"""

import numpy as np

from ...exact.conjugate_gradients import dot


def eq_8_change(a, h, length, sigma, s):
    """Eq. (8): m(s g) - f = a s + h s^2 / 2 + sigma |s g|^3 / 6"""
    moved = abs(s * length)
    return a * s + h * s * s / 2 + sigma / 6 * moved * moved * moved


def eq_9_roots(a, h, c):
    """Eq. (9): both alpha at which m is stationary, (-h -+ sqrt(h^2 - 2 a c)) / c, smaller first"""
    root = np.sqrt(h * h - 2 * a * c)
    return (-h - root) / c, (-h + root) / c


def with_penalty(a, h, l2, theta, g):
    """a and h of f + (l2/2) |theta|^2, which the paper does not have."""
    return (a + l2 * dot(theta, g), h + l2 * dot(g, g)) if l2 else (a, h)


def option_1(rates, evaluation, mean_g):
    """First way: E[alpha_j g_j], each sample with its own alpha along its own g_j = -grad f_j"""
    scale = -rates[:, None] / len(rates)
    bars = [(scale * bar).astype(bar.dtype, copy=False) for bar in evaluation.deltas]
    return evaluation.network.chain.parameter_gradient_from(evaluation.saved, bars)


def option_2(rates, evaluation, mean_g):
    """Second way: E[alpha_j] E[g_j]"""
    return float(np.mean(rates)) * mean_g
