"""What the difference of two arrays looks like where it is no common factor: which term is lost."""

import numpy as np


def lost_term(left, right, allowed, at):
    """What the difference of a result and its reference looks like at a point, in words; empty if
    like nothing. Differences that are `allowed`, entry by entry, mean nothing.
    """
    missing = right - left
    allowed = np.broadcast_to(allowed, missing.shape)
    wrong = np.abs(missing) > allowed

    def like(other):
        """c with missing = c other everywhere; None if there is no such number."""
        if other.shape != missing.shape or not np.abs(other).max() > 0:
            return None
        c = np.vdot(other, missing) / np.vdot(other, other)
        return c if (np.abs(missing - c * other) <= 10 * allowed).all() else None

    if not wrong.any():
        return ""
    square = left.ndim == 2 and left.shape[0] == left.shape[1] > 1
    if square and (np.abs(left + left.T - right) <= 10 * allowed).all():
        return "a term is lost: df + df^T is the reference, so that only one of two halves is there"
    if square and (np.abs(left + left.T - 2 * right) <= 10 * allowed).all():
        return ("a term is lost: df + df^T is twice the reference, so that df lacks its symmetric "
                "half")
    for name, pattern in (("1", np.ones(missing.shape)), ("at", at)) if missing.size > 1 else ():
        c = like(pattern)
        if c is not None:
            return f"a term is lost: {c:.6g} times {name}"
    if square and not wrong.diagonal().any():
        return "the diagonal is right, and what stands beside it is not: mixed terms are lost"
    return ""
