"""`Update`: a Gauss-Newton step, what it leaves of the error, and the warnings that follow."""

import warnings
from typing import NamedTuple

import numpy as np

from .gram import allowed


class RankWarning(UserWarning):
    """Features, or rows of a Jacobian, are not independent: no exact inverse exists, and the step
    removes a part of the error.
    """


class PrecisionWarning(UserWarning):
    """A Jacobian is too badly conditioned for the precision of the network.

    There are three cases. An exact step, which removes all of the error, misses more of it than the
    precision allows. A damped step left out singular values that it could not tell from zero,
    although the smallest have the largest weight. Rounding of a Gram matrix moved a regularised
    step by more than half of its digits.
    """


class Update(NamedTuple):
    """A Gauss-Newton step and what was measured on the way.

    direction : (P,), what is added at rate 1; without any penalty.
    rank : int, the least rank that the step uses: of the features of a half-coupled layer, or of
    the kernel.
    full_rank : int, the same if all samples were independent.
    ranks : (L, 2) integers of all half-coupled layers; None for the kernel.
    weights : (L,), c_l; None for the kernel.
    residual : |J d + eps| / |eps| with J of the outputs: 0 for an exact inverse; nan if it was not
    measured.
    drift : how far the inverse network missed the input, relative to the largest |x_l|; 0 if it was
    not used.
    missed : the largest relative residual of the features' fits; 0 for the kernel.
    undecided : int, the most singular values (of features, or of J) that may be zero or not.
    lost : float, how far rounding of a Gram matrix may have moved a regularised step, relative to
    its size (of a part of it, for features).
    start : (S, width), the input of the first block that a sweep reached, as it knows it.
    largest : float, the largest entry of any x_l on its way.
    """

    direction: np.ndarray
    rank: int
    full_rank: int
    ranks: np.ndarray | None = None
    weights: np.ndarray | None = None
    residual: float = np.nan
    drift: float = 0.0
    missed: float = 0.0
    undecided: int = 0
    lost: float = 0.0
    start: np.ndarray | None = None
    largest: float = 0.0


def residual(saved, network, direction, eps):
    """J d + eps (S, C), by one tangent of the outputs."""
    return network.chain.tangents(saved, None, direction)[0] + eps


def relative_size(rest, eps):
    """|rest| / |eps|; 0 where eps is 0."""
    size = np.linalg.norm(eps)
    return float(np.linalg.norm(rest) / size) if size else 0.0


def warnings_of(step, form):
    """[(category, sentence), ...]: what is wrong with a step that should be exact."""
    if form == "damp" and step.undecided:
        return [(PrecisionWarning, undecided_message(step))]
    # half of the digits are allowed, and one more for the way through the network
    limit = 10 * allowed(step.direction.dtype)
    if form != "exact":
        return [] if step.lost <= limit else [(PrecisionWarning, lost_message(step, form, limit))]
    if step.rank < step.full_rank:
        return [(RankWarning, rank_message(step))]
    missed = np.fmax(step.residual, step.missed)
    return [] if missed <= limit else [(PrecisionWarning, precision_message(step, missed, limit))]


def warn(step, form, stacklevel, given=()):
    """Give the warnings of a step, except those of the categories `given` before; returns the set
    of all categories that were given.
    """
    new = [pair for pair in warnings_of(step, form) if pair[0] not in given]
    for category, message in new:
        warnings.warn(message, category, stacklevel=stacklevel + 1)
    return {*given, *(category for category, _ in new)}


REMEDY = ("Small singular values make such a step explode: pseudo_inverse='truncate', the default, "
          "leaves them out")


def rank_message(step):
    """One sentence on what is not independent."""
    if step.ranks is None:
        return (f"the Jacobian has rank {step.rank} of {step.full_rank}: its rows are not "
                f"independent, and the step removes the part of the error that they reach. "
                f"{REMEDY}")
    short = [f"block {l + 1}, {name} half: {rank}" for l, pair in enumerate(step.ranks)
             for name, rank in zip(("first", "second"), pair) if 0 <= rank < step.full_rank]
    return (f"the features of {step.full_rank} samples are not independent (rank in "
            f"{'; '.join(short)}): the step is no exact right inverse there. {REMEDY}")


def undecided_message(step):
    """One sentence on singular values that a damped inverse leaves out."""
    return (f"{step.undecided} singular values cannot be told from zero in "
            f"{step.direction.dtype}. pseudo_inverse='damp' leaves them out, although they have "
            f"the largest weight; 'tikhonov' and 'truncate' do not depend on them")


def lost_message(step, form, limit):
    """One sentence on digits that a regularised step has lost."""
    return (f"rounding may move the step by {step.lost:.2g} of its size, more than {limit:.2g}: "
            f"the squares of small singular values have few digits. A larger strength with "
            f"pseudo_inverse={form!r} needs none of them")


def precision_message(step, missed, limit):
    """One sentence on a residual that is too large."""
    dtype = step.direction.dtype
    wider = "dtype='float64' or " if dtype == np.float32 else ""
    return (f"the step misses {missed:.2g} of the error; {dtype} allows {limit:.2g}. The Jacobian "
            f"is too badly conditioned for an exact inverse: take {wider}a regularised "
            f"pseudo_inverse. {REMEDY}")
