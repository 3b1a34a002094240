"""The right inverse of the Jacobian, dense, Eqs. (40)-(42), (47), (54), (55), (60)-(63), and Eqs.
(16)-(17) as printed.
"""

from typing import NamedTuple

import numpy as np

from .columns import unvec, vec
from .jacobians import back_from_the_end, cross_derivative, kronecker


def triangular_right_inverse(A_plus, B, C_plus):
    """A right inverse of [[A, 0], [B, C]] if A A+ = I and C C+ = I, Eqs. (41) and (60):

        [[A+, 0], [-C+ B A+, C+]]
    """
    return np.block([[A_plus, np.zeros((len(A_plus), C_plus.shape[1]))],  # (40), (41)
                     [-C_plus @ B @ A_plus, C_plus]])


def kronecker_pseudo_inverse(S, half):
    """The pseudo-inverse of S^T kron I, Eqs. (61) and (63):

        (S^T kron I)+ = S^{T+} kron I
    """
    return np.kron(np.linalg.pinv(S.T), np.eye(half))


def own_right_inverse(state):
    """A right inverse of `own_jacobian`, Eq. (60) with (61)-(63):

        [[A+, 0], [-C+ B A+, C+]]  with  A+ = S1^{T+} kron I,  C+ = S2^{T+} kron I
    """
    half = len(state.W1)
    return triangular_right_inverse(kronecker_pseudo_inverse(state.S1, half),  # (60), (61)
                                    cross_derivative(state),  # (62)
                                    kronecker_pseudo_inverse(state.S2, half))  # (63)


def layer_right_inverses(block_states):
    """A right inverse of J_l for every block, columns in half order, Eq. (42):

        J_l^-| = [[A+, 0], [-C+ B A+, C+]] d x_l / d x_L
    """
    return [own_right_inverse(state) @ back
            for state, back in zip(block_states, back_from_the_end(block_states))]


def stacked_right_inverse(block_states, weights=None):
    """The right inverses of all J_l below each other, Eq. (55), or with other weights of sum 1:

        J^-| = (1 / L) (J_1^-|; ...; J_L^-|)
    """
    parts = layer_right_inverses(block_states)
    weights = np.full(len(parts), 1 / len(parts)) if weights is None else weights
    return np.concatenate([c * part for c, part in zip(weights, parts)])


def projection_of_columns(S, half):
    """The blocks on the diagonal of Eq. (47), corrected, (h n, h n):

        [S+ S]^T kron I

    It is the identity if S has independent columns.
    """
    return np.kron((np.linalg.pinv(S) @ S).T, np.eye(half))


def projection_as_printed(S, half):
    """The blocks on the diagonal of Eqs. (47) and (54) as printed, (h d', h d'):

    [S S+]^T kron I

    It has the size of the features, where a block with the size of the samples stands.
    """
    return np.kron((S @ np.linalg.pinv(S)).T, np.eye(half))


def remainder(state):
    """The block below the diagonal, Eq. (54), corrected:

        Lambda = B A+ - ([S2+ S2]^T kron I) B A+
    """
    half = len(state.W1)
    BA_plus = cross_derivative(state) @ kronecker_pseudo_inverse(state.S1, half)
    return BA_plus - projection_of_columns(state.S2, half) @ BA_plus


def layer_product(state):
    """The middle of Eq. (47), corrected: J_l J_l^-| without the network above and its inverse.

        [[[S1+ S1]^T kron I, 0], [Lambda, [S2+ S2]^T kron I]]
    """
    first, second = (projection_of_columns(S, len(state.W1)) for S in (state.S1, state.S2))
    return np.block([[first, np.zeros_like(first)], [remainder(state), second]])


def with_identity(outer, back):
    """Eq. (52): (d x_L / d x^(1)_l, d x_L / d x^(2)_l) [[I, 0], [0, I]] times the inverse's halves.
    """
    one, none = np.eye(len(back) // 2), np.zeros((len(back) // 2,) * 2)
    return outer @ np.block([[one, none], [none, one]]) @ back


def by_halves(outer, back):
    """Eq. (53): sum over both halves k of (d x_L / d x^(k)_l) (d x^(k)_l / d x_L)."""
    half = len(back) // 2
    return outer[:, :half] @ back[:half] + outer[:, half:] @ back[half:]


class Deltas(NamedTuple):
    """Delta^(1)_l and Delta^(2)_l of one block, (d/2, d')."""

    first: np.ndarray
    second: np.ndarray


def first_delta(e1, S1):
    """Eqs. (16) and (56), from the braces as a matrix e1 = R{(d x^(1)_l / d x_L) eps}:

        Delta^(1)_l = e1 S1+
    """
    return e1 @ np.linalg.pinv(S1)  # (16), (56)


def second_delta(e2, state, delta1):
    """Eqs. (17) and (57), with e2 = R{(d x^(2)_l / d x_L) eps}:

        Delta^(2)_l = R{vec(e2) - B vec(Delta^(1)_l)} S2+

    Delta^(1)_l does not contain alpha / L.
    """
    half, samples = e2.shape
    bracket = vec(e2) - cross_derivative(state) @ vec(delta1)
    return unvec(bracket, half, samples) @ np.linalg.pinv(state.S2)  # (17), (57)


def swept_deltas(e1, S1, e2_below, S2):
    """Both matrices from one inverse sweep, for independent features.

        Delta^(1)_l = e^(1)_l S1+,   Delta^(2)_l = e^(2)_{l-1} S2+
    """
    return Deltas(e1 @ np.linalg.pinv(S1), e2_below @ np.linalg.pinv(S2))


def deltas(block_states, eps):
    """Delta^(1)_l and Delta^(2)_l of every block, Eqs. (16)-(17), for eps (d n,) in half order."""
    pairs = []
    for state, back in zip(block_states, back_from_the_end(block_states)):
        half, samples = state.X1.shape
        e1, e2 = np.split(back @ eps, 2)
        first = first_delta(unvec(e1, half, samples), state.S1)
        pairs.append(Deltas(first, second_delta(unvec(e2, half, samples), state, first)))
    return pairs


def update(block_states, eps, weights=None):
    """The change of (vec W^(1)_1, vec W^(2)_1, ...) at alpha = 1, Eqs. (16)-(17):

        -(1 / L) (vec Delta^(1)_l; vec Delta^(2)_l), block by block
    """
    pairs = deltas(block_states, eps)
    weights = np.full(len(pairs), 1 / len(pairs)) if weights is None else weights
    return -np.concatenate(
        [c * np.concatenate([vec(d.first), vec(d.second)]) for c, d in zip(weights, pairs)])


def penrose_product(state):
    """The right inverse (60) times [[A, 0], [B, C]], Eq. (64):

        [[A+ A, 0], [C+ B - C+ B A+ A, C+ C]]
    """
    half = len(state.W1)
    A, B, C = kronecker(state.S1, half), cross_derivative(state), kronecker(state.S2, half)
    A_plus, C_plus = (kronecker_pseudo_inverse(state.S1, half),
                      kronecker_pseudo_inverse(state.S2, half))
    lower = C_plus @ B - C_plus @ B @ A_plus @ A
    return np.block([[A_plus @ A, np.zeros((len(A_plus), C.shape[1]))], [lower, C_plus @ C]])
