"""Section 4: the network and its layer-wise update, Eqs. (12)-(17) with (56)-(57), and
Proposition 4.4.
"""

import numpy as np

from ....ledger import Case, Equal, Printed, Stated, equation
from .. import PAPER
from ..eq_12_13_jacobian import (R, above, back_from_the_end, back_through_block, eq_12_jacobian,
                                 eq_13_33_jacobians, half_order, stacked, stacked_as_printed,
                                 through_block, vec, vec_as_printed)
from ..eq_14_15_coupling import Coupling, eq_14_first_half, eq_15_second_half
from ..eq_16_17_right_inverse import eq_8_55_step, eq_16_delta, eq_17_delta
from ..eq_33_57_proof import eq_56_57_step, eq_56_delta, eq_57_delta
from ..eq_58_80_appendix_n import eq_36_39_58_own_jacobian, eq_65_66_B
from . import cases, reference
from .cases import blockwise
from .conditions import INDEPENDENT

TRUNCATED = {"pseudo_inverse": "truncate", "strength": 0.3}


@equation(PAPER, "u-vectorisation",
          where="Section 4, notation",
          statement="The vectorisation of a matrix: the formula runs down the columns, units "
                    "fastest, where the text calls it row-wise.",
          formula=r"\mathbf x_{i+d(j-1)}=X_{i,j} \quad \text{(row-wise)}",
          corrected=r"\mathbf x_{i+d(j-1)}=X_{i,j} \quad \text{(column by column)}",
          kind="definition", verdict="erratum", weight="misprint",
          implements=(vec, vec_as_printed, R), uses=())
def u_vectorisation(rng):
    X, A, B = rng.normal(size=(4, 3)), rng.normal(size=(2, 4)), rng.normal(size=(3, 5))
    by_formula = np.empty(12)
    for i, j in np.ndindex(X.shape):
        by_formula[i + 4 * j] = X[i, j]
    return [Equal("by the formula", vec(X), by_formula, 1e-15),
            Equal("and back", R(by_formula, 4, 3), X, 1e-15),
            Equal("vec(A X B) against (B^T kron A) vec(X)", vec(A @ X @ B),
                  np.kron(B.T, A) @ by_formula, 1e-13),
            Equal("row by row, as the words have it", vec_as_printed(X),
                  np.concatenate(list(X)), 1e-15),
            Printed(Equal("row by row", vec_as_printed(X), by_formula, 1e-6)),
            Case(X=X)]


@equation(PAPER, "u-stacking",
          where="Section 3, below Eq. (1), and Section 4",
          statement="The order of all outputs in one vector. Section 3 has samples fastest. f = "
                    "x_L of Section 4, on which all Kronecker products rest, has units fastest.",
          formula=r"\mathbf f_{i+n(j-1)}=f(x_i,\theta)_j",
          corrected=r"\mathbf f_{j+d_y(i-1)}=f(x_i,\theta)_j",
          kind="definition", verdict="erratum", weight="misprint",
          implements=(stacked, stacked_as_printed, half_order), uses=())
def u_stacking(rng):
    at = cases.small(rng)
    f, X_L = at.net(at.x), reference.final(at.net, at.x)
    by_print, x_L = np.empty(12), X_L.T.ravel()
    for i, j in np.ndindex(3, 4):
        by_print[i + 3 * j] = f[i, j]
    return [Equal("units fastest: x_L", stacked(f), x_L, 1e-12),
            Equal("samples fastest, place by place", stacked_as_printed(f), by_print, 1e-15),
            Equal("x_L in halves", x_L[half_order(4, 3)], reference.halves(*np.split(X_L, 2)),
                  1e-12),
            Printed(Equal("samples fastest against x_L", stacked_as_printed(f), x_L, 1e-6)),
            Case(f=f)]


@equation(PAPER, "12",
          statement="J stands in column blocks, one for the parameters of each layer.",
          kind="identity", verdict="holds",
          implements=(eq_12_jacobian, eq_13_33_jacobians), uses=("u-stacking",))
def equation_12(rng):
    claims = []
    for name, at in cases.without_biases(rng):
        direction, J = rng.normal(size=at.net.size), eq_12_jacobian(at.states)
        moved = reference.moved_features(at.net, at.x, direction)
        claims.append(Equal("J times a direction, by a complex step",
                            J @ cases.from_theta(direction, at.net),
                            reference.halves(*np.split(moved, 2)), 1e-10, case=name))
    return [*claims, Case(J=J)]


@equation(PAPER, "13",
          statement="A layer's Jacobian is the Jacobian of the network above it, times the "
                    "layer's Jacobian in its own parameters.",
          kind="identity", verdict="holds",
          implements=(eq_13_33_jacobians, above, eq_36_39_58_own_jacobian, through_block),
          uses=("12",))
def equation_13(rng):
    at = cases.small(rng)
    states, of = at.states, (at.net, at.x)
    return [*blockwise("d x_L / d x_l", above(states), lambda l: reference.above(*of, l), 1e-12),
            *blockwise("J_l", eq_13_33_jacobians(states), lambda l: reference.in_weights(*of, l),
                       1e-12), Case(outer=above(states)[0])]


@equation(PAPER, "14",
          statement="The first half moves by a function of the second; the step can be undone.",
          kind="definition", verdict="holds",
          implements=(eq_14_first_half, Coupling.forward, Coupling.inverse), uses=())
def equation_14(rng):
    return one_half(rng, 0, lambda below, b: eq_14_first_half(below[:2], b.W1 @ b.S1))


@equation(PAPER, "15",
          statement="Then the second half moves by a function of the new first half; that can be "
                    "undone, too.",
          kind="definition", verdict="holds",
          implements=(eq_15_second_half, Coupling.forward, Coupling.inverse), uses=())
def equation_15(rng):
    return one_half(rng, 1, lambda below, b: eq_15_second_half(below[2:], b.W2 @ b.S2))


def one_half(rng, which, display):
    """Claims on one half-coupled layer of a block: display, layer and its inverse."""
    at, deep, claims = cases.small(rng), cases.small(rng, blocks=32, scale=0.2), []
    half = at.net.blocks[1][which]
    below, after = (reference.final(at.net, at.x, stop=stop) for stop in (1, 2))
    between = np.vstack([after[:2], below[2:]])
    given, done = ((below, between), (between, after))[which]
    for name, other in [*cases.rows(rng), ("32 blocks", deep)]:
        X_L = reference.final(other.net, other.x).T
        claims += [Equal("all blocks, by columns", other.net.features(other.x), X_L, 1e-12,
                         case=name),
                   Equal("all blocks undone", other.net.inverse(X_L), other.x, 1e-10, case=name)]
    return [*claims, Equal("the display", display(below, at.states[1]), np.split(after, 2)[which],
                           1e-12),
            Equal("the layer", half.forward(given.T)[0], done.T, 1e-12),
            Equal("its inverse", half.inverse(done.T), given.T, 1e-12),
            Case(X_below=below, X=after)]


@equation(PAPER, "proposition-4.4",
          where="Section 4, Proposition 4.4",
          statement="With (16)-(17) the outputs move, to first order, by exactly minus alpha eps.",
          formula=r"J\,\Delta\theta = -\alpha\,\epsilon",
          kind="claim", verdict="conditional", ours=True, condition=INDEPENDENT,
          implements=(eq_56_57_step, eq_8_55_step), uses=("8", "56", "57"))
def proposition_4_4(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        moved = reference.moved_outputs(at.net, at.x, at.step())
        claims += [wrap(Equal("J times the step with all Jacobians",
                              at.jacobian @ eq_56_57_step(at.states, at.error), -at.error, 1e-8,
                              case=name)),
                   wrap(Equal("J times the step that trains", moved, -at.eps, 1e-8, case=name))]
    for name, other in cases.rows(rng):
        if cases.is_independent(other):
            claims.append(Equal("J times the step that trains, by a complex step",
                                reference.moved_outputs(other.net, other.x, other.step()),
                                -other.eps, 1e-7, case=name))
    return [*claims, Case(eps=at.eps, ranks=[reference.rank(state.S1) for state in at.states])]


@equation(PAPER, "16", "56",
          statement="The first matrix of a block moves by the error of its half, brought back "
                    "through the inverse network, times the pseudo-inverse of the features.",
          uses=("42", "55", "u-vectorisation"), kind="algorithm", verdict="holds",
          implements=(Stated(eq_16_delta, "product"), eq_56_delta, back_from_the_end,
                      back_through_block))
def equations_16_and_56(rng):
    at = cases.small(rng, limit=1e3)
    states, found = at.states, reference.deltas(at.net, at.x, at.eps)
    back = back_from_the_end(states)
    e1 = [R(np.split(jacobian @ at.error, 2)[0], 2, 3) for jacobian in back]
    S1 = [state.S1 for state in states]

    def delta(l):
        return found[l][0]

    return [*blockwise("d x_l / d x_L", back, lambda l: reference.back(at.net, at.x, l), 1e-11),
            *blockwise("(56): Delta1", map(eq_56_delta, e1, S1), delta, 1e-9),
            *blockwise("(16): Delta1", [eq_16_delta(*pair).product for pair in zip(e1, S1)], delta,
                       1e-9),
            *blockwise("in the step", [W1 for W1, _ in at.pairs_of(at.step())], delta,
                       1e-8), Case(e1=e1[-1], S1=S1[-1], delta=delta(2))]


@equation(PAPER, "17", "57",
          statement="The second matrix moves likewise, after the part of the error that Delta1 "
                    "removes already; Delta1 stands there without alpha / L.",
          uses=("16", "42", "55", "u-vectorisation"), kind="algorithm", verdict="holds",
          implements=(Stated(eq_17_delta, "product"), eq_57_delta, eq_65_66_B))
def equations_17_and_57(rng):
    at, claims = cases.small(rng, limit=1e3), []
    for name, form in (("exact", {}), ("truncated at 0.3", TRUNCATED)):
        found = reference.deltas(at.net, at.x, at.eps, **form)
        claims += blockwise("in the step", [W2 for _, W2 in at.pairs_of(at.step(**form))],
                            lambda l, found=found: found[l][1], 1e-8, case=name)
    found = reference.deltas(at.net, at.x, at.eps)
    for l, state in enumerate(at.states):
        e2 = R(np.split(reference.back(at.net, at.x, l) @ at.error, 2)[1], 2, 3)
        Delta1, Delta2 = found[l]
        B_Delta1 = R(reference.triangle(at.net, at.x, l)[1] @ Delta1.T.ravel(), 2, 3)
        for what, mine in (("(57): Delta2", eq_57_delta(e2, state, Delta1)),
                           ("(17): Delta2", eq_17_delta(e2, B_Delta1, state.S2).product)):
            claims.append(Equal(what, mine, Delta2, 1e-9, case=f"block {l + 1}"))
    for name, other in cases.without_biases(rng):
        error = cases.in_half_order(other.net, reference.in_features(other.net, other.eps).T)
        claims.append(Equal("(16) and (17), by complex steps", cases.to_theta(
            eq_56_57_step(other.states, error), other.net), reference.right_inverse_step(
                other.net, other.x, other.eps), 1e-8, case=name))
    return [*claims, Case(e2=e2, delta=Delta2)]
