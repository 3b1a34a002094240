"""Section 4: the network and its layer-wise update, Eqs. (12)-(17) with (56)-(57), and
Proposition 4.4.
"""

import numpy as np

from ....ledger import Case, Equal, Printed, Stated, equation
from .. import PAPER
from ..eq_12_13_jacobian import (R, above, back_from_the_end, back_through_block, eq_12_jacobian,
                                 eq_13_jacobians, from_theta, half_order, stacked,
                                 stacked_as_printed, through_block, to_theta, vec, vec_as_printed)
from ..eq_14_15_coupling import Coupling
from ..eq_14_15_revmlp import eq_14_first_half, eq_15_second_half
from ..eq_16_17_right_inverse import eq_16_delta, eq_17_delta, eq_55_step
from ..eq_33_57_proof import eq_56_57_step, eq_56_delta, eq_57_delta
from ..eq_58_80_appendix_n import eq_58_own_jacobian, eq_66_B
from . import cases, reference
from .conditions import INDEPENDENT


@equation(PAPER, "u-vectorisation",
          where="Section 4, notation",
          statement="The vectorisation of a matrix: the formula runs down the columns, units "
                    "fastest, where the text calls it row-wise.",
          formula=r"\mathbf x_{i+d(j-1)}=X_{i,j} \quad \text{(row-wise)}",
          corrected=r"\mathbf x_{i+d(j-1)}=X_{i,j} \quad \text{(column by column)}",
          kind="definition", verdict="erratum", weight="misprint",
          implements=(vec, vec_as_printed, R), uses=())
def u_vectorisation(rng):
    X = rng.normal(size=(4, 3))
    by_formula = np.empty(12)
    for i, j in np.ndindex(X.shape):
        by_formula[i + 4 * j] = X[i, j]
    A, B = rng.normal(size=(2, 4)), rng.normal(size=(3, 5))
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
          implements=(stacked, stacked_as_printed, eq_12_jacobian,
                      half_order), uses=())
def u_stacking(rng):
    at = cases.small(rng)
    f, J = at.net(at.x), reference.parameter_jacobian(at.net, at.x)
    by_print, by_formula = np.empty(12), np.empty(12)
    for i, j in np.ndindex(3, 4):
        by_print[i + 3 * j], by_formula[j + 4 * i] = f[i, j], f[i, j]
    x_L = vec(reference.forward(at.net, at.x))
    half = half_order(4, 3)
    return [Equal("units fastest, place by place", stacked(f), by_formula, 1e-15),
            Equal("units fastest: x_L", stacked(f), x_L, 1e-12),
            Equal("samples fastest, place by place", stacked_as_printed(f), by_print,
                  1e-15),
            Equal("rows of J in halves: x_L's rows",
                  eq_12_jacobian(at.states), J, 1e-11),
            Equal("x_L in halves", x_L[half], reference.halves(*np.split(
                reference.forward(at.net, at.x), 2)), 1e-12),
            Printed(Equal("samples fastest against x_L", stacked_as_printed(f), x_L, 1e-6)),
            Case(f=f)]


@equation(PAPER, "12",
          statement="J stands in column blocks, one for the parameters of each layer.",
          formula=r"J=\frac{\partial\mathbf x_L}{\partial(\mathbf w_1,\dots,\mathbf w_L)}"
                  r"=(J_1,\dots,J_L)",
          kind="identity", verdict="holds",
          implements=(eq_12_jacobian, eq_13_jacobians), uses=("u-stacking",))
def equation_12(rng):
    at, claims = cases.small(rng), []
    J = eq_12_jacobian(at.states)
    for name, other in cases.without_biases(rng):
        direction = rng.normal(size=other.net.size)
        moved = eq_12_jacobian(cases.states_at(other.net, other.x)) @ from_theta(
            direction, other.net)
        literal = reference.moved_features(other.net, other.x, direction)
        claims.append(Equal("J times a direction, by a complex step", moved,
                            cases.halves_of(literal), 1e-10, case=name))
    return [Equal("J against complex steps", J, reference.parameter_jacobian(at.net, at.x), 1e-12),
            *claims, Case(J=J)]


@equation(PAPER, "13",
          statement="A layer's Jacobian is the Jacobian of the network above it, times the "
                    "layer's Jacobian in its own parameters.",
          formula=r"J_\ell=\frac{\partial\mathbf x_L}{\partial\mathbf x_\ell}\,\frac{\partial"
                  r"\mathbf x_\ell}{\partial\mathbf w_\ell}",
          kind="identity", verdict="holds",
          implements=(eq_13_jacobians, above, eq_58_own_jacobian,
                      through_block),
          uses=("12",))
def equation_13(rng):
    at = cases.small(rng)
    outer, layers = above(at.states), eq_13_jacobians(at.states)
    claims = []
    for l, state in enumerate(at.states):
        own = eq_58_own_jacobian(state)
        claims += [Equal(what, left, right(at.net, at.x, which), 1e-12, case=f"block {l + 1}")
                   for what, left, right, which in (
                       ("d x_L / d x_l", outer[l], reference.features_jacobian, l),
                       ("d x_l / d w_l", own, reference.own_parameter_jacobian, l),
                       ("J_l", layers[l], reference.parameter_jacobian, [l]))]
    return [*claims, Case(outer=outer[0], own=own)]


@equation(PAPER, "14",
          statement="The first half moves by a function of the second; the step can be undone.",
          formula=r"X_\ell^{(1)}=X_{\ell-1}^{(1)}+W_\ell^{(1)}\,\sigma"
                  r"\big(V_{\ell-1}^{(2)}X_{\ell-1}^{(2)}\big)",
          kind="definition", verdict="holds",
          implements=(Coupling.forward, eq_14_first_half, Coupling.inverse), uses=())
def equation_14(rng):
    return one_half(rng, "first", lambda below, state: eq_14_first_half(below[:2], state.W1,
                                                                            state.S1))


@equation(PAPER, "15",
          statement="Then the second half moves by a function of the new first half; that can be "
                    "undone, too.",
          formula=r"X_\ell^{(2)}=X_{\ell-1}^{(2)}+W_\ell^{(2)}\,\sigma"
                  r"\big(V_{\ell}^{(1)}X_{\ell}^{(1)}\big)",
          kind="definition", verdict="holds",
          implements=(Coupling.forward, eq_15_second_half, Coupling.inverse), uses=())
def equation_15(rng):
    return one_half(rng, "second", lambda below, state: eq_15_second_half(below[2:], state.W2,
                                                                              state.S2))


def one_half(rng, moves, literal):
    """Claims on one half-coupled layer of a block: literal form, layer and its inverse, against
    loops.
    """
    at = cases.small(rng)
    half, below = at.net.blocks[1][moves == "second"], reference.forward(at.net, at.x, stop=1)
    after = reference.forward(at.net, at.x, stop=2)
    new = after[:2] if moves == "first" else after[2:]
    given = below if moves == "first" else np.vstack([after[:2], below[2:]])
    done = np.vstack([after[:2], below[2:]]) if moves == "first" else after
    claims = []
    for name, other in cases.rows(rng):
        X_L = reference.final(other.net, other.x).T
        claims += [Equal("all blocks, by columns", other.net.features(other.x), X_L, 1e-12,
                         case=name),
                   Equal("all blocks undone", other.net.inverse(X_L), other.x, 1e-10, case=name)]
    return [*claims, Equal("the block undone", at.net.blocks[1].inverse(after.T), below.T, 1e-12),
            Equal("literal form, by loops", literal(below, at.states[1]), new, 1e-12),
            Equal("layer, by loops", half.forward(given.T)[0], done.T, 1e-12),
            Equal("its inverse", half.inverse(done.T), given.T, 1e-12),
            Equal("32 blocks there and back", *there_and_back(rng), 1e-10),
            Case(X_below=below, X=after)]


def there_and_back(rng):
    """inverse(features(x)) and x, for 32 blocks."""
    net = cases.network(rng, blocks=32, scale=0.2)
    x = rng.normal(size=(3, 4))
    return net.inverse(net.features(x)), x


@equation(PAPER, "proposition-4.4",
          where="Section 4, Proposition 4.4",
          statement="With (16)-(17) the outputs move, to first order, by exactly minus alpha eps.",
          formula=r"J\,\Delta\theta = -\alpha\,\epsilon",
          kind="claim", verdict="conditional", ours=True, condition=INDEPENDENT,
          implements=(eq_56_57_step, eq_55_step),
          uses=("8", "56", "57"))
def proposition_4_4(rng):
    claims = []
    for name, at, wrap in cases.inside_and_outside(rng):
        J = reference.parameter_jacobian(at.net, at.x)
        fast = cases.fast_direction(at)
        claims += [wrap(Equal("J times the step with all Jacobians",
                              J @ eq_56_57_step(at.states, at.eps), -at.eps, 1e-8,
                              case=name)),
                   wrap(Equal("J times the step that trains", to_theta(J.T, at.net).T @ fast,
                              -at.eps, 1e-8, case=name))]
    for name, other in cases.unusual(rng):
        J, L = reference.parameter_jacobian(other.net, other.x), len(other.states)
        fast = cases.fast_direction(other)
        parts = [reference.parameter_jacobian(other.net, other.x, [l]) for l in range(L)]
        blocks = [-reference.pinv(part) @ other.eps / L for part in parts]
        claims += [Equal("unusual networks and batches: J times the step that trains",
                         to_theta(J.T, other.net).T @ fast, -other.eps, 1e-6, case=name),
                   Equal("unusual: the step that trains, block by block", fast,
                         to_theta(np.concatenate(blocks), other.net), 1e-6, case=name)]
    for name, other in cases.rows(rng):
        if cases.is_independent(other):
            fast = cases.fast_direction(other)
            claims.append(Equal("J times the step that trains, by a complex step",
                                reference.moved_outputs(other.net, other.x, fast), -other.eps,
                                1e-7, case=name))
    return [*claims, Case(eps=at.eps, ranks=[cases.rank_of(state.S1) for state in at.states])]


@equation(PAPER, "16", "56",
          statement="The first matrix of a block moves by the error of its half, brought back "
                    "through the inverse network, times the pseudo-inverse of the features.",
          uses=("42", "55", "u-vectorisation"), kind="algorithm", verdict="holds",
          implements=(Stated(eq_16_delta, "product"), eq_56_delta, back_from_the_end,
                      back_through_block))
def equations_16_and_56(rng):
    at = cases.small(rng)
    claims, fast = [], cases.blocks_of(at, cases.fast_direction(at))
    for l, back in enumerate(back_from_the_end(at.states)):
        tangent = reference.inverse_jacobian(at.net, at.x, l)
        e1 = (tangent @ at.eps)[:6].reshape(3, 2).T
        delta = e1 @ reference.pinv(at.states[l].S1)
        literal = eq_56_delta((back @ at.eps)[:6].reshape(3, 2).T, at.states[l].S1)
        claims += [Equal("d x_l / d x_L", back, tangent, 1e-11, case=f"block {l + 1}"),
                   Equal("(56): Delta1", literal, delta, 1e-9, case=f"block {l + 1}"),
                   Equal("(16): Delta1", eq_16_delta(e1, at.states[l].S1).product, delta,
                         1e-9, case=f"block {l + 1}"),
                   Equal("in the step", fast[l][0], -delta / 3, 1e-8, case=f"block {l + 1}")]
    return [*claims, Case(e1=e1, S1=at.states[-1].S1, delta=delta)]


@equation(PAPER, "17", "57",
          statement="The second matrix moves likewise, after the part of the error that Delta1 "
                    "removes already; Delta1 stands there without alpha / L.",
          uses=("16", "42", "55", "u-vectorisation"), kind="algorithm", verdict="holds",
          implements=(Stated(eq_17_delta, "product"), eq_57_delta, eq_66_B))
def equations_17_and_57(rng):
    at = cases.small(rng)
    claims, fast = [], cases.blocks_of(at, cases.fast_direction(at))
    truncated = cases.blocks_of(at,
                                cases.fast_direction(at, pseudo_inverse="truncate", strength=0.3))
    for l, state in enumerate(at.states):
        e1, e2 = (part.reshape(3, 2).T for part in np.split(
            reference.inverse_jacobian(at.net, at.x, l) @ at.eps, 2))
        own = reference.own_parameter_jacobian(at.net, at.x, l)
        for name, plus, pair in (("", reference.pinv, fast),
                                 (", truncated at 0.3", reference.keep_large, truncated)):
            first = e1 @ plus(state.S1)
            B_Delta1 = (own[6:, :first.size] @ first.T.ravel()).reshape(3, 2).T
            delta = (e2 - B_Delta1) @ plus(state.S2)
            if not name:
                literal = eq_57_delta(e2, state, first)
                sweep = eq_17_delta(e2, B_Delta1, state.S2).product
                claims += [Equal("(57): Delta2", literal, delta, 1e-9, case=f"block {l + 1}"),
                           Equal("(17): Delta2", sweep, delta, 1e-9, case=f"block {l + 1}")]
            claims.append(Equal("in the step", pair[l][1], -delta / 3, 1e-8,
                                case=f"block {l + 1}{name}"))
    for name, other in cases.without_biases(rng):
        error = cases.halves_of(reference.in_features(other.net, other.eps))
        literal = eq_56_57_step(cases.states_at(other.net, other.x), error)
        claims.append(Equal("(16) and (17), by complex steps", to_theta(literal, other.net),
                            reference.right_inverse_step(other.net, other.x, other.eps), 1e-8,
                            case=name))
    for name, other in cases.rows(rng):
        for form in ({}, {"pseudo_inverse": "truncate", "strength": 0.3}):
            claims.append(Equal("the step that trains, by complex steps",
                                cases.fast_direction(other, **form),
                                reference.right_inverse_step(other.net, other.x, other.eps,
                                                      reference.plus_of(**form)),
                                1e-8, case=f"{name}, truncated" if form else name))
    return [*claims, Case(e2=e2, delta=delta)]
