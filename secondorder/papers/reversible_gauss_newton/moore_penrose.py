"""The shortest step of all, Eq. (5), for any network: -J^T (J J^T)+ eps.

The kernel J J^T (n C, n C) comes from the structure of the layers, without J. It squares the
condition number of J. So the singular values of J itself decide where J is small and half of the
digits are lost. An exact step of a larger one is judged by its residual J d + eps where the
condition number of the kernel leaves it in doubt, and refined with J and J^T where that is too
large. For a network in float32 all of this is done by its twin in float64, where it is needed.
"""

import numpy as np
from scipy.sparse.linalg import eigsh

from .features import REFINEMENTS
from .gram import (HALF_LOST, SMALL, allowed, decomposition_floor, filtered, gram_floor,
                   gram_inverse)
from .kernel import tangent_kernel
from .update import Update, relative_size, residual

ENTRIES = 2**22  # of a Jacobian that is decomposed
DOUBTFUL = 1e-3  # reciprocal condition number of a kernel that float32 may apply unjudged


def kernel_step(evaluation, eps, options, out=None):
    """`Update` through the kernel, from what an evaluation saved."""
    return shortest_step(evaluation.network, evaluation.x, evaluation.saved, eps, options)


def shortest_step(network, x, saved, eps, options):
    """`Update` through the kernel, for the error eps (S, C) of a batch x (S, ...) in the network's
    dtype; `saved` is what the layers saved.
    """
    single = network.dtype != np.float64
    if single and options.pseudo_inverse != "exact":  # there is no residual to judge it by
        return in_float64(network, x, eps, options)
    inverse = kernel_inverse(network, saved, eps.shape, options)
    judged = options.pseudo_inverse == "exact" and inverse.rank == eps.size
    if single and not judged and inverse.applied < DOUBTFUL:
        return in_float64(network, x, eps, options)
    if not single and inverse.rcond < HALF_LOST and _small(network, eps):
        return from_jacobian(network, saved, eps, options)
    step = Update(_back(network, saved, inverse, eps), inverse.rank, eps.size,
                  undecided=eps.size - inverse.independent,
                  lost=0.0 if options.pseudo_inverse == "exact" else inverse.lost(_columns(eps)))
    if not judged or inverse.rcond >= allowed(network.dtype):
        return step
    rest = relative_size(residual(saved, network, step.direction, eps), eps)
    if rest <= allowed(network.dtype):
        return step._replace(residual=rest)
    if single:
        return in_float64(network, x, eps, options)
    return refined(network, saved, inverse, eps, step)


def kernel_inverse(network, saved, shape, options):
    """The `GramInverse` of J J^T, regularised as the options say."""
    size, form = shape[0] * shape[1], options.pseudo_inverse
    K = tangent_kernel(network, saved, *shape).reshape(size, size)
    if form == "tikhonov":
        K[np.diag_indices(len(K))] += options.strength * largest_eigenvalue(K)
        form = "exact"
    return gram_inverse(K, form, options.strength, gram_floor(network.dtype, len(K)))


def _back(network, saved, inverse, eps):
    """-J^T (J J^T)+ eps, (P,): one solve, one vector-Jacobian product."""
    samples, outputs = eps.shape
    a = inverse.solve(_columns(eps)).reshape(outputs, samples).T
    return -network.chain.parameter_gradient(saved, a.astype(eps.dtype))


def _columns(eps):
    """eps (S, C) as the kernel sees it, (C S, 1) in float64."""
    return eps.T.reshape(-1, 1).astype(np.float64)


def refined(network, saved, inverse, eps, step):
    """`Update` with what is left of eps, J d + eps, removed in the same way."""
    direction = step.direction
    for _ in range(REFINEMENTS):
        direction += _back(network, saved, inverse, residual(saved, network, direction, eps))
    return step


def in_float64(network, x, eps, options):
    """The same step of the network with its numbers in float64, rounded at the end."""
    twin = network.astype("float64")
    _, saved = twin.chain.forward(x.astype(np.float64))
    step = shortest_step(twin, x, saved, eps.astype(np.float64), options)
    return step._replace(direction=step.direction.astype(network.dtype), residual=np.nan)


def _small(network, eps):
    return eps.size <= SMALL and eps.size * network.size <= ENTRIES


def from_jacobian(network, saved, eps, options):
    """`Update` from J = U diag(s) V^T (n C, P), formed: d = -V s f(s^2) U^T eps."""
    samples, outputs = eps.shape
    bars = np.repeat(np.eye(outputs), samples, axis=0).reshape(outputs, samples, outputs)
    J = np.concatenate([network.chain.flat_parameter_gradients(saved, bar) for bar in bars])
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    f = filtered(s * s, options.pseudo_inverse, options.strength,
                 decomposition_floor(network.dtype, J.shape))
    direction = -((s * f) * (U.T @ eps.T.ravel())) @ Vt
    return Update(direction, int(np.count_nonzero(f)), eps.size)


def largest_eigenvalue(K):
    """Of a symmetric positive semidefinite matrix."""
    if len(K) < 3 or not K.any():
        return float(np.linalg.eigvalsh(K)[-1])
    start = np.random.default_rng(0).normal(size=len(K))  # ones may be in the null space
    return float(eigsh(K, k=1, v0=start, return_eigenvectors=False)[0])
