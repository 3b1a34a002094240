"""The damped Newton system of a layer, and EA-CG: Eq. (9)-(11b).

B (n, n) is E_i[hat Hess_{b^t} xi_i]; G (n, m) and g (n,) are the gradients of the objective in W^t
and b^t, X (S, m) the inputs h_i^{t-1}, ``mean`` (m,) their mean. An array P (n, m) stands for
Vec(P), and a Kronecker product times it is a product of three matrices.

The paper's solver stands here twice. :func:`eq_10b_ea_cg_as_printed` iterates on arrays as large as
the weights. :func:`eq_10b_ea_cg` makes the same iterates in n + 1 numbers; it is the default.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...exact.conjugate_gradients import conjugate_gradients
from ...optimizers.norms import norm
from . import kernels
from .eq_05_07_expectation import ehht


def eq_9_damped(CP, P, alpha, l2=0.0):
    """Eq. (9), left side: ((1 - alpha) C + alpha I) P, for the product C P with a curvature C

    A penalty (l2/2)|theta|^2 joins the curvature: (1 - alpha)(C + l2 I) + alpha I.
    """
    return (1 - alpha) * CP + damping(alpha, l2) * P


def damping(alpha, l2):
    """alpha + (1 - alpha) l2, what multiplies I in (9)."""
    return alpha + (1 - alpha) * l2


def vec_rule(A, B, C):
    """(C^T (x) A) Vec(B), which is Vec(A B C)"""
    return np.kron(C.T, A) @ B.ravel(order="F")


def eq_11a_product(B, P, A):
    """Eq. (11a): E_i[hat Hess_{W^t} xi_i] Vec(P) = Vec(B P A), A = EhhT^{t-1} (m, m)"""
    return B @ P @ A


def eq_11a_product_of_inputs(B, P, X):
    """Eq. (11a) with A = X^T X / S never formed: B (P X^T) X / S"""
    return B @ (P @ X.T) @ X / len(X)


def eq_11b_product(B, P, mean):
    """Eq. (11b): B P E_i[h_i] E_i[h_i]^T, (n, m)"""
    return (B @ (P @ mean))[:, None] * mean


def solve(M, right):
    """M^-1 right for a positive definite M (n, n); LinAlgError where rounding has left it none."""
    return cho_solve(cho_factor(M, check_finite=False), right, check_finite=False)


# -- conjugate gradients ---------------------------------------------------------------------------


class Limits(NamedTuple):
    """max|CG| and epsilon_CG: at most so many products, |residual| <= tolerance |right side|."""

    max_cg: int = 50
    tolerance: float = 1e-10


class Solved(NamedTuple):
    """The solution, the products it took, and the |residual| / |right side| that was left."""

    x: np.ndarray
    iterations: int = 0
    residual: float = 0.0


def by_cg(product, right, limits):
    """x with product(x) = right, an array of any shape, by conjugate gradients from 0."""
    found = conjugate_gradients(product, right, limits.tolerance, limits.max_cg)
    left, whole = norm(found.residual.ravel()), norm(right.ravel())
    return Solved(found.solution, found.iterations - found.negative_curvature,
                  left / whole if whole else 0.0)


def eq_10a_bias(B, g, alpha, l2, limits):
    """Eq. (10a): ((1 - alpha) B + alpha I) d = -g, by conjugate gradients; d (n,)"""
    return by_cg(lambda p: eq_9_damped(B @ p, p, alpha, l2), -g, limits)


def eq_10b_cg(B, G, X, alpha, l2, limits):
    """Eq. (10b) with (11a), by conjugate gradients; D (n, m)."""
    A = ehht(X) if X.shape[1] <= len(X) else None

    def product(P):
        return eq_11a_product_of_inputs(B, P, X) if A is None else eq_11a_product(B, P, A)

    return by_cg(lambda P: eq_9_damped(product(P), P, alpha, l2), -G, limits)


def eq_10b_ea_cg_as_printed(B, G, X, alpha, l2, limits):
    """Eq. (10b) with (11b), by conjugate gradients on arrays as large as the weights; D (n, m)."""
    mean = X.mean(axis=0)
    return by_cg(lambda P: eq_9_damped(eq_11b_product(B, P, mean), P, alpha, l2), -G, limits)


# -- the same iterates in n + 1 numbers ------------------------------------------------------------


def eq_10b_ea_cg(B, G, X, alpha, l2, limits):
    """:func:`eq_10b_ea_cg_as_printed` in n + 1 numbers; D = s G + w mean^T, (n, m).

    With q = |mean| and e = mean / q, (11b) does not see R = G - (G e) e^T, and every iterate is
    c R / |R| + v e^T. In the coordinates (c, v), which are orthonormal, the system is

        damping c = -|R|,    ((1 - alpha) q^2 B + damping I) v = -G e
    """
    mean, size = X.mean(axis=0), norm(G.ravel())
    if not size:
        return Solved(0 * G)
    q, D, v = math.sqrt(float(mean @ mean)), np.empty_like(G), np.empty(len(G))
    along = G @ mean / (q * size) if q else np.zeros(len(G), G.dtype)  # in units of |G|
    across = math.sqrt(max(1.0 - float(along @ along), 0.0))
    c, *report = kernels.damped(B, (1 - alpha) * q * q, damping(alpha, l2), across, along, *limits,
                                v)
    s = c / across if across else 0.0
    w = size * (v - s * along) / q if q else v
    kernels.combined(G.dtype.type(s), G, w.astype(G.dtype), mean, D)
    return Solved(D, *report)


def eq_10a_bias_compiled(B, g, alpha, l2, limits):
    """:func:`eq_10a_bias` in one loop."""
    size, d = norm(g), np.zeros(len(g))
    if not size:
        return Solved(d)
    _, *report = kernels.damped(B, 1 - alpha, damping(alpha, l2), 0.0, g / size, *limits, d)
    return Solved(size * d, *report)
