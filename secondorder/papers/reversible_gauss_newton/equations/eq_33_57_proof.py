"""Appendix D: the right inverse of a layer's Jacobian and of the whole, Eqs. (33)-(55)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, PrintedShape, Property, equation
from .. import PAPER
from ..eq_12_13_jacobian import above, back_from_the_end, eq_13_33_jacobians
from ..eq_33_57_proof import (eq_42_right_inverses, eq_47_as_printed, eq_47_middle,
                              eq_47_projection, eq_52_with_identity, eq_53_by_halves,
                              eq_54_remainder, eq_55_right_inverse, eq_56_57_step)
from ..eq_58_80_appendix_n import (eq_36_39_58_own_jacobian, eq_40_triangle, eq_41_right_inverse,
                                   eq_59_kronecker, eq_60_own_right_inverse, eq_65_66_B, through)
from . import cases, reference
from .cases import blockwise
from .conditions import HALF_ORDER, INDEPENDENT


@equation(PAPER, "33", "34", "35", "36", "37", "38", "39",
          statement="A layer's Jacobian in halves: the Jacobian of the network above, times a "
                    "lower triangle of Kronecker products.",
          kind="identity", verdict="conditional", unnumbered=("34", "35", "37", "38"),
          condition=HALF_ORDER,
          implements=(eq_13_33_jacobians, eq_36_39_58_own_jacobian, eq_59_kronecker, eq_65_66_B,
                      through),
          uses=("13", "14", "15", "u-vectorisation"))
def equations_33_to_39(rng):
    at = cases.small(rng)
    states, of = at.states, (at.net, at.x)
    J, own = eq_13_33_jacobians(states), reference.own_jacobian(*of, 0)
    plain = np.empty((12, 12))  # columns of d x_L / d x_1 in plain order
    plain[:, cases.half_order(4, 3)] = reference.above(*of, 0)
    return [*blockwise("(33): J_l", J, lambda l: reference.in_weights(*of, l), 1e-11),
            *blockwise("(36), (39): d x_l / d w_l", map(eq_36_39_58_own_jacobian, states),
                       lambda l: reference.own_jacobian(*of, l), 1e-11),
            Counterexample(Equal("columns of the first factor in plain order", plain @ own,
                                 reference.in_weights(*of, 0), 1e-2)),
            Case(J=J[-1])]


@equation(PAPER, "40", "41",
          statement="A lower triangle of blocks, and a right inverse of it.",
          kind="identity", verdict="conditional",
          condition="A A+ = I and C C+ = I: both have full row rank.",
          implements=(eq_40_triangle, eq_41_right_inverse), uses=())
def equations_40_and_41(rng):
    claims = []
    for name, columns, wrap in (("full row rank", 7, lambda claim: claim),
                                ("A of rank 2", 2, Counterexample)):
        A, B, C = (rng.normal(size=shape) for shape in ((4, columns), (5, columns), (5, 8)))
        triangle = np.vstack([np.hstack([A, np.zeros((4, 8))]), np.hstack([B, C])])
        inverse = eq_41_right_inverse(reference.pinv(A), B, reference.pinv(C))
        claims += [Equal("(40)", eq_40_triangle(A, B, C), triangle, 1e-14, case=name),
                   wrap(Equal("(41): the product with (40) against I", triangle @ inverse,
                              np.eye(9), 1e-10, case=name))]
    return [*claims, Case(A=A, B=B, C=C)]


@equation(PAPER, "42",
          statement="The right inverse of a layer's Jacobian: the triangle's right inverse, "
                    "times the Jacobian of the inverse network.",
          kind="identity", verdict="conditional", condition=INDEPENDENT,
          implements=(eq_42_right_inverses, eq_60_own_right_inverse), uses=("39", "41"))
def equation_42(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        inverses = eq_42_right_inverses(at.states)
        claims += blockwise("J_l times it against I",
                            [reference.in_weights(at.net, at.x, l) @ inverse
                             for l, inverse in enumerate(inverses)], lambda l: np.eye(12), 1e-8,
                            case=name, wrap=wrap)
    return [*claims, Case(inverse=inverses[-1])]


@equation(PAPER, "43", "44", "45", "46", "47",
          statement="J_l times its right inverse has the projections S+ S on its diagonal.",
          kind="proof-step", verdict="erratum", weight="misprint",
          unnumbered=("43", "44", "45", "46"),
          implements=(eq_47_middle, eq_47_projection, eq_54_remainder), uses=("39", "42"))
def equations_43_to_47(rng):
    claims = []
    for case, at, l, b in cases.blocks_of_any_rank(rng):
        own = reference.own_jacobian(at.net, at.x, l)
        product = own @ eq_60_own_right_inverse(b)
        claims.append(Equal("the whole middle", eq_47_middle(b), product, 1e-9, scale=own,
                            case=case))
    S = cases.small(rng).states[0].S1
    return [*claims, PrintedShape("[S S+]^T kron I against the 6 columns of d x_L / d x_l^(1)",
                                  eq_47_as_printed(S, 2).shape, (6, 6)), Case(S=S, product=product)]


@equation(PAPER, "48", "49", "50", "51", "52",
          statement="With independent features the diagonal blocks are I and Lambda is 0.",
          kind="proof-step", verdict="conditional", unnumbered=("48", "49", "50", "51"),
          condition=INDEPENDENT,
          implements=(eq_52_with_identity, eq_60_own_right_inverse), uses=("47", "54"))
def equations_48_to_52(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        outer, back = above(at.states), back_from_the_end(at.states)
        middle = [reference.own_jacobian(at.net, at.x, l) @ eq_60_own_right_inverse(b)
                  for l, b in enumerate(at.states)]
        product = [one @ two @ three for one, two, three in zip(outer, middle, back)]
        whole = list(map(eq_52_with_identity, outer, back))
        claims += [*blockwise("J_l times its right inverse", product, whole.__getitem__, 1e-8,
                              case=name, wrap=wrap),
                   *blockwise("the whole middle", middle, lambda l: np.eye(12), 1e-8, case=name,
                              wrap=wrap)]
    return [*claims, Case(S1=at.states[-1].S1)]


@equation(PAPER, "53",
          statement="The network above a block and its inverse cancel.",
          kind="identity", verdict="holds",
          implements=(eq_53_by_halves, above, back_from_the_end), uses=("52",))
def equation_53(rng):
    at = cases.small(rng)
    outer, back = above(at.states), back_from_the_end(at.states)
    found = [reference.above(at.net, at.x, l) for l in range(3)]
    return [*blockwise("complex steps above times the room's inverse", map(np.matmul, found, back),
                       lambda l: np.eye(12), 1e-10),
            *blockwise("in halves", map(eq_53_by_halves, outer, back), lambda l: np.eye(12), 1e-10),
            Case(outer=found[-1], back=back[-1])]


@equation(PAPER, "54",
          statement="The block below the diagonal vanishes where the second features are "
                    "independent.",
          kind="proof-step", verdict="erratum", weight="misprint", condition=INDEPENDENT,
          implements=eq_54_remainder, uses=("47",))
def equation_54(rng):
    at, outside = cases.small(rng), cases.dependent(rng)

    def BA_plus(at):
        """B A+ of a block, by complex steps and singular values."""
        def of_block(l):
            A, B, _ = reference.triangle(at.net, at.x, l)
            return B @ reference.pinv(A)
        return of_block

    def left(l):
        """What S2+ S2 leaves of B A+."""
        BA, Q = BA_plus(outside)(l), np.linalg.qr(outside.states[l].S2.T)[0]
        return BA - np.kron(Q @ Q.T, np.eye(2)) @ BA

    S2 = at.states[0].S2
    return [*blockwise("Lambda, on the scale of B A+", map(eq_54_remainder, at.states),
                       lambda l: np.zeros((6, 6)), 1e-9, scale=BA_plus(at)),
            *blockwise("two features, a control: what S2+ S2 leaves of B A+",
                       map(eq_54_remainder, outside.states), left, 1e-9, scale=BA_plus(outside)),
            PrintedShape("[S2 S2+]^T kron I against the rows of B A+",
                         eq_47_as_printed(S2, 2).shape[1:], (6,)),
            Case(BA_plus=BA_plus(at)(0), S2=S2)]


@equation(PAPER, "55",
          statement="Stacked and divided by L the layers' right inverses are one of the whole "
                    "Jacobian; it is not the Moore-Penrose one.",
          formula=r"J^\dashv=\frac1L\begin{pmatrix}J_1^\dashv\\\vdots\\J_L^\dashv\end{pmatrix}",
          kind="identity", verdict="conditional", condition=INDEPENDENT,
          implements=(eq_55_right_inverse, eq_56_57_step), uses=("12", "42", "53"))
def equation_55(rng):
    at, single, outside = cases.small(rng), cases.small(rng, blocks=1), cases.dependent(rng)
    own = [reference.pinv(reference.in_weights(at.net, at.x, l)) for l in range(3)]
    c = rng.normal(size=3)
    c /= c.sum()
    given = np.concatenate([w * one for w, one in zip(c, own)])
    inverse, J_plus = eq_55_right_inverse(at.states), reference.pinv(at.jacobian)
    difference = np.linalg.norm(inverse - J_plus) / np.linalg.norm(J_plus)
    return [Equal("block by block", inverse, np.concatenate(own) / 3, 1e-8),
            Equal("other weights with sum 1", eq_55_right_inverse(at.states, c), given, 1e-8),
            Equal("the written-out update with these weights",
                  eq_56_57_step(at.states, at.error, c), -given @ at.error, 1e-8),
            Equal("J times it", at.jacobian @ inverse, np.eye(12), 1e-8),
            Equal("L = 1: the Moore-Penrose inverse", eq_55_right_inverse(single.states),
                  reference.pinv(single.jacobian), 1e-8),
            Property("L = 3: it differs from the Moore-Penrose inverse by more than a tenth",
                     bool(difference > 0.1)),
            Counterexample(Equal("two features, three samples", outside.jacobian
                                 @ eq_55_right_inverse(outside.states), np.eye(12), 1e-2)),
            Case(weights=c, difference=difference)]
