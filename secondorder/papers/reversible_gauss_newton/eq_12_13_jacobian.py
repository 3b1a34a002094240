"""4. The Jacobian of x_L in the weights, block by block and written out, for small networks.

Displays: (12), (13); in :mod:`.eq_33_57_proof` and :mod:`.eq_58_80_appendix_n` their parts. J_l has
d n rows in half order, (vec X^(1); vec X^(2)), and d d' columns, (vec W^(1)_l; vec W^(2)_l).
`blocks` is a list of :class:`.eq_14_15_revmlp.BlockState` from the first block up.
"""

import numpy as np

from .eq_58_80_appendix_n import eq_58_own_jacobian


def vec(X):
    """x_{i + d (j-1)} = X_ij: columns below each other, as vec(A X B) = (B^T kron A) vec(X) asks.

    The words of Section 4 call it row-wise, and are wrong: `vec_as_printed`.
    """
    return X.ravel(order="F")


def vec_as_printed(X):
    """Row-wise: x_{j + n (i-1)} = X_ij."""
    return X.ravel()


def R(x, rows, columns):
    """R^(rows, columns){x}: the matrix whose `vec` is x."""
    return x.reshape((rows, columns), order="F")


def stacked(f):
    """All outputs f (n, d_y) as one vector, units fastest, as f = x_L of Section 4 needs it."""
    return vec(f.T)


def stacked_as_printed(f):
    """All outputs f (n, d_y) as Section 3 has them, samples fastest."""
    return vec(f)


def half_order(width, samples):
    """Where the entries of (vec X^(1); vec X^(2)) stand in vec X: x[half_order] is in half order.
    """
    place = R(np.arange(width * samples), width, samples)
    return np.concatenate([vec(half) for half in np.split(place, 2)])


def to_theta(w, network):
    """A vector (p,) or matrix (p, k) in the paper's order of the weights, in that of
    ``network.theta``: there every W stands row by row. For networks without biases.
    """
    pieces, start = [], 0
    for block in network.blocks:
        for W in (block.W1, block.W2):
            piece = w[start:start + W.size].reshape(W.shape[::-1] + w.shape[1:])
            pieces.append(piece.swapaxes(0, 1).reshape(-1, *w.shape[1:]))
            start += W.size
    return np.concatenate(pieces)


def from_theta(theta, network):
    """The inverse of :func:`to_theta`."""
    w = np.empty_like(theta)
    w[to_theta(np.arange(network.size), network)] = theta
    return w


def eq_12_jacobian(blocks):
    """Eq. (12): J = (J_1, ..., J_L)."""
    return np.hstack(eq_13_jacobians(blocks))


def eq_13_jacobians(blocks):
    """Eq. (13): J_l = (d x_L / d x_l) (d x_l / d w_l), for l = 1, ..., L."""
    return [outer @ eq_58_own_jacobian(block) for outer, block in zip(above(blocks), blocks)]


def through(W, slope, V):
    """d vec(W sigma(V X)) / d vec(X), (h n, h n): a block W diag(sigma'(V X)_j) V for sample j."""
    h, n = len(W), slope.shape[1]
    D = np.zeros((n, h, n, h))
    D[range(n), :, range(n)] = np.einsum("ik,kj,ka->jia", W, slope, V)
    return D.reshape(h * n, h * n)


def coupled(D, lower):
    """d of a half-coupled layer: [[I, 0], [D, I]] for (15), `lower`, and [[I, D], [0, I]] for (14).
    """
    one, zero = np.eye(len(D)), np.zeros_like(D)
    return np.block([[one, zero], [D, one]] if lower else [[one, D], [zero, one]])


def through_block(b):
    """d x_l / d x_{l-1}: (14), then (15)."""
    return (coupled(through(b.W2, b.slope2, b.V1), True)
            @ coupled(through(b.W1, b.slope1, b.V2), False))


def back_through_block(b):
    """d x_{l-1} / d x_l: (15) undone, then (14)."""
    return (coupled(-through(b.W1, b.slope1, b.V2), False)
            @ coupled(-through(b.W2, b.slope2, b.V1), True))


def above(blocks):
    """d x_L / d x_l for l = 1, ..., L: by d x_L / d x_{l-1} = (d x_L / d x_l) (d x_l / d x_{l-1})
    """
    jacobians = [np.eye(2 * blocks[-1].X1.size)]
    for block in blocks[:0:-1]:
        jacobians.insert(0, jacobians[0] @ through_block(block))
    return jacobians


def back_from_the_end(blocks):
    """d x_l / d x_L for l = 1, ..., L: tangents of the inverse network."""
    jacobians = [np.eye(2 * blocks[-1].X1.size)]
    for block in blocks[:0:-1]:
        jacobians.insert(0, back_through_block(block) @ jacobians[0])
    return jacobians
