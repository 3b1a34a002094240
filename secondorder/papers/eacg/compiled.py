"""The compiled form of `systems.combined`, and of conjugate gradients for one damped matrix."""

import numpy as np

from ...compiled import compiled, summing


@compiled
def combined(s, G, w, mean, D):
    """D_ij = s G_ij + w_i m_j, written into D (n, m)."""
    for i in range(G.shape[0]):
        of_row = w[i]
        for j in range(G.shape[1]):
            D[i, j] = s * G[i, j] + of_row * mean[j]


@compiled
def damped(B, weight, damping, right, max_cg, tolerance, x):
    """x of L(x) = right by conjugate gradients from x = 0, where L leaves the first k entries c
    alone and takes B (n, n) to the others:

        c_j -> damping c_j,    v_i -> weight sum_j B_ij v_j + damping v_i

    Returns the number of products, -1 where one or the norm of `right` is not finite; and
    |residual| / |right|.
    """
    k, iterations = right.size - B.shape[0], 0
    r, p, Lp = right.copy(), right.copy(), np.zeros_like(right)
    x[:] = 0.0
    rr = inner(r, r)
    whole = np.sqrt(rr)
    if not np.isfinite(whole):
        return -1, 0.0
    while iterations < max_cg and np.sqrt(rr) > tolerance * whole:
        np.dot(B, p[k:], Lp[k:])
        for i in range(p.size):
            Lp[i] = weight * Lp[i] + damping * p[i] if i >= k else damping * p[i]
        pLp = inner(p, Lp)
        if not np.isfinite(pLp):
            return -1, 0.0
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
    return iterations, np.sqrt(rr) / whole if whole > 0.0 else 0.0


@summing
def inner(a, b):
    """sum_i a_i b_i"""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total
