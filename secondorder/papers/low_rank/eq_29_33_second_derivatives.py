"""How Jacobians change with the weights where A'' = 0: Eq. (29)-(33)."""

import numpy as np

from .eq_10_26_network import einsum
from .eq_10_26_network import eq_19_gamma as gamma
from .eq_10_26_network import eq_21_alpha as alpha
from .eq_10_26_network import eq_23_eta as eta


def eq_29_relu_bend(z):
    """Eq. (29): A''(z) = 0 for z other than 0, and by agreement there as well"""
    return np.zeros_like(z)


def eq_30_dalpha(s, n, k, r):
    """Eq. (30): d alpha_q^(n,k),m / d w_t^(r),s = eta_s^(n,r),m alpha_q^(r-1,k),t

    Indices m, q, s, t. It is 0 for r <= k, because alpha^(r-1,k) is.
    """
    return einsum("ms,tq->mqst", eta(s, n, r), alpha(s, r - 1, k))


def eq_31_dgamma(s, k, q):
    """Eq. (31): d gamma_s^(k),j / d w_t^(q),r = 0, indices j, s, r, t"""
    return np.zeros(gamma(s, k).shape + s.w[q].shape)


def eq_32_deta(s, n, k, r):
    """Eq. (32): d eta_i^(n,k),m / d w_t^(r),s = (d alpha_q^(n,k),m / d w_t^(r),s) gamma_i^(k),q

    Indices m, i, s, t.
    """
    return einsum("mqst,qi->mist", eq_30_dalpha(s, n, k, r), gamma(s, k))


def eq_33_d2v(s, k, r):
    """Eq. (33): d2 v^(n),m / d w_j^(k),i d w_t^(r),s, indices m, i, j, s, t

    r > k: eta_s^(n,r),m eta_i^(r-1,k),t v^(k-1),j;   r = k: 0;
    r < k: eta_i^(n,k),m eta_s^(k-1,r),j v^(r-1),t.

    An eta from a layer to a higher one is 0: whichever case it is, the other's term is none.
    """
    return (einsum("ms,ti,j->mijst", eta(s, s.n, r), eta(s, r - 1, k), s.v[k - 1])
            + einsum("mi,js,t->mijst", eta(s, s.n, k), eta(s, k - 1, r), s.v[r - 1]))
