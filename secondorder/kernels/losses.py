"""Softmax with cross-entropy: value and gradient, product with the Hessian, its diagonal.

For outputs p (S, C) and rows of weights t (S, C). With m the place of the largest output of a row
and e_si = exp(p_si - p_sm),

    q_si = e_si / sum_j e_sj,    1 - q_si = (sum of all e_sj but e_si) / sum_j e_sj

and where i = m that sum is taken without e_sm = 1, which would round it away.
"""

import math

from .compiling import elementwise, loop
from .exponential import exp_parts


@elementwise
def exponentials(p, e):
    """e_i = exp(p_i - p_m) of one row; returns m."""
    m, one = 0, p.dtype.type(1)
    for i in range(1, p.size):
        if p[i] > p[m]:
            m = i
    for i in range(p.size):
        a, high, low = exp_parts(p[i] - p[m])
        e[i] = (one + a) * high * low
    return m


@loop
def all_but(e, m):
    """sum_i e_i without e_m"""
    total = e.dtype.type(0)
    for i in range(e.size):
        if i != m:
            total += e[i]
    return total


@loop
def softmax_cross_entropy(p, t, losses, p_bar):
    """losses_s = sum_i t_si (log sum_j e_sj - (p_si - p_sm));
    p_bar_si = q_si (sum_j t_sj - t_si) - t_si (1 - q_si)
    """
    zero, one = p.dtype.type(0), p.dtype.type(1)
    for s in range(p.shape[0]):
        m = exponentials(p[s], p_bar[s])
        others, weight, loss = all_but(p_bar[s], m), zero, zero
        for i in range(p.shape[1]):
            weight += t[s, i]
        log_total, total = math.log1p(others), one + others
        for i in range(p.shape[1]):
            e = p_bar[s, i]
            rest = others if i == m else total - e
            loss += t[s, i] * (log_total - (p[s, i] - p[s, m]))
            p_bar[s, i] = (e * (weight - t[s, i]) - t[s, i] * rest) / total
        losses[s] = loss


@loop
def softmax_cross_entropy_product(p, t, v, q, product):
    """product_ksi = q_si (v_ksi - sum_j q_sj v_ksj) sum_j t_sj, for v (K, S, C) and room q (C,).

    v is measured from the entry m: where q_sm rounds to 1, its own difference would cancel.
    """
    zero, one = p.dtype.type(0), p.dtype.type(1)
    for s in range(p.shape[0]):
        m, weight = exponentials(p[s], q), zero
        for i in range(p.shape[1]):
            weight += t[s, i]
        total = one + all_but(q, m)
        for i in range(p.shape[1]):
            q[i] /= total
        for k in range(v.shape[0]):
            mean = zero
            for i in range(p.shape[1]):
                mean += q[i] * (v[k, s, i] - v[k, s, m])
            for i in range(p.shape[1]):
                product[k, s, i] = q[i] * (v[k, s, i] - v[k, s, m] - mean) * weight


@loop
def softmax_cross_entropy_diagonal(p, t, diagonal):
    """diagonal_si = q_si (1 - q_si) sum_j t_sj"""
    zero, one = p.dtype.type(0), p.dtype.type(1)
    for s in range(p.shape[0]):
        m = exponentials(p[s], diagonal[s])
        others, weight = all_but(diagonal[s], m), zero
        for i in range(p.shape[1]):
            weight += t[s, i]
        total = one + others
        for i in range(p.shape[1]):
            e = diagonal[s, i]
            rest = others if i == m else total - e
            diagonal[s, i] = e / total * (rest / total) * weight
