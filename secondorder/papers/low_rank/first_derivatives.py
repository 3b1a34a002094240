"""First derivatives of one sample, (1)-(2), (18) and (24)-(28): outer products of what is below and
above a weight.
"""

import numpy as np

from .quantities import eta, gamma


def dv_dw_recursion(sample, k, l):
    """[low-rank] Eq. (18): d v^(k),j / d w_t^(l),s, (d_k, d_l, d_l-1), layer by layer.

    0 for l > k; delta_s^j A'(z^j) v^(l-1),t for l = k; A'(z^j) w_q^(k),j d v^(k-1),q / d w_t^(l),s
    for l < k.
    """
    if l > k:
        return np.zeros((len(sample.v[k]), len(sample.v[l]), len(sample.v_bar[l - 1])),
                        dtype=sample.p.dtype)
    if l == k:
        return np.einsum("js,t->jst", gamma(sample, k), sample.v_bar[k - 1])
    below = dv_dw_recursion(sample, k - 1, l)
    return np.einsum("j,jq,qst->jst", sample.slope[k], sample.w[k], below)


def dv_dw(sample, k, l):
    """[low-rank] Eq. (24): d v^(k),j / d w_t^(l),s = eta_s^(k,l),j v^(l-1),t, (d_k, d_l, d_l-1); 0
    for l > k.
    """
    return np.einsum("js,t->jst", eta(sample, k, l), sample.v_bar[l - 1])


def dp_du(sample):
    """[low-rank] Eq. (25), with u_k^l below the line: d p^j / d u_k^l = delta_l^j v^(n),k, (C, C,
    d_n).
    """
    return np.einsum("jl,k->jlk", np.eye(len(sample.p), dtype=sample.p.dtype),
                     sample.v_bar[sample.n])


def dp_dv(sample):
    """[low-rank] Eq. (26): d p^j / d v^(n),i = u_i^j, (C, d_n)."""
    return sample.u.copy()


def df_du(sample):
    """[low-rank] Eq. (1), (27): d f / d u_j^i = f_p^i v^(n),j, (C, d_n)."""
    return np.einsum("i,j->ij", sample.f_p, sample.v_bar[sample.n])


def df_dw(sample, k):
    """[low-rank] Eq. (28): d f / d w_j^(k),i = f_p^l u_m^l eta_i^(n,k),m v^(k-1),j, (d_k, d_k-1);
    Eq. (2) misprints it.
    """
    return np.einsum("l,lm,mi,j->ij", sample.f_p, sample.u, eta(sample, sample.n, k),
                     sample.v_bar[k - 1])
