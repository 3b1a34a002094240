"""What the checks of Theorem 2 share: sums by loops, partitions optimal up to a layer, a numerical minimiser."""

import numpy as np
from scipy import optimize

from ...nets import Activation, SquaredError
from .. import partitions
from ..bounding import explicit_bound, partitions_of


# -- the printed sums, index by index ---------------------------------------------------------------------------------

def terms_by_loops(layer, y, u):
    """The numbers that share a simplex, (S, out, 1 + 2 in): y_sj for j = 0 (bias), 1, ..., then w_ij u_sj."""
    samples, width = y.shape
    x = np.zeros((samples, layer.out_features, 1 + 2 * width))
    for s, i in np.ndindex(x.shape[:2]):
        if layer.trainable:
            x[s, i, 0] = 1.0 if layer.bias is not None else 0.0
            for j in range(width):
                x[s, i, 1 + j] = y[s, j]
        for j in range(width):
            x[s, i, 1 + width + j] = layer.weight[i, j] * u[s, j]
    return x


def total_gradients_by_loops(evaluation):
    """u of Eq. (11) at the inputs of all layers and, last, at the outputs."""
    u = [np.zeros_like(evaluation.x)]
    for layer, kept in zip(evaluation.network.layers, evaluation.saved):
        above = np.zeros_like(kept.output)
        x = None if isinstance(layer, Activation) else terms_by_loops(layer, kept.input, u[-1])
        for s, i in np.ndindex(above.shape):
            if x is None:
                above[s, i] = abs(layer.function.slope(kept.input[s, i])) * u[-1][s, i]
            else:
                above[s, i] = sum(abs(t) for t in x[s, i])
        u.append(above)
    return u


def bracket_by_loops(x, p):
    """sum_j x_sij^2 / p_sij, (S, out), over the terms that are not zero."""
    total = np.zeros(x.shape[:2])
    for s, i, j in np.ndindex(x.shape):
        if x[s, i, j] != 0:
            total[s, i] += x[s, i, j] ** 2 / p[s, i, j]
    return total


def constant_of_curvature(evaluation, below):
    """sum over the activation layers among the first `below` layers of Y_dot^(l+1) sigma''(y^(l)) (u^(l))^2."""
    u, total = total_gradients_by_loops(evaluation), 0.0
    for k, layer in enumerate(evaluation.network.layers[:below]):
        if isinstance(layer, Activation):
            y, Y_dot = evaluation.saved[k].input, evaluation.deltas[k] / evaluation.samples
            for s, j in np.ndindex(y.shape):
                total += Y_dot[s, j] * layer.function.curvature(y[s, j]) * u[k][s, j] ** 2
    return total


# -- partitions -------------------------------------------------------------------------------------------------------

def optimal_up_to(evaluation, below, rng, negative_curvature="none"):
    """An explicit bound with the partitions of Theorem 2 in the first `below` layers and random ones above."""
    best, drawn = partitions_of(evaluation), partitions_of(evaluation, rng)
    f_ii = evaluation.loss_function.hessian_diagonal(evaluation.outputs, evaluation.y)
    phi = partitions.arbitrary_output(f_ii, total_gradients_by_loops(evaluation)[-1], rng)
    return explicit_bound(evaluation, best[:below] + drawn[below:], phi, negative_curvature)


def sum_up_to(evaluation, explicit, below):
    """Sum of all second coefficients of the parameters of the first `below` layers."""
    return float(explicit.curvature[: evaluation.network.slices[below - 1].stop].sum())


def with_residual(evaluation, residual):
    """The same network and inputs with targets that lie `residual` below the outputs, half squared error."""
    return evaluation.network.evaluate(SquaredError(), evaluation.x, evaluation.outputs - residual)


# -- numerical minimisation -------------------------------------------------------------------------------------------

def minimise_over_fractions(objective, occupied, rng, starts=2):
    """Least value of a function of fractions, by L-BFGS over their logits.

    Parameters
    ----------
    objective : callable
        List of arrays p -> value, list of derivatives d value / d p.
    occupied : list of bool arrays
        Each last axis is a simplex; fractions are zero where this is False.
    rng : numpy.random.Generator
        For the starting points.

    Returns
    -------
    float, list of arrays
    """
    ends = np.cumsum([mask.sum() for mask in occupied])

    def fractions(eta):
        made = []
        for piece, mask in zip(np.split(eta, ends[:-1]), occupied):
            logits = np.full(mask.shape, -np.inf)
            logits[mask] = piece
            logits -= logits.max(axis=-1, keepdims=True)
            e = np.where(mask, np.exp(np.maximum(logits, -60.0)), 0.0)  # a long trial step must not overflow 1 / p^2
            made.append(e / e.sum(axis=-1, keepdims=True))
        return made

    def value_and_slope(eta):
        p = fractions(eta)
        value, slopes = objective(p)
        chained = [q * (d - np.sum(q * d, axis=-1, keepdims=True)) for q, d in zip(p, slopes)]
        return value, np.concatenate([c[mask] for c, mask in zip(chained, occupied)])

    runs = [optimize.minimize(value_and_slope, rng.normal(size=ends[-1]), jac=True, method="L-BFGS-B",
                              options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-12}) for _ in range(starts)]
    best = min(runs, key=lambda run: run.fun)
    return float(best.fun), fractions(best.x)


def divided(a, p):
    """a / p, and 0 where p is 0 (only unoccupied terms have that)."""
    return np.divide(a, p, out=np.zeros(np.broadcast_shapes(a.shape, p.shape)), where=p > 0)


def weighted_squares(weights, x):
    """The objective sum_si weights_si sum_j x_sij^2 / p_sij and its derivative, for :func:`minimise_over_fractions`."""
    def objective(p):
        shares = weights[..., None] * divided(x**2, p[0])
        return shares.sum(), [-divided(shares, p[0])]
    return objective


def sum_of_curvatures(evaluation, negative_curvature="abs"):
    """Sum of all W_ddot as a function of every fraction, and its derivatives, for :func:`minimise_over_fractions`.

    The fractions: an array (S, out, 1 + 2 in) for every affine layer, bottom to top, then (S, C) for the loss. The
    derivative comes from a sweep upwards: A is the derivative in Y_ddot.
    """
    net, S = evaluation.network, evaluation.samples
    f_ii = evaluation.loss_function.hessian_diagonal(evaluation.outputs, evaluation.y) / S
    squares = [None if isinstance(layer, Activation)
               else terms_by_loops(layer, kept.input, np.ones_like(kept.input)) ** 2
               for layer, kept in zip(net.layers, evaluation.saved)]

    def objective(p):
        shares = iter(p[-2::-1])
        Y, passed = divided(f_ii, p[-1]), []
        for k in reversed(range(len(net.layers))):
            kept = evaluation.saved[k]
            if squares[k] is None:
                a = Y * kept.slope**2 + evaluation.deltas[k] / S * kept.curvature
                sign = np.sign(a) if negative_curvature == "abs" else (a > 0) * 1.0
                passed.append((k, None, sign * kept.slope**2, None))
                Y = sign * a
            else:
                q, width = next(shares), kept.input.shape[1]
                terms = divided(squares[k], q)
                passed.append((k, q, terms, Y))
                Y = np.einsum("si,sij->sj", Y, terms[:, :, 1 + width:])
        A, value, slopes = np.zeros_like(evaluation.x), 0.0, []
        for k, q, terms, Y in reversed(passed):
            if q is None:
                A = A * terms
                continue
            width = evaluation.saved[k].input.shape[1]
            weights = np.concatenate([np.ones((S, 1 + width)), A], axis=1)[:, None, :]
            value += np.sum(Y[:, :, None] * terms[:, :, : 1 + width])
            slopes.append(-divided(Y[:, :, None] * terms * weights, q))
            A = np.sum(terms * weights, axis=2)
        return float(value), slopes + [-divided(A * f_ii, p[-1] ** 2)]

    u = total_gradients_by_loops(evaluation)
    occupied = [terms_by_loops(layer, kept.input, below) != 0
                for layer, kept, below in zip(net.layers, evaluation.saved, u) if not isinstance(layer, Activation)]
    return objective, occupied + [u[-1] * f_ii > 0]
