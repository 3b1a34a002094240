"""Appendix D, the proof of Proposition 4.4: the right inverse with every Jacobian written out.

Displays: (42) to (57); (34), (35), (37), (38), (43) to (46) and (48) to (51) number nothing. (33)
is (13), in :mod:`.eq_12_13_jacobian`, which also says what half order is; (36) and (39) to (41)
stand in :mod:`.eq_58_80_appendix_n`. A block b is a `BlockState`, `blocks` a list of them.
"""

import numpy as np

from .eq_12_13_jacobian import R, back_from_the_end, vec
from .eq_58_80_appendix_n import (eq_40_triangle, eq_60_own_right_inverse, eq_61_63_plus, eq_62_B,
                                  eq_65_66_B)


def eq_42_right_inverses(blocks):
    """Eq. (42): J_l^-| = [[A^+, 0], [-C^+ B A^+, C^+]] d x_l / d x_L, for l = 1, ..., L."""
    return [eq_60_own_right_inverse(b) @ back for b, back in zip(blocks, back_from_the_end(blocks))]


def eq_47_projection(S, h):
    """The blocks on the diagonal of (47): [S^+ S]^T kron I, (h n, h n); I for independent columns.

    In print they are `eq_47_as_printed`, which have no place there.
    """
    return np.kron((np.linalg.pinv(S) @ S).T, np.eye(h))


def eq_47_as_printed(S, h):
    """[S S^+]^T kron I, (h d', h d')."""
    return np.kron((S @ np.linalg.pinv(S)).T, np.eye(h))


def eq_47_middle(b):
    """Eq. (47): J_l J_l^-| without the network above and its inverse.

    [[[S1^+ S1]^T kron I, 0], [Lambda, [S2^+ S2]^T kron I]]
    """
    h = len(b.W1)
    return eq_40_triangle(eq_47_projection(b.S1, h), eq_54_remainder(b), eq_47_projection(b.S2, h))


def eq_52_with_identity(outer, back):
    """Eq. (52): (d x_L / d x_l) [[I, 0], [0, I]] (d x_l / d x_L), for independent features."""
    one = np.eye(len(back) // 2)
    return outer @ eq_40_triangle(one, 0 * one, one) @ back


def eq_53_by_halves(outer, back):
    """Eq. (53): the sum over both halves of (d x_L / d x^(k)_l)(d x^(k)_l / d x_L), which is I."""
    h = len(back) // 2
    return outer[:, :h] @ back[:h] + outer[:, h:] @ back[h:]


def eq_54_remainder(b):
    """Eq. (54): Lambda = B A^+ - ([S2^+ S2]^T kron I) B A^+, 0 for independent S2.

    In print the bracket is S2 S2^+, as in (47).
    """
    h = len(b.W1)
    BA_plus = eq_62_B(b) @ eq_61_63_plus(b.S1, h)
    return BA_plus - eq_47_projection(b.S2, h) @ BA_plus


def eq_55_right_inverse(blocks, c=None):
    """Eq. (55): J^-| = (1/L) (J_1^-|; ...; J_L^-|). Any weights c (L,) of sum 1 do as well."""
    return np.concatenate([weight * part for weight, part in
                           zip(weights(blocks, c), eq_42_right_inverses(blocks))])


def weights(blocks, c):
    """c, or 1 / L for all."""
    return np.full(len(blocks), 1 / len(blocks)) if c is None else c


def shortest(squared_lengths):
    """c_l of the shortest step: |Delta_l|^{-2} / sum_k |Delta_k|^{-2}, from |Delta_l|^2 (L,). Ours.
    """
    return 1 / squared_lengths / np.sum(1 / squared_lengths)


def eq_56_delta(e1, S1):
    """Eq. (56), as (16): Delta^(1)_l = e1 S1^+, with e1 = R{(d x^(1)_l / d x_L) eps}."""
    return e1 @ np.linalg.pinv(S1)


def eq_57_delta(e2, b, Delta1):
    """Eq. (57), as (17): Delta^(2)_l = R{vec(e2) - B vec(Delta^(1)_l)} S2^+, e2 like e1 in (56).

    Delta^(1)_l does not contain alpha / L.
    """
    return R(vec(e2) - eq_65_66_B(b) @ vec(Delta1), *e2.shape) @ np.linalg.pinv(b.S2)


def eq_56_57_step(blocks, eps, c=None):
    """(8) with (55), (56), (57): -(1/L) (vec Delta^(1)_1; vec Delta^(2)_1; ...; vec Delta^(2)_L),
    for eps (d n,) in half order.
    """
    pieces = []
    for b, back, weight in zip(blocks, back_from_the_end(blocks), weights(blocks, c)):
        e1, e2 = (R(e, *b.X1.shape) for e in np.split(back @ eps, 2))
        Delta1 = eq_56_delta(e1, b.S1)
        pieces += [-weight * vec(Delta1), -weight * vec(eq_57_delta(e2, b, Delta1))]
    return np.concatenate(pieces)
