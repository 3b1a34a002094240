"""Partitioning variables as explicit arrays: which fraction of a change goes where.

For an affine layer, ``eps`` (S, out, 1 + in) and ``phi`` (S, out, in); for a loss whose Hessian is
not diagonal, ``phi`` (S, C). Index order is the paper's, s i j, with the bias at j = 0.
"""

from typing import NamedTuple

import numpy as np

from ...checks import partitioning_variables, real_array
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
    """Lemma 3, Eq. (19): the least sum x^2 / p is at p_i = |x_i| / sum |x|.

    Parameters
    ----------
    x : (..., n) array

    Returns
    -------
    (..., n) array; zeros where all of x is zero (any p would do).
    """
    x = np.abs(x)
    return ratio(x, x.sum(axis=-1, keepdims=True))  # (24)


def softmax_parameters(eta):
    """Eq. (20): p_i = exp(eta_i) / sum_i' exp(eta_i')."""
    e = np.exp(eta - np.max(eta, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)  # (20)


def softmax_derivative(p):
    """Eq. (21): d p_i' / d eta_i, (n, n): p_i (1 - p_i) or -p_i p_i'."""
    return np.diag(p) - np.outer(p, p)  # (21)


def simplex_gradient(x, p):
    """Eq. (22), corrected: p_i (sum_i' x_i'^2/p_i' - x_i^2/p_i^2), (n,)."""
    return p * (np.sum(x**2 / p) - x**2 / p**2)  # (23)


def simplex_gradient_as_printed(x, p):
    """Eq. (22), right-hand form as printed; its sign is wrong."""
    return p * (x**2 / p**2 - np.sum(p * x**2 / p**2))


def affine_terms(layer, y, u):
    """The numbers that share a simplex: |y_sj| for every weight, |w_ij| u_sj for everything below.

    Returns
    -------
    (S, out, 1 + 2 in) array
        The first 1 + in columns, those of eps, are zero if the layer is not trained.
    """
    own = np.abs(input_with_bias(layer, y))[:, None, :] * layer.trainable
    below = np.abs(layer.weight)[None] * u[:, None, :]
    own = np.broadcast_to(own, (*below.shape[:2], own.shape[2]))
    return np.concatenate([own, below], axis=2)


def cut(fractions):
    """The `Partition` of which `fractions` (S, out, 1 + 2 in) holds both arrays."""
    return Partition(*np.split(fractions, [1 + fractions.shape[2] // 2], axis=2))


def optimal(layer, y, u):
    """Eqs. (10), (37), (31) corrected: the partition of Theorem 2.

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
    return cut(simplex_optimum(affine_terms(layer, y, u)))  # (32), (38)


def arbitrary_fractions(x, rng):
    """Dirichlet fractions over the entries of x (..., n) that are not zero."""
    return simplex_optimum((rng.gamma(1.0, size=x.shape) + 1e-3) * (x != 0))


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
    return cut(arbitrary_fractions(affine_terms(layer, y, u), rng))


def optimal_output(f_ii, u):
    """Eq. (46): phi_si proportional to u_si sqrt(f_ii), (S, C)."""
    return simplex_optimum(u * np.sqrt(f_ii))


def arbitrary_output(f_ii, u, rng):
    """A random valid output partition, (S, C)."""
    return arbitrary_fractions(u * f_ii, rng)


def check(partition, layer, y, u):
    """Eq. (5): not negative, sum one, positive where something is divided.

    Raises
    ------
    ValueError
        Naming the first condition that fails.
    """
    terms = affine_terms(layer, y, u)
    for name, part, like in zip(Partition._fields, partition, cut(terms)):
        real_array(part, name, like.shape)
    partitioning_variables(np.concatenate(partition, axis=2), terms != 0,
                           "over j, for every sample and output (Eq. (5))")


def check_output(phi, f_ii, u):
    """Eq. (14): what :func:`check` asks, of phi (S, C) at the outputs.

    Raises
    ------
    ValueError
        Naming the first condition that fails.
    """
    phi = real_array(phi, "output_phi", u.shape, ": one fraction a sample and output")
    # (14)
    partitioning_variables(phi, u * f_ii != 0, "over the outputs, for every sample (Eq. (14))")
