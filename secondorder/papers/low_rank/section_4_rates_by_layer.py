"""A rate for every layer, which section 4 proposes and does not write down.

Apart, each layer has its own model and (37). Together, the rates s (K,) of all layers minimise one
model, with the products between layers: in y_k = |g_k| s_k it is a cubic model in K variables.
"""

import numpy as np

from ...exact.conjugate_gradients import dot
from ...optimizers.norms import norm


def layer_models(eq_39, layers, f_pp, g, l2, theta):
    """a_k = g_k^T grad F (K,), Q_kr = g_k^T H g_r (K, K) and |g_k| (K,) of the pieces g_k of g in
    all trained layers, with a penalty; and what gives every parameter the rate of its layer.
    `eq_39` is `eq_39_by_layers`, or the same as printed.
    """
    a, *terms = eq_39(layers, f_pp, g)
    trained = [k for k, layer in enumerate(layers) if layer.trained]
    where = [layers[k].where for k in trained]
    lengths = np.array([norm(g[w]) for w in where])
    a = a[trained] + l2 * np.array([dot(theta[w], g[w]) for w in where])
    Q = sum(terms)[np.ix_(trained, trained)] + l2 * np.diag(lengths**2)
    return a, Q, lengths, lambda s: np.repeat(s, [w.stop - w.start for w in where])


def joint_change(a, Q, lengths, sigma, s):
    """a^T s + s^T Q s / 2 + sigma |s g|^3 / 6, with |s g|^2 = sum_k |g_k|^2 s_k^2

    It is (8) for K rates.
    """
    return a @ s + s @ Q @ s / 2 + sigma / 6 * norm(lengths * s) ** 3


def joint_rates(a, Q, lengths, sigma):
    """The rates (K,) that minimise :func:`joint_change`; 0 for a piece without length."""
    rates, live = np.zeros(len(a)), lengths > 0
    if live.any():
        scale = lengths[live]
        values, vectors = np.linalg.eigh(Q[np.ix_(live, live)] / scale / scale[:, None])
        rates[live] = vectors @ minimiser(values, vectors.T @ (a[live] / scale), sigma) / scale
    return rates


def minimiser(values, slopes, sigma):
    """y that minimises slopes^T y + sum_i values_i y_i^2 / 2 + sigma |y|^3 / 6, values ascending

    y_i = -slopes_i / (values_i + sigma r / 2) with r = |y|, and no denominator below 0. |y| falls
    as r grows: the two are equal once. r is looked for between its least value and a sure one.
    """
    least = max(0.0, -2 * values[0] / sigma)
    from_least = values - values[0] if least else values

    def y(more):  # at r = least + more
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(slopes == 0, 0.0, -slopes / (from_least + sigma / 2 * more))

    high = np.sqrt(2 * norm(slopes) / sigma) + np.finfo(float).tiny
    low = max(high * 1e-100, np.finfo(float).tiny)
    if norm(y(low)) < least:  # too short: the rest goes along the least eigenvector
        rest = y(low)
        rest[0] = np.copysign(np.sqrt(max(least**2 - rest[1:] @ rest[1:], 0.0)), rest[0])
        return rest
    for _ in range(100):
        middle = np.sqrt(low) * np.sqrt(high)
        if not low < middle < high:
            break
        low, high = (middle, high) if norm(y(middle)) > least + middle else (low, middle)
    return y(high)
