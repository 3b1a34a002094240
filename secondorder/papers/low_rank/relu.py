"""Second derivatives of one sample where A'' = 0: blocks (3)-(7) and their derivation (29)-(36).

Blocks have four indices: row and column of the first weight, then of the second. Terms in which an
index of v_bar is differentiated have eta_bar, whose row for the bias is zero.
"""

import numpy as np

from .quantities import alpha, eta, eta_bar, gamma


def dalpha_dw(sample, n, k, r):
    """[low-rank] Eq. (30): d alpha_q^(n,k),m / d w_t^(r),s = eta_s^(n,r),m alpha_q^(r-1,k),t,
    indices m, q, s, t.

    It vanishes for r <= k, as alpha^(r-1,k) does.
    """
    return np.einsum("ms,tq->mqst", eta(sample, n, r), alpha(sample, r - 1, k))


def deta_dw(sample, n, k, r):
    """[low-rank] Eq. (32): d eta_i^(n,k),m / d w_t^(r),s = (d alpha_q^(n,k),m / d w_t^(r),s)
    gamma_i^(k),q.
    """
    return np.einsum("mqst,qi->mist", dalpha_dw(sample, n, k, r), gamma(sample, k))


def d2v_dw_dw(sample, k, r):
    """[low-rank] Eq. (33): d2 v^(n),m / d w_j^(k),i d w_t^(r),s, indices m, i, j, s, t.

    eta_s^(n,r),m eta_i^(r-1,k),t v^(k-1),j for r > k; 0 for r = k; eta_i^(n,k),m eta_s^(k-1,r),j
    v^(r-1),t for r < k.
    """
    n, v = sample.n, sample.v_bar
    if r > k:
        return np.einsum("ms,ti,j->mijst", eta(sample, n, r), eta_bar(sample, r - 1, k), v[k - 1])
    if r < k:
        return np.einsum("mi,js,t->mijst", eta(sample, n, k), eta_bar(sample, k - 1, r), v[r - 1])
    shape = len(sample.v[k]), len(v[k - 1])
    return np.zeros((len(sample.v[n]), *shape, *shape), dtype=sample.p.dtype)


def block_uu(sample):
    """[low-rank] Eq. (3), (34): d2 f / d u_j^i d u_t^s = f_pp^is v^(n),j v^(n),t, (C, d_n, C, d_n);
    true for every A.
    """
    v = sample.v_bar[sample.n]
    return np.einsum("is,j,t->ijst", sample.f_pp, v, v)


def coefficient_a(sample, k):
    """[low-rank] Eq. (7): a_is = f_pp^il u_m^l eta_s^(n,k),m, (C, d_k)."""
    return np.einsum("il,lm,ms->is", sample.f_pp, sample.u, eta(sample, sample.n, k))


def block_uw(sample, k):
    """[low-rank] Eq. (4), (6), (35): d2 f / d u_j^i d w_t^(k),s, (C, d_n, d_k, d_k-1); true for
    every A.

    f_p^i eta_s^(n,k),j v^(k-1),t + a_is v^(n),j v^(k-1),t.
    """
    v = sample.v_bar
    bent = np.einsum("i,js,t->ijst", sample.f_p, eta_bar(sample, sample.n, k), v[k - 1])
    return bent + np.einsum("is,j,t->ijst", coefficient_a(sample, k), v[sample.n], v[k - 1])


def through_outputs(sample, k, r):
    """The first line of Eq. (5): f_pp^lq u_m^l eta_i^(n,k),m v^(k-1),j u_a^q eta_s^(n,r),a
    v^(r-1),t.
    """
    n, v = sample.n, sample.v_bar
    return np.einsum("lq,lm,mi,j,qa,as,t->ijst", sample.f_pp, sample.u, eta(sample, n, k), v[k - 1],
                     sample.u, eta(sample, n, r), v[r - 1], optimize=True)


def block_ww(sample, k, r):
    """[low-rank] Eq. (5), (36): d2 f / d w_j^(k),i d w_t^(r),s, (d_k, d_k-1, d_r, d_r-1), for A'' =
    0.
    """
    bent = np.einsum("l,lm,mijst->ijst", sample.f_p, sample.u, d2v_dw_dw(sample, k, r))
    return through_outputs(sample, k, r) + bent
