"""A convolution with one channel and an activation: Eq. (44)-(57).

v[s, t] is the output, w[m, q] the kernel, x[i, j] the image; the strides are sigma (down) and tau
(across). Indices count from 0, so that the kernel meets x from (sigma s, tau t) on. slope and bend
are A' and A'' at (46). Nothing is summed over s and t.
"""

import numpy as np

from .eq_10_26_network import einsum


def places(x_shape, w_shape, sigma, tau):
    """How often the kernel fits, down and across."""
    return ((x_shape[0] - w_shape[0]) // sigma + 1, (x_shape[1] - w_shape[1]) // tau + 1)


def eq_44_46_argument(z, w):
    """Eq. (44), (46): v_t^s is A of z_tk^sl w_k^l, (s, t). In (44) the l of z is missing."""
    return einsum("stlk,lk->st", z, w)


def eq_45_patches(x, w_shape, sigma, tau):
    """Eq. (45): z_tk^sl = x at (sigma s + l, tau t + k), indices s, t, l, k"""
    rows, columns = places(x.shape, w_shape, sigma, tau)
    s, t, l, k = np.ogrid[:rows, :columns, :w_shape[0], :w_shape[1]]
    return x[sigma * s + l, tau * t + k]


def eq_45_as_printed(x, w_shape, sigma, tau):
    """Eq. (45) with all indices from 1, x at (sigma s + l - 1, tau t + k - 1): no first rows"""
    return eq_45_patches(x[sigma - 1:, tau - 1:], w_shape, sigma, tau)


def eq_47_dv_dx(slope, w, dz_dx):
    """Eq. (47): d v_t^s / d x_j^i = A' w_q^m d z_tq^sm / d x_j^i, printed w_p^m; s, t, i, j"""
    return einsum("st,mq,stmqij->stij", slope, w, dz_dx)


def eq_48_dz_dx(x_shape, w_shape, sigma, tau):
    """Eq. (48): d z_tq^sm / d x_j^i = 1 for i = sigma s + m and j = tau t + q (printed p), else 0

    Indices s, t, m, q, i, j.
    """
    rows, columns = places(x_shape, w_shape, sigma, tau)
    s, t, m, q, i, j = np.ogrid[:rows, :columns, :w_shape[0], :w_shape[1], :x_shape[0], :x_shape[1]]
    return np.where((i == sigma * s + m) & (j == tau * t + q), 1.0, 0.0)


def eq_49_dv_dw(slope, z):
    """Eq. (49) = (53): d v_t^s / d w_q^p = A' z_tq^sp, indices s, t, p, q"""
    return einsum("st,stpq->stpq", slope, z)


def eq_50_dx_dx(bend, w, dz_dx):
    """Eq. (50): d2 v_t^s / d x_q^p d x_j^i, indices s, t, p, q, i, j

    A'' w_r^m (d z_tr^sm / d x_j^i) w_b^a (d z_tb^sa / d x_q^p)
    """
    return einsum("st,mr,stmrij,ab,stabpq->stpqij", bend, w, dz_dx, w, dz_dx)


def eq_51_dw_dx(slope, bend, z, w, dz_dx):
    """Eq. (51): d2 v_t^s / d w_q^p d x_j^i, indices s, t, p, q, i, j

    A' d z_tq^sp / d x_j^i + A'' z_tq^sp w_r^m d z_tr^sm / d x_j^i
    """
    return (einsum("st,stpqij->stpqij", slope, dz_dx)
            + einsum("st,stpq,mr,stmrij->stpqij", bend, z, w, dz_dx))


def eq_52_dw_dw(bend, z):
    """Eq. (52) = (55): d2 v_t^s / d w_q^p d w_b^a = A'' z_tq^sp z_tb^sa (s, t, p, q, a, b)"""
    return einsum("st,stpq,stab->stpqab", bend, z, z)


# -- by cases, (54), (56), (57) --------------------------------------------------------------------


def kernel_on_image(w, x_shape, sigma, tau):
    """w at (i - sigma s, j - tau t), and 0 where the kernel has no such entry, indices s, t, i, j

    The cases in print ask for i >= sigma s and j >= tau t alone, and so for entries beyond it.
    """
    on_x = np.zeros((*places(x_shape, w.shape, sigma, tau), *x_shape))
    for s, t in np.ndindex(on_x.shape[:2]):
        on_x[s, t, sigma * s:sigma * s + w.shape[0], tau * t:tau * t + w.shape[1]] = w
    return on_x


def eq_54_dv_dx(slope, on_x):
    """Eq. (54): d v_t^s / d x_j^i = A' w at (i - sigma s, j - tau t), indices s, t, i, j"""
    return einsum("st,stij->stij", slope, on_x)


def eq_56_dw_dx(slope, bend, z, on_x, sigma, tau):
    """Eq. (56): d2 v_t^s / d w_q^p d x_j^i, indices s, t, p, q, i, j

    A'' times w at (i - sigma s, j - tau t) times z_tq^sp, and A' more where that place is (p, q)
    """
    result = einsum("st,stij,stpq->stpqij", bend, on_x, z)
    for s, t, p, q in np.ndindex(z.shape):
        result[s, t, p, q, sigma * s + p, tau * t + q] += slope[s, t]
    return result


def eq_56_as_printed(slope, bend, z, on_x, sigma, tau):
    """Eq. (56) as printed: its second case wants i - sigma s other than p, and j - tau t other than
    q. Entries where one of the two agrees fall to the third, which is 0.
    """
    shape = z.shape + on_x.shape[2:]
    s, t, p, q, i, j = np.ogrid[tuple(map(slice, shape))]
    one_agrees = (i - sigma * s == p) != (j - tau * t == q)
    return np.where(one_agrees, 0.0, eq_56_dw_dx(slope, bend, z, on_x, sigma, tau))


def eq_57_dx_dx(bend, on_x):
    """Eq. (57): d2 v_t^s / d x_q^p d x_j^i, indices s, t, p, q, i, j

    A'' times w at (i - sigma s, j - tau t) times w at (p - sigma s, q - tau t)
    """
    return einsum("st,stij,stpq->stpqij", bend, on_x, on_x)


# -- more than the paper ---------------------------------------------------------------------------


def many_channels(x, w, b, sigma, tau):
    """What A acts on with channels c and kernels o, (o, s, t): the sum over c of (46), and b_o"""
    z = [eq_45_patches(channel, w.shape[2:], sigma, tau) for channel in x]
    return np.array([sum(map(eq_44_46_argument, z, kernels)) + b_o for kernels, b_o in zip(w, b)])
