"""The Jacobian of x_L in the parameters, layer by layer and dense, as the paper writes it: Eqs.
(12)-(15), (33)-(39).

Matrices have one column for each sample. Rows of Jacobians stand in half order, (vec X^(1); vec
X^(2)): Eqs. (33)-(39) need it.
"""

from typing import NamedTuple

import numpy as np


class BlockState(NamedTuple):
    """What Eqs. (14)-(15) need and leave behind in one block, one column for each sample.

    S1, S2 : (d', n), sigma(V^(2)_{l-1} X^(2)_{l-1}) and sigma(V^(1)_l X^(1)_l).
    slope1, slope2 : (d', n), sigma' at the same places.
    X1, X2 : (d/2, n), the halves of X_l.
    W1, W2 : (d/2, d'); V1, V2 : (d', d/2), V^(1)_l and V^(2)_{l-1}.
    """

    S1: np.ndarray
    S2: np.ndarray
    slope1: np.ndarray
    slope2: np.ndarray
    X1: np.ndarray
    X2: np.ndarray
    W1: np.ndarray
    W2: np.ndarray
    V1: np.ndarray
    V2: np.ndarray


def first_half(X1_below, W1, S1):
    """Eq. (14), with S1 the sigma(...):

        X^(1)_l = X^(1)_{l-1} + W^(1)_l sigma(V^(2)_{l-1} X^(2)_{l-1})
    """
    return X1_below + W1 @ S1


def second_half(X2_below, W2, S2):
    """Eq. (15), with S2 the sigma(...):

        X^(2)_l = X^(2)_{l-1} + W^(2)_l sigma(V^(1)_l X^(1)_l)
    """
    return X2_below + W2 @ S2


def states(net, x):
    """`BlockState` of every block for a batch x (S, d) of a network without biases, Eqs. (14)-(15):

        X1 = X1 + W1 sigma(V2 X2),  then  X2 = X2 + W2 sigma(V1 X1)
    """
    X = np.zeros((net.width, len(x)), dtype=net.dtype)
    X[: x.shape[1]] = x.T
    X1, X2 = X[: net.width // 2], X[net.width // 2:]
    block_states = []
    for block in net.blocks:
        sigma = block.first.layers[-2].function
        V2, V1 = (np.eye(len(X1), dtype=net.dtype) if V is None else V
                  for V in (block.Va, block.Vb))
        S1, slope1 = sigma.value(V2 @ X2), sigma.slope(V2 @ X2)
        X1 = first_half(X1, block.W1, S1)
        S2, slope2 = sigma.value(V1 @ X1), sigma.slope(V1 @ X1)
        X2 = second_half(X2, block.W2, S2)
        block_states.append(BlockState(S1, S2, slope1, slope2, X1, X2, block.W1, block.W2, V1, V2))
    return block_states


def kronecker(S, half):
    """The derivative of vec(W S) in vec(W), Eqs. (36) and (59), (h n, h d'):

        S^T kron I_{d/2}
    """
    return np.kron(S.T, np.eye(half))  # (36), (39)


def sample_blocks(W, slope, V):
    """The derivative of vec(W sigma(V X)) in vec(X), (h n, h n): a block for each sample j,

        W diag(sigma'(V X)_j) V
    """
    half, samples = len(W), slope.shape[1]
    D = np.zeros((half * samples, half * samples))
    for j in range(samples):
        where = slice(half * j, half * (j + 1))
        D[where, where] = W @ (slope[:, j, None] * V)
    return D


def cross_derivative(state):
    """B = d x^(2)_l / d w^(1)_l entry by entry, Eqs. (62), (65) and (66), (h n, h d') with h = d/2:

        B[i + h (j - 1), a + h (b - 1)] = S1[b, j] sum_k W2[i, k] V1[k, a] sigma'(V1 X1)[k, j]
    """
    B = np.einsum("bj,ik,ka,kj->jiba", state.S1, state.W2, state.V1, state.slope2)  # (66)
    samples, half, features = B.shape[0], B.shape[1], B.shape[2]
    return B.reshape(samples * half, features * half)


def own_jacobian(state):
    """d (x^(1)_l, x^(2)_l) / d (w^(1)_l, w^(2)_l), the second factor of Eqs. (36), (39) and (59):

        [[A, 0], [B, C]]  with  A = S1^T kron I,  C = S2^T kron I

    B is the `cross_derivative`; rows stand in half order.
    """
    half = len(state.W1)
    A, B, C = kronecker(state.S1, half), cross_derivative(state), kronecker(state.S2, half)  # (59)
    return np.block([[A, np.zeros((len(A), C.shape[1]))], [B, C]])  # (58)


def through_block(state):
    """d x_l / d x_{l-1} in half order (d n, d n), of Eq. (14) and then of Eq. (15):

        [[I, 0], [D2, I]] [[I, D1], [0, I]]
    """
    D1 = sample_blocks(state.W1, state.slope1, state.V2)
    D2 = sample_blocks(state.W2, state.slope2, state.V1)
    one, zero = np.eye(len(D1)), np.zeros_like(D1)
    return np.block([[one, zero], [D2, one]]) @ np.block([[one, D1], [zero, one]])


def back_through_block(state):
    """d x_{l-1} / d x_l in half order, Eq. (15) and then Eq. (14) undone:

        [[I, -D1], [0, I]] [[I, 0], [-D2, I]]
    """
    D1 = sample_blocks(state.W1, state.slope1, state.V2)
    D2 = sample_blocks(state.W2, state.slope2, state.V1)
    one, zero = np.eye(len(D1)), np.zeros_like(D1)
    return np.block([[one, -D1], [zero, one]]) @ np.block([[one, zero], [-D2, one]])


def above(block_states):
    """d x_L / d x_l for every block l of the list of states, in half order, as Eq. (13) needs it:

        d x_L / d x_{l-1} = (d x_L / d x_l) (d x_l / d x_{l-1})
    """
    jacobians = [np.eye(2 * block_states[-1].X1.size)]
    for state in block_states[:0:-1]:
        jacobians.append(jacobians[-1] @ through_block(state))
    return jacobians[::-1]


def back_from_the_end(block_states):
    """d x_l / d x_L for every block l, in half order: tangents of the inverse network.

        d x_{l-1} / d x_L = (d x_{l-1} / d x_l) (d x_l / d x_L)
    """
    jacobians = [np.eye(2 * block_states[-1].X1.size)]
    for state in block_states[:0:-1]:
        jacobians.append(back_through_block(state) @ jacobians[-1])
    return jacobians[::-1]


def surjective(J):
    """Assumptions 4.1 and 4.2: rank J = n d_y, the number of rows."""
    return np.linalg.matrix_rank(J) == len(J)


def layer_jacobians(block_states):
    """The Jacobian of every block, in half order, Eqs. (13) and (33):

        J_l = (d x_L / d x_l) (d x_l / d w_l)
    """
    # (33)
    return [outer @ own_jacobian(state) for outer, state in zip(above(block_states), block_states)]


def jacobian(block_states):
    """Eq. (12), the blocks' columns side by side: J = (J_1, ..., J_L)"""
    return np.concatenate(layer_jacobians(block_states), axis=1)
