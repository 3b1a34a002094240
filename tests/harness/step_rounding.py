"""How far a Gauss-Newton step of a float32 network may be off: a bound to first order.

Errors come from three places. What goes in, eps = p - y and the features S (or J), has bounds of
its own (``rounding``). A pseudo-inverse of a changed S differs by at most L |dS|
(:func:`sensitivity`). And its own products in float32 round.
"""

from typing import NamedTuple

import numpy as np

from .reversible_cases import jacobian
from .rounding import U, exactly, layered, reversible_jacobian, reversible_pass

STRENGTHS = {"exact": 0, "truncate": 1e-2, "damp": 1e-2, "tikhonov": 1e-4}


def filtered(s, top, form, shape):
    """What each form makes of singular values, with `top` the largest of them: f(s), 0 where a
    value counts as zero.
    """
    d, floor = STRENGTHS[form], 2 * (max(shape) + 32) * np.finfo(float).eps
    kept = s > (0 if form == "tikhonov" else floor * top)
    if form == "truncate":
        kept = kept & (s >= d * top) & (s >= 1e-5)
    safe = np.where(kept, s, 1)
    f = {"damp": 1 / (safe + d * top), "tikhonov": safe / (safe**2 + d * top**2)}
    return np.where(kept, f.get(form, 1 / safe), 0)


def pseudo_inverse(S, form):
    """P = V f(s) U^T with S = U s V^T."""
    U_, s, Vt = np.linalg.svd(S, full_matrices=False)
    return Vt.T @ (filtered(s, s[0], form, S.shape)[:, None] * U_.T)


class Sensitivity(NamedTuple):
    """norm : |P|; inverse, projector : how much P and P S change, at most, for |dS| = 1 (Frobenius
    norms); rank : how many singular values are kept.
    """

    norm: float
    inverse: float
    projector: float
    rank: int


def sensitivity(S, form):
    """`Sensitivity` of P = V f(s) U^T.

    In the bases of singular vectors the entry (i, j) of dP is a mean of dS_ij and dS_ji with the
    weights (f_i - f_j) / (s_i - s_j) and (f_i + f_j) / (s_i + s_j), so that the largest of all of
    these bounds it; s = 0 is among them where S is not square. For P S = V h V^T, h = s f, it is
    (h_i - h_j) / (s_i - s_j) times a weighted mean, which counts twice: sqrt(2). What f changes
    with the largest singular value is added. Where two values coincide the quotient is a
    derivative: every value has a neighbour.
    """
    s, near = np.linalg.svd(S, compute_uv=False), 1 + 1e-6
    top, count = s[0], len(s)
    if top == 0:  # dead units: what is zero without rounding
        return Sensitivity(0.0, 0.0, 0.0, 0)
    s = np.concatenate([s, near * s, [0.0] * (S.shape[0] != S.shape[1])])
    f = filtered(s, top, form, S.shape)
    moved = np.abs(filtered(s, near * top, form, S.shape) - f) / ((near - 1) * top)
    gap, total = np.abs(s[:, None] - s), s[:, None] + s
    apart, some = gap > 1e-9 * top, total > 0

    def steepest(values):
        return np.max(np.abs(values[:, None] - values)[apart] / gap[apart])

    odd = max(steepest(f), np.max((f[:, None] + f)[some] / total[some]))
    return Sensitivity(f.max(), odd + moved.max(),
                       np.sqrt(2) * steepest(s * f) + (s * moved).max(),
                       np.count_nonzero(f[:count]))


def beyond_first_order(error, norm, change):
    """|P| grows to |P| / (1 - |P| |dS|) at most on the way; no bound where that is no number."""
    return error / (1 - norm * change) if norm * change < 1 else np.inf


def applied(e, size, S, form):
    """e P and a bound of its error, for a bound `size` of the error of e.

        |de| |P| + |e| L |dS|

    Only an exact inverse multiplies in float32, Y^T S^T with Y^T = e P P^T: gamma of its inner
    length times |Y^T| |S^T|. A Gram matrix in float64 that is trusted has lost less than half of
    its digits, sqrt(2^-53) < U / 5 for each of its rows.
    """
    seen, P = sensitivity(S.value, form), pseudo_inverse(S.value, form)
    error = seen.norm * size + np.linalg.norm(e, 2) * seen.inverse * S.size
    if form == "exact":
        error = beyond_first_order(error, seen.norm, S.size)
        error += len(P) * U * (np.linalg.norm(np.abs(e @ P @ P.T) @ np.abs(S.value.T))
                               + np.linalg.norm(e @ P))
    return e @ P, error


def right_bound(net, x, y, form):
    """Of the step (16)-(17), the mean over the blocks; no biases, no readout."""
    blocks, ends = reversible_pass(net, x)
    e1, e2 = (X - exactly(half) for X, half in zip(ends, np.split(y.T, 2)))
    squares = 0.0
    for first, second in blocks[::-1]:
        below = e2 - second.tangent(e1)
        delta, error = applied(e1.value, e1.size, first.S, form)
        squares += error**2
        seen, S = sensitivity(first.S.value, form), first.S.value
        if form == "exact" and seen.rank == len(x):
            bracket, more = below, 0.0
        else:  # T(u) with u = Delta1 S1 = e1 P S1, whose error is known as a norm
            u = delta @ S
            more = (e1.size * np.linalg.norm(pseudo_inverse(S, form) @ S, 2) + U * np.linalg.norm(u)
                    + np.linalg.norm(e1.value, 2) * seen.projector * first.S.size)
            more *= np.linalg.norm(second.sample_jacobians().value, 2, axis=(1, 2)).max()
            bracket = e2 - second.tangent(exactly(u))
        squares += applied(bracket.value, bracket.size + more, second.S, form)[1]**2
        e1, e2 = e1 - first.tangent(below), below
    return np.sqrt(squares) / len(blocks)


def shortest_bound(net, x, y, form):
    """Of -P eps, Eq. (5). Regularised steps take no more than eps from float32; J is formed in
    float64, whose rounding counts where a kept singular value is next to zero. An exact one is

        -J^T (J J^T + dK)^{-1} eps,   |dK| <= gamma |J|^2

    with twice |dJ| |J+| |d| for the two places of J, |J+|^2 |dK| |d| for the kernel, and
    gamma |J| |J+| |d| for the last product.
    """
    if hasattr(net, "blocks"):
        blocks, ends = reversible_pass(net, x)
        outputs, parts = ends[0].beside(ends[1]), reversible_jacobian(blocks, net.width)
    else:
        outputs, parts = layered(net, x)
    eps, J = outputs - exactly(y.T), jacobian(net, x)
    norm, inverse, *_ = sensitivity(J, form)
    error = norm * eps.size
    if form != "exact":
        double = sum(J.shape) * np.finfo(float).eps * np.linalg.norm(J)
        error += np.linalg.norm(eps.value) * inverse * double
    else:
        step = np.linalg.norm(pseudo_inverse(J, form) @ eps.value.T.ravel())
        change = np.linalg.norm([part.size for part in parts])
        grown, gamma = norm * np.linalg.norm(J), sum(J.shape) * U
        error += step * (2 * norm * change + gamma * (grown**2 + grown))
        error = beyond_first_order(error, norm, change)
    return error


def step_bound(net, x, y, inverse, form, size):
    """A bound of |d - d32| for a step of length `size` with d32 of the float32 network."""
    bound = (right_bound if inverse == "right" else shortest_bound)(net, x, y, form)
    return bound + 2 * U * size  # the weight of a block, and the last rounding
