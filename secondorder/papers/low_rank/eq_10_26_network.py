"""The network, Table 1, and the Jacobians of one layer in another: Eq. (10)-(26).

Everything is said of one :class:`Sample` s and numbers of layers. An upper index is a row, a lower
one a column. The paper has no biases: a network with biases is the paper's with one unit more in
every layer, whose output is always 1. Its slope is 1 and its second derivative 0, so that it comes
through every formula, and no formula mentions it.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

einsum = partial(np.einsum, optimize=True)


# -- the network, (10)-(17) ------------------------------------------------------------------------


def eq_10_layer(w, v, A):
    """Eq. (10), (12): v^(k),j = A(w_i^(k),j v^(k-1),i), (d_k,), and v^(0) = x"""
    return A(einsum("ji,i->j", w, v))


def eq_11_relu(z):
    """Eq. (11): A(z) = max(z, 0)"""
    return np.maximum(z, 0)


def eq_13_output(u, v):
    """Eq. (13): p^j = u_i^j v^(n),i, (C,). Section 2 prints u_j^i, the transpose of u."""
    return einsum("ji,i->j", u, v)


def eq_14_softmax(p):
    """Eq. (14): y_hat^j = exp(p^j) / sum_l exp(p^l)"""
    return np.exp(p) / np.sum(np.exp(p))


def eq_15_cross_entropy(y, y_hat):
    """Eq. (15): f = -y^l ln y_hat^l"""
    return -einsum("l,l->", y, np.log(y_hat))


def eq_16_objective(f):
    """Eq. (16): F = E[f], the mean over the samples"""
    return np.mean(f)


def eq_17_relu_slope(z):
    """Eq. (17): A'(z) = 1 for z > 0, 0 for z < 0"""
    return np.where(z > 0, 1.0, 0.0)


class Sample(NamedTuple):
    """Table 1 at one sample. Lists go by the number of the layer; w, slope, bend begin with None.

    w : w^(k) (d_k, d_k-1);  v : v^(k) (d_k,), v[0] = x;  slope, bend : A', A'' at w^(k) v^(k-1),
    (d_k,);  u : (C, d_n);  f_p (C,), f_pp (C, C) : derivatives of f in p.
    """

    w: list
    v: list
    slope: list
    bend: list
    u: np.ndarray | None = None
    f_p: np.ndarray | None = None
    f_pp: np.ndarray | None = None

    @property
    def n(self):
        """Number of hidden layers."""
        return len(self.w) - 1


# -- Jacobians, (18)-(26) --------------------------------------------------------------------------


def eq_18_dv_dw(s, k, l):
    """Eq. (18): d v^(k),j / d w_t^(l),s, layer by layer, indices j, s, t; no sum over j

    l > k: 0;   l = k: delta_s^j A'^j v^(k-1),t;   l < k: A'^j w_q^(k),j d v^(k-1),q / d w_t^(l),s
    """
    if l > k:
        return np.zeros((len(s.v[k]), *s.w[l].shape))
    if l == k:
        return einsum("js,j,t->jst", np.eye(len(s.v[k])), s.slope[k], s.v[k - 1])
    return einsum("j,jq,qst->jst", s.slope[k], s.w[k], eq_18_dv_dw(s, k - 1, l))


def eq_19_gamma(s, k):
    """Eq. (19): gamma_s^(k),j = delta_s^j A'(w_i^(k),j v^(k-1),i), (d_k, d_k)"""
    return np.diag(s.slope[k])


def eq_20_beta(s, k):
    """Eq. (20) = (70): beta_i^(k),j = gamma_s^(k),j w_i^(k),s = d v^(k),j / d v^(k-1),i"""
    return eq_19_gamma(s, k) @ s.w[k]


def eq_21_alpha(s, k, l):
    """Eq. (21): alpha^(k,l) = beta^(k) beta^(k-1) .. beta^(l+1) = d v^(k) / d v^(l), (d_k, d_l)

    The identity for k = l, 0 for k < l. In print i is an index of the left side and runs through
    the product as well.
    """
    if k < l:
        return np.zeros((len(s.v[k]), len(s.v[l])))
    return np.eye(len(s.v[l])) if k == l else eq_20_beta(s, k) @ eq_21_alpha(s, k - 1, l)


def eq_22_chain(s, k, l, m):
    """Eq. (22): alpha^(k,l) alpha^(l,m), which is alpha^(k,m) for k >= l >= m"""
    return eq_21_alpha(s, k, l) @ eq_21_alpha(s, l, m)


def eq_23_eta(s, k, l):
    """Eq. (23): eta_i^(k,l),j = alpha_s^(k,l),j gamma_i^(l),s, (d_k, d_l)

    The Jacobian of v^(k) in w^(l) v^(l-1), what goes into the activation of layer l.
    """
    return eq_21_alpha(s, k, l) @ eq_19_gamma(s, l)


def eq_23_as_printed(s, k, l):
    """Eq. (23) as printed: alpha_s^(k,l),j gamma_i^(k),s, with the slopes of the upper layer"""
    return eq_21_alpha(s, k, l) @ eq_19_gamma(s, k)


def every_eta(s):
    """All eta^(k,l) with k >= l by (k, l), each by one product from the layer below: w^(k) times
    eta^(k-1,l), then A'. That is what the count n (n - 1) / 2 is about.
    """
    eta = {}
    for k in range(1, s.n + 1):
        for l in range(1, k):
            eta[k, l] = s.slope[k][:, None] * (s.w[k] @ eta[k - 1, l])
        eta[k, k] = eq_19_gamma(s, k)
    return eta


def eq_24_dv_dw(s, k, l):
    """Eq. (24): d v^(k),j / d w_t^(l),s = eta_s^(k,l),j v^(l-1),t, 0 for l > k; indices j, s, t"""
    return einsum("js,t->jst", eq_23_eta(s, k, l), s.v[l - 1])


def eq_25_dp_du(s):
    """Eq. (25): d p^j / d u_k^l = delta_l^j v^(n),k, indices j, l, k. Printed with d u_k^j."""
    return einsum("jl,k->jlk", np.eye(len(s.u)), s.v[s.n])


def eq_26_dp_dv(s):
    """Eq. (26): d p^j / d v^(n),i = u_i^j, (C, d_n)"""
    return s.u.copy()
