"""What a kernel sees of images, as matrices for products, and the way back.

z (S, C K_0 K_1, P Q): entry (c l k) of the window at place (p q). All places at which a column
(l, k) of the kernel stands inside the image are a range of p and a range of q.
"""

import numpy as np

from .compiling import loop


@loop
def inside(offset, stride, length, places):
    """The first place and the one after the last, of `places`, at which stride * place + offset
    lies inside 0 .. length - 1.
    """
    first = 0 if offset >= 0 else (stride - 1 - offset) // stride
    end = 0 if offset >= length else min(places, (length - 1 - offset) // stride + 1)
    return min(first, end), end


@loop
def windows(x, kernel, strides, padding, places, z):
    """z_s(clk)(pq) = x_scij  with  i = stride_0 p + l - padding_0,  j = stride_1 q + k - padding_1,
    and 0 outside the image
    """
    (K_0, K_1), (down, across), (above, left), (P, Q) = kernel, strides, padding, places
    S, C, H, W = x.shape
    zero = x.dtype.type(0)
    for s in range(S):
        for e in range(C * K_0 * K_1):
            c, l, k = e // (K_0 * K_1), e // K_1 % K_0, e % K_1
            q_first, q_end = inside(k - left, across, W, Q)
            for p in range(P):
                row, i = z[s, e, p * Q : p * Q + Q], down * p + l - above
                if i < 0 or i >= H:
                    row[:] = zero
                    continue
                row[:q_first] = zero
                row[q_end:] = zero
                line, shift = x[s, c, i], k - left
                for q in range(q_first, q_end):
                    row[q] = line[np.uintp(across * q + shift)]


@loop
def windows_back(z_bar, kernel, strides, padding, places, x_bar):
    """x_bar_scij += z_bar_s(clk)(pq)  where  i = stride_0 p + l - padding_0  and  j likewise"""
    (K_0, K_1), (down, across), (above, left), (P, Q) = kernel, strides, padding, places
    S, C, H, W = x_bar.shape
    for s in range(S):
        for e in range(C * K_0 * K_1):
            c, l, k = e // (K_0 * K_1), e // K_1 % K_0, e % K_1
            q_first, q_end = inside(k - left, across, W, Q)
            for p in range(P):
                row, i = z_bar[s, e, p * Q : p * Q + Q], down * p + l - above
                if 0 <= i < H:
                    line, shift = x_bar[s, c, i], k - left
                    for q in range(q_first, q_end):
                        line[np.uintp(across * q + shift)] += row[q]
