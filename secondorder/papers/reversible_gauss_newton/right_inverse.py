"""The right inverse of the Jacobian, dense: Eqs. (40)-(42), (47), (54), (55), (60)-(63), and Eqs.
(16)-(17) as printed.
"""

from typing import NamedTuple

import numpy as np

from .columns import unvec, vec
from .jacobians import back_from_the_end, cross_derivative, kronecker


def triangular_right_inverse(A_plus, B, C_plus):
    """[reversible-gauss-newton] Eqs. (41), (60): [[A+, 0], [-C+ B A+, C+]], a right inverse of [[A,
    0], [B, C]] if A A+ = I and C C+ = I."""
    return np.block([[A_plus, np.zeros((len(A_plus), C_plus.shape[1]))],
                     [-C_plus @ B @ A_plus, C_plus]])


def kronecker_pseudo_inverse(S, half):
    """[reversible-gauss-newton] Eqs. (61), (63): the pseudo-inverse of S^T kron I is S^{T+} kron I.
    """
    return np.kron(np.linalg.pinv(S.T), np.eye(half))


def own_right_inverse(state):
    """[reversible-gauss-newton] Eq. (60) with (61)-(63): a right inverse of `own_jacobian`.

    [[A+, 0], [-C+ B A+, C+]] with A+ = S1^{T+} kron I and C+ = S2^{T+} kron I
    """
    half = len(state.W1)
    return triangular_right_inverse(kronecker_pseudo_inverse(state.S1, half),
                                    cross_derivative(state),
                                    kronecker_pseudo_inverse(state.S2, half))


def layer_right_inverses(found):
    """[reversible-gauss-newton] Eq. (42): a right inverse of J_l for every block; columns in half
    order.

    J_l^-| = [[A+, 0], [-C+ B A+, C+]] d x_l / d x_L
    """
    return [own_right_inverse(state) @ back for state, back in zip(found, back_from_the_end(found))]


def stacked_right_inverse(found, weights=None):
    """[reversible-gauss-newton] Eq. (55): the right inverses of the J_l below each other, times 1/L
    or other weights of sum 1.
    """
    parts = layer_right_inverses(found)
    weights = np.full(len(parts), 1 / len(parts)) if weights is None else weights
    return np.concatenate([c * part for c, part in zip(weights, parts)])


def projection_of_columns(S, half):
    """[reversible-gauss-newton] Eq. (47), corrected: [S+ S]^T kron I, (h n, h n); the identity if S
    has independent columns.
    """
    return np.kron((np.linalg.pinv(S) @ S).T, np.eye(half))


def remainder(state):
    """[reversible-gauss-newton] Eq. (54), corrected: Lambda = B A+ - ([S2+ S2]^T kron I) B A+."""
    half = len(state.W1)
    BA_plus = cross_derivative(state) @ kronecker_pseudo_inverse(state.S1, half)
    return BA_plus - projection_of_columns(state.S2, half) @ BA_plus


class Deltas(NamedTuple):
    """Delta^(1)_l and Delta^(2)_l of one block, (d/2, d')."""

    first: np.ndarray
    second: np.ndarray


def first_delta(e1, S1):
    """[reversible-gauss-newton] Eqs. (16), (56): Delta^(1)_l = R{(d x^(1)_l / d x_L) eps} S1+, from
    the braces as a matrix.
    """
    return e1 @ np.linalg.pinv(S1)


def second_delta(e2, state, delta1):
    """[reversible-gauss-newton] Eqs. (17), (57): R{e2 - B vec(Delta^(1)_l)} S2+; Delta^(1)_l does
    not contain alpha / L.
    """
    half, samples = e2.shape
    bracket = vec(e2) - cross_derivative(state) @ vec(delta1)
    return unvec(bracket, half, samples) @ np.linalg.pinv(state.S2)


def deltas(found, eps):
    """Delta^(1)_l and Delta^(2)_l of every block for eps (d n,) in half order,
    [reversible-gauss-newton] Eqs. (16)-(17).
    """
    made = []
    for state, back in zip(found, back_from_the_end(found)):
        half, samples = state.X1.shape
        e1, e2 = np.split(back @ eps, 2)
        first = first_delta(unvec(e1, half, samples), state.S1)
        made.append(Deltas(first, second_delta(unvec(e2, half, samples), state, first)))
    return made


def update(found, eps, weights=None):
    """The change of (vec W^(1)_1, vec W^(2)_1, ...) at alpha = 1, [reversible-gauss-newton] Eqs.
    (16)-(17).
    """
    made = deltas(found, eps)
    weights = np.full(len(made), 1 / len(made)) if weights is None else weights
    return -np.concatenate(
        [c * np.concatenate([vec(d.first), vec(d.second)]) for c, d in zip(weights, made)])


def penrose_product(state):
    """[reversible-gauss-newton] Eq. (64): [[A+ A, 0], [C+ B - C+ B A+ A, C+ C]], the right inverse
    (60) times [[A, 0], [B, C]].
    """
    half = len(state.W1)
    A, B, C = kronecker(state.S1, half), cross_derivative(state), kronecker(state.S2, half)
    A_plus, C_plus = (kronecker_pseudo_inverse(state.S1, half),
                      kronecker_pseudo_inverse(state.S2, half))
    lower = C_plus @ B - C_plus @ B @ A_plus @ A
    return np.block([[A_plus @ A, np.zeros((len(A_plus), C.shape[1]))], [lower, C_plus @ C]])
