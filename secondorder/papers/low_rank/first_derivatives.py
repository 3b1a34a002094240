"""First derivatives of one sample, (1)-(2), (18), (24)-(28) and (38): outer products of what is
below and above a weight.
"""

import numpy as np

from .quantities import eta, gamma


def dv_dw_recursion(sample, k, l):
    """Eq. (18): d v^(k),j / d w_t^(l),s, indices j, s, t, layer by layer.

    l > k:  0
    l = k:  delta_s^j A'(z^j) v^(l-1),t
    l < k:  A'(z^j) w_q^(k),j d v^(k-1),q / d w_t^(l),s
    """
    if l > k:
        return np.zeros((len(sample.v[k]), len(sample.v[l]), len(sample.v_bar[l - 1])),
                        dtype=sample.p.dtype)
    if l == k:
        return np.einsum("js,t->jst", gamma(sample, k), sample.v_bar[k - 1])
    below = dv_dw_recursion(sample, k - 1, l)
    return np.einsum("j,jq,qst->jst", sample.slope[k], sample.w[k], below)


def dv_dw(sample, k, l):
    """Eq. (24): derivatives of v^(k) in the weights of layer l, indices j, s, t; 0 for l > k.

    d v^(k),j / d w_t^(l),s = eta_s^(k,l),j v^(l-1),t
    """
    return np.einsum("js,t->jst", eta(sample, k, l), sample.v_bar[l - 1])


def dp_du(sample):
    """Eq. (25), with u_k^l below the line: derivatives of p in u, indices j, l, k.

    d p^j / d u_k^l = delta_l^j v^(n),k
    """
    identity = np.eye(len(sample.p), dtype=sample.p.dtype)
    return np.einsum("jl,k->jlk", identity, sample.v_bar[sample.n])


def dp_dv(sample):
    """Eq. (26): d p^j / d v^(n),i = u_i^j, (C, d_n)."""
    return sample.u.copy()


def df_du(sample):
    """Eq. (1), (27): d f / d u_j^i = f_p^i v^(n),j, (C, d_n)."""
    return np.einsum("i,j->ij", sample.f_p, sample.v_bar[sample.n])  # (1), (27)


def df_dw(sample, k):
    """Eq. (28), and (2) corrected: the gradient in the weights of layer k, (d_k, d_k-1).

    d f / d w_j^(k),i = f_p^l u_m^l eta_i^(n,k),m v^(k-1),j
    """
    return np.einsum("l,lm,mi,j->ij", sample.f_p, sample.u, eta(sample, sample.n, k),
                     sample.v_bar[k - 1])


def df_dw_as_printed(sample, k):
    """Eq. (2) as printed: the index i on f_p too and l on u alone.

    f_p^i u_m^l eta_i^(n,k),m v^(k-1),j

    It has entries only where layer k is as wide as the output.
    """
    return np.einsum("i,lm,mi,j->ij", sample.f_p, sample.u, eta(sample, sample.n, k),
                     sample.v_bar[k - 1])


def directional_derivative(sample, omega, phi):
    """Eq. (38): g . grad f of one sample, from the pieces of g.

    f_p^i v^(n),j omega_j^i + sum over k of f_p^l u_m^l eta_i^(n,k),m v^(k-1),j phi_j^(k),i

    Parameters
    ----------
    sample : Quantities
    omega : array like u
        With a column more where there is a bias.
    phi : list of arrays
        By layer, as ``sample.w``; phi[0] is None.
    """
    s, n = sample, sample.n
    total = np.einsum("i,j,ij->", s.f_p, s.v_bar[n], omega)
    for k in range(1, n + 1):
        total += np.einsum("l,lm,mi,j,ij->", s.f_p, s.u, eta(s, n, k), s.v_bar[k - 1], phi[k],
                           optimize=True)
    return total
