"""Second derivatives of one sample for any activation, (66)-(80), index by index.

Indices as the paper has them: d / d w_t^(q),s and d / d w_i^(k),l. Where the print is wrong the
corrected form bears the name, and the printed one stands beside it.
"""

import numpy as np

from .first_derivatives import dv_dw
from .quantities import alpha, eta, eta_bar, gamma, lambda_
from .relu import through_outputs


def dgamma_dw_explicit(sample, l, q):
    """Eq. (66): :func:`dgamma_dw` with A'' and Kronecker deltas for lambda, indices m, r, s, t.

    l < q:  0
    l = q:  delta_r^m A''(z^m) delta_s^m v^(l-1),t, no sum over m
    l > q:  delta_r^m A''(z^m) w_a^(l),m eta_s^(l-1,q),a v^(q-1),t, no sum over m
    """
    v, second = sample.v_bar[q - 1], sample.second_derivative[l]
    identity = np.eye(len(second), dtype=sample.p.dtype)
    if l < q:
        return np.zeros((len(second), len(second), len(sample.v[q]), len(v)), dtype=sample.p.dtype)
    if l == q:
        return np.einsum("mr,m,ms,t->mrst", identity, second, identity, v)
    return np.einsum("mr,m,ma,as,t->mrst", identity, second, sample.w[l], eta(sample, l - 1, q), v)


def dgamma_dw(sample, l, q):
    """Eq. (68): d gamma_r^(l),m / d w_t^(q),s, indices m, r, s, t.

    l < q:  0
    l = q:  lambda_rs^(l),m v^(l-1),t
    l > q:  lambda_rp^(l),m w_a^(l),p eta_s^(l-1,q),a v^(q-1),t
    """
    v = sample.v_bar[q - 1]
    if l < q:
        d = len(sample.v[l])
        return np.zeros((d, d, len(sample.v[q]), len(v)), dtype=sample.p.dtype)
    if l == q:
        return np.einsum("mrs,t->mrst", lambda_(sample, l), v)
    return np.einsum("mrp,pa,as,t->mrst", lambda_(sample, l), sample.w[l], eta(sample, l - 1, q), v)


def dbeta_dw(sample, r, q):
    """Eq. (71): d beta_a^(r),b / d w_t^(q),s, indices b, a, s, t.

    r < q:  0
    r = q:  lambda_ps^(r),b w_a^(r),p v^(r-1),t + gamma_s^(r),b delta_a^t
    r > q:  lambda_dp^(r),b w_a^(r),d w_m^(r),p eta_s^(r-1,q),m v^(q-1),t

    The column of a bias has no delta_a^t.
    """
    v, w = sample.v_bar[q - 1], sample.w[r]
    if r < q:
        return np.zeros((*w.shape, len(sample.v[q]), len(v)), dtype=sample.p.dtype)
    if r == q:
        identity = np.eye(w.shape[1], len(v), dtype=v.dtype)
        return (np.einsum("bps,pa,t->bast", lambda_(sample, r), w, v)
                + np.einsum("bs,at->bast", gamma(sample, r), identity))
    return np.einsum("bdp,da,pm,ms,t->bast", lambda_(sample, r), w, w, eta(sample, r - 1, q), v,
                     optimize=True)


def dalpha_dw(sample, k, l, q):
    """Eq. (72): d alpha_m^(k,l),j / d w_t^(q),s, indices j, m, s, t.

    It is the sum over r = l + 1, ..., k of
    alpha_b^(k,r),j (d beta_a^(r),b / d w_t^(q),s) alpha_m^(r-1,l),a
    """
    d_l, v = len(sample.v[l]), sample.v_bar[q - 1]
    total = np.zeros((len(sample.v[k]), d_l, len(sample.v[q]), len(v)), dtype=sample.p.dtype)
    for r in range(l + 1, k + 1):
        total += np.einsum("jb,bast,am->jmst", alpha(sample, k, r), dbeta_dw(sample, r, q),
                           alpha(sample, r - 1, l), optimize=True)
    return total


def dalpha_dw_by_cases(sample, k, l, q):
    """Eq. (72), second line: :func:`dalpha_dw` written out, indices j, m, s, t.

    The sum over r = max(q, l) + 1, ..., k of
    alpha_b^(k,r),j lambda_dp^(r),b w_a^(r),d w_c^(r),p eta_s^(r-1,q),c v^(q-1),t alpha_m^(r-1,l),a,
    and for q > l what layer q itself adds,
    alpha_b^(k,q),j (d beta_a^(q),b / d w_t^(q),s) alpha_m^(q-1,l),a with (71) for r = q
    """
    v = sample.v_bar[q - 1]
    total = np.zeros((len(sample.v[k]), len(sample.v[l]), len(sample.v[q]), len(v)),
                     dtype=sample.p.dtype)
    if k < q:
        return total
    for r in range(max(q, l) + 1, k + 1):
        w = sample.w[r]
        total += np.einsum("jb,bdp,da,pc,cs,t,am->jmst", alpha(sample, k, r), lambda_(sample, r), w,
                           w, eta(sample, r - 1, q), v, alpha(sample, r - 1, l), optimize=True)
    if q > l:
        w = sample.w[q]
        identity = np.eye(w.shape[1], len(v), dtype=v.dtype)
        own = (np.einsum("bps,pa,t->bast", lambda_(sample, q), w, v)
               + np.einsum("bs,at->bast", gamma(sample, q), identity))
        total += np.einsum("jb,bast,am->jmst", alpha(sample, k, q), own, alpha(sample, q - 1, l))
    return total


def deta_dw_product_rule(sample, n, k, q):
    """Eq. (73): d eta_l^(n,k),j / d w_t^(q),s, indices j, l, s, t, by the product rule.

    (d alpha_m^(n,k),j / d w_t^(q),s) gamma_l^(k),m + alpha_m^(n,k),j d gamma_l^(k),m / d w_t^(q),s
    """
    return (np.einsum("jmst,ml->jlst", dalpha_dw(sample, n, k, q), gamma(sample, k))
            + np.einsum("jm,mlst->jlst", alpha(sample, n, k), dgamma_dw(sample, k, q)))


def sum_above(sample, n, k, q, first):
    """The sum over r = first, ..., n in (74)-(77): what A'' adds above, indices j, s, l.

    alpha_b^(n,r),j lambda_dp^(r),b w_a^(r),d w_c^(r),p eta_s^(r-1,q),c eta_l^(r-1,k),a
    """
    total = np.zeros((len(sample.v[n]), len(sample.v[q]), len(sample.v[k])), dtype=sample.p.dtype)
    for r in range(first, n + 1):
        w = sample.w[r]
        total += np.einsum("jb,bdp,da,pc,cs,al->jsl", alpha(sample, n, r), lambda_(sample, r), w, w,
                           eta(sample, r - 1, q), eta(sample, r - 1, k), optimize=True)
    return total


def sum_above_as_printed(sample, n, k, q):
    """The sum over r = k + 1, ..., n of (74), q < k, as printed: with eta_s^(r-1,k),c.

    It needs layers of one width.
    """
    total = np.zeros((len(sample.v[n]), len(sample.v[q]), len(sample.v[k])), dtype=sample.p.dtype)
    for r in range(k + 1, n + 1):
        w = sample.w[r]
        total += np.einsum("jb,bdp,da,pc,cs,al->jsl", alpha(sample, n, r), lambda_(sample, r), w, w,
                           eta(sample, r - 1, k), eta(sample, r - 1, k), optimize=True)
    return total


def deta_dw_unreduced(sample, n, k, q):
    """Eq. (74), corrected for q < k: :func:`deta_dw` with alpha gamma for eta_l where the print has
    it, indices j, l, s, t.

    The first two cases are :func:`dalpha_dw_by_cases` times gamma, the others add what gamma^(k)
    itself changes by.
    """
    # (74)
    result = np.einsum("jmst,ml->jlst", dalpha_dw_by_cases(sample, n, k, q), gamma(sample, k))
    if q == k:
        result += np.einsum("jm,mls,t->jlst", alpha(sample, n, k), lambda_(sample, k),
                            sample.v_bar[k - 1])
    if q < k:
        result += np.einsum("jm,mlp,pa,as,t->jlst", alpha(sample, n, k), lambda_(sample, k),
                            sample.w[k], eta(sample, k - 1, q), sample.v_bar[q - 1], optimize=True)
    return result


def deta_dw(sample, n, k, q):
    """Eq. (75), corrected for q < k: d eta_l^(n,k),j / d w_t^(q),s, indices j, l, s, t.

    `sum_above` times v^(q-1),t, from r = q + 1 for q > k and from r = k + 1 else, and
    q > k:  alpha_b^(n,q),j lambda_ps^(q),b w_a^(q),p v^(q-1),t eta_l^(q-1,k),a
            and eta_s^(n,q),j eta_l^(q-1,k),t
    q = k:  alpha_m^(n,k),j lambda_ls^(k),m v^(k-1),t
    q < k:  alpha_m^(n,k),j lambda_lp^(k),m w_a^(k),p eta_s^(k-1,q),a v^(q-1),t
    """
    v, w = sample.v_bar[q - 1], sample.w
    if q > k:
        own = np.einsum("jb,bps,pa,al->jsl", alpha(sample, n, q), lambda_(sample, q), w[q],
                        eta(sample, q - 1, k), optimize=True)
        return (np.einsum("jsl,t->jlst", sum_above(sample, n, k, q, q + 1) + own, v)
                + np.einsum("js,tl->jlst", eta(sample, n, q), eta_bar(sample, q - 1, k)))
    if q == k:
        own = np.einsum("jm,mls->jsl", alpha(sample, n, k), lambda_(sample, k))
    else:
        own = np.einsum("jm,mlp,pa,as->jsl", alpha(sample, n, k), lambda_(sample, k), w[k],
                        eta(sample, k - 1, q), optimize=True)
    return np.einsum("jsl,t->jlst", sum_above(sample, n, k, q, k + 1) + own, v)  # (75)


def deta_dw_as_printed(sample, n, k, q):
    """Eq. (74)-(75), third case (q < k) as printed.

    The sum has v^(k-1),t and eta^(r-1,k) for v^(q-1),t and eta^(r-1,q).
    """
    right = np.einsum("jsl,t->jlst", sum_above(sample, n, k, q, k + 1), sample.v_bar[q - 1])
    printed = np.einsum("jsl,t->jlst", sum_above_as_printed(sample, n, k, q), sample.v_bar[k - 1])
    return deta_dw(sample, n, k, q) - right + printed


def d2v_dw_dw_product_rule(sample, k, q):
    """Eq. (76): d2 v^(n),j / d w_i^(k),l d w_t^(q),s by the product rule, indices j, l, i, s, t.

    (d eta_l^(n,k),j / d w_t^(q),s) v^(k-1),i, and for q < k also
    eta_l^(n,k),j d v^(k-1),i / d w_t^(q),s
    """
    n = sample.n
    moved = deta_dw_product_rule(sample, n, k, q)
    result = np.einsum("jlst,i->jlist", moved, sample.v_bar[k - 1])
    if q < k:
        below = dv_dw(sample, k - 1, q)
        result[:, :, : below.shape[0]] += np.einsum("jl,ist->jlist", eta(sample, n, k), below)
    return result


def d2v_dw_dw(sample, k, q):
    """Eq. (77), corrected: d2 v^(n),j / d w_i^(k),l d w_t^(q),s, indices j, l, i, s, t.

    (d eta_l^(n,k),j / d w_t^(q),s) v^(k-1),i, and for q < k also
    eta_l^(n,k),j eta_s^(k-1,q),i v^(q-1),t
    """
    n, v = sample.n, sample.v_bar
    result = np.einsum("jlst,i->jlist", deta_dw(sample, n, k, q), v[k - 1])
    if q < k:
        result += np.einsum("jl,is,t->jlist", eta(sample, n, k), eta_bar(sample, k - 1, q),
                            v[q - 1])
    return result


def d2v_dw_dw_as_printed(sample, k, q):
    """Eq. (77), third case (q < k) as printed, with the same slip."""
    n = sample.n
    difference = deta_dw_as_printed(sample, n, k, q) - deta_dw(sample, n, k, q)
    return d2v_dw_dw(sample, k, q) + np.einsum("jlst,i->jlist", difference, sample.v_bar[k - 1])


def block_ww(sample, k, q):
    """Eq. (80): d2 f / d w_i^(k),l d w_t^(q),s, indices l, i, s, t, for every A.

    It is the first line of (5) and f_p^a u_j^a d2 v^(n),j / d w_i^(k),l d w_t^(q),s
    """
    second_order = np.einsum("a,aj,jlist->list", sample.f_p, sample.u, d2v_dw_dw(sample, k, q),
                             optimize=True)
    return through_outputs(sample, k, q) + second_order
