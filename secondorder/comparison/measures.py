"""What is measured of a curvature matrix M at a point: errors, spectrum, and its step.

One rule for all steps: d = -(M + (shift + damping) I)^-1 g, where shift = max(0, -smallest
eigenvalue of M) makes M positive semidefinite and damping is the same number for every row, a share
of the mean absolute eigenvalue of the Hessian.
"""

from functools import cached_property

import numpy as np
from scipy import linalg

from secondorder import exact

RATES = np.logspace(-3, 3, 61)


class Point:
    """A network, data and a loss, with what every row is compared to.

    `damping` is a share of the mean absolute eigenvalue of the Hessian.
    """

    def __init__(self, network, loss, x, y, damping):
        self.network, self.loss, self.x, self.y = network, loss, x, y
        self.model = network, loss, x, y
        self.gradient = exact.gradient(*self.model)
        self.hessian = exact.hessian(*self.model)
        self.damping = damping * float(np.abs(self.spectrum[0]).mean())
        self.start = network.evaluate(loss, x, y).loss

    @cached_property
    def spectrum(self):
        """Eigenvalues and eigenvectors of the Hessian."""
        return np.linalg.eigh(self.hessian)

    @cached_property
    def blocks(self):
        """Where the parameters of every layer that has some stand."""
        return [where for where, layer in zip(self.network.slices, self.network.layers)
                if layer.size]

    def loss_along(self, direction):
        """Change of the loss at every rate of `RATES`; infinite where it is not finite."""
        network, changes = self.network.copy(), []
        for rate in RATES:
            network.theta = self.network.theta + rate * direction
            try:
                changes.append(network.evaluate(self.loss, self.x, self.y).loss - self.start)
            except FloatingPointError:
                changes.append(np.inf)
        return np.array(changes)


def measure(point, matrix):
    """The numbers of a row.

    Parameters
    ----------
    point : Point
    matrix : (P, P) array

    Returns
    -------
    dict
        ``error`` (norm of M - H over norm of H, Frobenius), ``block_error`` and ``diagonal_error``
        (the same on the layers' blocks and on the diagonal), ``eigenvalues`` (P,) rising,
        ``negative`` (how many), ``above`` (whether M - H is positive semidefinite), ``direction``
        (P,), ``angle`` in degrees to the Hessian's own step (None at a zero gradient), ``along``
        (change of the loss at `RATES`), ``decrease`` (at rate 1), ``best_decrease`` and
        ``best_rate``.
    """
    H = point.hessian
    values = np.linalg.eigvalsh(matrix)
    direction = step(point, matrix, values)
    along = point.loss_along(direction)
    best = int(np.argmin(along))
    tiny = rounding(H, matrix)
    return {"error": relative(matrix, H),
            "block_error": relative(*(within(point.blocks, M) for M in (matrix, H))),
            "diagonal_error": relative(np.diag(matrix), np.diag(H)),
            "eigenvalues": values,
            "negative": int((values < -tiny).sum()),
            "above": bool(is_positive(matrix - H, tiny)),
            "direction": direction,
            "along": along,
            "decrease": float(-along[np.argmin(abs(RATES - 1))]),
            "best_decrease": float(-along[best]),
            "best_rate": float(RATES[best])}


def rounding(*matrices):
    """What counts as zero among eigenvalues: a hundred roundings of the largest entry's scale."""
    return 100 * np.finfo(float).eps * max(np.linalg.norm(M, 2 if len(M) < 200 else "fro")
                                           for M in matrices)


def step(point, matrix, values):
    """d = -(M + (shift + damping) I)^-1 g."""
    shift = max(0.0, -values[0]) + point.damping
    damped = matrix + shift * np.eye(len(matrix))
    return -linalg.cho_solve(linalg.cho_factor(damped, lower=True), point.gradient)


def angle(a, b):
    """Degrees between two directions; None where one of them is zero, as at a zero gradient."""
    product = np.linalg.norm(a) * np.linalg.norm(b)
    if not product:
        return None
    cosine = a @ b / product
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def is_positive(matrix, tiny):
    """Whether a symmetric matrix has no eigenvalue below -tiny."""
    try:
        linalg.cholesky(matrix + tiny * np.eye(len(matrix)), lower=True)
    except linalg.LinAlgError:
        return False
    return True


def within(blocks, matrix):
    """The entries of the blocks, one after the other."""
    return np.concatenate([matrix[block, block].ravel() for block in blocks])


def relative(M, H):
    """Norm of M - H over the norm of H, Frobenius."""
    return float(np.linalg.norm(M - H) / np.linalg.norm(H)) if H.any() else float("nan")
