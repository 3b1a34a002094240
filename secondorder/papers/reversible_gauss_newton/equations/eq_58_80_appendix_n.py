"""Appendix N: the layer-wise right inverse is the Moore-Penrose inverse, Eqs. (58)-(80)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, equation
from .. import PAPER
from ..eq_12_13_jacobian import through
from ..eq_33_57_proof import eq_41_right_inverse, eq_42_right_inverses
from ..eq_58_80_appendix_n import (eq_58_own_jacobian, eq_59_kronecker, eq_60_own_right_inverse,
                                   eq_61_63_plus, eq_64_product, eq_66_B, eq_72_BA_plus,
                                   eq_78_BA_plus_A)
from . import cases, reference
from .conditions import INDEPENDENT


def half(state):
    """d/2 of a block."""
    return len(state.W1)


@equation(PAPER, "58", "59",
          statement="The layer's Jacobian once more, with the letters A, B and C.",
          kind="identity", verdict="holds",
          implements=(eq_58_own_jacobian, eq_59_kronecker), uses=("39",))
def equations_58_and_59(rng):
    at = cases.small(rng, activation="relu")
    claims = [Equal("(A 0; B C) against complex steps", eq_58_own_jacobian(state),  # (58)
                    reference.own_parameter_jacobian(at.net, at.x, l), 1e-12,
                    case=f"block {l + 1}")
              for l, state in enumerate(at.states)]
    state = at.states[1]
    loops = np.zeros((6, state.W1.size))
    for i, j, b in np.ndindex(2, 3, state.W1.shape[1]):
        loops[i + 2 * j, i + 2 * b] = state.S1[b, j]
    return [*claims, Equal("A by loops", eq_59_kronecker(state.S1, 2), loops, 1e-14),  # (59)
            Case(S=state.S1)]


@equation(PAPER, "60", "61", "62", "63",
          statement="Its right inverse, from the pseudo-inverses of Kronecker products, which are "
                    "Kronecker products.",
          kind="identity", verdict="holds",
          implements=(eq_60_own_right_inverse, eq_61_63_plus,
                      eq_66_B, eq_41_right_inverse), uses=("41", "59"))
def equations_60_to_63(rng):
    claims = []
    for case, at, l, state in cases.blocks_of_any_rank(rng):
        A, B, C = reference.triangle(at.net, at.x, l)  # (62)
        A_plus, C_plus, h = reference.pinv(A), reference.pinv(C), half(state)
        expected = reference.triangular_right_inverse(A, B, C)
        claims += [Equal("A+", eq_61_63_plus(state.S1, h), A_plus,  # (61)
                         1e-9, case=case),
                   Equal("C+", eq_61_63_plus(state.S2, h), C_plus,  # (63)
                         1e-9, case=case),
                   Equal("(41) from A+, B and C+", eq_41_right_inverse(A_plus, B, C_plus), expected,
                         1e-9, case=case),
                   Equal("whole", eq_60_own_right_inverse(state), expected, 1e-8,  # (60)
                         case=case)]
    return [*claims, Case(A_plus=A_plus)]


@equation(PAPER, "64",
          statement="The right inverse times the triangle; once B = B A+ A it is symmetric.",
          formula=r"J_{\ell,1}^\dashv J_{\ell,1}=\begin{pmatrix}A^+A&0\\"
                  r"C^+B-C^+BA^+A&C^+C\end{pmatrix}",
          kind="identity", verdict="holds",
          implements=eq_64_product, uses=("59", "60"))
def equation_64(rng):
    claims = []
    for case, at, l, state in cases.blocks_of_any_rank(rng):
        own = reference.own_parameter_jacobian(at.net, at.x, l)
        product = eq_64_product(state)
        inverse = reference.triangular_right_inverse(*reference.triangle(at.net, at.x, l))
        claims += [Equal("the product, by singular values", product, inverse @ own, 1e-9,
                         case=case),
                   Equal("symmetric", product, product.T.copy(), 1e-9, case=case)]
    return [*claims, Case(diagonal=np.diag(product))]


@equation(PAPER, "65", "66",
          statement="B entry by entry, with names for what the paper writes in full: S and S' as "
                    "defined here stand in (67)-(79) too.",
          kind="identity", verdict="holds",
          implements=eq_66_B,
          uses=("14", "15", "59", "u-vectorisation"))
def equations_65_and_66(rng):
    at = cases.small(rng)
    claims = []
    for l, state in enumerate(at.states):
        loops = np.zeros((6, state.W1.size))
        for i, j, a, b in np.ndindex(2, 3, 2, state.W1.shape[1]):
            slope = 1 - np.tanh(state.V1 @ state.X1[:, j]) ** 2
            total = sum(state.W2[i, k] * state.V1[k, a] * slope[k] for k in range(len(slope)))
            loops[i + 2 * j, a + 2 * b] = state.S1[b, j] * total
        _, B, _ = reference.triangle(at.net, at.x, l)
        claims += [Equal("by loops", eq_66_B(state), loops, 1e-12,  # (66)
                         case=f"block {l + 1}"),
                   # (65)
                   Equal("as d x2 / d w1 by complex steps", eq_66_B(state), B, 1e-11,
                         case=f"block {l + 1}")]
    return [*claims, Case(B=loops)]


@equation(PAPER, "67", "68", "69", "70", "71", "72",
          statement="B A+ entry by entry: the sum over the hidden units, times S^T S^{T+}.",
          kind="proof-step", verdict="holds",
          implements=eq_72_BA_plus, uses=("61", "66"))
def equations_67_to_72(rng):
    claims = []
    for case, at, l, state in cases.blocks_of_any_rank(rng):
        A, B, _ = reference.triangle(at.net, at.x, l)
        expected = B @ reference.pinv(A)  # (67), (68)
        T_plus, (samples, h) = reference.pinv(state.S1.T), state.X1.T.shape
        inner = np.einsum("ik,ka,kj->ija", state.W2, state.V1, state.slope2)  # sum over k
        lines = {"(69)": np.einsum("jibp,pm->jibm", B.reshape(samples, h, -1, h)
                                   .transpose(0, 1, 3, 2), T_plus),
                 "(70)": np.einsum("jp,ija,pm->jiam", state.S1.T, inner, T_plus),
                 "(71)": np.einsum("ija,jm->jiam", inner, state.S1.T @ T_plus)}
        for line, terms in lines.items():  # [j1, i1, i4, j4], as rows and columns
            claims.append(Equal(line, terms.transpose(0, 1, 3, 2).reshape(len(B), -1),
                                expected, 1e-9, case=case))
        claims.append(Equal("(72)", eq_72_BA_plus(state), expected,
                            1e-9, case=case))
    return [*claims, Case(BA_plus=expected)]


@equation(PAPER, "73", "74", "75", "76", "77", "78", "79",
          statement="B A+ A entry by entry: S^T S^{T+} S^T takes the place of S^T in B.",
          kind="proof-step", verdict="holds",
          implements=eq_78_BA_plus_A, uses=("59", "72"))
def equations_73_to_79(rng):
    claims = []
    for case, at, l, state in cases.blocks_of_any_rank(rng):
        A, B, _ = reference.triangle(at.net, at.x, l)
        BA_plus, (samples, h) = B @ reference.pinv(A), state.X1.T.shape
        expected, T = BA_plus @ A, state.S1.T  # (73), (74)
        by_samples = BA_plus.reshape(samples, h, samples, h)  # [j1, i1, j4, i4]
        inner = np.einsum("ik,ka,kj->ija", state.W2, state.V1, state.slope2)
        lines = {"(75)": np.einsum("jima,mb->jiab", by_samples, T),
                 "(76)": np.einsum("ija,jm,mb->jiab", inner, T @ reference.pinv(T), T),
                 "(79)": np.einsum("ija,jb->jiab", inner, T)}
        for line, terms in lines.items():
            claims.append(Equal(line, terms.transpose(0, 1, 3, 2).reshape(len(B), -1),
                                expected, 1e-9, case=case))
        claims.append(Equal("(78)", eq_78_BA_plus_A(state), expected, 1e-9, case=case))  # (77)
    return [*claims, Case(BA_plus_A=expected)]


@equation(PAPER, "80",
          statement="B A+ A = B, whatever the ranks: B factors through A.",
          formula=r"=B_{i_1+\frac d2(j_1-1),\,i_3+\frac d2(j_3-1)}",
          kind="identity", verdict="holds",
          implements=(eq_78_BA_plus_A, eq_59_kronecker, through),
          uses=("66", "79"))
def equation_80(rng):
    claims = []
    for case, at, l, state in cases.blocks_of_any_rank(rng):
        _, B, _ = reference.triangle(at.net, at.x, l)
        D = through(state.W2, state.slope2, state.V1)
        claims += [Equal("B A+ A", eq_78_BA_plus_A(state), B, 1e-9, case=case),
                   Equal("B = D A with D = d x2 / d x1",
                         D @ eq_59_kronecker(state.S1, half(state)), B, 1e-11, case=case)]
    return [*claims, Case(B=B)]


@equation(PAPER, "appendix-n",
          where="Appendix N; Appendix D, below Eq. (42)",
          statement="The layer-wise right inverse is the Moore-Penrose inverse of the layer's "
                    "Jacobian.",
          formula=r"J_{\ell,1}^\dashv=J_{\ell,1}^+,\qquad J_\ell^\dashv=J_\ell^+",
          kind="claim", verdict="conditional",
          condition=(INDEPENDENT,
                     "The outputs are x_L itself. (A readout with fewer outputs leaves directions "
                     "of x_L free, which the layer-wise inverse holds fixed.)"),
          implements=(eq_60_own_right_inverse, eq_42_right_inverses),
          uses=("64", "80"))
def appendix_n(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        for l, (state, inverse) in enumerate(zip(at.states,
                                                 eq_42_right_inverses(at.states))):
            own, J = (reference.own_parameter_jacobian(at.net, at.x, l),
                      reference.parameter_jacobian(at.net, at.x, [l]))
            claims.append(wrap(Equal("the layer alone", eq_60_own_right_inverse(state),
                                     reference.pinv(own), 1e-8, case=f"{name}, block {l + 1}")))
            claims.append(wrap(Equal("with the network above", inverse, reference.pinv(J), 1e-7,
                                     case=f"{name}, block {l + 1}")))
    at = cases.small(rng)
    R = np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    half_first = [s * 4 + which * 2 + i for which in (0, 1) for s in range(3) for i in (0, 1)]
    sample = np.kron(np.eye(3), R)[:, half_first]
    J, inverse = (reference.parameter_jacobian(at.net, at.x, [0]),
                  eq_42_right_inverses(at.states)[0])
    read = inverse @ sample.T
    return [*claims, Equal("a readout: still a right inverse", sample @ J @ read, np.eye(6), 1e-8),
            Counterexample(Equal("a readout: but not the Moore-Penrose inverse", read,
                                 reference.pinv(sample @ J), 1e-3)), Case(readout=R)]
