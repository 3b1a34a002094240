"""T S+ for a matrix of features S (d', n), applied to targets T without forming S+."""

from typing import NamedTuple

import numpy as np

from .gram import filtered, gram_dtype, gram_inverse, gram_matrix, singular_value_floor


class Fit(NamedTuple):
    """What :func:`fit` finds.

    weight : (h, d'), T S+ without the column of the bias.
    bias : (h,) or None.
    reached : (n, h), (T S+ S)^T: the part of the targets that the features can produce.
    rank : int, of S as far as it is kept.
    complete : bool, whether the features reach every target: S+ S = I, and `reached` is E itself.
    """

    weight: np.ndarray
    bias: np.ndarray | None
    reached: np.ndarray
    rank: int
    complete: bool


def fit(F, E, form="exact", strength=None, ones=False, decomposition="gram", rng=None):
    """T S+ for the targets T = E^T (h, n) and the features S = F^T, one row of F (n, d') and E (n,
    h) for each sample.

    Parameters
    ----------
    form : {"exact", "truncate", "damp", "tikhonov", "noise"}
        Of the pseudo-inverse; "noise" takes that of F plus `strength` standard deviations of F
        times normal noise.
    strength : float or None
    ones : bool
        Append a row of ones to S, for a bias.
    decomposition : {"gram", "svd"}
        Through the smaller of the two Gram matrices, or a thin singular value decomposition.
    rng : numpy.random.Generator
        For "noise".
    """
    noisy = F
    if form == "noise":
        noisy = F + (strength * F.std() * rng.standard_normal(F.shape)).astype(F.dtype)
    solve = (_by_svd if decomposition == "svd" else _by_samples if len(F) <= F.shape[1] + ones
             else _by_features)
    found = solve(noisy, E, form, strength, ones)
    if form == "noise":  # what the true features make of it
        reached = F @ found.weight.T
        found = found._replace(reached=reached if found.bias is None else reached + found.bias,
                               complete=False)
    return found


def _by_samples(F, E, form, strength, ones):
    """n <= d': with G = S^T S (n, n), T S+ = (G+ T^T)^T S^T."""
    wide = gram_dtype(F.dtype, form, strength, len(F))
    G = gram_matrix(F, wide, ones)
    inverse = gram_inverse(G, form, strength, singular_value_floor(F.dtype, wide, len(F)))
    Y = inverse.solve(E.astype(wide, copy=False))
    complete = form in ("exact", "noise") and inverse.rank == len(F)
    reached = E if complete else (G @ Y).astype(F.dtype, copy=False)
    return Fit(Y.T.astype(F.dtype, copy=False) @ F, Y.sum(axis=0).astype(F.dtype) if ones else None,
               reached, inverse.rank, complete)


def _by_features(F, E, form, strength, ones):
    """n > d': with M = S S^T (d', d'), T S+ = T S^T M+; least squares, as S cannot have independent
    columns.
    """
    F1 = np.hstack([F, np.ones_like(F[:, :1])]) if ones else F
    wide = gram_dtype(F.dtype, form, strength, len(F))
    M = gram_matrix(np.ascontiguousarray(F1.T), wide)
    inverse = gram_inverse(M, form, strength, singular_value_floor(F.dtype, wide, len(F)))
    coefficients = inverse.solve(F1.T.astype(wide) @ E.astype(wide)).astype(F.dtype, copy=False)
    return _as_fit(coefficients.T, F1, ones, inverse.rank)


def _by_svd(F, E, form, strength, ones):
    """S^T = U diag(s) V^T, thin: T S+ = T U s f(s^2) V^T."""
    F1 = np.hstack([F, np.ones_like(F[:, :1])]) if ones else F
    U, s, Vt = np.linalg.svd(F1, full_matrices=False)
    f = filtered(s * s, form, strength, max(F1.shape) * np.finfo(F.dtype).eps)
    coefficients = ((E.T @ U) * (s * f)) @ Vt
    return _as_fit(coefficients.astype(F.dtype, copy=False), F1, ones, int(np.count_nonzero(f)))


def _as_fit(coefficients, F1, ones, rank):
    reached = F1 @ coefficients.T
    if not ones:
        return Fit(coefficients, None, reached, rank, False)
    return Fit(coefficients[:, :-1], coefficients[:, -1], reached, rank, False)
