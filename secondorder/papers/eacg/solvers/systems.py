"""The damped linear systems of a layer and the products with their matrices, Eq. (9)-(11).

A layer's weights W (n, m) have the curvature A (x) B over the columns of W, with A = E[h h^T] (m,
m) and B (n, n). An array P (n, m) stands for Vec(P), so that the Kronecker product is B P A and no
vector is needed.

l2 enters the gradient and, as l2 I, the curvature: (1 - alpha)(A (x) B + l2 I) + alpha I. With
weight = 1 - alpha and damping = alpha + (1 - alpha) l2 every system here reads

    (weight A (x) B + damping I) Vec(D) = -Vec(G).
"""

from dataclasses import dataclass

import numpy as np

from ....exact.conjugate_gradients import power_of_two
from ..products import mean_outer


@dataclass(frozen=True)
class System:
    """What the systems of one layer are made of.

    Attributes
    ----------
    B : (n, n) array
        Curvature of the bias.
    X : (S, m) array
        Inputs of the layer, the rows h_i.
    deltas : (S, n) array
        Gradients of the bias, the rows g_i, of the loss alone.
    W : (n, m) array
        The weights; they matter with l2 only.
    G : (n, m) array
        Gradient of the objective in W.
    alpha, l2 : float
    """

    B: np.ndarray
    X: np.ndarray
    deltas: np.ndarray
    W: np.ndarray
    G: np.ndarray
    alpha: float
    l2: float

    @property
    def weight(self):
        """1 - alpha."""
        return 1 - self.alpha

    @property
    def damping(self):
        """alpha + (1 - alpha) l2."""
        return self.alpha + (1 - self.alpha) * self.l2

    @property
    def mean_input(self):
        """m = E[h], (m,)."""
        return self.X.mean(axis=0)


def damped(curvature, alpha):
    """Eq. (9): (1 - alpha) curvature + alpha I, a weighted mean of a matrix (n, n) and the unit."""
    return (1 - alpha) * curvature + alpha * np.eye(len(curvature), dtype=curvature.dtype)


def block_diagonal_system(weight_blocks, bias_blocks, alpha):
    """Eq. (9) as one dense matrix over (Vec(W^1), b^1, ..., Vec(W^k), b^k)."""
    blocks = [block for pair in zip(weight_blocks, bias_blocks) for block in pair]
    ends = np.cumsum([0, *map(len, blocks)])
    matrix = np.zeros((ends[-1], ends[-1]))
    for start, stop, block in zip(ends[:-1], ends[1:], blocks):
        matrix[start:stop, start:stop] = damped(block, alpha)
    return matrix


def bias_product(B, p, weight, damping):
    """Eq. (10a), left side: L(p) = ((1 - alpha) B + alpha I) p for p (n,)."""
    return weight * (B @ p) + damping * p


def kronecker_product(B, P, A):
    """Eq. (11a): B P A, which is (A (x) B) Vec(P) as a matrix (n, m)."""
    return B @ P @ A


def batch_product(B, P, X):
    """Eq. (11a) from the inputs X (S, m) themselves: B (P X^T) X / S, never an (m, m) matrix."""
    return B @ (P @ X.T) @ X / len(X)


def rank_one_product(B, P, mean):
    """Eq. (11b): B (P m) m^T, for P (n, m) and the mean input m (m,)."""
    return (B @ (P @ mean))[:, None] * mean


def factor_product(B, P, F):
    """B (P F) F^T, for a factor F (m, r) of A, such as that of :func:`low_rank_factor`."""
    return B @ (P @ F) @ F.T


def size(a):
    """Euclidean norm of an array of any shape, as a float; finite where a float can hold it."""
    with np.errstate(over="ignore"):
        plain = float(np.linalg.norm(a))
    if 1e-140 < plain < np.inf:
        return plain
    unit = power_of_two(a)  # its squares may have vanished, or overflowed
    return unit * float(np.linalg.norm(a / unit))


def along_mean(G, mean):
    """G m / |m| (n,) and |m| for G (n, m) and the mean input, in float64; 0 where that is zero."""
    length = size(mean.astype(np.float64))
    return (G @ mean).astype(np.float64) / length if length else np.zeros(len(G)), length


def combined(s, G, w, mean):
    """s G + w m^T, (n, m)."""
    return s * G + np.outer(w, mean).astype(G.dtype, copy=False)


def low_rank_factor(X, rank):
    """F (m, r) for inputs X (S, m) such that F F^T lies between (11b) and (11a).

        F F^T = m m^T + the `rank` - 1 largest parts of Cov(h)

    rank 1 gives m m^T, and from the rank of E[h h^T] on it is E[h h^T] itself. Between them F F^T
    grows with the rank in the Loewner order.
    """
    mean = X.mean(axis=0)
    if rank == 1:
        return mean[:, None]
    centred = (X - mean) / np.sqrt(len(X)).astype(X.dtype)
    if len(X) > X.shape[1]:
        largest, V = (part[..., ::-1] for part in np.linalg.eigh(centred.T @ centred))
        parts = V * np.sqrt(np.maximum(largest, 0))
    else:
        parts = centred.T @ np.linalg.eigh(centred @ centred.T)[1][:, ::-1][:, : rank - 1]
    return np.concatenate([mean[:, None], parts[:, : rank - 1]], axis=1)


def orthonormal(F):
    """Q (m, r) with orthonormal columns and A (r, r) such that Q A Q^T = F F^T, for F (m, r) with
    r <= m; A in float64.
    """
    Q, R = np.linalg.qr(F)
    R = R.astype(np.float64, copy=False)
    return Q, R @ R.T


def dense_system(system, A=None):
    """Eq. (10b) as one dense matrix (n m, n m) over the columns of W: weight A (x) B + damping I.

    A defaults to E[h h^T], as in (11a).
    """
    A = mean_outer(system.X) if A is None else A
    return system.weight * np.kron(A, system.B) + system.damping * np.eye(system.G.size)


def dense_solution(system, A=None):
    """Solution (n, m) of Eq. (10b) by a dense solve."""
    solution = np.linalg.solve(dense_system(system, A), -system.G.ravel(order="F"))
    return solution.reshape(system.G.shape, order="F")
