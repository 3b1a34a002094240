"""The losses that are sums over outputs, in pairs as :mod:`secondorder.compiled.losses` has them:
the compiled form of `secondorder.nets.losses.by_output` and of Tukey's biweight.

A value too large for its dtype is the largest number that there is, where the literal loss says so.
"""

import math

import numpy as np

from .compiling import compiled
from .exponential import by_exponentials, exp_parts, log1p
from .losses import all_finite


@compiled
def capped(losses):
    """No loss is infinite."""
    largest = np.finfo(losses.dtype).max
    for s in range(losses.size):
        if losses[s] > largest:
            losses[s] = largest
    return all_finite(losses)


# -- Tukey's biweight ------------------------------------------------------------------------------


@compiled
def tukey_biweight(p, t, own, losses, p_bar):
    """With r = p_si - t_si, a = min(r^2 / c^2, 1): losses_s = sum_i c^2/6 a (3 - 3 a + a^2);
    p_bar_si = r (1 - a)^2
    """
    c, one, three, six = own[0], p.dtype.type(1), p.dtype.type(3), p.dtype.type(6)
    for s in range(p.shape[0]):
        total = p.dtype.type(0)
        for i in range(p.shape[1]):
            r = p[s, i] - t[s, i]
            a = min((r / c) * (r / c), one)
            total += c * c / six * (a * (three - three * a + a * a))
            p_bar[s, i] = r * ((one - a) * (one - a))
        losses[s] = total
    return all_finite(losses)


@compiled
def tukey_biweight_product(p, t, own, v, product):
    """(1 - a) (1 - 5 a) v_si"""
    c, one, five = own[0], p.dtype.type(1), p.dtype.type(5)
    for s in range(p.shape[0]):
        for i in range(p.shape[1]):
            r = p[s, i] - t[s, i]
            a = min((r / c) * (r / c), one)
            product[s, i] = (one - a) * (one - five * a) * v[s, i]


# -- binary cross-entropy: `own` holds the weight of the positive targets of every output ----------


@by_exponentials
def binary_cross_entropy(p, t, own, losses, p_bar):
    """losses_s = sum_i w_i t_si log(1 + exp -p_si) + (1 - t_si) log(1 + exp p_si);
    p_bar_si = (1 - t_si) q_si - w_i t_si (1 - q_si),  q_si = 1 / (1 + exp -p_si)
    """
    zero, one = p.dtype.type(0), p.dtype.type(1)
    for s in range(p.shape[0]):
        total = zero
        for i in range(p.shape[1]):
            x, positive, negative = p[s, i], own[i] * t[s, i], one - t[s, i]
            m, high, low = exp_parts(-abs(x))
            e = (one + m) * high * low
            log, above, below = log1p(e), max(x, zero), max(-x, zero)
            total += positive * (below + log) + negative * (above + log)
            q, rest = (e if x < zero else one) / (one + e), (one if x < zero else e) / (one + e)
            p_bar[s, i] = negative * q - positive * rest
        losses[s] = total
    return capped(losses)


@by_exponentials
def binary_cross_entropy_product(p, t, own, v, product):
    """(w_i t_si + 1 - t_si) q_si (1 - q_si) v_si"""
    one = p.dtype.type(1)
    for s in range(p.shape[0]):
        for i in range(p.shape[1]):
            m, high, low = exp_parts(-abs(p[s, i]))
            e = (one + m) * high * low
            weight = own[i] * t[s, i] + (one - t[s, i])
            product[s, i] = weight * (e / ((one + e) * (one + e))) * v[s, i]


# -- Huber's loss ----------------------------------------------------------------------------------


@compiled
def huber(p, t, own, losses, p_bar):
    """With r = p_si - t_si, a = min(|r|, delta): losses_s = sum_i a (|r| - a / 2);
    p_bar_si = a sign(r)
    """
    delta, zero, half = own[0], p.dtype.type(0), p.dtype.type(0.5)
    for s in range(p.shape[0]):
        total = zero
        for i in range(p.shape[1]):
            r = p[s, i] - t[s, i]
            size = abs(r)
            a = delta if size > delta else size
            total += a * (size - half * a)
            p_bar[s, i] = -a if r < zero else a
        losses[s] = total
    return capped(losses)


@compiled
def huber_product(p, t, own, v, product):
    """v_si where |r| < delta, else 0"""
    for s in range(p.shape[0]):
        for i in range(p.shape[1]):
            inside = abs(p[s, i] - t[s, i]) < own[0]
            product[s, i] = v[s, i] if inside else p.dtype.type(0) * v[s, i]


# -- Poisson: `own` holds the limit ----------------------------------------------------------------


@compiled
def poisson(p, t, own, losses, p_bar):
    """With q = min(p_si, limit): losses_s = sum_i exp(q) - t_si q + (exp(q) - t_si) (p_si - q);
    p_bar_si = exp(q) - t_si
    """
    limit = own[0]
    for s in range(p.shape[0]):
        total = p.dtype.type(0)
        for i in range(p.shape[1]):
            q = min(p[s, i], limit)
            rate = p.dtype.type(math.exp(q))
            total += rate - t[s, i] * q + (rate - t[s, i]) * (p[s, i] - q)
            p_bar[s, i] = rate - t[s, i]
        losses[s] = total
    return capped(losses)


@compiled
def poisson_product(p, t, own, v, product):
    """exp(p_si) v_si, and 0 on the line beyond the limit"""
    for s in range(p.shape[0]):
        for i in range(p.shape[1]):
            rate = p.dtype.type(math.exp(min(p[s, i], own[0])))
            product[s, i] = (p.dtype.type(0) if p[s, i] > own[0] else rate) * v[s, i]
