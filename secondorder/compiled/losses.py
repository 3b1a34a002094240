"""Value and gradient, and the product with the Hessian, of the losses: the compiled form of
`secondorder.nets.losses`; `losses_by_output` has the others.

Every pair takes outputs p (S, C), targets t (S, C) as `prepare_target` returns them, and the
numbers of the loss in `own`. The first writes the values (S,) and the gradient in p (S, C), and
returns whether all values are finite; the second takes v (S, C) and writes hessian v (S, C).
"""

import math

import numpy as np

from .compiling import compiled, summing
from .exponential import exp_not_above_zero


@compiled
def all_finite(v):
    """Whether a flat array holds neither NaN nor infinite numbers."""
    zero, total = v.dtype.type(0), True
    for i in range(v.size):
        total &= v[i] * zero == zero
    return total


# -- squared error ---------------------------------------------------------------------------------


@summing
def squared_error(p, t, own, losses, p_bar):
    """losses_s = sum_i (p_si - t_si)^2 / 2;  p_bar_si = p_si - t_si"""
    half = p.dtype.type(0.5)
    for s in range(p.shape[0]):
        total = p.dtype.type(0)
        for i in range(p.shape[1]):
            p_bar[s, i] = p[s, i] - t[s, i]
        for i in range(p.shape[1]):
            total += p_bar[s, i] * p_bar[s, i]
        losses[s] = half * total
    return all_finite(losses)


@compiled
def squared_error_product(p, t, own, v, product):
    """v_si"""
    for s in range(v.shape[0]):
        for i in range(v.shape[1]):
            product[s, i] = v[s, i]


# -- softmax and cross-entropy ---------------------------------------------------------------------


@compiled
def shifted_exponentials(p, e, largest):
    """e_si = exp(p_si - p_sm), with m the place of the largest p_si, in `largest` (S,)"""
    for s in range(p.shape[0]):
        m = 0
        for i in range(1, p.shape[1]):
            if p[s, i] > p[s, m]:
                m = i
        largest[s] = m
        for i in range(p.shape[1]):
            e[s, i] = p[s, i] - p[s, m]
    flat = e.reshape(-1)
    exp_not_above_zero(flat, flat)


@compiled
def softmax_cross_entropy(p, t, own, losses, p_bar):
    """With e_si = exp(p_si - p_sm), m the largest output, and `others` the sum of e_si, i != m:

    losses_s = sum_i t_si (log(1 + others) - (p_si - p_sm));
    p_bar_si = q_si (sum_j t_sj - t_si) - t_si (1 - q_si),  q_si = e_si / (1 + others)

    1 - q_si is (1 + others - e_si) / (1 + others), where i = m without the rounding of the sum.
    """
    zero, one = p.dtype.type(0), p.dtype.type(1)
    largest = np.empty(p.shape[0], np.int64)
    shifted_exponentials(p, p_bar, largest)
    for s in range(p.shape[0]):
        m, others, weight = largest[s], zero, zero
        for i in range(p.shape[1]):
            weight += t[s, i]
            if i != m:
                others += p_bar[s, i]
        total, log_total, loss = one + others, math.log1p(others), zero
        for i in range(p.shape[1]):
            loss += t[s, i] * (log_total - (p[s, i] - p[s, m]))
            e = p_bar[s, i]
            rest = others if i == m else total - e
            p_bar[s, i] = (e * (weight - t[s, i]) - t[s, i] * rest) / total
        losses[s] = loss
    return all_finite(losses)


@compiled
def softmax_cross_entropy_product(p, t, own, v, product):
    """q_si (v_si - sum_j q_sj v_sj) sum_j t_sj, with v measured from the entry where q is largest:
    where that q rounds to 1, its own difference would cancel.
    """
    zero = p.dtype.type(0)
    largest = np.empty(p.shape[0], np.int64)
    shifted_exponentials(p, product, largest)
    for s in range(p.shape[0]):
        top, total, mean, weight = v[s, largest[s]], zero, zero, zero
        for i in range(p.shape[1]):
            total += product[s, i]
            mean += product[s, i] * (v[s, i] - top)
            weight += t[s, i]
        mean /= total
        for i in range(p.shape[1]):
            q = product[s, i] / total
            product[s, i] = q * ((v[s, i] - top) - mean) * weight


@compiled
def softmax_cross_entropy_diagonal(p, t, own, diagonal):
    """q_si (1 - q_si) sum_j t_sj, with 1 - q_si as in the gradient."""
    zero, one = p.dtype.type(0), p.dtype.type(1)
    largest = np.empty(p.shape[0], np.int64)
    shifted_exponentials(p, diagonal, largest)
    for s in range(p.shape[0]):
        m, others, weight = largest[s], zero, zero
        for i in range(p.shape[1]):
            weight += t[s, i]
            if i != m:
                others += diagonal[s, i]
        total = one + others
        for i in range(p.shape[1]):
            e = diagonal[s, i]
            rest = others if i == m else total - e
            diagonal[s, i] = (e / total) * (rest / total) * weight


# -- the bounded criterion -------------------------------------------------------------------------


@compiled
def bounded_parts(s, t, q, largest, delta, epsilon):
    """c, c' and c'' in the share s_s = sum_i t_si q_si of the right classes, and the centre: t_s
    minus its mean under q is (t_si - t_sm) - centre.
    """
    zero, one = q.dtype.type(0), q.dtype.type(1)
    top, share, centre = t[s, largest[s]], zero, zero
    for i in range(q.shape[1]):
        share += t[s, i] * q[s, i]
        centre += q[s, i] * (t[s, i] - top)
    z = delta * (share - epsilon)
    e = math.exp(-abs(z))
    c, rest = (e if z > zero else one) / (one + e), (one if z > zero else e) / (one + e)
    return c, -delta * c * rest, delta * delta * c * rest * (rest - c), centre


@compiled
def softmax(p, q, largest):
    """q_si = exp(p_si - p_sm) / sum_j exp(p_sj - p_sm)"""
    shifted_exponentials(p, q, largest)
    for s in range(p.shape[0]):
        total = p.dtype.type(0)
        for i in range(p.shape[1]):
            total += q[s, i]
        for i in range(p.shape[1]):
            q[s, i] /= total


@compiled
def bounded_criterion(p, t, own, losses, p_bar):
    """losses_s = 1 / (1 + exp(delta (s_s - epsilon))) with s_s = sum_i t_si q_si, q = softmax(p);
    p_bar_si = c'(s_s) q_si (t_si - s_s)
    """
    largest = np.empty(p.shape[0], np.int64)
    softmax(p, p_bar, largest)
    for s in range(p.shape[0]):
        c, first, _, centre = bounded_parts(s, t, p_bar, largest, own[0], own[1])
        top = t[s, largest[s]]
        for i in range(p.shape[1]):
            p_bar[s, i] *= first * ((t[s, i] - top) - centre)
        losses[s] = c
    return all_finite(losses)


@compiled
def bounded_criterion_product(p, t, own, w, product):
    """c'' v_si (v w)_s + c' (v_si w_si - v_si (q w)_s - q_si (v w)_s)

    with v_si = q_si (t_si - s_s), (v w)_s = sum_i v_si w_si, (q w)_s = sum_i q_si w_si.
    """
    largest = np.empty(p.shape[0], np.int64)
    softmax(p, product, largest)
    for s in range(p.shape[0]):
        _, first, second, centre = bounded_parts(s, t, product, largest, own[0], own[1])
        top, vw, qw = t[s, largest[s]], p.dtype.type(0), p.dtype.type(0)
        for i in range(p.shape[1]):
            q = product[s, i]
            vw += q * ((t[s, i] - top) - centre) * w[s, i]
            qw += q * w[s, i]
        for i in range(p.shape[1]):
            q = product[s, i]
            v = q * ((t[s, i] - top) - centre)
            product[s, i] = second * v * vw + first * (v * w[s, i] - v * qw - q * vw)
