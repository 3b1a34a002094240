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
    patterns = [("1", np.ones(missing.shape)), ("at", at)]
    if square:
        patterns.append(("diag(at)", np.diag(at.ravel()) if at.size == len(left) else np.eye(1)))
    for name, pattern in patterns if missing.size > 1 else ():
        c = like(pattern)
        if c is not None:
            return f"a term is lost: {c:.6g} times {name}"
    if square and not wrong.diagonal().any():
        return "the diagonal is right, and what stands beside it is not: mixed terms are lost"
    axes = _only(wrong)
    if axes:
        return f"only entries with {axes} differ: the term that belongs to it is lost, or wrong"
    if missing.ndim == 2 and min(missing.shape) > 2:
        sizes = np.linalg.svd(missing, compute_uv=False)
        if sizes[1] <= 10 * np.linalg.norm(allowed):
            return "a term is lost: the difference is one outer product, u v^T"
    return ""


def misshapen(left, right, allowed):
    """What to do with an array that has another shape than its reference and the same numbers;
    empty where the numbers differ, too.
    """
    def same(array):
        return (np.abs(array.reshape(right.shape) - right) <= allowed).all()

    if left.size != right.size or left.shape == right.shape:
        return ""
    flat = ".ravel()" if right.ndim == 1 else ".reshape(len(x), -1)"
    if same(left):
        return "the numbers are right: " + (
            f"flatten them by {flat}" if left.ndim > right.ndim else
            f"keep the shape {right.shape}; is a .ravel() too much?")
    if left.ndim > max(right.ndim, 1) and same(left.swapaxes(-1, -2)):
        return f"the numbers are right but transposed: swap the last two axes, then {flat}"
    return ""


def _only(wrong):
    """``index 3`` or ``second index 1`` where all wrong entries share it; else empty."""
    words = ("index",) if wrong.ndim == 1 else ("first index", "second index", "third index",
                                                "fourth index")
    for word, along, length in zip(words, np.argwhere(wrong).T, wrong.shape):
        places = np.unique(along)
        if len(places) == 1 < length:
            return f"{word} {places[0]}"
    return ""
