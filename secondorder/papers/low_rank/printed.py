"""Formulas of the paper that are wrong as printed, executed as they stand; the corrected ones stand
where they belong.
"""

import numpy as np

from . import curved
from .quantities import alpha, eta, gamma, lambda_


def df_dw(sample, k):
    """[low-rank] Eq. (2): f_p^i u_m^l eta_i^(n,k),m v^(k-1),j, the index i on f_p too and l on u
    alone.

    It has entries only where layer k is as wide as the output.
    """
    return np.einsum("i,lm,mi,j->ij", sample.f_p, sample.u, eta(sample, sample.n, k),
                     sample.v_bar[k - 1])


def eta_as_printed(sample, k, l):
    """[low-rank] Eq. (23): alpha_s^(k,l),j gamma_i^(k),s, with the slopes of layer k."""
    return np.einsum("js,si->ji", alpha(sample, k, l), gamma(sample, k))


def bends_above(sample, n, k, q):
    """The sum over r = k + 1, ..., n of (74), q < k, with eta_s^(r-1,k),c: indices j, s, l. It
    needs layers of one width.
    """
    total = np.zeros((len(sample.v[n]), len(sample.v[q]), len(sample.v[k])), dtype=sample.p.dtype)
    for r in range(k + 1, n + 1):
        w = sample.w[r]
        total += np.einsum("jb,bdp,da,pc,cs,al->jsl", alpha(sample, n, r), lambda_(sample, r), w, w,
                           eta(sample, r - 1, k), eta(sample, r - 1, k), optimize=True)
    return total


def deta_dw(sample, n, k, q):
    """[low-rank] Eq. (74)-(75), third case (q < k): v^(k-1),t and eta^(r-1,k) in the sum, for
    v^(q-1),t and eta^(r-1,q).
    """
    corrected = curved.deta_dw(sample, n, k, q)
    right = np.einsum("jsl,t->jlst", curved.bends_above(sample, n, k, q, k + 1),
                      sample.v_bar[q - 1])
    return (corrected - right + np.einsum("jsl,t->jlst", bends_above(sample, n, k, q),
                                          sample.v_bar[k - 1]))


def d2v_dw_dw(sample, k, q):
    """[low-rank] Eq. (77), third case (q < k), with the same slip."""
    difference = deta_dw(sample, sample.n, k, q) - curved.deta_dw(sample, sample.n, k, q)
    return curved.d2v_dw_dw(sample, k, q) + np.einsum("jlst,i->jlist", difference,
                                                      sample.v_bar[k - 1])
