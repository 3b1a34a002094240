"""The choices of a damped system's solver, and the checks of what fits together."""

from dataclasses import dataclass

import numpy as np

from ...checks import boolean, fraction, lookup, number_in, one_of, whole_number

#: Solver -> the options that have an effect with it, beside alpha, l2 and joint.
HEEDED = {
    "ea-cg": ("max_cg", "tolerance", "rank", "preconditioner", "literal"),
    "ea-closed": ("rank",),
    "cg": ("max_cg", "tolerance", "preconditioner"),
    "exact": (),
    "kfi": ("literal",),
    "kfi-rank-one": ("literal",),
}
SMALLEST_ALPHA = float(np.finfo(float).eps)  # below it 1 - alpha is 1


@dataclass(frozen=True)
class Options:
    """Settings of a solver, checked; `joint` takes [W b] as one matrix with inputs [h; 1]."""

    solver: str
    alpha: float
    l2: float
    max_cg: int
    tolerance: float
    joint: bool
    rank: int
    preconditioner: str | None
    literal: bool


def checked(solver="ea-cg", alpha=0.1, l2=0.0, max_cg=None, tolerance=None, joint=False, rank=1,
            preconditioner=None, literal=False, limits=(50, 1e-10)):
    """`Options`, or the TypeError or ValueError that names what is wrong with them.

    `limits` stand for `max_cg` and `tolerance` where these are None. An option without effect is
    refused.
    """
    lookup(HEEDED, solver, "solver")
    rank, literal = whole_number(rank, "rank", 1), boolean(literal, "literal")
    if preconditioner is not None:
        one_of(("kfi",), preconditioner, "preconditioner")
    if max_cg is not None:
        max_cg = whole_number(max_cg, "max_cg", 1)
    if tolerance is not None:
        tolerance = number_in(tolerance, "tolerance", 0, 1)
    given = {"max_cg": max_cg, "tolerance": tolerance, "rank": None if rank == 1 else rank,
             "preconditioner": preconditioner, "literal": literal or None}
    require_effect(solver, {name: value for name, value in given.items() if value is not None})
    if (alpha := fraction(alpha, "alpha")) < SMALLEST_ALPHA:
        raise ValueError(f"alpha must be at least {SMALLEST_ALPHA:.2g}, got {alpha:g}: the damping "
                         "would be lost in rounding, and a direction of gradient / alpha is none")
    max_cg, tolerance = (limit if value is None else value
                         for value, limit in zip((max_cg, tolerance), limits))
    return Options(solver, alpha, l2, max_cg, tolerance, boolean(joint, "joint"), rank,
                   preconditioner, literal)


def require_effect(solver, given):
    """ValueError naming the first of the given options that changes nothing."""
    for name, value in given.items():
        takers = [one for one, heeded in HEEDED.items() if name in heeded]
        if solver not in takers:
            raise ValueError(f"{name}={value!r} has no effect with solver={solver!r}: it is for "
                             f"{' and '.join(map(repr, takers))}")
    other = "rank" if "rank" in given else "preconditioner" if "preconditioner" in given else None
    if "literal" in given and other:
        raise ValueError(f"literal=True has no effect with {other}={given[other]!r}, which is "
                         "solved on arrays as large as the weights anyway")
