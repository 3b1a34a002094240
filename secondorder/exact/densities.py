"""The spectral density of a curvature matrix by stochastic Lanczos quadrature."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import stdtrit

from ..checks import positive_number, real_array, whole_number
from ..checks.randomness import generator
from .operators import operator_of

REACH = 5  # widths beyond the outermost node where the curve ends
RESOLUTION = 60  # the spectrum's range in widths, where no width is given


@dataclass(frozen=True)
class SpectralDensity:
    """How the eigenvalues of a matrix are distributed, smoothed by a normal kernel.

    Attributes
    ----------
    points : (n,) array
        Where the density is given.
    density : (n,) array
        Mean over all eigenvalues of the normal density of standard deviation `width` around each;
        it integrates to 1.
    error : (n,) array
        How far `density` may be off at each point, in 99 of 100 draws.
    width : float
    size : int
        Of the matrix.
    nodes, weights : (probes, steps) arrays
        Nodes and weights of the quadrature of every probe; where Lanczos ended early the rest has
        weight 0.
    """

    points: np.ndarray
    density: np.ndarray
    error: np.ndarray
    width: float
    size: int
    nodes: np.ndarray
    weights: np.ndarray

    @property
    def total_error(self):
        """Integral of `error`: in area between the curves, how far the density may be off."""
        return float(np.trapezoid(self.error, self.points))

    def smoothed(self, eigenvalues):
        """The density of known eigenvalues (n,), smoothed in the same way, at the same points."""
        values = real_array(eigenvalues, "eigenvalues").astype(float)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"eigenvalues: expected values of shape (n,), got {values.shape}")
        return _smoothed(self.points, values, np.full(values.shape, 1 / values.size), self.width)

    def distance(self, eigenvalues):
        """Area between the density and that of known eigenvalues (n,); between 0 and 2."""
        gap = np.abs(self.density - self.smoothed(eigenvalues))
        return float(np.trapezoid(gap, self.points))


def spectral_density(network, loss, x, y, kind="hessian", probes=10, steps=80, width=None,
                     points=None, rng=None, draws=1, l2=0.0, layer=None, parameter=None,
                     batch_size=None, executor=None):
    """Density of the eigenvalues of a curvature matrix, from products alone.

    Parameters
    ----------
    network, loss, x, y
        As for :func:`gradient`.
    kind : {"hessian", "gauss-newton", "fisher", "fisher-empirical", "fisher-sampled"}
    probes : int
        Number of random starting vectors, 2 at least; the error falls like 1 / sqrt(probes).
    steps : int
        Lanczos steps, one product each, for every probe: 2 at least. More steps tell apart what is
        close together, so that a smaller `width` makes sense.
    width : float, optional
        Standard deviation of the kernel, in units of the eigenvalues; by default the spectrum's
        range divided by 60.
    points : (n,) array, optional
        Where the density is wanted; by default 400 points from end to end.
    rng : None, int or numpy.random.Generator
        For the starting vectors, and before them for the targets of ``"fisher-sampled"``.
    draws : int
        Number of targets per sample, for ``"fisher-sampled"``.
    l2, layer, parameter, batch_size, executor
        As for :func:`trace`.

    Returns
    -------
    SpectralDensity

    Raises
    ------
    ValueError, TypeError, FloatingPointError, RuntimeError
        As :func:`trace`.

    Notes
    -----
    For a random unit vector q, E[q^T f(A) q] = tr f(A) / P. Lanczos turns q^T f(A) q into a
    quadrature (Golub and Welsch 1969): with T the tridiagonal matrix that it finds,

        q^T f(A) q = sum_k weight_k f(node_k)

    for every polynomial f of degree up to 2 steps - 1; the nodes are the eigenvalues of T, the
    weights the squared first entries of its eigenvectors. Here f is the normal kernel around a
    point. The stated error adds to the probes' spread (Student's t, 99 %) how much the density
    still changes over the last quarter of the steps.
    """
    probes, steps = whole_number(probes, "probes", 2), whole_number(steps, "steps", 2)
    width = None if width is None else positive_number(width, "width")
    points = None if points is None else _checked_points(points)
    rng = generator(rng)
    A = operator_of(kind, network, loss, x, y, rng, draws, l2=l2, layer=layer, parameter=parameter,
                    batch_size=batch_size, executor=executor)
    signs = rng.choice(np.array([-1.0, 1.0]), size=(probes, A.shape[0]))
    coefficients = [lanczos(A, start, steps) for start in signs]
    return _density(A.shape[0], coefficients, width, points)


def lanczos(A, start, steps):
    """Diagonal (k,) and off-diagonal (k - 1,) of T = Q^T A Q, Q an orthonormal basis of the Krylov
    space of `start`; k <= steps, less where the space is exhausted.

    Every new vector is made orthogonal to all before it, twice: rounding would bring found
    eigenvalues back.
    """
    steps = min(steps, len(start))
    Q, diagonal, beside = np.zeros((steps, len(start))), [], []
    Q[0] = start / np.linalg.norm(start)
    for k in range(steps):
        w = (A @ Q[k].astype(A.dtype)).astype(float)
        diagonal.append(Q[k] @ w)
        for _ in range(2):
            w -= Q[: k + 1].T @ (Q[: k + 1] @ w)
        length, size = np.linalg.norm(w), np.abs(diagonal).max() + max(beside, default=0.0)
        if k == steps - 1 or length <= len(start) * np.finfo(A.dtype).eps * size:
            break
        beside.append(length)
        Q[k + 1] = w / length
    return np.array(diagonal), np.array(beside)


def quadrature(diagonal, beside):
    """Nodes and weights, both (k,), of the Gauss quadrature of a tridiagonal matrix."""
    nodes, vectors = eigh_tridiagonal(diagonal, beside)
    return nodes, vectors[0] ** 2


def _density(size, coefficients, width, points):
    """`SpectralDensity` from the tridiagonal matrices of all probes."""
    rules = [quadrature(*both) for both in coefficients]
    ends = min(nodes[0] for nodes, _ in rules), max(nodes[-1] for nodes, _ in rules)
    if width is None:
        width = (ends[1] - ends[0]) / RESOLUTION or max(abs(ends[0]), 1.0) / RESOLUTION
    if points is None:
        points = np.linspace(ends[0] - REACH * width, ends[1] + REACH * width, 400)
    curves = np.array([_smoothed(points, *rule, width) for rule in rules])
    fewer = [quadrature(a[: _fewer(a)], b[: _fewer(a) - 1]) for a, b in coefficients]
    unsettled = curves.mean(axis=0) - np.mean(
        [_smoothed(points, *rule, width) for rule in fewer], axis=0)
    spread = curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    error = spread * stdtrit(len(curves) - 1, 0.995) + np.abs(unsettled)
    longest = max(len(nodes) for nodes, _ in rules)
    nodes, weights = (np.array([np.pad(part, (0, longest - len(part)), mode)
                                for part in parts])
                      for parts, mode in zip(zip(*rules), ("edge", "constant")))
    return SpectralDensity(points, curves.mean(axis=0), error, float(width), size, nodes, weights)


def _fewer(diagonal):
    """Three quarters of the steps; all of them where the space was exhausted."""
    return max(1, -(-3 * len(diagonal) // 4))


def _smoothed(points, nodes, weights, width):
    """sum_k weight_k N(point; node_k, width^2), at every point."""
    scaled = (points[:, None] - nodes) / width
    return np.exp(-scaled * scaled / 2) @ weights / (width * np.sqrt(2 * np.pi))


def _checked_points(points):
    points = real_array(points, "points").astype(float)
    if points.ndim != 1 or len(points) < 2 or (np.diff(points) <= 0).any():
        raise ValueError("points must be at least two numbers in rising order, got "
                         f"shape {points.shape}")
    return points
