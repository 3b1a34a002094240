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

    An exact step should remove all of the error, and misses more of it than the precision allows;
    or a damped step, which gives the smallest singular values the largest weight, had some that it
    could not tell from zero, and left them out.
    """


class Update(NamedTuple):
    """A Gauss-Newton step and what is worth knowing about it.

    direction : (P,), what is added at rate 1; without any penalty.
    rank : int, the least rank that was kept: of the features of a half-coupled layer, or of the
    kernel.
    full_rank : int, what it would be if all samples were independent.
    ranks : (L, 2) integers of all half-coupled layers; None for the kernel.
    weights : (L,), c_l; None for the kernel.
    defect : |J d + eps| / |eps| with J of the outputs: 0 for an exact inverse; nan if it was not
    measured.
    drift : how far the inverse network missed the input, relative to the largest |x_l|; 0 if it was
    not used.
    missed : the largest relative residual of the features' fits; 0 for the kernel.
    undecided : int, the most singular values (of features, or of J) that may be zero or not.
    """

    direction: np.ndarray
    rank: int
    full_rank: int
    ranks: np.ndarray | None = None
    weights: np.ndarray | None = None
    defect: float = np.nan
    drift: float = 0.0
    missed: float = 0.0
    undecided: int = 0


def residual(saved, network, direction, eps):
    """J d + eps (S, C), by one tangent of the outputs."""
    return network.chain.tangent(saved, None, direction) + eps


def relative_size(off, eps):
    """|off| / |eps|; 0 where eps is 0."""
    size = np.linalg.norm(eps)
    return float(np.linalg.norm(off) / size) if size else 0.0


def warnings_of(found, form):
    """(category, sentence) of each thing that an exact step should not have, in a list."""
    if form == "damp" and found.undecided:
        return [(PrecisionWarning, undecided_message(found))]
    if form != "exact":
        return []
    if found.rank < found.full_rank:
        return [(RankWarning, rank_message(found))]
    # half of the digits are allowed, and one more for the way through the network
    limit = 10 * allowed(found.direction.dtype)
    missed = np.fmax(found.defect, found.missed)
    return [] if missed <= limit else [(PrecisionWarning, precision_message(found, missed, limit))]


def warn(found, form, stacklevel, told=()):
    """Give the warnings of a step, but those of the categories `told`.

    Returns
    -------
    set
        The categories that were told by now.
    """
    new = [pair for pair in warnings_of(found, form) if pair[0] not in told]
    for category, message in new:
        warnings.warn(message, category, stacklevel=stacklevel + 1)
    return {*told, *(category for category, _ in new)}


def rank_message(found):
    """One sentence on what is not independent."""
    if found.ranks is None:
        return (f"the Jacobian has rank {found.rank} of {found.full_rank}: its rows are not "
                f"independent, and the step removes the part of the error that they reach")
    short = [f"block {l + 1}, {name} half: {rank}" for l, pair in enumerate(found.ranks)
             for name, rank in zip(("first", "second"), pair) if 0 <= rank < found.full_rank]
    return (f"the features of {found.full_rank} samples are not independent (rank in "
            f"{'; '.join(short)}): the step is no exact right inverse there")


def undecided_message(found):
    """One sentence on singular values that a damped inverse leaves out."""
    return (f"{found.undecided} singular values cannot be told from zero in "
            f"{found.direction.dtype}; pseudo_inverse='damp' would give them the largest weight of "
            f"all, and leaves them out; 'tikhonov' and 'truncate' do not depend on them")


def precision_message(found, missed, limit):
    """One sentence on a residual that is too large."""
    dtype = found.direction.dtype
    wider = "dtype='float64' or " if dtype == np.float32 else ""
    return (f"the step misses {missed:.2g} of the error, more than {limit:.2g}, which {dtype} "
            f"allows: the Jacobian is too badly conditioned for an exact inverse; take {wider}"
            f"a regularised pseudo_inverse")
