"""Windows of images, some at a time, as a matrix for products: the compiled form of
`secondorder.nets.windows`.

Images are rows (S, C H W) of a batch. A line is the Q windows beside each other in a row of places;
lines of all samples are counted on, r = s P + p, and a turn is some of them.

Places are counted without a sign: with one, every access would ask whether it counts from the end.
The innermost loops are not functions: calling one costs as much as a short line.
"""

import numpy as np

from ..compiling import compiled

whole = np.uintp


@compiled
def inside(offset, stride, length, places):
    """The first place and the one after the last, of `places`, at which stride * place + offset
    lies inside 0 .. length - 1.
    """
    first = 0 if offset >= 0 else (stride - 1 - offset) // stride
    end = 0 if offset >= length else min(places, (length - 1 - offset) // stride + 1)
    return min(first, end), end


@compiled
def windows(x, size, first, end, Z):
    """Z_(clk)(rq) = z_scpqlk = x_scij  for the lines r = s P + p from `first` to `end`, with

    i = stride_0 p + l - padding_0,  j = stride_1 q + k - padding_1,  and 0 outside the image.
    """
    C, H, W, P, Q, K_0, K_1, stride_0, stride_1, padding_0, padding_1, turn = size
    pixels, out, zero = x.reshape(-1), Z.reshape(-1), Z.dtype.type(0)
    for k in range(K_1):
        q_first, q_end = inside(k - padding_1, stride_1, W, Q)
        left, count = stride_1 * q_first + k - padding_1, whole(q_end - q_first)
        for row in range(C * K_0):
            c, l, s, p = row // K_0, row % K_0, first // P, first % P
            to = whole((row * K_1 + k) * Z.shape[1])
            for _ in range(first, end):
                i = stride_0 * p + l - padding_0
                if i < 0 or i >= H:
                    for q in range(whole(Q)):
                        out[to + q] = zero
                else:
                    for q in range(whole(q_first)):
                        out[to + q] = zero
                    for q in range(whole(q_end), whole(Q)):
                        out[to + q] = zero
                    pixel, at = whole(((s * C + c) * H + i) * W + left), to + whole(q_first)
                    if stride_1 == 1:
                        for q in range(count):
                            out[at + q] = pixels[pixel + q]
                    else:
                        for q in range(count):
                            out[at + q] = pixels[pixel + whole(stride_1) * q]
                to += whole(Q)
                p += 1
                if p == P:
                    s, p = s + 1, 0


@compiled
def windows_back(Z_bar, size, first, end, x_bar):
    """The way back: Z_bar_(clk)(rq) is added to x_bar_scij."""
    C, H, W, P, Q, K_0, K_1, stride_0, stride_1, padding_0, padding_1, turn = size
    pixels, bars = x_bar.reshape(-1), Z_bar.reshape(-1)
    for k in range(K_1):
        q_first, q_end = inside(k - padding_1, stride_1, W, Q)
        left, count = stride_1 * q_first + k - padding_1, whole(q_end - q_first)
        for row in range(C * K_0):
            c, l, s, p = row // K_0, row % K_0, first // P, first % P
            to = whole((row * K_1 + k) * Z_bar.shape[1])
            for _ in range(first, end):
                i = stride_0 * p + l - padding_0
                if 0 <= i < H:
                    pixel, at = whole(((s * C + c) * H + i) * W + left), to + whole(q_first)
                    if stride_1 == 1:
                        for q in range(count):
                            pixels[pixel + q] += bars[at + q]
                    else:
                        for q in range(count):
                            pixels[pixel + whole(stride_1) * q] += bars[at + q]
                to += whole(Q)
                p += 1
                if p == P:
                    s, p = s + 1, 0
