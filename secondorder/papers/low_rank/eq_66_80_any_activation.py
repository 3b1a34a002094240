"""Second derivatives for any activation, at one sample: Eq. (66)-(80).

The paper tells the cases l = q and l > q apart. They become one with a name, which is ours, for how
what goes into the activation of layer l changes with what goes into that of layer q:

    zeta^(l,q) = w^(l) eta^(l-1,q) for l > q,   1 for l = q,   0 for l < q.
"""

import numpy as np

from .eq_01_07_low_rank import eq_5_first_line
from .eq_10_26_network import einsum, eq_24_dv_dw
from .eq_10_26_network import eq_19_gamma as gamma
from .eq_10_26_network import eq_21_alpha as alpha
from .eq_10_26_network import eq_23_eta as eta


def zeta(s, l, q):
    """d (w_i^(l),j v^(l-1),i) / d (w_i^(q),s v^(q-1),i), (d_l, d_q)"""
    if l == q:
        return np.eye(len(s.v[l]))
    return s.w[l] @ eta(s, l - 1, q) if l > q else np.zeros((len(s.v[l]), len(s.v[q])))


def eq_66_dgamma(s, l, q):
    """Eq. (66): d gamma_r^(l),m / d w_t^(q),s, indices m, r, s, t; no sum over m

    delta_r^m A''^m zeta_s^(l,q),m v^(q-1),t: for l < q 0, for l = q
    delta_r^m A''^m delta_s^m v^(l-1),t, for l > q
    delta_r^m A''^m w_a^(l),m eta_s^(l-1,q),a v^(q-1),t
    """
    return einsum("rm,m,ms,t->mrst", np.eye(len(s.v[l])), s.bend[l], zeta(s, l, q), s.v[q - 1])


def eq_67_lambda(s, l):
    """Eq. (67): lambda_rs^(l),m = delta_r^m delta_s^m A''(w_j^(l),m v^(l-1),j), indices m, r, s"""
    return einsum("rm,sm,m->mrs", np.eye(len(s.v[l])), np.eye(len(s.v[l])), s.bend[l])


def eq_68_dgamma(s, l, q):
    """Eq. (68): d gamma_r^(l),m / d w_t^(q),s, indices m, r, s, t

    lambda_rp^(l),m zeta_s^(l,q),p v^(q-1),t: for l < q 0, for l = q lambda_rs^(l),m v^(l-1),t, for
    l > q lambda_rp^(l),m w_a^(l),p eta_s^(l-1,q),a v^(q-1),t
    """
    return einsum("mrp,ps,t->mrst", eq_67_lambda(s, l), zeta(s, l, q), s.v[q - 1])


def eq_69_split(s, k, r, l):
    """Eq. (69): alpha_b^(k,r),j alpha_a^(r,r-1),b alpha_m^(r-1,l),a, which is alpha_m^(k,l),j for
    l < r <= k; the middle factor is beta^(r) (70)
    """
    return alpha(s, k, r) @ alpha(s, r, r - 1) @ alpha(s, r - 1, l)


def eq_71_dbeta(s, r, q):
    """Eq. (71): d beta_a^(r),b / d w_t^(q),s, indices b, a, s, t

    lambda_dp^(r),b w_a^(r),d zeta_s^(r,q),p v^(q-1),t, and gamma_s^(r),b delta_a^t more for r = q
    """
    bent = einsum("bdp,da,ps,t->bast", eq_67_lambda(s, r), s.w[r], zeta(s, r, q), s.v[q - 1])
    return bent + (einsum("bs,at->bast", gamma(s, r), np.eye(len(s.v[r - 1]))) if r == q else 0)


def eq_72_dalpha(s, k, l, q):
    """Eq. (72), first line: d alpha_m^(k,l),j / d w_t^(q),s, indices j, m, s, t

    sum over r = l + 1 .. k of alpha_b^(k,r),j (d beta_a^(r),b / d w_t^(q),s) alpha_m^(r-1,l),a; the
    second line has (71) in it.
    """
    total = np.zeros((len(s.v[k]), len(s.v[l]), *s.w[q].shape))
    for r in range(l + 1, k + 1):
        total += einsum("jb,bast,am->jmst", alpha(s, k, r), eq_71_dbeta(s, r, q),
                        alpha(s, r - 1, l))
    return total


def eq_73_deta(s, n, k, q):
    """Eq. (73): d eta_l^(n,k),j / d w_t^(q),s by the product rule, indices j, l, s, t

    (d alpha_m^(n,k),j / d w_t^(q),s) gamma_l^(k),m + alpha_m^(n,k),j d gamma_l^(k),m / d w_t^(q),s
    """
    return (einsum("jmst,ml->jlst", eq_72_dalpha(s, n, k, q), gamma(s, k))
            + einsum("jm,mlst->jlst", alpha(s, n, k), eq_68_dgamma(s, k, q)))


def eq_74_75_deta(s, n, k, q):
    """Eq. (74), (75): d eta_l^(n,k),j / d w_t^(q),s, all three cases, indices j, l, s, t

    sum over r from the larger of k and q to n of
    alpha_b^(n,r),j A''^(r),b zeta_s^(r,q),b zeta_l^(r,k),b v^(q-1),t,
    and eta_s^(n,q),j eta_l^(q-1,k),t, which is 0 unless q > k
    """
    bent = sum(einsum("jb,b,bs,bl->jsl", alpha(s, n, r), s.bend[r], zeta(s, r, q), zeta(s, r, k))
               for r in range(max(k, q), n + 1))
    return (einsum("jsl,t->jlst", bent, s.v[q - 1])
            + einsum("js,tl->jlst", eta(s, n, q), eta(s, q - 1, k)))


def eq_74_75_as_printed(s, n, k, q):
    """Eq. (74), (75) as printed, third case, q < k: above layer k the sum has eta_s^(r-1,k) and
    v^(k-1),t for eta_s^(r-1,q) and v^(q-1),t. It needs layers of one width.
    """
    own = einsum("jb,b,bs,bl,t->jlst", alpha(s, n, k), s.bend[k], zeta(s, k, q), zeta(s, k, k),
                 s.v[q - 1])
    return own + sum(einsum("jb,b,bs,bl,t->jlst", alpha(s, n, r), s.bend[r], zeta(s, r, k),
                            zeta(s, r, k), s.v[k - 1]) for r in range(k + 1, n + 1))


def eq_76_d2v(s, k, q):
    """Eq. (76): d2 v^(n),j / d w_i^(k),l d w_t^(q),s by the product rule, indices j, l, i, s, t

    (d eta_l^(n,k),j / d w_t^(q),s) v^(k-1),i + eta_l^(n,k),j d v^(k-1),i / d w_t^(q),s; the second
    is 0 for q >= k
    """
    return (einsum("jlst,i->jlist", eq_73_deta(s, s.n, k, q), s.v[k - 1])
            + einsum("jl,ist->jlist", eta(s, s.n, k), eq_24_dv_dw(s, k - 1, q)))


def eq_77_d2v(s, k, q, deta=eq_74_75_deta):
    """Eq. (77): (76) with (75) in it, indices j, l, i, s, t

    (75) v^(k-1),i, and eta_l^(n,k),j eta_s^(k-1,q),i v^(q-1),t for q < k
    """
    return (einsum("jlst,i->jlist", deta(s, s.n, k, q), s.v[k - 1])
            + einsum("jl,is,t->jlist", eta(s, s.n, k), eta(s, k - 1, q), s.v[q - 1]))


def eq_77_as_printed(s, k, q):
    """Eq. (77) as printed, third case, q < k, which has the slip of (75)"""
    return eq_77_d2v(s, k, q, eq_74_75_as_printed)


def eq_80_ww(s, k, q):
    """Eq. (80): d2 f / d w_i^(k),l d w_t^(q),s, indices l, i, s, t; (78), (79) are (3), (4)

    f_pp^ab u_j^a eta_l^(n,k),j v^(k-1),i u_c^b eta_s^(n,q),c v^(q-1),t, and f_p^a u_j^a times (77)
    """
    return eq_5_first_line(s, k, q) + einsum("a,aj,jlist->list", s.f_p, s.u, eq_77_d2v(s, k, q))
