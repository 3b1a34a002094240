"""Conjugate gradients that notice negative curvature, which SciPy's `cg` cannot report."""

import math
from typing import NamedTuple

import numpy as np

from .. import checks


class CGResult(NamedTuple):
    """What :func:`conjugate_gradients` found.

    Attributes
    ----------
    solution : array like b
    residual : array like b
        b - A solution, as updated along the way.
    iterations : int
        Number of products with A.
    negative_curvature : bool
        Whether a direction p with p^T A p <= 0 ended the iterations.
    curvature : float
        p^T A p / p^T p of the last direction p that was tried.
    """

    solution: np.ndarray
    residual: np.ndarray
    iterations: int
    negative_curvature: bool
    curvature: float


def conjugate_gradients(product, b, tolerance, max_iterations, preconditioner=None):
    """Solve A x = b for a symmetric A, from x = 0, until |b - A x| <= tolerance |b|.

    A direction p with p^T A p <= 0 ends the iterations with the x reached before it, which is 0 if
    p is the first. As long as the curvature is positive, every x lowers the model x^T A x / 2 - b^T
    x below all its predecessors.

    Parameters
    ----------
    product : callable
        v -> A v, linear; both of the shape of b.
    b : array
        Of any shape and size: the iterations solve for b in units of its largest entry.
    tolerance : float
        Relative to |b|.
    max_iterations : int
    preconditioner : callable, optional
        r -> M r with a positive definite M near the inverse of A.

    Returns
    -------
    CGResult

    Raises
    ------
    TypeError, ValueError
        Arguments of another kind, b not finite, a product of another shape than b.
    FloatingPointError
        If a direction or a product is not finite.
    """
    checks.function_of(product, "product", 1, "a function of a vector")
    b = checks.real_array(b, "b")
    tolerance = checks.number_in(tolerance, "tolerance", 0, np.inf)
    max_iterations = checks.whole_number(max_iterations, "max_iterations", 0)
    unit = power_of_two(b)
    r = (b / unit).astype(np.result_type(b, np.float32), copy=False)
    x, z = np.zeros_like(r), r if preconditioner is None else preconditioner(r)
    p, rr, rz = z.copy(), dot(r, r), dot(r, z)
    # a residual whose square underflows counts as zero
    goal = max(tolerance**2 * rr, np.finfo(np.float64).tiny)
    curvature, iteration, negative = 0.0, 0, False
    while iteration < max_iterations and rr > goal:
        iteration += 1
        pp = dot(p, p)
        if not np.isfinite(pp):
            raise FloatingPointError(f"conjugate gradients, iteration {iteration}: the direction "
                                     "overflows")
        Ap = checks.fitting(product(p), r, "product(v)")
        pAp = dot(p, Ap)
        if not np.isfinite(pAp):
            raise FloatingPointError(f"conjugate gradients, iteration {iteration}: the curvature "
                                     "product is not finite")
        curvature = pAp / pp
        negative = pAp <= 0
        if negative:
            break
        alpha = rz / pAp
        x += alpha * p
        r = r - alpha * Ap
        z = r if preconditioner is None else preconditioner(r)
        rr, rz, before = dot(r, r), dot(r, z), rz
        p = z + rz / before * p
    return CGResult(x * unit, r * unit, iteration, negative, curvature)


def dot(a, b):
    """Inner product of two arrays as a float, summed in float64."""
    return float(np.vdot(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)))


def power_of_two(b):
    """The power of 2 next to the largest entry of b, 1 where b is zero: what is divided by it keeps
    its digits, and its squares neither vanish nor overflow.
    """
    largest = float(np.abs(b).max(initial=0))
    return math.ldexp(1.0, max(math.frexp(largest)[1] - 1, -1074)) if largest else 1.0
