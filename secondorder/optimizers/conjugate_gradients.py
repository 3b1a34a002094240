"""Conjugate gradients that notice negative curvature, which SciPy's `cg` cannot report."""

from typing import NamedTuple

import numpy as np

from .. import checks
from .norms import dot


class CGResult(NamedTuple):
    """What :func:`conjugate_gradients` found.

    Attributes
    ----------
    solution : (P,) array
    residual : (P,) array
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


def conjugate_gradients(product, b, tolerance, max_iterations):
    """Solve A x = b for a symmetric A, from x = 0, until |b - A x| <= tolerance |b|.

    A direction p with p^T A p <= 0 ends the iterations with the x reached before it, which is 0 if
    p is the first. As long as the curvature is positive, every x lowers the model x^T A x / 2 - b^T
    x below all its predecessors.

    Parameters
    ----------
    product : callable
        v (P,) -> A v (P,).
    b : (P,) array
    tolerance : float
        Relative to |b|.
    max_iterations : int

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
    b = checks.real_array(b, "b", (np.size(b),))
    tolerance = checks.number_in(tolerance, "tolerance", 0, np.inf)
    max_iterations = checks.whole_number(max_iterations, "max_iterations", 0)
    b = b.astype(np.result_type(b, np.float32))  # whole numbers become float64
    x, r, p = np.zeros_like(b), b, b
    rr = dot(r, r)
    if not np.isfinite(rr):
        raise FloatingPointError("conjugate gradients: the square of b overflows")
    # a residual whose square underflows counts as zero
    goal = max(tolerance**2 * rr, np.finfo(np.float64).tiny)
    curvature, iteration = 0.0, 0
    while iteration < max_iterations and rr > goal:
        iteration += 1
        pp = dot(p, p)
        if not np.isfinite(pp):
            raise FloatingPointError(f"conjugate gradients, iteration {iteration}: the direction "
                                     "overflows")
        Ap = checks.fitting(product(p), b, "product(v)")
        pAp = dot(p, Ap)
        if not np.isfinite(pAp):
            raise FloatingPointError(f"conjugate gradients, iteration {iteration}: the curvature "
                                     "product is not finite")
        curvature = pAp / pp
        if pAp <= 0:
            return CGResult(x, r, iteration, True, curvature)
        alpha = rr / pAp
        x = x + alpha * p
        r = r - alpha * Ap
        rr, before = dot(r, r), rr
        p = r + rr / before * p
    return CGResult(x, r, iteration, False, curvature)
