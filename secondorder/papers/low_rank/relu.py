"""ReLU, (11), (17), (29)-(31), and second derivatives of one sample where A'' = 0: blocks (3)-(7)
and their derivation (32)-(36).

Blocks have four indices: row and column of the first weight, then of the second. Terms in which an
index of v_bar is differentiated have eta_bar, whose row for the bias is zero.
"""

import numpy as np

from .quantities import alpha, eta, eta_bar, gamma


def rectifier(z):
    """Eq. (11): A(z) = max(z, 0)."""
    return np.maximum(z, 0)  # (11)


def rectifier_slope(z):
    """Eq. (17): A'(z) = 1 for z > 0, 0 for z < 0."""
    return np.where(z > 0, 1.0, 0.0)  # (17)


def rectifier_second_derivative(z):
    """Eq. (29): A''(z) = 0, for z other than 0."""
    return np.zeros_like(z)  # (29)


def dgamma_dw(sample, k, q):
    """Eq. (31): d gamma_s^(k),j / d w_t^(q),r = 0, indices j, s, r, t."""
    d = len(sample.v[k])
    # (31)
    return np.zeros((d, d, len(sample.v[q]), len(sample.v_bar[q - 1])), dtype=sample.p.dtype)


def dalpha_dw(sample, n, k, r):
    """Eq. (30): how alpha changes with the weights of layer r, indices m, q, s, t.

    d alpha_q^(n,k),m / d w_t^(r),s = eta_s^(n,r),m alpha_q^(r-1,k),t

    It vanishes for r <= k, as alpha^(r-1,k) does. The column of a bias has no alpha.
    """
    below = alpha(sample, r - 1, k)
    columns = np.zeros((len(sample.v_bar[r - 1]), below.shape[1]), dtype=below.dtype)
    columns[:len(below)] = below
    return np.einsum("ms,tq->mqst", eta(sample, n, r), columns)


def deta_dw(sample, n, k, r):
    """Eq. (32): how eta changes with the weights of layer r, indices m, i, s, t.

    d eta_i^(n,k),m / d w_t^(r),s = (d alpha_q^(n,k),m / d w_t^(r),s) gamma_i^(k),q
    """
    return np.einsum("mqst,qi->mist", dalpha_dw(sample, n, k, r), gamma(sample, k))


def d2v_dw_dw(sample, k, r):
    """Eq. (33): d2 v^(n),m / d w_j^(k),i d w_t^(r),s, indices m, i, j, s, t.

    r > k:  eta_s^(n,r),m eta_i^(r-1,k),t v^(k-1),j
    r = k:  0
    r < k:  eta_i^(n,k),m eta_s^(k-1,r),j v^(r-1),t
    """
    n, v = sample.n, sample.v_bar
    if r > k:
        return np.einsum("ms,ti,j->mijst", eta(sample, n, r), eta_bar(sample, r - 1, k), v[k - 1])
    if r < k:
        return np.einsum("mi,js,t->mijst", eta(sample, n, k), eta_bar(sample, k - 1, r), v[r - 1])
    shape = len(sample.v[k]), len(v[k - 1])
    return np.zeros((len(sample.v[n]), *shape, *shape), dtype=sample.p.dtype)


def block_uu(sample):
    """Eq. (3), (34), (78): the block of u, (C, d_n, C, d_n); true for every A.

    d2 f / d u_j^i d u_t^s = f_pp^is v^(n),j v^(n),t
    """
    v = sample.v_bar[sample.n]
    return np.einsum("is,j,t->ijst", sample.f_pp, v, v)  # (3), (34)


def coefficient_a(sample, k):
    """Eq. (7): a_is = f_pp^il u_m^l eta_s^(n,k),m, (C, d_k)."""
    return np.einsum("il,lm,ms->is", sample.f_pp, sample.u, eta(sample, sample.n, k))  # (7)


def block_uw(sample, k):
    """Eq. (4), (6), (35), (79): the block of u and w^(k), (C, d_n, d_k, d_k-1); true for every A.

    d2 f / d u_j^i d w_t^(k),s = f_p^i eta_s^(n,k),j v^(k-1),t + a_is v^(n),j v^(k-1),t
    """
    v = sample.v_bar
    first = np.einsum("i,js,t->ijst", sample.f_p, eta_bar(sample, sample.n, k), v[k - 1])
    # (4), (6), (35)
    return first + np.einsum("is,j,t->ijst", coefficient_a(sample, k), v[sample.n], v[k - 1])


def through_outputs(sample, k, r):
    """The first line of Eq. (5): what comes of the objective's second derivatives in p.

    f_pp^lq u_m^l eta_i^(n,k),m v^(k-1),j u_a^q eta_s^(n,r),a v^(r-1),t
    """
    n, v = sample.n, sample.v_bar
    return np.einsum("lq,lm,mi,j,qa,as,t->ijst", sample.f_pp, sample.u, eta(sample, n, k), v[k - 1],
                     sample.u, eta(sample, n, r), v[r - 1], optimize=True)


def block_ww(sample, k, r):
    """Eq. (5), (36): the block of w^(k) and w^(r), (d_k, d_k-1, d_r, d_r-1), for A'' = 0.

    d2 f / d w_j^(k),i d w_t^(r),s is the first line of (5) and
    f_p^l u_m^l d2 v^(n),m / d w_j^(k),i d w_t^(r),s
    """
    second_order = np.einsum("l,lm,mijst->ijst", sample.f_p, sample.u, d2v_dw_dw(sample, k, r))
    return through_outputs(sample, k, r) + second_order  # (5), (36)


def directional_curvature(sample, omega, phi):
    """Eq. (39), corrected, line by line: g^T H g of one sample, for A'' = 0.

    Parameters
    ----------
    sample : Quantities
    omega : array like u
        With a column more where there is a bias.
    phi : list of arrays
        By layer, as ``sample.w``; phi[0] is None.
    """
    f_p, f_pp, u, v, n = sample.f_p, sample.f_pp, sample.u, sample.v_bar, sample.n
    total = np.einsum("ij,is,j,t,st->", omega, f_pp, v[n], v[n], omega, optimize=True)
    for k in range(1, n + 1):
        of_n = eta(sample, n, k)
        total += 2 * np.einsum("ij,i,js,t,st->", omega, f_p, eta_bar(sample, n, k), v[k - 1],
                               phi[k], optimize=True)
        total += 2 * np.einsum("ij,il,j,lm,ms,t,st->", omega, f_pp, v[n], u, of_n, v[k - 1],
                               phi[k], optimize=True)
        for r in range(1, n + 1):
            total += np.einsum("ij,lq,lm,mi,j,qa,as,t,st->", phi[k], f_pp, u, of_n, v[k - 1], u,
                               eta(sample, n, r), v[r - 1], phi[r], optimize=True)
        for r in range(1, k):
            total += 2 * np.einsum("ij,l,lm,mi,js,t,st->", phi[k], f_p, u, of_n,
                                   eta_bar(sample, k - 1, r), v[r - 1], phi[r], optimize=True)
    return total
