"""Appendix N: the layer-wise right inverse is the Moore-Penrose inverse.

Displays: (58) to (80), and with them (36), (39) to (41). A block b is a `BlockState`: S is b.S1, S'
b.slope2, W_{l,G} b.W2; h = d/2. B, B A^+ and B A^+ A have the rows i + h (j - 1) of unit i and
sample j, and columns like them. From (67) to (80) every function is one line of the proof, with
the sums that stand there; lines that differ in a name or in brackets alone share one. A step
computes none of them.
"""

import numpy as np


def eq_40_triangle(A, B, C):
    """Eq. (40): [[A, 0], [B, C]]."""
    return np.block([[A, np.zeros((len(A), C.shape[1]))], [B, C]])


def eq_41_right_inverse(A_plus, B, C_plus):
    """Eq. (41): [[A^+, 0], [-C^+ B A^+, C^+]], a right inverse of (40) if A A^+ = I and C C^+ = I.
    """
    return eq_40_triangle(A_plus, -C_plus @ B @ A_plus, C_plus)


def through(W, slope, V):
    """d vec(W sigma(V X)) / d vec(X), (h n, h n): a block W diag(sigma'(V X)_j) V for sample j."""
    n = slope.shape[1]
    D = np.einsum("jl,ik,kj,ka->jila", np.eye(n), W, slope, V)
    return D.reshape(len(W) * n, -1)


def eq_36_39_58_own_jacobian(b):
    """Eqs. (36), (39), (58): d (x^(1)_l, x^(2)_l) / d (w^(1)_l, w^(2)_l) = [[A, 0], [B, C]]."""
    h = len(b.W1)
    return eq_40_triangle(eq_59_kronecker(b.S1, h), eq_65_66_B(b), eq_59_kronecker(b.S2, h))


def eq_59_kronecker(S, h):
    """Eq. (59): A = S1^T kron I or C = S2^T kron I, d vec(W S) / d vec(W)."""
    return np.kron(S.T, np.eye(h))


def eq_60_own_right_inverse(b):
    """Eq. (60): [[A^+, 0], [-C^+ B A^+, C^+]]."""
    A_plus, C_plus = (eq_61_63_plus(S, len(b.W1)) for S in (b.S1, b.S2))
    return eq_41_right_inverse(A_plus, eq_62_B(b), C_plus)


def eq_61_63_plus(S, h):
    """Eqs. (61), (63): A^+ or C^+, (S^T kron I)^+ = S^{T+} kron I."""
    return np.kron(np.linalg.pinv(S.T), np.eye(h))


def eq_62_B(b):
    """Eq. (62): B = d x^(2)_l / d w^(1)_l, as (d x^(2)_l / d x^(1)_l) A."""
    return through(b.W2, b.slope2, b.V1) @ eq_59_kronecker(b.S1, len(b.W1))


def eq_64_product(b):
    """Eq. (64), (60) times (58): [[A^+ A, 0], [C^+ B - C^+ B A^+ A, C^+ C]]."""
    A, C = (eq_59_kronecker(S, len(b.W1)) for S in (b.S1, b.S2))
    A_plus, C_plus = (eq_61_63_plus(S, len(b.W1)) for S in (b.S1, b.S2))
    C_plus_B = C_plus @ eq_62_B(b)
    return eq_40_triangle(A_plus @ A, C_plus_B - C_plus_B @ A_plus @ A, C_plus @ C)


def entries(b, T, U=None):
    """[i + h (j-1), a + h (l-1)] = sum_m,k W2_ik V1_ka S'_kj T_jm U_ml; without U T_jl."""
    U = np.eye(T.shape[1]) if U is None else U
    M = np.einsum("ik,ka,kj,jm,ml->jila", b.W2, b.V1, b.slope2, T, U)
    return M.reshape(b.X1.size, -1)


def contracted(M, T):
    """[r, a + h (l-1)] = sum_m M[r, a + h (m-1)] T_ml: the 1(i = a) of T kron I left one sum."""
    return np.einsum("rma,ml->rla", M.reshape(len(M), len(T), -1), T).reshape(len(M), -1)


def eq_65_66_B(b):
    """Eqs. (65), (66): B[i + h (j-1), a + h (m-1)] = (S^T)_jm sum_k W2_ik V1_ka S'_kj."""
    return entries(b, b.S1.T)


def eq_67_68_BA_plus(B, A_plus):
    """Eqs. (67), (68): B A^+, the sum over i_2 and j_2."""
    return B @ A_plus


def eq_69_BA_plus(B, S):
    """Eq. (69): sum over j_2 of B and S^{T+}, as A^+ = S^{T+} kron I."""
    return contracted(B, np.linalg.pinv(S.T))


def eq_70_BA_plus(b):
    """Eq. (70): sum over j_2 and k of (S^T)_{j1 j2} W2 V1 S' (S^{T+})_{j2 j4}."""
    return entries(b, b.S1.T, np.linalg.pinv(b.S1.T))


def eq_71_72_BA_plus(b):
    """Eqs. (71), (72): sum over k of W2 V1 S', times (S^T S^{T+})_{j1 j4}."""
    return entries(b, b.S1.T @ np.linalg.pinv(b.S1.T))


def eq_73_74_BA_plus_A(BA_plus, A):
    """Eqs. (73), (74): B A^+ A, the sum over i_4 and j_4."""
    return BA_plus @ A


def eq_75_BA_plus_A(BA_plus, S):
    """Eq. (75): sum over j_4 of B A^+ and S^T, as A = S^T kron I."""
    return contracted(BA_plus, S.T)


def eq_76_BA_plus_A(b):
    """Eq. (76): sum over j_4 and k of W2 V1 S' (S^T S^{T+})_{j1 j4} (S^T)_{j4 j3}."""
    return entries(b, b.S1.T @ np.linalg.pinv(b.S1.T), b.S1.T)


def eq_77_78_BA_plus_A(b):
    """Eqs. (77), (78): sum over k of W2 V1 S', times (S^T S^{T+} S^T)_{j1 j3}."""
    return entries(b, b.S1.T @ np.linalg.pinv(b.S1.T) @ b.S1.T)


eq_79_80_BA_plus_A = eq_65_66_B  # as S^T S^{T+} S^T = S^T, B A^+ A is B itself
