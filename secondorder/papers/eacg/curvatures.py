"""Curvature matrices by name: PCH, Gauss-Newton, Fisher and exact ones, Eq. (6), (8).

Every function gives B^t (n_t, n_t) for the bias of each linear layer, from the input up; the block
of the weights is E[h h^T] (x) B^t, Eq. (8c).
"""

from typing import NamedTuple

import numpy as np

from ...checks import check_l2, lookup
from ...checks.randomness import generator
from ...exact.curvature import check_network
from ...exact.dense import fisher_scores
from .hessians import (clipped_bias_hessians, gauss_newton_step, mean_bias_hessians,
                       mean_of_instances, output_hessians)
from .pos_eig import pos_diagonal, pos_eig
from .products import mean_outer, symmetric
from .rules import downwards, linear, rules, units

# -- the formulas as printed -----------------------------------------------------------------------


def expectation_step(W, B, g, slope, second_derivative):
    """Eq. (6): (W^T B W) (.) E[h' h'^T] + diag(E_i[h''_i (.) (W^T g_i)]), (m, m).

    W (n, m), B (n, n) for E[H^t], g (S, n); h' and h'' (S, m) are those of the layer below.
    """
    second_order = np.mean(second_derivative * (g @ W), axis=0)
    return (W.T @ B @ W) * mean_outer(slope) + np.diag(second_order)


def pch_step(W, B, g, slope, second_derivative, gamma):
    """Eq. (8b), corrected, (m, m), with the hatted B.

        (W^T B W) (.) E[h' h'^T] + Pos-Eig(diag(E_i[h''_i (.) (W^T g_i)]))
    """
    second_order = np.mean(second_derivative * (g @ W), axis=0)
    return (W.T @ B @ W) * mean_outer(slope) + np.diag(pos_diagonal(second_order, gamma))


def pch_step_as_printed(W, B, g, slope, second_derivative, gamma):
    """Eq. (8b) with its brackets as printed: E[h''] (.) (W^T E[g]) in the diagonal."""
    second_order = second_derivative.mean(axis=0) * (g.mean(axis=0) @ W)
    return (W.T @ B @ W) * mean_outer(slope) + np.diag(pos_diagonal(second_order, gamma))


def mean_top(evaluation):
    """E_i[H_i^k] = sum_i H_i^k / S, (C, C)."""
    H = output_hessians(evaluation.loss_function, evaluation.outputs, evaluation.y)
    return symmetric(H.mean(axis=0))


def pch_top(evaluation, gamma=-1.0):
    """Eq. (8a): Pos-Eig(E_i[H_i^k]), of the mean and not instance by instance."""
    return pos_eig(mean_top(evaluation), gamma)


def weight_block(h, B):
    """Eq. (8c): E[h h^T] (x) B (n m, n m), over the columns of W (n, m) one below the other."""
    return np.kron(mean_outer(h), B)


# -- through a whole network -----------------------------------------------------------------------


def propagated(all_units, top, gamma):
    """Eq. (6) or (8b) from the top down by the layers' rules.

    gamma = None leaves the diagonal out, 1 leaves it as it is.
    """
    return downwards(all_units, top, lambda unit, B: rules(unit.layer).carry(unit, B, gamma))


def pch(evaluation, all_units, gamma, top_gamma=-1.0):
    """PCH, Eq. (8a) and (8b): gamma = -1 is PCH-1, gamma = 0 is PCH-2; at the top both have -1."""
    return propagated(all_units, pch_top(evaluation, top_gamma), gamma)


def expectation(evaluation, all_units):
    """Eq. (6) from the exact top block, nothing corrected; it may be indefinite."""
    return propagated(all_units, mean_top(evaluation), 1.0)


def gauss_newton(evaluation, all_units, top_gamma=-1.0):
    """KFRA's recursion, Eq. (6) without the diagonal: B <- (W^T B W) (.) E[h' h'^T].

    Where the loss is not convex in the outputs the top block is corrected by Pos-Eig;
    ``top_gamma=1`` leaves it, and the result is indefinite then.
    """
    convex = getattr(evaluation.loss_function, "convex", False)
    return propagated(all_units, mean_top(evaluation) if convex else pch_top(evaluation, top_gamma),
                      None)


def pch_mean(evaluation, all_units, gamma=-1.0):
    """B^t = Pos-Eig(E_i[H_i^t]), of the exact means of (4a)-(4c): no mean before the last."""
    return [pos_eig(H, gamma) for H in mean_bias_hessians(evaluation, all_units)]


def fisher(evaluation, all_units, kind="empirical", rng=None, draws=1):
    """E_i[g_i g_i^T], g_i the gradient in the bias: with the given targets (as printed) or targets
    drawn from the model.
    """
    if kind == "exact":
        loss = evaluation.loss_function
        return mean_of_instances(evaluation, all_units, lambda p, y: loss.fisher(p),
                                 gauss_newton_step)
    if kind == "empirical":
        return [mean_outer(unit.delta) for unit in linear(all_units)]
    drawn = [_deltas(evaluation, score) for score in fisher_scores(evaluation, kind, rng, draws)]
    return [sum(map(mean_outer, deltas)) / len(drawn) for deltas in zip(*drawn)]


def _deltas(evaluation, score):
    """Gradients of every linear layer's bias where `score` (S, C) is that of the outputs."""
    chain, saved = evaluation.network.chain, evaluation.saved
    return [unit.delta for unit in linear(units(evaluation, chain.output_gradients(saved, score)))]


def fisher_of_expectations(h, g):
    """E_i[h h^T] (x) E_i[g g^T], for E_i[(h h^T) (x) (g g^T)], over the columns of W (n, m)."""
    return np.kron(mean_outer(h), mean_outer(g))


def fisher_block(h_mu, g_mu, h_nu, g_nu):
    """Block (mu, nu) of one instance's Fisher matrix over Vec(W^mu) and Vec(W^nu).

        (h^mu h^nuT) (x) (g^mu g^nuT)
    """
    return np.kron(np.outer(h_mu, h_nu), np.outer(g_mu, g_nu))


def fisher_block_as_printed(h_mu, g_nu):
    """The block as printed: (h^mu h^muT) (x) (g^nu g^nuT), right where mu = nu."""
    return np.kron(np.outer(h_mu, h_mu), np.outer(g_nu, g_nu))


class Curvature(NamedTuple):
    """``make(evaluation, all_units, rng)``, and whether what it makes is positive semidefinite."""

    make: object
    positive: bool


CURVATURES = {
    "pch-1": Curvature(lambda e, u, rng: pch(e, u, -1.0), True),
    "pch-2": Curvature(lambda e, u, rng: pch(e, u, 0.0), True),
    "pch-mean": Curvature(lambda e, u, rng: pch_mean(e, u), True),
    "clipped": Curvature(lambda e, u, rng: clipped_bias_hessians(e, u), True),
    "gauss-newton": Curvature(lambda e, u, rng: gauss_newton(e, u), True),
    "fisher": Curvature(lambda e, u, rng: fisher(e, u), True),
    "fisher-empirical": Curvature(lambda e, u, rng: fisher(e, u), True),
    "fisher-sampled": Curvature(lambda e, u, rng: fisher(e, u, "sampled", rng), True),
    "fisher-exact": Curvature(lambda e, u, rng: fisher(e, u, "exact"), True),
    "expectation": Curvature(lambda e, u, rng: expectation(e, u), False),
    "hessian": Curvature(lambda e, u, rng: mean_bias_hessians(e, u), False),
}
POSITIVE = tuple(name for name, curvature in CURVATURES.items() if curvature.positive)


def positive_curvature(name):
    """`name`, if it is a curvature that is positive semidefinite.

    Raises
    ------
    ValueError
        Unknown name, or one of a curvature that may be indefinite, for which Eq. (9) has no descent
        direction to offer.
    """
    if not lookup(CURVATURES, name, "curvature").positive:
        raise ValueError(f"curvature {name!r} may be indefinite, and the damped system (9) needs a "
                         f"positive semidefinite one: choose from {', '.join(POSITIVE)}")
    return name


def curvatures_at(evaluation, curvature, rng=None, all_units=None):
    """:func:`bias_curvatures` at an evaluation that was made before."""
    all_units = units(evaluation) if all_units is None else all_units
    return CURVATURES[curvature].make(evaluation, all_units, rng)


def check_real_network(network):
    """TypeError or ValueError unless it is a network with trainable parameters that are real."""
    check_network(network)
    if network.dtype.kind != "f":
        raise ValueError(f"network must hold real parameters, got {network.dtype}")


def bias_curvatures(network, loss, x, y, curvature="pch-1", rng=None, l2=0.0):
    """Curvature matrices B^t (n_t, n_t) of the biases, for every linear layer from the input up:
    Eq. (6), (8a), (8b).

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss : Loss
    x : (S, n_0) array
    y : targets in the form that the loss takes
    curvature : str
        ``"pch-1"``, ``"pch-2"``: the paper's (8a)-(8b) with gamma -1 and 0. ``"pch-mean"``: Pos-Eig
        of the exact mean. ``"clipped"``: mean of per-instance Hessians without their negative
        parts. ``"gauss-newton"``: KFRA's recursion (its top block corrected by Pos-Eig where the
        loss is not convex). ``"fisher-empirical"``: with the given targets, as printed, where it is
        called ``"fisher"``; ``"fisher-sampled"``, ``"fisher-exact"``: under the model's own
        targets. Possibly indefinite: ``"expectation"``: (6); ``"hessian"``: the exact mean of
        (4a)-(4b).
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``, the only one that draws; checked whatever the curvature.
    l2 : float
        Penalty (l2/2)|theta|^2: l2 I is added to every block, after the corrections.

    Returns
    -------
    list of (n_t, n_t) arrays

    Raises
    ------
    ValueError
        Unknown curvature, bad x or y, complex parameters.
    TypeError
        A layer without a rule, or a Fisher matrix of the model for a loss that is no negative
        log-likelihood.
    FloatingPointError
        If outputs or curvature are not finite.
    """
    lookup(CURVATURES, curvature, "curvature")
    l2, rng = check_l2(l2), generator(rng)
    check_real_network(network)
    matrices = finite(curvatures_at(network.evaluate(loss, x, y), curvature, rng))
    matrices = [symmetric(B) for B in matrices]  # they are, but for rounding
    for B in matrices:
        B[np.diag_indices_from(B)] += B.dtype.type(l2)
    return finite(matrices)


def finite(matrices):
    """The matrices, if they are.

    Raises
    ------
    FloatingPointError
        Names the linear layer, counted from 1 as in the paper.
    """
    for t, B in enumerate(matrices, start=1):
        if not np.isfinite(B).all():
            raise FloatingPointError(f"EA-CG: the curvature of linear layer {t} is not finite")
    return matrices
