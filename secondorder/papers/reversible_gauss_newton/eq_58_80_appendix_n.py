"""Appendix N: the layer-wise right inverse is the Moore-Penrose inverse.

Displays: (58) to (80), and with them (36), (39), (41). A block b is a `BlockState`; h = d/2. B,
B A^+ and B A^+ A have the rows i + h (j - 1) of unit i and sample j.
"""

import numpy as np


def triangle(A, B, C):
    """[[A, 0], [B, C]]."""
    return np.block([[A, np.zeros((len(A), C.shape[1]))], [B, C]])


def eq_58_own_jacobian(b):
    """Eq. (58): d (x^(1)_l, x^(2)_l) / d (w^(1)_l, w^(2)_l) = [[A, 0], [B, C]]."""
    h = len(b.W1)
    return triangle(eq_59_kronecker(b.S1, h), eq_66_B(b), eq_59_kronecker(b.S2, h))


def eq_59_kronecker(S, h):
    """Eqs. (36), (39), (59): A = S1^T kron I or C = S2^T kron I, d vec(W S) / d vec(W)."""
    return np.kron(S.T, np.eye(h))  # (36), (39), (59)


def eq_60_own_right_inverse(b):
    """Eq. (60): [[A^+, 0], [-C^+ B A^+, C^+]], with (61), (62) and (63)."""
    A_plus, C_plus = (eq_61_63_plus(S, len(b.W1)) for S in (b.S1, b.S2))
    return triangle(A_plus, -C_plus @ eq_66_B(b) @ A_plus, C_plus)


def eq_61_63_plus(S, h):
    """Eqs. (61), (63): (S^T kron I)^+ = S^{T+} kron I."""
    return np.kron(np.linalg.pinv(S.T), np.eye(h))


def eq_64_product(b):
    """Eq. (64), (60) times (58): [[A^+ A, 0], [C^+ B - C^+ B A^+ A, C^+ C]]."""
    A, C = (eq_59_kronecker(S, len(b.W1)) for S in (b.S1, b.S2))
    A_plus, C_plus = (eq_61_63_plus(S, len(b.W1)) for S in (b.S1, b.S2))
    C_plus_B = C_plus @ eq_66_B(b)
    return triangle(A_plus @ A, C_plus_B - C_plus_B @ A_plus @ A, C_plus @ C)


def entries(b, T):
    """[i + h (j-1), a + h (m-1)] = sum_k W2_ik V1_ka S'_kj T_jm, with S' the slopes of S2."""
    M = np.einsum("ik,ka,kj,jm->jima", b.W2, b.V1, b.slope2, T)
    return M.reshape(b.X1.size, -1)


def eq_66_B(b):
    """Eqs. (62), (65), (66): B = d x^(2)_l / d w^(1)_l,

    B[i + h (j-1), a + h (m-1)] = S1_mj sum_k W2_ik V1_ka S'_kj, the `entries` for T = S1^T.
    """
    return entries(b, b.S1.T)  # (62), (65), (66)


def eq_72_BA_plus(b):
    """Eqs. (67) to (72): B A^+, the `entries` for T = S1^T S1^{T+}."""
    # (67), (68), (69), (70), (71), (72)
    return entries(b, b.S1.T @ np.linalg.pinv(b.S1.T))


def eq_78_BA_plus_A(b):
    """Eqs. (73) to (78): B A^+ A, the `entries` for T = S1^T S1^{T+} S1^T.

    As that is S1^T, it is B again, (79) and (80).
    """
    # (73), (74), (75), (76), (77), (78), (79), (80)
    return entries(b, b.S1.T @ np.linalg.pinv(b.S1.T) @ b.S1.T)
