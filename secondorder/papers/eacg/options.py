"""The choices of a damped system's solver, and their check."""

from dataclasses import dataclass

import numpy as np

from ...checks import boolean, fraction, lookup, number_in, one_of, whole_number
from .solvers.by_name import SOLVERS

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


def checked(solver="ea-cg", alpha=0.1, l2=0.0, max_cg=50, tolerance=1e-10, joint=False, rank=1,
            preconditioner=None, literal=False):
    """`Options`, or the TypeError or ValueError that names what is wrong with them."""
    lookup(SOLVERS, solver, "solver")
    if preconditioner is not None:
        one_of(("kfi",), preconditioner, "preconditioner")
    if (alpha := fraction(alpha, "alpha")) < SMALLEST_ALPHA:
        raise ValueError(f"alpha must be at least {SMALLEST_ALPHA:.2g}, got {alpha:g}: the damping "
                         "would be lost in rounding, and a direction of gradient / alpha is none")
    return Options(solver, alpha, l2, whole_number(max_cg, "max_cg", 1),
                   number_in(tolerance, "tolerance", 0, 1), boolean(joint, "joint"),
                   whole_number(rank, "rank", 1), preconditioner, boolean(literal, "literal"))
