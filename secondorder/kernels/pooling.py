"""Windows of images (S, C, H, W) pooled into (S, C, P, Q); K_0, K_1 are the kernel, `strides` the
steps (down, across) from window to window.
"""

from .compiling import loop


@loop
def max_pool(x, K_0, K_1, down, across, y, place):
    """y_scpq = max_lk x_sc,(down p + l),(across q + k), the first of equals, or NaN if one is;
    place_scpq = the place of that entry in its image, row by row
    """
    S, C, P, Q = y.shape
    W = x.shape[3]
    for s in range(S):
        for c in range(C):
            for p in range(P):
                for q in range(Q):
                    best, at = x[s, c, down * p, across * q], down * p * W + across * q
                    for l in range(K_0):
                        for k in range(K_1):
                            z = x[s, c, down * p + l, across * q + k]
                            if z > best or z != z:
                                best, at = z, (down * p + l) * W + across * q + k
                    y[s, c, p, q], place[s, c, p, q] = best, at


@loop
def put(y_bar, place, x_bar):
    """x_bar_n,place_nj += y_bar_nj, of images n of some directions, one behind the other"""
    for n in range(y_bar.shape[0]):
        own = n % place.shape[0]
        for j in range(y_bar.shape[1]):
            x_bar[n, place[own, j]] += y_bar[n, j]


@loop
def take(x_tangent, place, y_tangent):
    """y_tangent_nj = x_tangent_n,place_nj, likewise"""
    for n in range(y_tangent.shape[0]):
        own = n % place.shape[0]
        for j in range(y_tangent.shape[1]):
            y_tangent[n, j] = x_tangent[n, place[own, j]]


@loop
def mean_pool(x, K_0, K_1, down, across, y):
    """y_npq = sum_lk x_n,(down p + l),(across q + k) / (K_0 K_1)"""
    share = y.dtype.type(1.0 / (K_0 * K_1))
    for n in range(y.shape[0]):
        for p in range(y.shape[1]):
            for q in range(y.shape[2]):
                total = y.dtype.type(0)
                for l in range(K_0):
                    for k in range(K_1):
                        total += x[n, down * p + l, across * q + k]
                y[n, p, q] = total * share


@loop
def mean_put(y_bar, K_0, K_1, down, across, x_bar):
    """x_bar_n,(down p + l),(across q + k) += y_bar_npq / (K_0 K_1)"""
    share = y_bar.dtype.type(1.0 / (K_0 * K_1))
    for n in range(y_bar.shape[0]):
        for p in range(y_bar.shape[1]):
            for q in range(y_bar.shape[2]):
                bar = y_bar[n, p, q] * share
                for l in range(K_0):
                    for k in range(K_1):
                        x_bar[n, down * p + l, across * q + k] += bar
