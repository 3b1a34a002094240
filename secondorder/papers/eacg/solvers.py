"""The solvers of a layer's damped systems, by name.

================  ================================================================
``ea-cg``         (11b) by conjugate gradients, as the paper; in two coefficients,
                  or literally with ``literal=True``
``ea-closed``     (11b) in closed form
``cg``            (11a) by conjugate gradients
``exact``         (11a) by eigenvectors
``kfi``           (12), the Kronecker-factored inverse
``kfi-rank-one``  (12), with (13) in the first layer
================  ================================================================

`rank` above 1 puts the largest parts of the inputs' covariance beside m m^T in the first two: what
lies between (11b) and (11a).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...checks import boolean, fraction, lookup, number_in, one_of, whole_number
from . import closed_forms, conjugate_gradients, kronecker_inverse
from .systems import batch_product, bias_product, factor_product, low_rank_factor, rank_one_product

SMALLEST_ALPHA = float(np.finfo(float).eps)  # below it 1 - alpha is 1


@dataclass(frozen=True)
class Options:
    """Settings of a solver, checked.

    Attributes
    ----------
    solver : str
    alpha, l2 : float
    max_cg : int
    tolerance : float
    joint : bool
        [W b] as one matrix with inputs [h; 1].
    rank : int
    preconditioner : None or "kfi"
    literal : bool
    """

    solver: str
    alpha: float
    l2: float
    max_cg: int
    tolerance: float
    joint: bool
    rank: int
    preconditioner: str | None
    literal: bool


def check_options(solver="ea-cg", alpha=0.1, l2=0.0, max_cg=50, tolerance=1e-10, joint=False,
                  rank=1, preconditioner=None, literal=False):
    """`Options`, or the TypeError or ValueError that names what is wrong with them."""
    lookup(SOLVERS, solver, "solver")
    rank = whole_number(rank, "rank", 1)
    if preconditioner is not None:
        one_of(("kfi",), preconditioner, "preconditioner")
    if rank > 1 and solver not in ("ea-cg", "ea-closed"):
        raise ValueError(f"rank={rank} is for solver='ea-cg' and 'ea-closed', not for {solver!r}")
    if preconditioner is not None and solver not in ("ea-cg", "cg"):
        raise ValueError(f"preconditioner={preconditioner!r} is for solver='ea-cg' and 'cg', not "
                         f"for {solver!r}")
    if boolean(literal, "literal") and solver != "ea-cg":
        raise ValueError(f"literal=True is for solver='ea-cg', not for {solver!r}")
    if (alpha := fraction(alpha, "alpha")) < SMALLEST_ALPHA:
        raise ValueError(f"alpha must be at least {SMALLEST_ALPHA:.2g}, got {alpha:g}: the damping "
                         "would be lost in rounding, and a direction of gradient / alpha is none")
    return Options(solver, alpha, l2, whole_number(max_cg, "max_cg", 1),
                   number_in(tolerance, "tolerance", 0, 1), boolean(joint, "joint"), rank,
                   preconditioner, literal)


class Report(NamedTuple):
    """Products that conjugate gradients made, and |residual| / |right side| they stopped at (0 of a
    direct solver).
    """

    iterations: int
    residual: float


DIRECT = Report(0, 0.0)


def _write_combined(out, s, G, w, mean):
    """out = s G + w m^T in one pass."""
    from . import loops  # here, so that numba is loaded by the first step, not by an import

    loops.combined(out.dtype.type(s), G, w.astype(out.dtype), mean, out)


def _preconditioner(system, options, rank_one):
    """KFI's inverse for the same system, as a function of an array (n, m); None without one."""
    if options.preconditioner is None:
        return None
    X = system.mean_input[None] if rank_one else system.X
    return kronecker_inverse.preconditioner(X, system.B, system.damping / system.weight)


def ea_cg(system, options, first, out):
    """CG on (11b)."""
    if options.rank == 1 and options.preconditioner is None and not options.literal:
        mean = system.mean_input
        s, w, found = conjugate_gradients.rank_one_coefficients(system.B, system.G, mean,
                                                                system.weight, system.damping,
                                                                options.max_cg, options.tolerance)
        _write_combined(out, s, system.G, w, mean)
        return Report(found.iterations, found.residual)
    if options.rank == 1:
        mean = system.mean_input
        return _cg(system, options, lambda P: rank_one_product(system.B, P, mean), out,
                   rank_one=True)
    F = low_rank_factor(system.X, options.rank)
    return _cg(system, options, lambda P: factor_product(system.B, P, F), out, rank_one=False)


def cg(system, options, first, out):
    """CG on (11a)."""
    S, m = system.X.shape
    if m <= S:
        A = system.X.T @ system.X / S
        return _cg(system, options, lambda P: system.B @ P @ A, out, rank_one=False)
    return _cg(system, options, lambda P: batch_product(system.B, P, system.X), out, rank_one=False)


def _cg(system, options, product, out, rank_one):
    weight, damping = system.weight, system.damping
    found = conjugate_gradients.solve(lambda P: weight * product(P) + damping * P, -system.G,
                                      options.max_cg, options.tolerance,
                                      _preconditioner(system, options, rank_one))
    out[...] = found.solution
    return Report(found.iterations, found.residual)


def ea_closed(system, options, first, out):
    """(11b), or ranks above it, in closed form."""
    if options.rank == 1:
        mean = system.mean_input
        s, w = closed_forms.rank_one_coefficients(system.B, system.G, mean, system.weight,
                                                  system.damping)
        _write_combined(out, s, system.G, w, mean)
    else:
        out[...] = closed_forms.factor_solution(system.B, system.G,
                                                low_rank_factor(system.X, options.rank),
                                                system.weight, system.damping)
    return DIRECT


def exact(system, options, first, out):
    """(11a) by eigenvectors."""
    out[...] = closed_forms.exact_solution(system)
    return DIRECT


def kfi(system, options, first, out):
    """(12) in every layer."""
    out[...] = kronecker_inverse.solution(system)
    return DIRECT


def kfi_rank_one(system, options, first, out):
    """(13) in the first layer, (12) above."""
    out[...] = kronecker_inverse.solution(system, rank_one=first)
    return DIRECT


SOLVERS = {"ea-cg": ea_cg, "ea-closed": ea_closed, "cg": cg, "exact": exact, "kfi": kfi,
           "kfi-rank-one": kfi_rank_one}


def solve_weights(system, options, first, out):
    """Write the solution of (10b) into out (n, m), and say what it took.

    Parameters
    ----------
    system : System
    options : Options
    first : bool
        Whether it is the first linear layer, for (13).
    out : (n, m) array
    """
    return SOLVERS[options.solver](system, options, first, out)


def solve_bias(system, g, options, out):
    """Write the solution of (10a) into out (n,): by CG or directly, as the solver; KFI takes B +
    (alpha + l2) I.

    Parameters
    ----------
    system : System
    g : (n,) array
        Gradient of the objective in the bias.
    options : Options
    out : (n,) array
    """
    if options.solver in ("ea-cg", "cg"):
        B = system.B.astype(np.float64, copy=False)
        found = conjugate_gradients.solve(lambda p: bias_product(B, p, system.weight,
                                                                 system.damping),
                                          -g.astype(np.float64), options.max_cg, options.tolerance)
        out[...] = found.solution
        return Report(found.iterations, found.residual)
    weight, damping = system.weight, system.damping
    if options.solver in ("kfi", "kfi-rank-one"):
        weight, damping = 1.0, options.alpha + options.l2
    out[...] = closed_forms.damped_solve(system.B, -g, weight, damping)
    return DIRECT
