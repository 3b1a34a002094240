"""The positive-curvature Hessian, PCH: Eq. (8a)-(8c). B^t (n, n) is E_i[hat Hess_{b^t} xi_i]."""

import numpy as np
from scipy.linalg import block_diag

from .eq_01_03_newton import pos_eig, positive
from .eq_04_hessian import downwards, plus_diagonal
from .eq_05_07_expectation import ehht


def eq_8a_pch_top(H, gamma=-1.0):
    """Eq. (8a): B^k = Pos-Eig(E_i[Hess_{h_i^k} xi_i]), (C, C), for H (S, C, C) of (4a)

    Of the mean, not of every instance. It changes nothing where xi is convex in the logits. That C
    is convex in the probabilities, as the paper asks, is not enough: C = 1 - y^T softmax.
    """
    return pos_eig(H.mean(axis=0), gamma)


def eq_8b_pch_step(W, B, h_bar, dh, ddh, gamma):
    """Eq. (8b): B^{t-1} = (W^T B^t W) (.) EhhT^{(t-1)'} + Pos-Eig(diag(E_i[h''_i (.) h_bar_i]))

    W (n, m), B (n, n); h_bar_i = W^T grad_{b^t} xi_i, h', h'' (S, m). PCH-1 is gamma = -1, PCH-2
    gamma = 0.
    """
    second_order = (ddh * h_bar).mean(axis=0)
    return plus_diagonal((W.T @ B @ W) * ehht(dh), positive(second_order, gamma))


def eq_8b_as_printed(W, H, h_bar, dh, ddh, gamma):
    """Eq. (8b) as printed: the mean ends behind h'', and H (n, n) has no hat: it is uncorrected."""
    second_order = ddh.mean(axis=0) * h_bar.mean(axis=0)
    return plus_diagonal((W.T @ H @ W) * ehht(dh), positive(second_order, gamma))


def eq_8c_weight_block(h, B):
    """Eq. (8c): E_i[hat Hess_{W^t} xi_i] = EhhT^{t-1} (x) B^t, (n m, n m), over Vec(W^t)

    The hat of B^t is missing in the text that was read.
    """
    return np.kron(ehht(h), B)


def pch(layers, H, gamma):
    """Eq. (8a), (8b): [B^1 .. B^k]. At the top PCH-2 takes gamma = -1 too: only so are the zeros
    in the last rows of Tables 2-5 possible.
    """
    return downwards(layers, eq_8a_pch_top(H), lambda t, B: eq_8b_pch_step(
        t.W, B, t.h_bar, t.dh, t.ddh, gamma))


def block_diagonal(blocks):
    """Above Eq. (8a): diag(E_i[Hess_{W^1} xi_i], E_i[Hess_{b^1} xi_i], ..), all else dropped."""
    return block_diag(*blocks)
