"""Windows of images: what a kernel sees at every place, and the way back.

Images are (S, C, H, W). A window is written ``z[s, c, p, q, l, k]``: sample s, channel c, place
(p, q), entry (l, k) inside the kernel.
"""

import numpy as np


def padded(x, padding):
    """Images with `padding` (down, across) rows and columns of zeros on either side."""
    down, across = padding
    return np.pad(x, ((0, 0), (0, 0), (down, down), (across, across))) if any(padding) else x


def windows(x, kernel, stride, padding=(0, 0)):
    """What a kernel sees, a view without copies:

    z_scpqlk = x_scij  with  i = stride_0 p + l - padding_0,  j = stride_1 q + k - padding_1

    and 0 outside the image ([low-rank] Eq. (45), counted from 0). x is (S, C, H, W), z is (S, C, P,
    Q, K_0, K_1); kernel, stride and padding are pairs, down and across.
    """
    z = np.lib.stride_tricks.sliding_window_view(padded(x, padding), kernel, axis=(2, 3))
    return z[:, :, ::stride[0], ::stride[1]]


def windows_back(z_bar, x_shape, stride, padding=(0, 0)):
    """Reverse mode of :func:`windows`: every entry of the image gets the sum over all windows that
    see it,

    x_bar_scij = sum_pqlk z_bar_scpqlk  where  i = stride_0 p + l - padding_0  and  j likewise.
    """
    samples, channels, height, width = x_shape
    places, kernel = z_bar.shape[2:4], z_bar.shape[4:]
    x_bar = np.zeros((samples, channels, height + 2 * padding[0], width + 2 * padding[1]),
                     dtype=z_bar.dtype)
    for l, k in np.ndindex(*kernel):
        entries = x_bar[:, :, l::stride[0], k::stride[1]]
        entries[:, :, :places[0], :places[1]] += z_bar[..., l, k]
    return x_bar[:, :, padding[0]:padding[0] + height, padding[1]:padding[1] + width]


def linear_input_hessian(saved, H_y, input_gradients):
    """sum_ii' J_sij H_y_sii' J_si'k, as y is linear in x; rows times J are gradients in the input,
    which ``input_gradients`` gives for rows in the shape of y, (S, r, *out).
    """
    def times_jacobian(rows):
        """sum_i rows_sri J_sij for rows (S, r, out): (S, r, in)."""
        bars = rows.reshape(*rows.shape[:2], *saved.output.shape[1:])
        return input_gradients(bars).reshape(*rows.shape[:2], -1)

    JtH = times_jacobian(H_y.transpose(0, 2, 1)).transpose(0, 2, 1)
    return times_jacobian(JtH)
