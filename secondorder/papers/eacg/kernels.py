"""Two loops of EA-CG: conjugate gradients on a small system, and s G + w mean^T in one pass."""

import numpy as np

from ...kernels import loop


@loop
def damped(B, weight, damping, across, along, max_cg, tolerance, v):
    """Solve by conjugate gradients, from 0, for the number c and for v (n,), which is written to:

        damping c = -across,    (weight B + damping I) v = -along

    where across^2 + |along|^2 = 1. Returns c, the number of products and the residual's norm, NaN
    where a product is not finite.
    """
    n, iterations, rr = len(v), 0, 1.0
    r, Lp = np.empty(n), np.empty(n)
    for i in range(n):
        v[i], r[i] = 0.0, -along[i]
    c, r_c, p, p_c = 0.0, -across, r.copy(), -across
    while iterations < max_cg and np.sqrt(rr) > tolerance:
        np.dot(B, p, Lp)
        Lp_c = damping * p_c
        pLp = p_c * Lp_c
        for i in range(n):
            Lp[i] = weight * Lp[i] + damping * p[i]
            pLp += p[i] * Lp[i]
        if not np.isfinite(pLp):
            return c, iterations, np.nan
        if pLp <= 0.0:  # rounding has used it up
            break
        iterations += 1
        step, before = rr / pLp, rr
        c, r_c = c + step * p_c, r_c - step * Lp_c
        rr = r_c * r_c
        for i in range(n):
            v[i] += step * p[i]
            r[i] -= step * Lp[i]
            rr += r[i] * r[i]
        p_c = r_c + rr / before * p_c
        for i in range(n):
            p[i] = r[i] + rr / before * p[i]
    return c, iterations, np.sqrt(rr)


@loop
def combined(s, G, w, mean, D):
    """D_ij = s G_ij + w_i mean_j, (n, m)"""
    for i in range(G.shape[0]):
        for j in range(G.shape[1]):
            D[i, j] = s * G[i, j] + w[i] * mean[j]
