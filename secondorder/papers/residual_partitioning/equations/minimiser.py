"""Minimisation over partitioning variables with no formula of the paper for the minimum."""

import numpy as np
from scipy import optimize

from ....nets import Activation
from . import reference


def minimise_over_fractions(objective, occupied, rng, starts=2):
    """Least value of a function of fractions, by L-BFGS over their logits, and where it is.

    `objective` takes a list of arrays p and returns the value and its derivatives, a list. In each
    p the last axis is a simplex; fractions are zero where the mask of `occupied` is False.
    """
    ends = np.cumsum([mask.sum() for mask in occupied])

    def fractions(eta):
        return [softmax_over(mask, piece)
                for mask, piece in zip(occupied, np.split(eta, ends[:-1]))]

    def value_and_slope(eta):
        p = fractions(eta)
        value, slopes = objective(p)
        chained = [q * (d - np.sum(q * d, axis=-1, keepdims=True)) for q, d in zip(p, slopes)]
        return value, np.concatenate([c[mask] for c, mask in zip(chained, occupied)])

    runs = [optimize.minimize(value_and_slope, rng.normal(size=ends[-1]), jac=True,
                              method="L-BFGS-B",
                              options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-12})
            for _ in range(starts)]
    best = min(runs, key=lambda run: run.fun)
    return float(best.fun), fractions(best.x)


def softmax_over(mask, logits):
    """Fractions with the softmax of `logits` where the mask is True, and 0 elsewhere."""
    spread = np.full(mask.shape, -np.inf)
    spread[mask] = logits
    spread -= spread.max(axis=-1, keepdims=True)
    # a long trial step must not overflow 1 / p^2
    e = np.where(mask, np.exp(np.maximum(spread, -60.0)), 0.0)
    return e / e.sum(axis=-1, keepdims=True)


def divided(a, p):
    """a / p, and 0 where p is 0 (only unoccupied terms have that)."""
    return np.divide(a, p, out=np.zeros(np.broadcast_shapes(a.shape, p.shape)), where=p > 0)


def weighted_squares(weights, x):
    """The objective sum_si weights_si sum_j x_sij^2 / p_sij and its derivative."""
    def objective(p):
        shares = weights[..., None] * divided(x**2, p[0])
        return shares.sum(), [-divided(shares, p[0])]
    return objective


class SumOfCurvatures:
    """Sum of all W_ddot as a function of every fraction, and its derivatives.

    The fractions are an array (S, out, 1 + 2 in) for every affine layer, bottom to top, then (S, C)
    for the loss.  `occupied` says where they may be positive.
    """

    def __init__(self, at, negative_curvature="abs"):
        self.at, self.clip = at, negative_curvature == "max"
        self.f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y) / at.samples
        pairs = list(zip(at.network.layers, at.saved))
        self.squares = [None if isinstance(layer, Activation)
                        else reference.terms(layer, saved.input, np.ones_like(saved.input)) ** 2
                        for layer, saved in pairs]
        u = reference.total_gradients(at)
        self.occupied = [reference.terms(layer, saved.input, below) != 0
                         for (layer, saved), below in zip(pairs, u)
                         if not isinstance(layer, Activation)]
        self.occupied.append(u[-1] * self.f_ii > 0)

    def __call__(self, p):
        passed = self.down(p)
        return self.up(passed, p[-1])

    def down(self, p):
        """From the loss to the input: each layer's fractions, terms and the Y_ddot above it."""
        at, fractions = self.at, iter(p[-2::-1])
        Y, passed = divided(self.f_ii, p[-1]), []
        for k in reversed(range(len(at.saved))):
            saved = at.saved[k]
            if self.squares[k] is None:
                a = Y * saved.slope**2 + at.deltas[k] / at.samples * saved.curvature
                sign = (a > 0) * 1.0 if self.clip else np.sign(a)
                passed.append((k, None, sign * saved.slope**2, None))
                Y = sign * a
            else:
                q = next(fractions)
                terms = divided(self.squares[k], q)
                passed.append((k, q, terms, Y))
                Y = np.einsum("si,sij->sj", Y, terms[:, :, 1 + saved.input.shape[1]:])
        return passed

    def up(self, passed, phi):
        """The sum and its derivatives; A is the derivative in the Y_ddot that has been reached."""
        at = self.at
        A, value, slopes = np.zeros_like(at.x), 0.0, []
        for k, q, terms, Y in reversed(passed):
            if q is None:
                A = A * terms
                continue
            width = at.saved[k].input.shape[1]
            weights = np.concatenate([np.ones((at.samples, 1 + width)), A], axis=1)[:, None, :]
            value += np.sum(Y[:, :, None] * terms[:, :, : 1 + width])
            slopes.append(-divided(Y[:, :, None] * terms * weights, q))
            A = np.sum(terms * weights, axis=2)
        return float(value), slopes + [-divided(A * self.f_ii, phi**2)]
