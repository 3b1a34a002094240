"""Partitioning variables as explicit arrays: which fraction of a change goes where.

For an affine layer, ``eps`` (S, out, 1 + in) and ``phi`` (S, out, in); for a loss whose Hessian is
not diagonal, ``phi`` (S, C). Index order is the paper's, s i j, with the bias at j = 0.
"""

from typing import NamedTuple

import numpy as np

from .total_gradient import input_with_bias


class Partition(NamedTuple):
    """eps (S, out, 1 + in): fractions for the weights. phi (S, out, in): for what is below."""

    eps: np.ndarray
    phi: np.ndarray


def ratio(numerator, denominator):
    """numerator / denominator, and 0 wherever the denominator is 0 (the paper's terms vanish)."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.zeros(numerator.shape, dtype=np.result_type(numerator, denominator))
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def simplex_optimum(x):
    """[residual-partitioning] Lemma 3, Eq. (19): the least sum x^2 / p is at p_i = |x_i| / sum |x|.

    Parameters
    ----------
    x : (..., n) array

    Returns
    -------
    (..., n) array; zeros where all of x is zero (any p would do).
    """
    x = np.abs(x)
    return ratio(x, x.sum(axis=-1, keepdims=True))


def softmax_parameters(eta):
    """[residual-partitioning] Eq. (20): p_i = exp(eta_i) / sum_i' exp(eta_i')."""
    e = np.exp(eta - np.max(eta, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_derivative(p):
    """[residual-partitioning] Eq. (21): d p_i' / d eta_i, (n, n): p_i (1 - p_i) or -p_i p_i'."""
    return np.diag(p) - np.outer(p, p)


def simplex_gradient(x, p):
    """[residual-partitioning] Eq. (22), corrected: p_i (sum_i' x_i'^2/p_i' - x_i^2/p_i^2), (n,)."""
    return p * (np.sum(x**2 / p) - x**2 / p**2)


def simplex_gradient_as_printed(x, p):
    """[residual-partitioning] Eq. (22), right-hand form as printed; its sign is wrong."""
    return p * (x**2 / p**2 - np.sum(p * x**2 / p**2))


def affine_terms(layer, y, u):
    """The numbers that share a simplex: |y_sj| for every weight, |w_ij| u_sj for everything below.

    Returns
    -------
    (S, out, 1 + in) array, (S, out, in) array
        The first is zero if the layer is not trained.
    """
    below = np.abs(layer.weight)[None] * u[:, None, :]
    y = np.abs(input_with_bias(layer, y))[:, None, :] * (1.0 if layer.trainable else 0.0)
    return np.broadcast_to(y, (len(u), layer.out_features, y.shape[2])), below


def optimal(layer, y, u):
    """[residual-partitioning] Eqs. (10), (37), (31) corrected: the partition of Theorem 2.

    eps_sij = |y_sj| / u^(l+1)_si and phi_sij = |w_ij| u_sj / u^(l+1)_si, with u^(l+1)_si the sum of
    all numerators.

    Parameters
    ----------
    layer : Linear
    y, u : (S, in) arrays

    Returns
    -------
    Partition
    """
    terms = np.concatenate(affine_terms(layer, y, u), axis=2)
    return Partition(*np.split(simplex_optimum(terms), [y.shape[1] + 1], axis=2))


def arbitrary(layer, y, u, rng):
    """A random valid partition: Dirichlet fractions over the terms that are not zero.

    Parameters
    ----------
    layer : Linear
    y, u : (S, in) arrays
    rng : numpy.random.Generator

    Returns
    -------
    Partition
    """
    terms = np.concatenate(affine_terms(layer, y, u), axis=2)
    draws = rng.gamma(1.0, size=terms.shape) + 1e-3
    p = simplex_optimum(draws * (terms != 0))
    return Partition(*np.split(p, [y.shape[1] + 1], axis=2))


def optimal_output(f_ii, u):
    """[residual-partitioning] Eq. (46): phi_si proportional to u_si sqrt(f_ii), (S, C)."""
    return simplex_optimum(u * np.sqrt(f_ii))


def arbitrary_output(f_ii, u, rng):
    """A random valid output partition, (S, C)."""
    return simplex_optimum((rng.gamma(1.0, size=u.shape) + 1e-3) * (u * f_ii != 0))


def check(partition, layer, y, u):
    """[residual-partitioning] Eq. (5): not negative, sum one, positive where something is divided.

    Raises
    ------
    ValueError
        Naming the first condition that fails.
    """
    shapes = (len(y), layer.out_features, y.shape[1] + 1), (len(y), layer.out_features, y.shape[1])
    if (partition.eps.shape, partition.phi.shape) != shapes:
        raise ValueError(f"eps and phi have shapes {partition.eps.shape} and "
                         f"{partition.phi.shape}, expected {shapes[0]} and {shapes[1]}")
    terms = np.concatenate(affine_terms(layer, y, u), axis=2)
    check_fractions(np.concatenate(partition, axis=2), terms != 0,
                    "over j, for every sample and output (Eq. (5))")


def check_output(phi, f_ii, u):
    """[residual-partitioning] Eq. (14): what :func:`check` asks, of phi (S, C) at the outputs.

    Raises
    ------
    ValueError
        Naming the first condition that fails.
    """
    if np.shape(phi) != u.shape:
        raise ValueError(f"output_phi has shape {np.shape(phi)}, expected {u.shape}: one fraction "
                         "a sample and output")
    check_fractions(phi, u * f_ii != 0, "over the outputs, for every sample (Eq. (14))")


def check_fractions(p, occupied, where):
    """ValueError unless p is finite, not negative, sums to one, and is positive where `occupied`.

    Where nothing along the last axis is occupied there is nothing to divide, and any sum will do.
    """
    if not np.isfinite(p).all() or (p < 0).any():
        raise ValueError("partitioning variables must be finite and not negative")
    if np.abs(p.sum(axis=-1) - 1)[occupied.any(axis=-1)].max(initial=0) > 1e-9:
        raise ValueError(f"partitioning variables must sum to one {where}")
    if (p[occupied] == 0).any():
        raise ValueError("a partitioning variable is zero although its term is not: the bound "
                         "would be infinite")
