"""More rates than one: for every weight (Table 2, behind (43)), for every sample (section 3.1)."""

import numpy as np

from .eq_10_26_network import einsum
from .eq_10_26_network import eq_23_eta as eta


def table_2_u(s):
    """Table 2, first row: g^T H g of a unit step on u_j^i, f_pp^ii v^(n),j v^(n),j, (C, d_n)

    Printed with s and t in the place of the second i and j, over which the convention would sum.
    g^T grad f is (1).
    """
    return einsum("ii,j,j->ij", s.f_pp, s.v[s.n], s.v[s.n])


def table_2_w(s, k):
    """Table 2, second row, for A'' = 0: g^T H g of a unit step on w_j^(k),i, (d_k, d_k-1)

    f_pp^lq u_m^l eta_i^(n,k),m v^(k-1),j u_a^q eta_i^(n,k),a v^(k-1),j; g^T grad f is (2).
    """
    eta_nk, v = eta(s, s.n, k), s.v[k - 1]
    return einsum("lq,lm,mi,j,qa,ai,j->ij", s.f_pp, s.u, eta_nk, v, s.u, eta_nk, v)


def table_2_models(g, gradient, diagonal):
    """Table 2: a, h and |g| of every weight's own model, (P,) each

    Not along a unit step, as printed, but along its entry of g, which goes downhill.
    """
    g = g.astype(np.float64)
    return g * gradient, g * g * diagonal, np.abs(g)


def eq_38_39_of_samples(layers, f_pp):
    """Eq. (38), (39) of every sample along its own g = -grad f: g^T grad f, g^T H g, |g|, (S,) each

    By (1), (2) the piece of g in a layer is phi = -f_z v^T, with a 1 behind v for a bias. So
    phi v = -|v|^2 f_z and f_z^T phi v_dot = -|f_z|^2 v^T v_dot, and no phi is formed.
    """
    def dot(one, other):
        return np.einsum("si,si->s", one, other, dtype=np.float64)

    squares, h, v_dot = np.zeros(len(f_pp)), np.zeros(len(f_pp)), np.zeros_like(layers[0].v)
    for k in layers:
        z_dot = v_dot @ k.own.weight.T
        if k.trained:
            vv, f_zz = dot(k.v, k.v) + (k.own.bias is not None), dot(k.f_z, k.f_z)
            z_dot = z_dot - vv[:, None].astype(z_dot.dtype) * k.f_z
            squares, h = squares + vv * f_zz, h - 2 * f_zz * dot(k.v, v_dot)
        h = h + dot(k.f_v * k.bend, z_dot**2)
        v_dot = k.slope * z_dot
    h = h + np.einsum("si,sij,sj->s", z_dot, f_pp, z_dot, dtype=np.float64)
    return -squares, h, np.sqrt(squares)
