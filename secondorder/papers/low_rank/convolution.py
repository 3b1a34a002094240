"""One convolution as the paper has it, (44)-(57): one channel, an activation A, strides sigma
(down) and tau (across).

Outputs v[s, t], patches z[s, t, m, q] (indices z_tq^sm of the paper), kernel w[m, q], inputs x[i,
j]; zero-based, so that the patch entry is x[sigma s + m, tau t + q]. `slope` and
`second_derivative` are A' and A'' at the outputs' arguments, (s, t).
"""

import numpy as np


def output_shape(x_shape, kernel_shape, strides):
    """Number of places where the kernel fits, down and across."""
    return tuple((n - k) // stride + 1 for n, k, stride in zip(x_shape, kernel_shape, strides))


def patches(x, kernel_shape, strides):
    """Eq. (45), corrected: what the kernel meets, indices s, t, l, k.

    z_tk^sl = x at (sigma s + l, tau t + k), counted from 0
    """
    counts = *output_shape(x.shape, kernel_shape, strides), *kernel_shape
    s, t, l, k = np.ogrid[tuple(map(slice, counts))]
    return x[strides[0] * s + l, strides[1] * t + k]


def patches_as_printed(x, kernel_shape, strides):
    """Eq. (45) with all indices counted from 1, which skips rows and columns.

    z_tk^sl = x at (sigma s + l - 1, tau t + k - 1)
    """
    # (s, l) = (1, 1) is row sigma, so sigma - 1 rows are left out
    skipped = x[strides[0] - 1:, strides[1] - 1:]
    return patches(skipped, kernel_shape, strides)


def argument(z, w):
    """Eq. (44), corrected, (46): what A acts on, (s, t).

    z_tk^sl w_k^l
    """
    return np.einsum("stlk,lk->st", z, w)


def patch_derivative(x_shape, kernel_shape, strides):
    """Eq. (48), corrected: d z_tq^sm / d x_j^i, indices s, t, m, q, i, j.

    1 where i = sigma s + m and j = tau t + q, else 0
    """
    rows, columns = (_places(n, k, stride) for n, k, stride in zip(x_shape, kernel_shape, strides))
    return np.einsum("smi,tqj->stmqij", rows, columns)


def _places(n, k, stride):
    """1 where the input's index i is stride s + m, indices s, m, i."""
    s, m, i = np.ogrid[:(n - k) // stride + 1, :k, :n]
    return (i == stride * s + m).astype(np.float64)


def dv_dx(slope, w, dz_dx):
    """Eq. (47), corrected: d v_t^s / d x_j^i, indices s, t, i, j.

    A' w_q^m d z_tq^sm / d x_j^i
    """
    return np.einsum("st,mq,stmqij->stij", slope, w, dz_dx)


def dv_dw(slope, z):
    """Eq. (49), (53): d v_t^s / d w_q^p = A' z_tq^sp, indices s, t, p, q."""
    return np.einsum("st,stpq->stpq", slope, z)


def d2v_dx_dx(second_derivative, w, dz_dx):
    """Eq. (50): d2 v_t^s / d x_q^p d x_j^i, indices s, t, p, q, i, j.

    A'' (w_r^m d z_tr^sm / d x_j^i) (w_b^a d z_tb^sa / d x_q^p)
    """
    along = np.einsum("mr,stmrij->stij", w, dz_dx)
    return np.einsum("st,stpq,stij->stpqij", second_derivative, along, along)


def d2v_dw_dx(slope, second_derivative, z, w, dz_dx):
    """Eq. (51): d2 v_t^s / d w_q^p d x_j^i, indices s, t, p, q, i, j.

    A' d z_tq^sp / d x_j^i + A'' z_tq^sp w_r^m d z_tr^sm / d x_j^i
    """
    along = np.einsum("mr,stmrij->stij", w, dz_dx)
    return (np.einsum("st,stpqij->stpqij", slope, dz_dx)
            + np.einsum("st,stpq,stij->stpqij", second_derivative, z, along))


def d2v_dw_dw(second_derivative, z):
    """Eq. (52), (55): d2 v_t^s / d w_q^p d w_b^a, indices s, t, p, q, a, b.

    A'' z_tq^sp z_tb^sa
    """
    return np.einsum("st,stpq,stab->stpqab", second_derivative, z, z)


# -- the same by cases, without z, (53)-(57)

def kernel_at(w, place, x_shape, strides):
    """The kernel's entry that meets x_j^i at output (s, t), and the mask of where there is one.

    w at (i - sigma s, j - tau t), 0 outside the kernel; `place` is (s, t), the results are (i, j).
    """
    i, j = np.ogrid[:x_shape[0], :x_shape[1]]
    m, q = i - strides[0] * place[0], j - strides[1] * place[1]
    inside = (0 <= m) & (m < w.shape[0]) & (0 <= q) & (q < w.shape[1])
    entries = w[np.clip(m, 0, w.shape[0] - 1), np.clip(q, 0, w.shape[1] - 1)]
    return np.where(inside, entries, w.dtype.type(0)), inside


def dv_dx_by_cases(slope, w, x_shape, strides):
    """Eq. (54), with the upper bounds that it lacks: d v_t^s / d x_j^i, indices s, t, i, j.

    A' w at (i - sigma s, j - tau t), 0 outside the kernel
    """
    return np.array([[slope[s, t] * kernel_at(w, (s, t), x_shape, strides)[0]
                      for t in range(slope.shape[1])] for s in range(slope.shape[0])])


def d2v_dw_dx_by_cases(slope, second_derivative, w, x, strides):
    """Eq. (56), corrected: d2 v_t^s / d w_q^p d x_j^i, indices s, t, p, q, i, j.

    Where (m, r) = (i - sigma s, j - tau t) lies in the kernel
    A'' w_r^m x at (sigma s + p, tau t + q), plus A' if (m, r) = (p, q);
    else 0
    """
    z = patches(x, w.shape, strides)
    result = np.zeros((*slope.shape, *w.shape, *x.shape), dtype=w.dtype)
    for s, t in np.ndindex(slope.shape):
        met, _ = kernel_at(w, (s, t), x.shape, strides)
        for p, q in np.ndindex(w.shape):
            result[s, t, p, q] = second_derivative[s, t] * z[s, t, p, q] * met  # (56)
            result[s, t, p, q, strides[0] * s + p, strides[1] * t + q] += slope[s, t]
    return result


def d2v_dw_dx_as_printed(slope, second_derivative, w, x, strides):
    """Eq. (56) as printed, with the origin of (45) corrected and w read as 0 outside the kernel.

    The middle case asks that both indices differ, so that entries where one of them agrees fall to
    0.
    """
    z = patches(x, w.shape, strides)
    result = np.zeros((*slope.shape, *w.shape, *x.shape), dtype=w.dtype)
    for s, t, p, q in np.ndindex(*slope.shape, *w.shape):
        met, _ = kernel_at(w, (s, t), x.shape, strides)
        for i, j in np.ndindex(x.shape):
            m, r = i - strides[0] * s, j - strides[1] * t
            product = second_derivative[s, t] * met[i, j] * z[s, t, p, q]
            if (m, r) == (p, q):
                result[s, t, p, q, i, j] = slope[s, t] + product
            elif m >= 0 and m != p and r >= 0 and r != q:
                result[s, t, p, q, i, j] = product
    return result


def d2v_dx_dx_by_cases(second_derivative, w, x_shape, strides):
    """Eq. (57), with upper bounds: d2 v_t^s / d x_q^p d x_j^i, indices s, t, p, q, i, j.

    A'' times w at the place of (i, j) times w at that of (p, q)
    """
    met = dv_dx_by_cases(np.ones_like(second_derivative), w, x_shape, strides)
    return np.einsum("st,stij,stpq->stpqij", second_derivative, met, met)


# -- more channels

def many_channels_argument(x, w, b, strides):
    """What A acts on with input channels c and kernels o, (o, s, t).

    sum_clk w[o, c, l, k] x[c, sigma s + l, tau t + k] + b[o]
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
