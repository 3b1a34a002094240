"""What the paper does not have and what helps to judge it: exact solutions, an upper bound.

Letters as in `eq_09_11_ea_cg`.
"""

import math

import numpy as np

from ...optimizers.norms import norm
from .eq_01_03_newton import pos_eig, positive
from .eq_04_hessian import gauss_newton_hessian, plus_diagonal
from .eq_09_11_ea_cg import Solved, damping, solve


def closed_form(B, G, X, alpha, l2=0.0, limits=None):
    """Eq. (10b) with (11b) solved exactly, where EA-CG ends; D (n, m). For E_i[h] = q e, |e| = 1,

        D = -(G - (G e) e^T) / damping + u e^T,    ((1 - alpha) q^2 B + damping I) u = -G e

    Across the mean input it is gradient descent at the rate 1 / damping.
    """
    of_I, mean = damping(alpha, l2), X.mean(axis=0)
    q = norm(mean)
    e = mean / q if q else mean
    Ge = G @ e
    u = solve(plus_diagonal((1 - alpha) * q * q * B, of_I), -Ge)
    return Solved(G / -of_I + np.outer(u + Ge / of_I, e))


def closed_form_of_bias(B, g, alpha, l2=0.0, limits=None):
    """Eq. (10a) solved exactly, d (n,)."""
    return Solved(solve(plus_diagonal((1 - alpha) * B, damping(alpha, l2)), -g))


def exact_form(B, G, X, alpha, l2=0.0, limits=None):
    """Eq. (10b) with (11a) solved exactly, D (n, m). With B = U diag(b) U^T, A = V diag(a) V^T,

        D = -U [(U^T G V) / ((1 - alpha) b a^T + damping)] V^T

    and -(G - G V V^T) / damping more where inputs are wider than the batch and V (m, S) has the
    eigenvectors of their span alone.
    """
    of_I = damping(alpha, l2)
    _, singular, VT = np.linalg.svd(X / math.sqrt(len(X)), full_matrices=False)
    b, U = np.linalg.eigh(B)
    GV = G @ VT.T
    inside = -U @ ((U.T @ GV) / ((1 - alpha) * np.outer(b, singular**2) + of_I)) @ VT
    return Solved(inside if len(VT) == G.shape[1] else inside - (G - GV @ VT) / of_I)


def clipped_top(H, convex):
    """H (S, C, C) of (4a) with the negative eigenvalues of every instance dropped."""
    return H if convex else np.array([pos_eig(one, 0.0) for one in H])


def clipped_step(layer, H, gamma=0.0):
    """Eq. (4b) with the negative entries of its diagonal times gamma, instance by instance.

    With gamma = 0 the mean is above the exact one in the Loewner order, layer by layer.
    """
    return plus_diagonal(gauss_newton_hessian(layer.W, H, layer.dh),
                         positive(layer.ddh * layer.h_bar, gamma))
