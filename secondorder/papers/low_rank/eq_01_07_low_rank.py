"""Section 2: every derivative of one sample is a sum of outer products. Eq. (1)-(7).

The appendix derives the same displays as (27), (28) and (34)-(36), and (78), (79) are (3), (4).
Only (5) needs A'' = 0, as of a ReLU. s is a :class:`~.eq_10_26_network.Sample`.
"""

from .eq_10_26_network import einsum
from .eq_10_26_network import eq_23_eta as eta
from .eq_29_33_second_derivatives import eq_33_d2v


def eq_1_df_du(s):
    """Eq. (1) = (27): d f / d u_j^i = f_p^i v^(n),j, (C, d_n)"""
    return einsum("i,j->ij", s.f_p, s.v[s.n])


def eq_2_df_dw(s, k):
    """Eq. (2) = (28): d f / d w_j^(k),i = f_p^l u_m^l eta_i^(n,k),m v^(k-1),j, (d_k, d_k-1)"""
    return einsum("l,lm,mi,j->ij", s.f_p, s.u, eta(s, s.n, k), s.v[k - 1])


def eq_2_as_printed(s, k):
    """Eq. (2) as printed: f_p^i u_m^l eta_i^(n,k),m v^(k-1),j. The i of eta stands on f_p too, so
    that layer k must be as wide as the output, and l on u alone.
    """
    return einsum("i,lm,mi,j->ij", s.f_p, s.u, eta(s, s.n, k), s.v[k - 1])


def eq_3_uu(s):
    """Eq. (3) = (34) = (78): d2 f / d u_j^i d u_t^s = f_pp^is v^(n),j v^(n),t (i, j, s, t)"""
    return einsum("is,j,t->ijst", s.f_pp, s.v[s.n], s.v[s.n])


def eq_4_uw(s, k):
    """Eq. (4) = (35) = (79): d2 f / d u_j^i d w_t^(k),s, indices i, j, s, t

    f_p^i eta_s^(n,k),j v^(k-1),t + f_pp^il v^(n),j u_m^l eta_s^(n,k),m v^(k-1),t
    """
    eta_nk, v = eta(s, s.n, k), s.v
    return (einsum("i,js,t->ijst", s.f_p, eta_nk, v[k - 1])
            + einsum("il,j,lm,ms,t->ijst", s.f_pp, v[s.n], s.u, eta_nk, v[k - 1]))


def eq_5_ww(s, k, r):
    """Eq. (5) = (36), for A'' = 0: d2 f / d w_j^(k),i d w_t^(r),s, indices i, j, s, t

    The first line, and f_p^l u_m^l d2 v^(n),m / d w_j^(k),i d w_t^(r),s by (33).
    """
    return (eq_5_first_line(s, k, r)
            + einsum("l,lm,mijst->ijst", s.f_p, s.u, eq_33_d2v(s, k, r)))


def eq_5_first_line(s, k, r):
    """Eq. (5), first line, which (80) has as well: the objective's second derivatives in p

    f_pp^lq u_m^l eta_i^(n,k),m v^(k-1),j u_a^q eta_s^(n,r),a v^(r-1),t
    """
    return einsum("lq,lm,mi,j,qa,as,t->ijst", s.f_pp, s.u, eta(s, s.n, k), s.v[k - 1],
                  s.u, eta(s, s.n, r), s.v[r - 1])


def eq_6_uw(s, k):
    """Eq. (6): (4) as two outer products, f_p^i eta_s^(n,k),j v^(k-1),t + a_is v^(n),j v^(k-1),t"""
    return (einsum("i,js,t->ijst", s.f_p, eta(s, s.n, k), s.v[k - 1])
            + einsum("is,j,t->ijst", eq_7_a(s, k), s.v[s.n], s.v[k - 1]))


def eq_7_a(s, k):
    """Eq. (7): a_is = f_pp^il u_m^l eta_s^(n,k),m, (C, d_k)"""
    return einsum("il,lm,ms->is", s.f_pp, s.u, eta(s, s.n, k))


def number_of_etas(n):
    """Below (5): so many eta between n hidden layers are neither 0 nor diagonal, n (n - 1) / 2"""
    return n * (n - 1) / 2


def number_of_products(n):
    """Section 4: products of weights and eta for (39), u eta^(n,k) included, n (n + 1) / 2"""
    return n * (n + 1) / 2


def rank_bound(widths):
    """Rank of one sample's Hessian <= d_1 + sum over k = 2 .. n + 1 of (d_k + d_k-1 - 1)

    Ours, for any activation and objective, without biases; widths are d_1 .. d_n and C.
    """
    return widths[0] + sum(below + above - 1 for below, above in zip(widths, widths[1:]))
