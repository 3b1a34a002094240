"""How far float32 may be off in reversible and in fully-connected networks: running bounds.

A quantity is kept with a bound of its error, entry by entry, to first order. A product of matrices
with inner length n adds gamma_n |A| |B| to what its factors bring, gamma_n = n u / (1 - n u), and
every other operation u times its result (Higham, Accuracy and Stability, section 3.5).
"""

from typing import NamedTuple

import numpy as np

U = 2.0**-24  # unit roundoff of float32
FUNCTION = 4 * U  # of an activation's value and slope: NumPy's are within four units


class Rounded(NamedTuple):
    """A value and a bound of the error of what float32 makes of it, arrays of one shape."""

    value: np.ndarray
    error: np.ndarray

    def __matmul__(self, other):
        n = self.value.shape[-1]
        gamma, (A, B) = n * U / (1 - n * U), (np.abs(self.value), np.abs(other.value))
        return Rounded(self.value @ other.value,
                       A @ other.error + self.error @ B + gamma * (A @ B))

    def __add__(self, other):
        value = self.value + other.value
        return Rounded(value, self.error + other.error + U * np.abs(value))

    def __mul__(self, other):
        value = self.value * other.value
        return Rounded(value, np.abs(self.value) * other.error + self.error * np.abs(other.value)
                       + U * np.abs(value))

    def __sub__(self, other):
        return self + Rounded(-other.value, other.error)

    def __getitem__(self, where):
        return Rounded(self.value[where], self.error[where])

    def beside(self, other):
        """Both, one below the other."""
        return Rounded(*(np.concatenate(pair) for pair in zip(self, other)))

    @property
    def size(self):
        """Frobenius norm of the bound."""
        return np.linalg.norm(self.error)


def exactly(value):
    """What float32 holds without an error."""
    return Rounded(value, np.zeros_like(value))


def activated(function, Z):
    """sigma(Z) and sigma'(Z). A slope that jumps within the error of Z is off by the jump."""
    value, slope = function.value(Z.value), function.slope(Z.value)
    jump = np.abs(function.slope(Z.value + Z.error) - function.slope(Z.value - Z.error))
    change = np.maximum(np.abs(function.curvature(Z.value)) * Z.error, jump)
    return (Rounded(value, (np.abs(slope) + jump) * Z.error + FUNCTION * np.abs(value)),
            Rounded(slope, change + FUNCTION * np.abs(slope)))


class Half(NamedTuple):
    """One half of a block: V (d', d/2), W (d/2, d'), S and sigma' (d', n)."""

    V: Rounded
    W: Rounded
    S: Rounded
    slope: Rounded

    def tangent(self, u):
        """T(u) = W sigma'(V x) * (V u), one column for each sample."""
        return self.W @ (self.slope * (self.V @ u))

    def sample_jacobians(self):
        """W diag(sigma'_s) V for every sample s, (n, d/2, d/2)."""
        slope = Rounded(*(array.T[:, :, None] for array in self.slope))
        return self.W @ (slope * self.V)


def reversible_pass(net, x):
    """Halves of every block, first half first, and x_L, Eqs. (14) and (15)."""
    half = net.width // 2
    X = np.zeros((net.width, len(x)))
    X[: x.shape[1]] = x.T
    X1, X2, blocks = exactly(X[:half]), exactly(X[half:]), []
    for block in net.blocks:
        sigma, pair = block.first.layers[-2].function, []
        for V, W in ((block.Va, block.W1), (block.Vb, block.W2)):
            V = exactly(np.eye(half) if V is None else V)
            W = exactly(W)
            S, slope = activated(sigma, V @ X2)
            X1, X2 = X2, X1 + W @ S  # the half that moves comes last
            pair.append(Half(V, W, S, slope))
        blocks.append(pair)
    return blocks, (X1, X2)


def reversible_jacobian(blocks, width):
    """Jacobians of x_L in all W as a list of (n, d, d/2 d'), last block first, Eqs. (13), (39)."""
    half, n = width // 2, blocks[0][0].S.value.shape[1]
    G = exactly(np.broadcast_to(np.eye(width), (n, width, width)).copy())
    G1, G2, parts = G[:, :, :half], G[:, :, half:], []
    for first, second in blocks[::-1]:
        parts.append(outer(G2, second.S))
        G1 = G1 + G2 @ second.sample_jacobians()
        parts.append(outer(G1, first.S))
        G2 = G2 + G1 @ first.sample_jacobians()
    return parts


def outer(G, X):
    """G[s, c, i] X[j, s] as (s, c, i j): the Jacobian in the weights of W X."""
    left = Rounded(*(array[:, :, :, None] for array in G))
    right = Rounded(*(array.T[:, None, None, :] for array in X))
    product = left * right
    return Rounded(*(array.reshape(*array.shape[:2], -1) for array in product))


def layered(net, x):
    """Outputs (C, n) and the parts of the Jacobian of a fully-connected network."""
    X, saved = exactly(x.T), []
    for layer in net.layers:
        if hasattr(layer, "weight"):
            W = exactly(layer.weight)
            saved.append((W, X, layer.bias is not None))
            X = W @ X
            if layer.bias is not None:
                X = X + exactly(np.repeat(layer.bias[:, None], len(x), axis=1))
        else:
            X, slope = activated(layer.function, X)
            saved.append(slope)
    G = exactly(np.broadcast_to(np.eye(len(X.value)), (len(x), *[len(X.value)] * 2)).copy())
    parts = []
    for entry in saved[::-1]:
        if isinstance(entry, Rounded):
            G = G * Rounded(*(array.T[:, None, :] for array in entry))
        else:
            W, below, bias = entry
            parts += [outer(G, below)] + [G] * bias
            G = G @ W
    return X, parts
