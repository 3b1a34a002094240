"""The recursive layer, v_(t) = A(w v_(t-1)) with v_(0) = x: Eq. (58)-(65).

It is the network of (10)-(26) with t layers and one w in all of them, and its :class:`Sample` has
n = t. A derivative in w is the sum of those in the copies w^(k). In print
(63) to (65) are for A'' = 0; here :func:`eq_63_dw_dw`, (64) and (65) are for any A.
"""

from .eq_10_26_network import Sample, einsum, eq_10_layer, eq_24_dv_dw
from .eq_10_26_network import eq_21_alpha as alpha
from .eq_10_26_network import eq_23_eta as eta
from .eq_66_80_any_activation import eq_77_d2v, zeta


def eq_58_59_unrolled(w, x, t, A):
    """Eq. (58), (59): v_(k)^j = A(w_i^j v_(k-1)^i) for k = 1 .. t, v_(0) = x, as a Sample without u

    A has `value`, `slope` and `curvature`.
    """
    v = [x]
    for _ in range(t):
        v.append(eq_10_layer(w, v[-1], A.value))
    z = [w @ below for below in v[:-1]]
    return Sample([None] + t * [w], v, [None, *map(A.slope, z)], [None, *map(A.curvature, z)])


def copies(s):
    """The numbers k of the copies."""
    return range(1, s.n + 1)


def eq_60_sum(of_copies):
    """Eq. (60): d / d w_j^i = sum over k of d / d w_j^(k),i

    In the middle member the indices m and p of w_p^(k),m have no partner.
    """
    return sum(of_copies)


def eq_61_dv_dw(s):
    """Eq. (61): d v_(t)^m / d w_r^s = sum over k of eta_s^(t,k),m v_(k-1)^r, indices m, s, r"""
    return eq_60_sum(eq_24_dv_dw(s, s.n, k) for k in copies(s))


def eq_61_as_printed(s):
    """Eq. (61) as printed: sum over k of eta_s^(t,k),m v_(t-1)^r, the last input for every copy"""
    return sum(einsum("ms,r->msr", eta(s, s.n, k), s.v[s.n - 1]) for k in copies(s))


def eq_62_dv_dx(s):
    """Eq. (62): d v_(t)^m / d x^i = eta_s^(t,1),m w_i^s, indices m, i"""
    return einsum("ms,si->mi", eta(s, s.n, 1), s.w[1])


def eq_63_dw_dw(s):
    """Eq. (63), first line: d2 v_(t)^m / d w_j^i d w_r^q, the sum over all pairs of copies

    Indices m, i, j, q, r.
    """
    return eq_60_sum(eq_77_d2v(s, k, p) for k in copies(s) for p in copies(s))


def eq_63_relu(s):
    """Eq. (63) for A'' = 0: sum over p < k of eta_i^(t,k),m eta_q^(k-1,p),j v_(p-1)^r, and of the
    same with (i, j) and (q, r) exchanged
    """
    later_first = eq_63_as_printed(s) / 2
    return later_first + later_first.transpose(0, 3, 4, 1, 2)


def eq_63_as_printed(s):
    """Eq. (63) as printed: 2 sum over k > p of eta_i^(t,k),m eta_q^(k-1,p),j v_(p-1)^r

    It has no symmetry; it is right along one direction taken twice. For p >= k the eta is 0.
    """
    return 2 * sum(einsum("mi,jq,r->mijqr", eta(s, s.n, k), eta(s, k - 1, p), s.v[p - 1])
                   for k in copies(s) for p in copies(s))


def eq_64_dx_dx(s):
    """Eq. (64): d2 v_(t)^m / d x^i d x^l = 0 for A'' = 0, indices m, i, l; else the sum over r of

    alpha_b^(t,r),m A''_(r)^b z_i^b z_l^b with z = w alpha^(r-1,0), the derivative of w v_(r-1) in x
    """
    return sum(einsum("mb,b,bi,bl->mil", alpha(s, s.n, r), s.bend[r], z, z)
               for r in copies(s) for z in [s.w[r] @ alpha(s, r - 1, 0)])


def eq_65_dw_dx(s):
    """Eq. (65): d2 v_(t)^m / d w_r^q d x^i, indices m, q, r, i; for A'' = 0

    eta_q^(t,1),m delta_i^r + sum over k > 1 of eta_q^(t,k),m eta_s^(k-1,1),r w_i^s, which is the
    sum over all k of eta_q^(t,k),m alpha_i^(k-1,0),r. Printed with eta_s^(t,1),j delta_i^s. A
    curved A adds the sum over r >= k, with z of (64), of
    alpha_b^(t,r),m A''_(r)^b zeta_q^(r,k),b z_i^b v_(k-1)^r.
    """
    straight = sum(einsum("mq,ri->mqri", eta(s, s.n, k), alpha(s, k - 1, 0)) for k in copies(s))
    bent = sum(einsum("mb,b,bq,bi,r->mqri", alpha(s, s.n, r), s.bend[r], zeta(s, r, k),
                      s.w[r] @ alpha(s, r - 1, 0), s.v[k - 1])
               for k in copies(s) for r in copies(s))
    return straight + bent
