"""Conjugate gradients on arrays, with the paper's two limits; for (11b) in two coefficients."""

from typing import NamedTuple

import numpy as np

from ....compiled import forms
from ....exact.conjugate_gradients import conjugate_gradients, power_of_two
from .systems import along_mean, bias_product, rank_one_product, size


class Solution(NamedTuple):
    """The solution, the number of products, and |residual| / |right side|."""

    solution: np.ndarray
    iterations: int
    residual: float


def solve(product, right, max_cg, tolerance, preconditioner=None):
    """Solve L(x) = right for a positive definite L, ``product``, from x = 0.

    It ends with |residual| <= tolerance |right|, or after `max_cg` products, or where rounding has
    used up the curvature p . L(p) > 0. A right side of zero gives zero at once. The preconditioner
    is positive definite, near the inverse of L.

    Raises
    ------
    FloatingPointError
        If a product or the norm of `right` is not finite.
    """
    whole = size(right)
    if not np.isfinite(whole):
        raise FloatingPointError("EA-CG, conjugate gradients: the norm of the right side is not "
                                 "finite")
    found = conjugate_gradients(product, right, tolerance, max_cg, preconditioner)
    left = size(found.residual)
    return Solution(found.solution, found.iterations - found.negative_curvature,
                    left / whole if whole else 0.0)


def damped(B, weight, damping, right, max_cg, tolerance):
    """:func:`solve` in float64 for the matrix of (10a), B (n, n), and k coordinates beside it:

        c -> damping c,    v -> (weight B + damping I) v

    of one right side (k + n,).
    """
    B, k = np.ascontiguousarray(B, dtype=np.float64), len(right) - len(B)
    if not forms.is_literal():
        from .. import compiled  # here, so that numba is loaded by the first step

        x, unit = np.empty_like(right), power_of_two(right)
        iterations, residual = compiled.damped(B, weight, damping, right / unit, max_cg, tolerance,
                                               x)
        if iterations >= 0:  # else the literal form says what is not finite
            return Solution(x * unit, iterations, residual)

    def product(p):
        return np.concatenate([damping * p[:k], bias_product(B, p[k:], weight, damping)])

    return solve(product, right, max_cg, tolerance)


def rank_one_literal(B, mean, G, weight, damping, max_cg, tolerance):
    """Eq. (10b) with (11b): conjugate gradients on arrays as large as the weights."""
    return solve(lambda P: weight * rank_one_product(B, P, mean) + damping * P, -G, max_cg,
                 tolerance)


def in_span(B, across, along, A, weight, damping, max_cg, tolerance, preconditioner=None):
    """Eq. (10b) with Q A Q^T (m, m) in the place of E[h h^T], Q (m, r) with orthonormal columns:
    conjugate gradients on arrays (n, r), never (n, m).

        G = R + G_Q Q^T,    D = s R + V Q^T,    R across Q

    Every iterate lies in the span of R and of the matrices u q_j^T. In an orthonormal basis of that
    span, (c, V) with V (n, r), the matrix of the system is

        c -> damping c,    V -> weight B V A + damping V,

    so that the iterates are those on arrays (n, m), for one product with B and one with A each.
    `across` is |R| and `along` G_Q (n, r). A `preconditioner` (n, r) -> (n, r) is near the inverse
    of the second line, and for a gradient in the span only. Returns s, V and the Solution.
    """
    B, n = B.astype(np.float64, copy=False), len(B)

    def product(p):
        V = p[1:].reshape(n, -1)
        moved = weight * (B @ V @ A) + damping * V
        return np.concatenate([damping * p[:1], moved.ravel()])

    def inverse(r):
        return np.concatenate([r[:1], preconditioner(r[1:].reshape(n, -1)).ravel()])

    outcome = solve(product, -np.concatenate([[across], along.ravel()]), max_cg, tolerance,
                    None if preconditioner is None else inverse)
    s = float(outcome.solution[0] / across) if across else 0.0
    return s, outcome.solution[1:].reshape(n, -1), outcome


class Coordinates(NamedTuple):
    """G = across * (unit matrix) + along m^T / |m|, the unit matrix orthogonal to every u m^T."""

    across: float
    along: np.ndarray
    length: float


def coordinates(G, mean):
    """G (n, m) along the mean input (m,), and the norm alone of the rest."""
    along, length = along_mean(G, mean)
    whole, inside = size(G), size(along)
    across = np.sqrt(max(whole - inside, 0.0)) * np.sqrt(whole + inside)  # |G|^2 - |along|^2
    return Coordinates(float(across), along, length)


def rank_one_coefficients(B, G, mean, weight, damping, max_cg, tolerance):
    """:func:`rank_one_literal` in two coefficients, D = s G + w m^T: returns s, w (n,), Solution.

    Every iterate lies in the span of the part of G across m and of the matrices u m^T. In an
    orthonormal basis of that span, (c, v) with v (n,), the matrix of the system is

        c -> damping c,    v -> (weight |m|^2 B + damping I) v,

    so that the iterates are those of the literal form, for one product with B (n, n) each.
    """
    across, along, length = coordinates(G, mean)
    outcome = damped(B, weight * length**2, damping, -np.concatenate([[across], along]), max_cg,
                     tolerance)
    s = float(outcome.solution[0] / across) if across else 0.0
    w = (outcome.solution[1:] - s * along) / length if length else np.zeros_like(along)
    return s, w, outcome
