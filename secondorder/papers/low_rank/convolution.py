"""One convolution as the paper has it, (44)-(57): one channel, an activation A, strides sigma
(down) and tau (across).

Outputs v[s, t], patches z[s, t, m, q] (indices z_tq^sm of the paper), kernel w[m, q], inputs x[i,
j]; zero-based, so that the patch entry is x[sigma s + m, tau t + q]. `slope` and `bend` are A' and
A'' at the outputs' arguments, (s, t).
"""

import numpy as np


def output_shape(x_shape, kernel_shape, strides):
    """Number of places where the kernel fits, down and across."""
    return tuple((n - k) // stride + 1 for n, k, stride in zip(x_shape, kernel_shape, strides))


def patches(x, kernel_shape, strides):
    """[low-rank] Eq. (45), corrected: z_tk^sl = x at (sigma s + l, tau t + k), counted from 0,
    indices s, t, l, k.
    """
    s, t, l, k = np.ogrid[tuple(map(
        slice, (*output_shape(x.shape, kernel_shape, strides), *kernel_shape)))]
    return x[strides[0] * s + l, strides[1] * t + k]


def patches_as_printed(x, kernel_shape, strides):
    """[low-rank] Eq. (45) with all indices counted from 1: x at (sigma s + l - 1, tau t + k - 1),
    which skips rows.
    """
    # (s, l) = (1, 1) is row sigma, so sigma - 1 rows are never seen
    skipped = x[strides[0] - 1:, strides[1] - 1:]
    return patches(skipped, kernel_shape, strides)


def argument(z, w):
    """What A acts on in [low-rank] Eqs. (44), (46): z_tk^sl w_k^l, (s, t)."""
    return np.einsum("stlk,lk->st", z, w)


def patch_derivative(x_shape, kernel_shape, strides):
    """[low-rank] Eq. (48), corrected: d z_tq^sm / d x_j^i = 1 where i = sigma s + m and j = tau t +
    q, else 0.

    Indices s, t, m, q, i, j.
    """
    rows, columns = (_places(n, k, stride) for n, k, stride in zip(x_shape, kernel_shape, strides))
    return np.einsum("smi,tqj->stmqij", rows, columns)


def _places(n, k, stride):
    """1 where the input's index i is stride s + m, indices s, m, i."""
    s, m, i = np.ogrid[:(n - k) // stride + 1, :k, :n]
    return (i == stride * s + m).astype(np.float64)


def dv_dx(slope, w, dz_dx):
    """[low-rank] Eq. (47), corrected: A' w_q^m d z_tq^sm / d x_j^i, indices s, t, i, j."""
    return np.einsum("st,mq,stmqij->stij", slope, w, dz_dx)


def dv_dw(slope, z):
    """[low-rank] Eqs. (49), (53): A' z_tq^sp, indices s, t, p, q."""
    return np.einsum("st,stpq->stpq", slope, z)


def d2v_dx_dx(bend, w, dz_dx):
    """[low-rank] Eq. (50): A'' (w_r^m d z_tr^sm / d x_j^i) (w_b^a d z_tb^sa / d x_q^p), indices s,
    t, p, q, i, j.
    """
    along = np.einsum("mr,stmrij->stij", w, dz_dx)
    return np.einsum("st,stpq,stij->stpqij", bend, along, along)


def d2v_dw_dx(slope, bend, z, w, dz_dx):
    """[low-rank] Eq. (51): A' d z_tq^sp / d x_j^i + A'' z_tq^sp w_r^m d z_tr^sm / d x_j^i, indices
    s, t, p, q, i, j.
    """
    along = np.einsum("mr,stmrij->stij", w, dz_dx)
    return np.einsum("st,stpqij->stpqij", slope, dz_dx) + np.einsum("st,stpq,stij->stpqij", bend, z,
                                                                    along)


def d2v_dw_dw(bend, z):
    """[low-rank] Eqs. (52), (55): A'' z_tq^sp z_tb^sa, indices s, t, p, q, a, b."""
    return np.einsum("st,stpq,stab->stpqab", bend, z, z)


# -- the same by cases, without z, (53)-(57)

def kernel_at(w, place, x_shape, strides):
    """The kernel's entry that meets x_j^i at output (s, t): w at (i - sigma s, j - tau t), and 0
    outside the kernel.

    `place` is (s, t); the result is (i, j), as is the mask of where the kernel is.
    """
    i, j = np.ogrid[:x_shape[0], :x_shape[1]]
    m, q = i - strides[0] * place[0], j - strides[1] * place[1]
    inside = (0 <= m) & (m < w.shape[0]) & (0 <= q) & (q < w.shape[1])
    return np.where(inside, w[np.clip(m, 0, w.shape[0] - 1), np.clip(q, 0, w.shape[1] - 1)],
                    0.0), inside


def dv_dx_by_cases(slope, w, x_shape, strides):
    """[low-rank] Eq. (54), with the upper bounds that it lacks, indices s, t, i, j.

    d v_t^s / d x_j^i = A' w at (i - sigma s, j - tau t), 0 outside the kernel
    """
    return np.array([[slope[s, t] * kernel_at(w, (s, t), x_shape, strides)[0]
                      for t in range(slope.shape[1])] for s in range(slope.shape[0])])


def d2v_dw_dx_by_cases(slope, bend, w, x, strides):
    """[low-rank] Eq. (56), corrected, indices s, t, p, q, i, j.

    Where (m, r) = (i - sigma s, j - tau t) lies in the kernel: A'' w_r^m x at (sigma s + p, tau t +
    q), plus A' if (m, r) = (p, q); else 0.
    """
    z, result = patches(x, w.shape, strides), np.zeros((*slope.shape, *w.shape, *x.shape))
    for s, t in np.ndindex(slope.shape):
        met, _ = kernel_at(w, (s, t), x.shape, strides)
        for p, q in np.ndindex(w.shape):
            result[s, t, p, q] = bend[s, t] * z[s, t, p, q] * met
            result[s, t, p, q, strides[0] * s + p, strides[1] * t + q] += slope[s, t]
    return result


def d2v_dw_dx_as_printed(slope, bend, w, x, strides):
    """[low-rank] Eq. (56) as it stands (with the origin of (45) corrected and w read as 0 outside
    the kernel).

    The middle case asks that both indices differ, so that entries where one of them agrees fall to
    0.
    """
    z, result = patches(x, w.shape, strides), np.zeros((*slope.shape, *w.shape, *x.shape))
    for s, t, p, q in np.ndindex(*slope.shape, *w.shape):
        met, _ = kernel_at(w, (s, t), x.shape, strides)
        for i, j in np.ndindex(x.shape):
            m, r = i - strides[0] * s, j - strides[1] * t
            if (m, r) == (p, q):
                result[s, t, p, q, i, j] = slope[s, t] + bend[s, t] * met[i, j] * z[s, t, p, q]
            elif m >= 0 and m != p and r >= 0 and r != q:
                result[s, t, p, q, i, j] = bend[s, t] * met[i, j] * z[s, t, p, q]
    return result


def d2v_dx_dx_by_cases(bend, w, x_shape, strides):
    """[low-rank] Eq. (57), with upper bounds, indices s, t, p, q, i, j.

    d2 v_t^s / d x_q^p d x_j^i = A'' w at (i, j)'s place times w at (p, q)'s
    """
    met = dv_dx_by_cases(np.ones_like(bend), w, x_shape, strides)
    return np.einsum("st,stij,stpq->stpqij", bend, met, met)


# -- more channels

def many_channels_argument(x, w, b, strides):
    """What A acts on with input channels c and kernels o: sum_clk w[o, c, l, k] x[c, sigma s + l,
    tau t + k] + b[o], (o, s, t).
    """
    z = np.stack([patches(channel, w.shape[2:], strides) for channel in x])
    return np.einsum("cstlk,oclk->ost", z, w) + b[:, None, None]


def many_channels_two_jet(x, w, x_tangent, w_tangent, b_tangent, strides):
    """First and second derivative of that argument along a straight line in x, w and b, (o, s, t)
    each.

    D Z + M Z' and 2 D Z' with Z the patches, M the kernels and D their tangent.
    """
    nothing = np.zeros(len(w))
    first = (many_channels_argument(x_tangent, w, nothing, strides)
             + many_channels_argument(x, w_tangent, b_tangent, strides))
    return first, 2 * many_channels_argument(x_tangent, w_tangent, nothing, strides)
