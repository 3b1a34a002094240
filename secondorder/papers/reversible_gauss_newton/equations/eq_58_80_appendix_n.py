"""Appendix N: the layer-wise right inverse is the Moore-Penrose inverse, Eqs. (58)-(80)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, equation
from .. import PAPER
from ..eq_33_57_proof import eq_42_right_inverses
from ..eq_58_80_appendix_n import (
    eq_36_39_58_own_jacobian, eq_59_kronecker, eq_60_own_right_inverse, eq_61_63_plus, eq_62_B,
    eq_64_product, eq_65_66_B, eq_67_68_BA_plus, eq_69_BA_plus, eq_70_BA_plus, eq_71_72_BA_plus,
    eq_73_74_BA_plus_A, eq_75_BA_plus_A, eq_76_BA_plus_A, eq_77_78_BA_plus_A, eq_79_80_BA_plus_A,
    through)
from . import cases, reference
from .cases import blockwise
from .conditions import INDEPENDENT


def for_any_rank(rng, sides):
    """Claims for every block of networks of any rank, and the blocks' matrices: `sides` takes a
    state and A, B, C of complex steps and gives {what: (left, right)}.
    """
    claims = []
    for case, at, l, b in cases.blocks_of_any_rank(rng):
        A, B, C = reference.triangle(at.net, at.x, l)
        claims += [Equal(what, *pair, 1e-9, case=case)
                   for what, pair in sides(b, A, B, C).items()]
    return [*claims, Case(A=A, B=B, C=C)]


@equation(PAPER, "58", "59",
          statement="The layer's Jacobian once more, with the letters A, B and C.",
          kind="identity", verdict="holds",
          implements=(eq_36_39_58_own_jacobian, eq_59_kronecker), uses=("39",))
def equations_58_and_59(rng):
    at = cases.small(rng, activation="relu")
    S, loops = at.states[1].S1, np.zeros((6, 16))
    for i, j, m in np.ndindex(2, 3, 8):
        loops[i + 2 * j, i + 2 * m] = S[m, j]
    return [*blockwise("(58): (A 0; B C) against complex steps", map(eq_36_39_58_own_jacobian,
                                                                  at.states),
                       lambda l: reference.own_jacobian(at.net, at.x, l), 1e-12),
            Equal("(59): A by loops", eq_59_kronecker(S, 2), loops, 1e-14), Case(S=S)]


@equation(PAPER, "60", "61", "62", "63",
          statement="Its right inverse, from the pseudo-inverses of Kronecker products, which are "
                    "Kronecker products.",
          kind="identity", verdict="holds",
          implements=(eq_60_own_right_inverse, eq_61_63_plus, eq_62_B), uses=("41", "59"))
def equations_60_to_63(rng):
    def sides(b, A, B, C):
        return {"(60): whole": (eq_60_own_right_inverse(b),
                                reference.triangular_right_inverse(A, B, C)),
                "(61): A+": (eq_61_63_plus(b.S1, len(b.W1)), reference.pinv(A)),
                "(62): B": (eq_62_B(b), B),
                "(63): C+": (eq_61_63_plus(b.S2, len(b.W1)), reference.pinv(C))}
    return for_any_rank(rng, sides)


@equation(PAPER, "64",
          statement="The right inverse times the triangle; once B = B A+ A it is symmetric.",
          kind="identity", verdict="holds",
          implements=eq_64_product, uses=("59", "60"))
def equation_64(rng):
    def sides(b, A, B, C):
        product, inverse = eq_64_product(b), reference.triangular_right_inverse(A, B, C)
        own = np.block([[A, np.zeros((len(A), C.shape[1]))], [B, C]])
        return {"the product, by singular values": (product, inverse @ own),
                "symmetric": (product, product.T.copy())}
    return for_any_rank(rng, sides)


@equation(PAPER, "65", "66",
          statement="B entry by entry, with names for what the paper writes in full: S and S' as "
                    "defined here stand in (67)-(79) too.",
          kind="identity", verdict="holds",
          implements=eq_65_66_B, uses=("14", "15", "59", "u-vectorisation"))
def equations_65_and_66(rng):
    at = cases.small(rng)
    states = at.states

    def loops(l):
        b, B = states[l], np.zeros((6, 16))
        slope = 1 - np.tanh(b.V1 @ b.X1) ** 2
        for i, j, a, m in np.ndindex(2, 3, 2, 8):
            total = sum(b.W2[i, k] * b.V1[k, a] * slope[k, j] for k in range(8))
            B[i + 2 * j, a + 2 * m] = b.S1[m, j] * total
        return B

    B = [eq_65_66_B(b) for b in states]
    return [*blockwise("(66): by loops", B, loops, 1e-12),
            *blockwise("(65): as d x2 / d w1 by complex steps", B,
                       lambda l: reference.triangle(at.net, at.x, l)[1], 1e-11), Case(B=B[-1])]


@equation(PAPER, "67", "68", "69", "70", "71", "72",
          statement="B A+ entry by entry: the sum over the hidden units, times S^T S^{T+}.",
          kind="proof-step", verdict="holds",
          implements=(eq_67_68_BA_plus, eq_69_BA_plus, eq_70_BA_plus, eq_71_72_BA_plus),
          uses=("61", "66"))
def equations_67_to_72(rng):
    def sides(b, A, B, C):
        A_plus, expected = reference.pinv(A), np.linalg.lstsq(A.T, B.T, rcond=1e-10)[0].T
        return {"(67), (68)": (eq_67_68_BA_plus(B, A_plus), expected),
                "(69)": (eq_69_BA_plus(B, b.S1), expected),
                "(70)": (eq_70_BA_plus(b), expected),
                "(71), (72)": (eq_71_72_BA_plus(b), expected)}
    return for_any_rank(rng, sides)


@equation(PAPER, "73", "74", "75", "76", "77", "78", "79",
          statement="B A+ A entry by entry: S^T S^{T+} S^T takes the place of S^T in B.",
          kind="proof-step", verdict="holds",
          implements=(eq_73_74_BA_plus_A, eq_75_BA_plus_A, eq_76_BA_plus_A, eq_77_78_BA_plus_A,
                      eq_79_80_BA_plus_A),
          uses=("59", "72"))
def equations_73_to_79(rng):
    def sides(b, A, B, C):
        BA_plus, (_, s, Vt) = B @ reference.pinv(A), np.linalg.svd(A, full_matrices=False)
        rows = Vt[s > 1e-10 * s[0]]
        expected = (B @ rows.T) @ rows  # A+ A is the projection on the rows of A
        return {"(73), (74)": (eq_73_74_BA_plus_A(BA_plus, A), expected),
                "(75)": (eq_75_BA_plus_A(BA_plus, b.S1), expected),
                "(76)": (eq_76_BA_plus_A(b), expected),
                "(77), (78)": (eq_77_78_BA_plus_A(b), expected),
                "(79)": (eq_79_80_BA_plus_A(b), expected)}
    return for_any_rank(rng, sides)


@equation(PAPER, "80",
          statement="B A+ A = B, whatever the ranks: B factors through A.",
          formula=r"=B_{i_1+\frac d2(j_1-1),\,i_3+\frac d2(j_3-1)}",
          kind="identity", verdict="holds",
          implements=(eq_79_80_BA_plus_A, eq_77_78_BA_plus_A, eq_59_kronecker, through),
          uses=("66", "79"))
def equation_80(rng):
    def sides(b, A, B, C):
        D = through(b.W2, b.slope2, b.V1)
        return {"B A+ A, by (78)": (eq_77_78_BA_plus_A(b), B),
                "(80): its last line": (eq_79_80_BA_plus_A(b), B),
                "B = D A with D = d x2 / d x1": (D @ eq_59_kronecker(b.S1, len(b.W1)), B)}
    return for_any_rank(rng, sides)


@equation(PAPER, "appendix-n",
          where="Appendix N; Appendix D, below Eq. (42)",
          statement="The layer-wise right inverse is the Moore-Penrose inverse of the layer's "
                    "Jacobian.",
          formula=r"J_{\ell,1}^\dashv=J_{\ell,1}^+,\qquad J_\ell^\dashv=J_\ell^+",
          kind="claim", verdict="conditional",
          condition=(INDEPENDENT,
                     "The outputs are x_L itself. (A readout with fewer outputs leaves directions "
                     "of x_L free, which the layer-wise inverse holds fixed.)"),
          implements=(eq_60_own_right_inverse, eq_42_right_inverses), uses=("64", "80"))
def appendix_n(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        for what, found, jacobian, off in (
                ("the layer alone", map(eq_60_own_right_inverse, at.states), reference.own_jacobian,
                 1e-8),
                ("with the network above", eq_42_right_inverses(at.states), reference.in_weights,
                 1e-7)):
            claims += blockwise(what, found, lambda l, of=jacobian, at=at: reference.pinv(
                of(at.net, at.x, l)), off, case=name, wrap=wrap)
    at, U = cases.small(rng), np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    read = np.kron(np.eye(3), U)[:, cases.half_order(4, 3)]  # all samples, from half order
    J, inverse = reference.in_weights(at.net, at.x, 0), eq_42_right_inverses(at.states)[0]
    return [*claims, Equal("a readout: still a right inverse", read @ J @ inverse @ read.T,
                           np.eye(6), 1e-8),
            Counterexample(Equal("a readout: but not the Moore-Penrose inverse", inverse @ read.T,
                                 reference.pinv(read @ J), 1e-3)), Case(readout=U)]
