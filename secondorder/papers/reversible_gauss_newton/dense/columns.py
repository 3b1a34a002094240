"""The paper's conventions: one column for each sample, column-major vectorisation, and the two
halves one after the other.

The package has one row for each sample. X here is x^T, and vec(X) (units fastest) is x written row
by row.
"""

import numpy as np


def vec(X):
    """vec(X) as the formula of Section 4 has it, column by column, units fastest:

    x[i + d (j - 1)] = X[i, j]

    The rule vec(A X B) = (B^T kron A) vec(X) needs it.
    """
    return X.ravel(order="F")


def vec_as_printed(X):
    """vec(X) as the words of Section 4 have it, row-wise: x[j + n (i - 1)] = X[i, j]"""
    return X.ravel(order="C")


def stacked(f):
    """All outputs f (n, d_y) in one vector as f = x_L of Section 4, units fastest:

    f[j + d_y (i - 1)] = f(x_i, theta)_j
    """
    return vec(f.T)


def stacked_as_printed(f):
    """All outputs f (n, d_y) in one vector as Section 3 has it, samples fastest:

    f[i + n (j - 1)] = f(x_i, theta)_j
    """
    return vec(f)


def unvec(x, rows, columns):
    """R^(rows, columns){x}: the matrix whose vectorisation is x."""
    return x.reshape((rows, columns), order="F")


def half_order(width, samples):
    """Where the entries of (vec X^(1); vec X^(2)) stand in vec X, for X (width, samples):
    x[half_order] is in half order.
    """
    place = np.arange(width * samples).reshape((width, samples), order="F")
    return np.concatenate([vec(place[: width // 2]), vec(place[width // 2:])])


def to_theta(w, net):
    """A vector in the paper's order of parameters (block by block, vec W^(1) then vec W^(2)) in the
    order of ``net.theta``.

    `w` may be (p,) or (p, k). For networks without biases.
    """
    pieces, start = [], 0
    for block in net.blocks:
        for W in (block.W1, block.W2):
            # column-major: columns of W first
            piece = w[start : start + W.size].reshape(W.shape[::-1] + w.shape[1:])
            pieces.append(piece.swapaxes(0, 1).reshape(w[start:start + W.size].shape))
            start += W.size
    return np.concatenate(pieces)


def from_theta(theta, net):
    """The inverse of :func:`to_theta`."""
    order = to_theta(np.arange(net.size), net)
    w = np.empty_like(theta)
    w[order] = theta
    return w
