"""Two loops of EA-CG: conjugate gradients on a small system, and s G + w mean^T in one pass."""

import numpy as np

from ...compiled import compiled as loop, summing


@loop
def damped(B, weight, damping, right, max_cg, tolerance):
    """x with L(x) = right, |right| = 1, by conjugate gradients from 0: x, products, |residual|.

    The first entries c of a right side that is longer than B (n, n) stand beside it:

        c -> damping c,    v -> (weight B + damping I) v
    """
    k, iterations, rr = right.size - B.shape[0], 0, 1.0
    x, Lp, r = np.zeros(right.size), np.zeros(right.size), right.astype(np.float64)
    p = r.copy()
    while iterations < max_cg and np.sqrt(rr) > tolerance:
        np.dot(B, p[k:], Lp[k:])
        for i in range(p.size):
            Lp[i] = weight * Lp[i] + damping * p[i] if i >= k else damping * p[i]
        pLp = inner(p, Lp)
        if not np.isfinite(pLp):
            return x, iterations, np.nan
        if pLp <= 0.0:
            break
        iterations += 1
        step = rr / pLp
        for i in range(p.size):
            x[i] += step * p[i]
            r[i] -= step * Lp[i]
        before, rr = rr, inner(r, r)
        for i in range(p.size):
            p[i] = r[i] + rr / before * p[i]
    return x, iterations, np.sqrt(rr)


@loop
def combined(s, G, w, mean):
    """D_ij = s G_ij + w_i mean_j, (n, m), in the dtype of G."""
    D = np.empty_like(G)
    for i in range(G.shape[0]):
        for j in range(G.shape[1]):
            D[i, j] = s * G[i, j] + w[i] * mean[j]
    return D


@summing
def inner(a, b):
    """sum_i a_i b_i"""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total
