"""Minimisation over partitioning variables with no formula of the paper for the minimum."""

import numpy as np
from scipy import optimize

from ....nets import Activation
from . import reference


def minimise_over_fractions(objective, occupied, rng, starts=2):
    """Least value of a function of fractions, by L-BFGS over their logits, and where it is.

    In each array p the last axis is a simplex; fractions are zero where the mask of `occupied` is
    False. `objective` takes a list of arrays p with one axis more in front, the directions of the
    complex step that its derivative comes from, and returns a value for each.
    """
    ends = np.cumsum([mask.sum() for mask in occupied])

    def fractions(eta):
        return [softmax_over(mask, piece)
                for mask, piece in zip(occupied, np.split(eta, ends[:-1], axis=-1))]

    def value_and_derivative(eta):
        values = objective(fractions(eta + 1e-30j * np.eye(eta.size)))
        return values[0].real, values.imag / 1e-30

    runs = [optimize.minimize(value_and_derivative, rng.normal(size=ends[-1]), jac=True,
                              method="L-BFGS-B",
                              options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-12})
            for _ in range(starts)]
    best = min(runs, key=lambda run: run.fun)
    return float(best.fun), fractions(best.x)


def softmax_over(mask, logits):
    """Fractions with the softmax of `logits` where the mask is True, and 0 elsewhere."""
    spread = np.full((*logits.shape[:-1], *mask.shape), -np.inf, dtype=logits.dtype)
    spread[..., mask] = logits
    spread -= spread.real.max(axis=-1, keepdims=True)
    # a long trial step must not overflow 1 / p^2
    e = np.where(mask, np.exp(np.maximum(spread, -60.0)), 0.0)
    return e / e.sum(axis=-1, keepdims=True)


def divided(a, p):
    """a / p, and 0 where p is 0 (only unoccupied terms have that)."""
    return np.where(p == 0, 0.0, a / np.where(p == 0, 1.0, p))


def weighted_squares(weights, x):
    """The objective sum_si weights_si sum_j x_sij^2 / p_sij."""
    def objective(p):
        terms = weights[..., None] * divided(x**2, p[0])
        return terms.reshape(len(terms), -1).sum(axis=1)
    return objective


def sum_of_curvatures(at, negative_curvature="abs"):
    """The sum of all W_ddot as an objective, and where its fractions may be positive.

    The fractions are an array (S, out, 1 + 2 in) for every affine layer, bottom to top, then (S, C)
    for the loss.
    """
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y) / at.samples
    u = reference.total_gradients(at)
    affine = [k for k, layer in enumerate(at.network.layers) if not isinstance(layer, Activation)]

    def terms(k, u):
        return reference.terms(at.network.layers[k], at.saved[k].input, u)

    squares = [terms(k, np.ones_like(u[k])) ** 2 for k in affine]

    def objective(p):
        Y, total, left = divided(f_ii, p[-1]), 0.0, list(zip(squares, p))
        for k in reversed(range(len(at.saved))):
            saved = at.saved[k]
            if k in affine:
                parts = Y[..., None] * divided(*left.pop())
                width = 1 + saved.input.shape[1]
                total = total + parts[..., :width].sum(axis=(1, 2, 3))
                Y = parts[..., width:].sum(axis=2)
            else:
                Y = Y * saved.slope**2 + at.deltas[k] / at.samples * saved.curvature
                Y = Y * (Y.real > 0 if negative_curvature == "max" else np.sign(Y.real))
        return total

    return objective, [terms(k, u[k]) != 0 for k in affine] + [u[-1] * f_ii > 0]
