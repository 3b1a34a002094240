"""4. The Jacobian of x_L in the weights, block by block and written out, for small networks.

Displays: (12), (13) = (33), and how a matrix becomes a vector. J_l has d n rows in half order,
(vec X^(1); vec X^(2)), and d d' columns, (vec W^(1)_l; vec W^(2)_l). `blocks` is a list of
:class:`.eq_14_15_revmlp.BlockState` from the first block up, b one of them. A step makes none of
these matrices: (16) and (17) are products of small ones.
"""

import numpy as np

from .eq_58_80_appendix_n import eq_36_39_58_own_jacobian, through


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


def eq_12_jacobian(blocks):
    """Eq. (12): J = (J_1, ..., J_L)."""
    return np.hstack(eq_13_33_jacobians(blocks))


def eq_13_33_jacobians(blocks):
    """Eqs. (13), (33): J_l = (d x_L / d x_l) (d x_l / d w_l), for l = 1, ..., L."""
    return [outer @ eq_36_39_58_own_jacobian(b) for outer, b in zip(above(blocks), blocks)]


def half_coupled(b):
    """[[I, D], [0, I]] of (14) and [[I, 0], [D, I]] of (15); with -D they are their inverses."""
    D1, D2 = through(b.W1, b.slope1, b.V2), through(b.W2, b.slope2, b.V1)
    one, zero = np.eye(len(D1)), np.zeros_like(D1)
    return [np.block([[one, D1], [zero, one]]), np.block([[one, zero], [D2, one]])]


def through_block(b):
    """d x_l / d x_{l-1}: (14), then (15)."""
    first, second = half_coupled(b)
    return second @ first


def back_through_block(b):
    """d x_{l-1} / d x_l: (15) undone, then (14)."""
    first, second = (2 * np.eye(len(D)) - D for D in half_coupled(b))
    return first @ second


def above(blocks):
    """d x_L / d x_l for l = 1, ..., L: by d x_L / d x_{l-1} = (d x_L / d x_l) (d x_l / d x_{l-1})
    """
    jacobians = [np.eye(2 * blocks[-1].X1.size)]
    for b in blocks[:0:-1]:
        jacobians.insert(0, jacobians[0] @ through_block(b))
    return jacobians


def back_from_the_end(blocks):
    """d x_l / d x_L for l = 1, ..., L: tangents of the inverse network."""
    jacobians = [np.eye(2 * blocks[-1].X1.size)]
    for b in blocks[:0:-1]:
        jacobians.insert(0, back_through_block(b) @ jacobians[0])
    return jacobians
