"""What a kernel sees of images, as matrices for products, and the way back.

z (S, C K_0 K_1, P Q): entry e = (c l k) of the window at place (p q). For every (l, k) the places
at which it looks at the image, not beside it, are a range of p and a range of q.

Places in memory are counted without a sign: with one, every access would ask whether it counts from
the end.
"""

import numpy as np

from .compiling import loop

whole = np.uintp


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
    pixels, out = x.reshape(-1), z.reshape(-1)
    if above or left:
        out[:] = z.dtype.type(0)
    for l in range(K_0):
        p_first, p_end = inside(l - above, down, H, P)
        for k in range(K_1):
            q_first, q_end = inside(k - left, across, W, Q)
            count, step = whole(q_end - q_first), whole(across)
            for image in range(S * C):
                i, j = down * p_first + l - above, across * q_first + k - left
                pixel = whole((image * H + i) * W + j)
                to = whole(((image * K_0 + l) * K_1 + k) * P * Q + p_first * Q + q_first)
                for _ in range(p_first, p_end):
                    if across == 1:
                        for q in range(count):
                            out[to + q] = pixels[pixel + q]
                    else:
                        for q in range(count):
                            out[to + q] = pixels[pixel + step * q]
                    pixel += whole(down * W)
                    to += whole(Q)


@loop
def windows_back(z_bar, kernel, strides, padding, places, x_bar):
    """x_bar_scij += z_bar_s(clk)(pq)  where  i = stride_0 p + l - padding_0  and  j likewise"""
    (K_0, K_1), (down, across), (above, left), (P, Q) = kernel, strides, padding, places
    S, C, H, W = x_bar.shape
    pixels, bars = x_bar.reshape(-1), z_bar.reshape(-1)
    for l in range(K_0):
        p_first, p_end = inside(l - above, down, H, P)
        for k in range(K_1):
            q_first, q_end = inside(k - left, across, W, Q)
            count, step = whole(q_end - q_first), whole(across)
            for image in range(S * C):
                i, j = down * p_first + l - above, across * q_first + k - left
                pixel = whole((image * H + i) * W + j)
                at = whole(((image * K_0 + l) * K_1 + k) * P * Q + p_first * Q + q_first)
                for _ in range(p_first, p_end):
                    if across == 1:
                        for q in range(count):
                            pixels[pixel + q] += bars[at + q]
                    else:
                        for q in range(count):
                            pixels[pixel + step * q] += bars[at + q]
                    pixel += whole(down * W)
                    at += whole(Q)
