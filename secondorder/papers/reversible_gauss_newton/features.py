"""T S+ for a matrix of features S (d', n), applied to targets T without forming S+."""

from typing import NamedTuple

import numpy as np

from .gram import (HALF_LOST, SMALL, allowed, decomposition_floor, filtered, gram_floor,
                   gram_inverse, gram_matrix)

REFINEMENTS = 2


class Fit(NamedTuple):
    """The result of :func:`fit`.

    weight : (h, d'), T S+ without the column of the bias.
    bias : (h,) or None.
    reached : (n, h), (T S+ S)^T: the part of the targets that the features can produce.
    rank : int, of S as far as it is kept.
    independent : int, of S, whatever the regularisation makes of it.
    undecided : int, how many singular values may be zero or not.
    complete : bool, whether the features reach every target: S+ S = I, and `reached` is E itself.
    missed : float, relative residual of a fit that should reach every target; 0 for the others.
    lost : float, how far rounding of a Gram matrix may move a regularised fit, in its own size.
    """

    weight: np.ndarray
    bias: np.ndarray | None
    reached: np.ndarray
    rank: int
    independent: int
    undecided: int
    complete: bool
    missed: float
    lost: float


def fit(F, E, form="exact", strength=None, ones=False, decomposition="gram", rng=None):
    """T S+ for the targets T = E^T (h, n) and the features S = F^T, one row of F (n, d') and E (n,
    h) for each sample; `ones` appends a row of ones to S, for a bias.

    The form "noise" takes the pseudo-inverse of F plus `strength` standard deviations of F times
    normal noise; the others are those of :func:`.gram.filtered`. `decomposition` is "gram" (the
    smaller of the two Gram matrices) or "svd". Small features whose Gram matrix has lost half of
    its digits are decomposed in either case.
    """
    noisy = F
    if form == "noise":
        noisy = F + (strength * F.std() * rng.standard_normal(F.shape)).astype(F.dtype)
    solve = (_by_svd if decomposition == "svd" else _by_samples if len(F) <= F.shape[1] + ones
             else _by_features)
    result = solve(noisy, E, form, strength, ones)
    if form == "noise":  # what the true features make of it
        reached = F @ result.weight.T
        result = result._replace(reached=reached if result.bias is None else reached + result.bias,
                               independent=_independent(F, ones), complete=False)
    return result


def _by_samples(F, E, form, strength, ones):
    """n <= d': with G = S^T S (n, n), T S+ = (G+ T^T)^T S^T.

    In float32 the product with S^T loses what G+ has gained: as large as G+ is, so large is its
    rounding. Where the residual tells so, the product is made in float64, and refined.
    """
    G = gram_matrix(F, ones=ones)
    inverse = gram_inverse(G, form, strength, gram_floor(F.dtype, len(F)))
    if inverse.rcond < HALF_LOST and min(F.shape) <= SMALL:
        return _by_svd(F, E, form, strength, ones)
    targets = E.astype(np.float64, copy=False)
    Y = inverse.solve(targets)
    complete = form in ("exact", "noise") and inverse.rank == len(F)
    weight, bias = _weight_and_bias(Y.astype(F.dtype, copy=False), F, ones)
    missed = _missed(F, E, weight, bias) if complete else 0.0
    if F.dtype != np.float64 and not complete or not missed <= allowed(F.dtype):
        weight, bias = _refined(F.astype(np.float64, copy=False), targets, Y, ones,
                                inverse.solve if complete else None)
        weight = weight.astype(F.dtype, copy=False)
        bias = bias if bias is None else bias.astype(F.dtype, copy=False)
        missed = _missed(F, E, weight, bias) if complete else 0.0
    reached = E if complete else (G @ Y).astype(F.dtype, copy=False)
    return Fit(weight, bias, reached, inverse.rank, inverse.independent,
               _undecided(G, inverse), complete, missed, _lost(form, inverse, targets))


def _weight_and_bias(Y, F, ones):
    """(Y^T S^T): the columns of the features, and that of the ones."""
    return Y.T @ F, Y.sum(axis=0) if ones else None


def _missed(F, E, weight, bias):
    """|(F W^T + b - E) z| / |E z| for one random z: the residual of a fit for the price of three
    products with a vector.
    """
    z = np.random.default_rng(0).standard_normal((E.shape[1], 1)).astype(E.dtype)
    wanted = E @ z
    off = F @ (weight.T @ z) - wanted
    if bias is not None:
        off += bias @ z
    size = np.linalg.norm(wanted)
    return float(np.linalg.norm(off) / size) if size else 0.0


def _refined(F, E, Y, ones, solve):
    """The weights in float64; with `solve`, what they miss is solved for again."""
    weight, bias = _weight_and_bias(Y, F, ones)
    for _ in range(REFINEMENTS if solve else 0):
        rest = E - F @ weight.T
        more = _weight_and_bias(solve(rest if bias is None else rest - bias), F, ones)
        weight, bias = weight + more[0], bias if bias is None else bias + more[1]
    return weight, bias


def _by_features(F, E, form, strength, ones):
    """n > d': with M = S S^T (d', d'), T S+ = T S^T M+; least squares, as S cannot have independent
    columns.
    """
    F1 = _with_ones(F, ones).astype(np.float64, copy=False)
    M = gram_matrix(np.ascontiguousarray(F1.T))
    inverse = gram_inverse(M, form, strength, gram_floor(F.dtype, len(F)))
    if inverse.rcond < HALF_LOST and min(F.shape) <= SMALL:
        return _by_svd(F, E, form, strength, ones)
    coefficients = inverse.solve(F1.T @ E)
    if form == "exact" and inverse.rcond < HALF_LOST:
        for _ in range(REFINEMENTS):
            coefficients += inverse.solve(F1.T @ (E - F1 @ coefficients))
    return _as_fit(coefficients.T, F1, F.dtype, ones, inverse.rank, inverse.independent,
                   _undecided(M, inverse), _lost(form, inverse, F1.T @ E, scaled=True))


def _undecided(G, inverse):
    """Eigenvalues that are zero or rounding; those of rows that are zero are zero."""
    return max(int(np.count_nonzero(G.diagonal())) - inverse.independent, 0)


def _lost(form, inverse, targets, **options):
    return 0.0 if form in ("exact", "noise") else inverse.lost(targets, **options)


def _by_svd(F, E, form, strength, ones):
    """S^T = U diag(s) V^T, thin: T S+ = T U s f(s^2) V^T."""
    F1 = _with_ones(F, ones).astype(np.float64, copy=False)
    U, s, Vt = np.linalg.svd(F1, full_matrices=False)
    floor = decomposition_floor(F.dtype, F1.shape)
    f = filtered(s * s, form, strength, floor)
    coefficients = ((E.T @ U) * (s * f)) @ Vt
    independent = int((s > floor * s[0]).sum())
    # in float32 a singular value may be rounding, in float64 it is not
    undecided = int((s > decomposition_floor(np.float64, F1.shape) * s[0]).sum()) - independent
    result = _as_fit(coefficients, F1, F.dtype, ones, int(np.count_nonzero(f)), independent,
                    undecided)
    if form == "exact" and result.rank == len(F):
        return result._replace(missed=_missed(F, E, result.weight, result.bias))
    return result


def _with_ones(F, ones):
    return np.hstack([F, np.ones_like(F[:, :1])]) if ones else F


def _as_fit(coefficients, F1, dtype, ones, rank, independent, undecided, lost=0.0):
    reached = (F1 @ coefficients.T).astype(dtype, copy=False)
    coefficients = coefficients.astype(dtype, copy=False)
    weight, bias = (coefficients[:, :-1], coefficients[:, -1]) if ones else (coefficients, None)
    return Fit(weight, bias, reached, rank, independent, undecided, False, 0.0, lost)


def _independent(F, ones):
    """How many samples have independent features."""
    s = _with_ones(F, ones)
    if min(s.shape) <= SMALL:
        values = np.linalg.svd(s.astype(np.float64, copy=False), compute_uv=False)
        return int((values > decomposition_floor(F.dtype, s.shape) * values[0]).sum())
    rows = s if len(s) <= s.shape[1] else np.ascontiguousarray(s.T)
    return gram_inverse(gram_matrix(rows), floor=gram_floor(F.dtype, len(F))).independent
