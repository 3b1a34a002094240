"""Appendix D: the right inverse of a layer's Jacobian and of the whole, Eqs. (33)-(55)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, PrintedShape, Property, equation
from .. import PAPER
from ..eq_12_13_jacobian import above, back_from_the_end, half_order, through
from ..eq_33_57_proof import (eq_33_jacobians, eq_36_39_own_jacobian, eq_40_triangle,
                              eq_41_right_inverse, eq_42_right_inverses, eq_47_as_printed,
                              eq_47_middle, eq_47_projection, eq_52_with_identity, eq_53_by_halves,
                              eq_54_remainder, eq_55_right_inverse, eq_56_57_step)
from ..eq_58_80_appendix_n import eq_59_kronecker, eq_60_own_right_inverse, eq_66_B
from . import cases, reference
from .conditions import HALF_ORDER, INDEPENDENT


def plain_order(M, width=4, samples=3):
    """Rows in half order put back into plain column-major order."""
    back = np.empty_like(M)
    back[half_order(width, samples)] = M
    return back


@equation(PAPER, "33", "34", "35", "36", "37", "38", "39",
          statement="A layer's Jacobian in halves: the Jacobian of the network above, times a "
                    "lower triangle of Kronecker products.",
          kind="identity", verdict="conditional", unnumbered=("34", "35", "37", "38"),
          condition=HALF_ORDER,
          implements=(eq_33_jacobians, eq_36_39_own_jacobian, eq_59_kronecker, eq_66_B,
                      through), uses=("13", "14", "15", "u-vectorisation"))
def equations_33_to_39(rng):
    at = cases.small(rng)
    claims = []
    for l, (J, state) in enumerate(zip(eq_33_jacobians(at.states), at.states)):
        own = reference.own_parameter_jacobian(at.net, at.x, l)
        size, block = state.W1.size, f"block {l + 1}"
        claims += [
            Equal("(33): J_l against complex steps", J,
                  reference.parameter_jacobian(at.net, at.x, [l]), 1e-11, case=block),
            Equal("(36), (39): d x_l / d w_l", eq_36_39_own_jacobian(state), own, 1e-11,
                  case=block),
            Equal("A", eq_59_kronecker(state.S1, 2), own[:6, :size], 1e-12, case=block),
            Equal("B", eq_66_B(state), own[6:, :size], 1e-11, case=block),
            Equal("C", eq_59_kronecker(state.S2, 2), own[6:, size:], 1e-12, case=block),
            Equal("nothing above the diagonal", own[:6, size:], np.zeros((6, size)), 1e-14,
                  scale=own, case=block)]
    outer = plain_order(reference.features_jacobian(at.net, at.x, 0).T).T  # columns in plain order
    mixed = outer @ reference.own_parameter_jacobian(at.net, at.x, 0)
    return [*claims, Counterexample(Equal("columns of the first factor in plain order", mixed,
                                          reference.parameter_jacobian(at.net, at.x, [0]), 1e-2)),
            Case(J=J)]


@equation(PAPER, "40", "41",
          statement="A lower triangle of blocks, and a right inverse of it.",
          formula=r"\begin{gathered} \begin{pmatrix}A&0\\B&C\end{pmatrix} \tag{40} \\ "
                  r"\begin{pmatrix}A^+&0\\-C^+BA^+&C^+\end{pmatrix} \tag{41} \end{gathered}",
          kind="identity", verdict="conditional",
          condition="A A+ = I and C C+ = I: both have full row rank.",
          implements=(eq_40_triangle, eq_41_right_inverse), uses=())
def equations_40_and_41(rng):
    claims = []
    for name, columns, wrap in (("full row rank", 7, lambda claim: claim),
                                ("A of rank 2", 2, Counterexample)):
        A, C, B = (rng.normal(size=(4, columns)),
                   rng.normal(size=(5, 8)),
                   rng.normal(size=(5, columns)))
        triangle = np.vstack([np.hstack([A, np.zeros((4, 8))]), np.hstack([B, C])])
        inverse = eq_41_right_inverse(reference.pinv(A), B, reference.pinv(C))
        claims.append(Equal("(40)", eq_40_triangle(A, B, C), triangle, 1e-14, case=name))
        claims.append(
            wrap(Equal("(41): the product with (40) against I", triangle @ inverse, np.eye(9),
                       1e-10, case=name)))
        claims.append(Equal("no part above the diagonal", inverse[:columns, 4:],
                            np.zeros((columns, 5)), 1e-14, scale=inverse, case=name))
    return [*claims, Case(A=A, B=B, C=C)]


@equation(PAPER, "42",
          statement="The right inverse of a layer's Jacobian: the triangle's right inverse, "
                    "times the Jacobian of the inverse network.",
          kind="identity", verdict="conditional", condition=INDEPENDENT,
          implements=(eq_42_right_inverses, eq_60_own_right_inverse),
          uses=("39", "41"))
def equation_42(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        for l, inverse in enumerate(eq_42_right_inverses(at.states)):
            J = reference.parameter_jacobian(at.net, at.x, [l])
            claims.append(wrap(Equal("J_l times it against I", J @ inverse, np.eye(12), 1e-8,
                                     case=f"{name}, block {l + 1}")))
    return [*claims, Case(inverse=inverse)]


@equation(PAPER, "43", "44", "45", "46", "47",
          statement="J_l times its right inverse has the projections S+ S on its diagonal.",
          kind="proof-step", verdict="erratum", weight="misprint",
          unnumbered=("43", "44", "45", "46"),
          implements=(eq_47_middle, eq_47_projection,
                      eq_54_remainder), uses=("39", "42"))
def equations_43_to_47(rng):
    claims = []
    for case, at, l, state in cases.blocks_of_any_rank(rng):
        own = reference.own_parameter_jacobian(at.net, at.x, l)
        h, m = len(state.X1), state.X1.size
        product = own @ eq_60_own_right_inverse(state)
        first, second = (eq_47_projection(S, h) for S in (state.S1, state.S2))
        claims += [Equal("the whole middle", eq_47_middle(state), product, 1e-9,
                         scale=own, case=case),
                   Equal("first diagonal block", first, product[:m, :m], 1e-9, case=case),
                   Equal("second diagonal block", second, product[m:, m:], 1e-9, case=case),
                   Equal("Lambda", eq_54_remainder(state), product[m:, :m], 1e-9,
                         scale=own, case=case)]
    S = cases.small(rng).states[0].S1
    shape = eq_47_as_printed(S, 2).shape
    rank = cases.rank_of(S @ np.linalg.pinv(S))
    return [*claims, Property("S S+ is a projection of rank n, not I", rank, 3),
            PrintedShape("[S S+]^T kron I against the 6 columns of d x_L / d x_l^(1)", shape,
                         (6, 6)), Case(S=S, product=product)]


@equation(PAPER, "48", "49", "50", "51", "52",
          statement="With independent features the diagonal blocks are I and Lambda is 0.",
          formula=r"=\Big(\frac{\partial\mathbf x_L}{\partial\mathbf x_\ell^{(1)}},\frac{\partial"
                  r"\mathbf x_L}{\partial\mathbf x_\ell^{(2)}}\Big)\begin{pmatrix}I&0\\"
                  r"0&I\end{pmatrix}\begin{pmatrix}\frac{\partial\mathbf x_\ell^{(1)}}{\partial"
                  r"\mathbf x_L}\\ \frac{\partial\mathbf x_\ell^{(2)}}{\partial\mathbf x_L}"
                  r"\end{pmatrix}",
          kind="proof-step", verdict="conditional", unnumbered=("48", "49", "50", "51"),
          condition=INDEPENDENT,
          implements=(eq_52_with_identity, eq_47_projection,
                      eq_60_own_right_inverse), uses=("47", "54"))
def equations_48_to_52(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        outer, back = above(at.states), back_from_the_end(at.states)
        for l, state in enumerate(at.states):
            own = reference.own_parameter_jacobian(at.net, at.x, l)
            middle = own @ eq_60_own_right_inverse(state)
            claims += [
                wrap(Equal("J_l times its right inverse", outer[l] @ middle @ back[l],
                           eq_52_with_identity(outer[l], back[l]), 1e-8,
                           case=f"{name}, block {l + 1}")),
                wrap(Equal("S1+ S1", eq_47_projection(state.S1, 2), np.eye(6),
                           1e-9, case=f"{name}, block {l + 1}")),
                wrap(Equal("the whole middle", middle, np.eye(12), 1e-8,
                           case=f"{name}, block {l + 1}"))]
    return [*claims, Case(S1=state.S1)]


@equation(PAPER, "53",
          statement="The network above a block and its inverse cancel.",
          formula=r"=\frac{\partial\mathbf x_L}{\partial\mathbf x_\ell^{(1)}}\frac{\partial"
                  r"\mathbf x_\ell^{(1)}}{\partial\mathbf x_L}"
                  r"+\frac{\partial\mathbf x_L}{\partial\mathbf x_\ell^{(2)}}\frac{\partial"
                  r"\mathbf x_\ell^{(2)}}{\partial\mathbf x_L}"
                  r"=\frac{\partial\mathbf x_L}{\partial\mathbf x_\ell}\frac{\partial"
                  r"\mathbf x_\ell}{\partial\mathbf x_L}=I_{dn}",
          kind="identity", verdict="holds",
          implements=(eq_53_by_halves, above, back_from_the_end),
          uses=("52",))
def equation_53(rng):
    at = cases.small(rng)
    claims = []
    for l, (outer, back) in enumerate(zip(above(at.states),
                                          back_from_the_end(at.states))):
        first = reference.features_jacobian(at.net, at.x, l)
        own = reference.inverse_jacobian(at.net, at.x, l)
        claims += [Equal("complex steps above times the room's inverse", first @ back, np.eye(12),
                         1e-10, case=f"block {l + 1}"),
                   Equal("in halves, the room's own", eq_53_by_halves(outer, back),
                         np.eye(12), 1e-10, case=f"block {l + 1}"),
                   Equal("in halves", outer[:, :6] @ own[:6] + outer[:, 6:] @ own[6:], np.eye(12),
                         1e-10, case=f"block {l + 1}")]
    return [*claims, Case(outer=first, back=back)]


@equation(PAPER, "54",
          statement="The block below the diagonal vanishes where the second features are "
                    "independent.",
          kind="proof-step", verdict="erratum", weight="misprint", condition=INDEPENDENT,
          implements=eq_54_remainder, uses=("47",))
def equation_54(rng):
    at, outside = cases.small(rng), cases.dependent(rng)
    claims = [Equal("Lambda, on the scale of B A+", eq_54_remainder(state),
                    np.zeros((6, 6)), 1e-9, scale=b_a_plus(at, l), case=f"block {l + 1}")
              for l, state in enumerate(at.states)]
    for l, state in enumerate(outside.states):  # not zero there: a control
        BA, basis = b_a_plus(outside, l), np.linalg.qr(state.S2.T)[0]
        claims.append(Equal("two features: what S2+ S2 leaves of B A+",
                            eq_54_remainder(state),
                            BA - np.kron(basis @ basis.T, np.eye(2)) @ BA, 1e-9, scale=BA,
                            case=f"block {l + 1}"))
    S2 = at.states[0].S2
    shape = eq_47_as_printed(S2, 2).shape
    return [*claims, PrintedShape("[S2 S2+]^T kron I against the rows of B A+", (shape[1],), (6,)),
            Case(BA_plus=BA, S2=S2)]


def b_a_plus(at, l):
    """B A+ of a block, by complex steps and singular values."""
    A, B, _ = reference.triangle(at.net, at.x, l)
    return B @ reference.pinv(A)


@equation(PAPER, "55",
          statement="Stacked and divided by L the layers' right inverses are one of the whole "
                    "Jacobian; it is not the Moore-Penrose one.",
          formula=r"J^\dashv=\frac1L\begin{pmatrix}J_1^\dashv\\\vdots\\J_L^\dashv\end{pmatrix}",
          kind="identity", verdict="conditional", condition=INDEPENDENT,
          implements=(eq_55_right_inverse, eq_56_57_step),
          uses=("12", "42", "53"))
def equation_55(rng):
    at, outside = cases.small(rng), cases.dependent(rng)
    J, single = reference.parameter_jacobian(at.net, at.x), cases.small(rng, blocks=1)
    inverse = eq_55_right_inverse(at.states)
    weights = rng.normal(size=3)
    weights /= weights.sum()
    blocks = [reference.pinv(reference.parameter_jacobian(at.net, at.x, [l])) for l in range(3)]
    difference = np.linalg.norm(inverse - reference.pinv(J)) / np.linalg.norm(reference.pinv(J))
    claims = []
    for name, other in cases.unusual(rng):
        dense, size = reference.parameter_jacobian(other.net, other.x), len(other.eps)
        stacked = eq_55_right_inverse(other.states)
        own = [reference.pinv(reference.parameter_jacobian(other.net, other.x, [l]))
               for l in range(len(other.states))]
        c = rng.normal(size=len(own))
        c /= c.sum()
        claims += [Equal("unusual networks and batches: J times it", dense @ stacked, np.eye(size),
                         1e-7, case=name),
                   Equal("unusual: block by block", stacked, np.concatenate(own) / len(own), 1e-6,
                         case=name),
                   Equal("unusual: with weights that are given",
                         eq_55_right_inverse(other.states, c),
                         np.concatenate([w * one for w, one in zip(c, own)]), 1e-6, case=name),
                   Equal("unusual: the literal update with weights that are given",
                         eq_56_57_step(other.states, other.eps, c),
                         -np.concatenate([w * one @ other.eps for w, one in zip(c, own)]), 1e-6,
                         case=name)]
    return [*claims, Equal("J times it", J @ inverse, np.eye(12), 1e-8),
            Equal("block by block", inverse, np.concatenate(blocks) / 3, 1e-8),
            Equal("other weights with sum 1",
                  J @ eq_55_right_inverse(at.states, weights), np.eye(12), 1e-7),
            Equal("L = 1: the Moore-Penrose inverse",
                  eq_55_right_inverse(single.states),
                  reference.pinv(reference.parameter_jacobian(single.net, single.x)), 1e-8),
            Property("L = 3: it differs from the Moore-Penrose inverse by more than a tenth",
                     bool(difference > 0.1)),
            Counterexample(Equal("two features, three samples", reference.parameter_jacobian(
                outside.net, outside.x) @ eq_55_right_inverse(outside.states),
                                 np.eye(12), 1e-2)),
            Case(weights=weights, difference=difference)]
