"""The solvers of a layer's damped systems, by name.

================  ================================================================
``ea-cg``         (11b) by conjugate gradients, as the paper; in two coefficients,
                  or literally with ``literal=True``
``ea-closed``     (11b) in closed form
``cg``            (11a) by conjugate gradients
``exact``         (11a) by eigenvectors
``kfi``           (12), the Kronecker-factored inverse; with its matrices as
                  printed with ``literal=True``, else without those of wide inputs
``kfi-rank-one``  (12), with (13) in the first layer; ``literal`` as above
================  ================================================================

`rank` above 1 puts the largest parts of the inputs' covariance beside m m^T in the first two: what
lies between (11b) and (11a).
"""

from typing import NamedTuple

import numpy as np

from ....compiled import forms
from . import closed_forms, conjugate_gradients, kronecker_inverse
from .cholesky import damped_solve
from ..products import mean_outer
from .systems import (batch_product, combined, factor_product, kronecker_product, low_rank_factor,
                      orthonormal, rank_one_product, size)


class Report(NamedTuple):
    """Number of products of conjugate gradients, and |residual| / |right side| they stopped at (0
    of a direct solver).
    """

    iterations: int
    residual: float


DIRECT = Report(0, 0.0)


def ea_cg(system, options, first, out):
    """Eq. (11b) by conjugate gradients."""
    mean = system.mean_input
    if options.rank > 1:
        F = low_rank_factor(system.X, options.rank)
        if options.preconditioner is None and F.shape[1] < len(F):
            return _cg_in_span(system, options, F, out)
        return _cg(system, options, lambda P: factor_product(system.B, P, F), system.X, out)
    if options.literal or options.preconditioner is not None:
        return _cg(system, options, lambda P: rank_one_product(system.B, P, mean), mean[None], out)
    s, w, outcome = conjugate_gradients.rank_one_coefficients(
        system.B, system.G, mean, system.weight, system.damping, options.max_cg, options.tolerance)
    _write_combined(out, s, system.G, w, mean)
    return Report(outcome.iterations, outcome.residual)


def ea_closed(system, options, first, out):
    """Eq. (11b), or ranks above it, in closed form."""
    mean, of_system = system.mean_input, (system.weight, system.damping)
    if options.rank > 1:
        F = low_rank_factor(system.X, options.rank)
        out[...] = closed_forms.factor_solution(system.B, system.G, F, *of_system)
        return DIRECT
    s, w = closed_forms.rank_one_coefficients(system.B, system.G, mean, *of_system)
    _write_combined(out, s, system.G, w, mean)
    return DIRECT


def cg(system, options, first, out):
    """Eq. (11a) by conjugate gradients."""
    S, m = system.X.shape
    if m <= S:
        A = mean_outer(system.X)
        return _cg(system, options, lambda P: kronecker_product(system.B, P, A), system.X, out)
    if options.preconditioner is None or not system.l2:
        return _cg_in_span(system, options, system.X.T / np.sqrt(S).astype(system.X.dtype), out)
    return _cg(system, options, lambda P: batch_product(system.B, P, system.X), system.X, out)


def exact(system, options, first, out):
    """Eq. (11a) by eigenvectors."""
    out[...] = closed_forms.exact_solution(system)
    return DIRECT


def kfi(system, options, first, out):
    """Eq. (12) in every layer."""
    out[...] = _kfi(options)(system)
    return DIRECT


def kfi_rank_one(system, options, first, out):
    """Eq. (13) in the first layer, Eq. (12) above."""
    out[...] = _kfi(options)(system, rank_one=first)
    return DIRECT


SOLVERS = {"ea-cg": ea_cg, "ea-closed": ea_closed, "cg": cg, "exact": exact, "kfi": kfi,
           "kfi-rank-one": kfi_rank_one}


# -- what they share -------------------------------------------------------------------------------


def _kfi(options):
    """KFI with the matrices as printed, or without those of wide inputs."""
    return kronecker_inverse.solution_as_printed if options.literal else kronecker_inverse.solution


def _cg(system, options, product, X, out):
    """On arrays (n, m); the inputs X of the system are KFI's, if that is the preconditioner."""
    weight, damping = system.weight, system.damping
    inverse = None if options.preconditioner is None else kronecker_inverse.preconditioner(
        X, system.B, damping / weight)
    outcome = conjugate_gradients.solve(lambda P: weight * product(P) + damping * P, -system.G,
                                        options.max_cg, options.tolerance, inverse)
    out[...] = outcome.solution
    return Report(outcome.iterations, outcome.residual)


def _cg_in_span(system, options, F, out):
    """The iterates of `_cg` for F F^T, F (m, r), in the coordinates of its span; what of the
    gradient is across it is one coordinate more. A preconditioner would not leave it one, and is
    for a gradient in the span.
    """
    (Q, A), G = orthonormal(F), system.G
    along = G @ Q
    rest = None if options.preconditioner is not None else G - along @ Q.T
    inverse = None if options.preconditioner is None else kronecker_inverse.damped_inverse(
        A, system.B, system.damping / system.weight, G.shape)
    s, V, outcome = conjugate_gradients.in_span(
        system.B, 0.0 if rest is None else size(rest), along.astype(np.float64), A, system.weight,
        system.damping, options.max_cg, options.tolerance, inverse)
    np.matmul(V.astype(G.dtype, copy=False), Q.T, out=out)
    if rest is not None:
        out += G.dtype.type(s) * rest
    return Report(outcome.iterations, outcome.residual)


def _write_combined(out, s, G, w, mean):
    """out = s G + w m^T in one pass."""
    if forms.is_literal():
        out[...] = combined(s, G, w, mean)
        return
    from .. import compiled  # here, so that numba is loaded by the first step, not by an import

    compiled.combined(out.dtype.type(s), G, w.astype(out.dtype), mean, out)


# -- one layer -------------------------------------------------------------------------------------


def solve_weights(system, options, first, out):
    """Write the solution of Eq. (10b) into out (n, m), and return a `Report`; (13) wants to know
    whether this is the first linear layer.
    """
    return SOLVERS[options.solver](system, options, first, out)


def solve_bias(system, g, options, out):
    """Write the solution of Eq. (10a) for the gradient g (n,) into out (n,), and return a `Report`.

    By conjugate gradients or directly, as the solver; KFI takes B + (alpha + l2) I.
    """
    weight, damping = system.weight, system.damping
    if options.solver in ("ea-cg", "cg"):
        outcome = conjugate_gradients.damped(system.B, weight, damping, -g.astype(np.float64),
                                             options.max_cg, options.tolerance)
        out[...] = outcome.solution
        return Report(outcome.iterations, outcome.residual)
    if options.solver in ("kfi", "kfi-rank-one"):
        weight, damping = 1.0, options.alpha + options.l2
    out[...] = damped_solve(system.B, -g, weight, damping)
    return DIRECT
