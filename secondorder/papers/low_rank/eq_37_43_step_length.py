"""What a training step computes: Eq. (37)-(43).

(38) and (39) stand here with all indices of the print, at one sample; as :func:`eq_38_39`, which
is what runs, for a batch and any layers; and by pairs of layers. How the first become the second:
let v_dot be the derivative of v along g. The share of layer r reaches layer k through its own eta,
and back-propagation brings f down through the same:

    v_dot^(k-1) = sum over r < k of eta^(k-1,r) phi^(r) v^(r-1),   f_z^(k) = (u eta^(n,k))^T f_p.

The sum over r in the last line of (39) is therefore v_dot^(k-1); with omega as the last phi, all
terms with f_pp together are p_dot with itself; what is left is f_z^(k) phi^(k) v_dot^(k-1), twice:

    g^T grad f = f_p^l p_dot^l,
    g^T H g = f_pp^lq p_dot^l p_dot^q + 2 sum over k of f_z_i^(k) phi_j^(k),i v_dot^(k-1),j.

2 phi v_dot is the second derivative of w v along g. A layer of any kind has its own in that place.
"""

import math

import numpy as np

from ...checks import number_in, real_array
from ...exact.conjugate_gradients import dot
from ...exact.curvature import loss_product
from .eq_10_26_network import einsum
from .eq_10_26_network import eq_23_eta as eta

# -- (37), (40), (41) ------------------------------------------------------------------------------


def eq_37_step_length(a, h, length, sigma):
    """Eq. (37): alpha, the minimiser of a s + h s^2 / 2 + sigma |g|^3 s^3 / 6 over s >= 0

    For numbers a = g^T grad f, h = g^T H g, length = |g|; 0 for a > 0. As printed the numerator
    cancels for h > 0, and |g|^3 overflows. Here a and h are those along g / |g|, and alpha |g|, the
    length of the step, is 2 |a| / D for h >= 0 and D / sigma for h < 0, with
    D = |h| + sqrt(h^2 + 2 |a| sigma).
    """
    if a > 0 or length == 0 or a == h == 0:
        return 0.0
    a, h = abs(a) / length, h / length / length
    D = abs(h) + math.hypot(h, math.sqrt(2 * a) * math.sqrt(sigma))
    top, bottom = (D, sigma) if h < 0 else (2 * a, D)
    return top / bottom / length if bottom else math.inf


eq_37_step_lengths = np.vectorize(eq_37_step_length, otypes=[np.float64], doc="""Eq. (37) of every
entry of arrays a, h and length.""")


def step_length(g_dot_grad, g_H_g, g_norm, sigma):
    """Eq. (37): what to multiply the direction g by.

    Parameters
    ----------
    g_dot_grad, g_H_g, g_norm : float or arrays of one shape
        Slope and curvature along g, and its length. Arrays give a rate for each entry.
    sigma : float
        Weight of the cubic term sigma |s|^3 / 6, not negative.

    Returns
    -------
    float or array
        In float64: 0 where g goes uphill or has no length; infinite where the model falls for ever,
        which it does for sigma = 0 without curvature upwards.

    Raises
    ------
    TypeError, ValueError
        Numbers that are not real or not finite, a negative length or sigma, shapes that do not go
        together.
    """
    sigma = number_in(sigma, "sigma", 0, np.inf)
    given = {"g_dot_grad": g_dot_grad, "g_H_g": g_H_g, "g_norm": g_norm}
    shape = max(map(np.shape, given.values()), key=len)
    a, h, length = (real_array(value, name, shape if np.ndim(value) else None)
                    for name, value in given.items())
    if (length < 0).any():
        raise ValueError(f"g_norm must not be negative, got {length.min()}")
    with np.errstate(over="ignore"):
        rates = eq_37_step_lengths(a, h, length, sigma)
    return rates if rates.ndim else float(rates)


def eq_37_as_it_stands(a, h, c):
    """Eq. (37): (-h + sqrt(h^2 - 2 a c)) / c, c = sigma |g|^3"""
    return (-h + np.sqrt(h * h - 2 * a * c)) / c


def eq_40_norm_cubed(omega, phi):
    """Eq. (40): |g|^3 = (omega_j^i omega_j^i + sum over k of phi_j^(k),i phi_j^(k),i)^(3/2)"""
    return sum(np.sum(piece * piece) for piece in (omega, *phi)) ** 1.5


def eq_41_limits(a, h, c):
    """Eq. (41): the step for large h > 0, for large c, and for large -h

    |a| / h and 2 |h| / c + |a| / |h| where h^2 >> 2 |a| c, sqrt(2 |a| / c) where h^2 << 2 |a| c.
    The print compares h with a c, which has another unit, and forgets |.| in the second.
    """
    a, size = abs(a), abs(h)
    return a / size, np.sqrt(2 * a / c), 2 * size / c + a / size


def eq_41_flat_as_printed(a, h, c):
    """Eq. (41), second case as printed: sqrt(2 a / c), where a < 0"""
    with np.errstate(invalid="ignore"):
        return np.sqrt(2 * a / c)


def eq_42_43_step(alpha, g):
    """Eq. (42), (43): what is added to u and all w^(k), alpha omega and alpha phi^(k)"""
    return np.asarray(alpha, g.dtype) * g


# -- (38), (39) as they run ------------------------------------------------------------------------


def eq_38_39(evaluation, g):
    """Eq. (38), (39): g^T grad F and g^T H g, by one tangent and the gradients of the evaluation

    f_p^l p_dot^l; f_pp^lq p_dot^l p_dot^q and, of every layer, the gradient in its output times the
    second derivative of its output along g.
    """
    chain, saved = evaluation.network.chain, evaluation.saved
    p_dot, moved = chain.tangents(saved, None, g)
    h = dot(p_dot, loss_product(evaluation, p_dot))
    for layer, own, along, f_v in zip(chain.parts, saved.held, moved, evaluation.deltas):
        if along.theta_tangents or along.x_tangent is not None:
            h += dot(f_v, layer.second_tangent(own, along, None))
    return dot(evaluation.deltas[-1], p_dot) / len(p_dot), h / len(p_dot)


# -- (38), (39) with all indices -------------------------------------------------------------------


def eq_38_slope(s, omega, phi):
    """Eq. (38): g^T grad f at one sample; omega is the piece of g like u, phi a list like s.w

    f_p^i v^(n),j omega_j^i + sum over k of f_p^l u_m^l eta_i^(n,k),m v^(k-1),j phi_j^(k),i
    """
    return einsum("i,j,ij->", s.f_p, s.v[s.n], omega) + sum(
        einsum("l,lm,mi,j,ij->", s.f_p, s.u, eta(s, s.n, k), s.v[k - 1], phi[k])
        for k in range(1, s.n + 1))


def eq_39_curvature(s, omega, phi):
    """Eq. (39) for A'' = 0: g^T H g at one sample. By (36) line 3 has all pairs of layers k, r:

    1   omega_j^i f_pp^is v^(n),j v^(n),t omega_t^s
    2   + 2 sum_k omega_j^i f_p^i eta_s^(n,k),j v^(k-1),t phi_t^(k),s
        + 2 sum_k omega_j^i f_pp^il v^(n),j u_m^l eta_s^(n,k),m v^(k-1),t phi_t^(k),s
    3   + sum_kr phi_j^(k),i f_pp^lq u_m^l eta_i^(n,k),m v^(k-1),j
                 u_a^q eta_s^(n,r),a v^(r-1),t phi_t^(r),s
    4   + 2 sum_k>r phi_j^(k),i f_p^l u_m^l eta_i^(n,k),m eta_s^(k-1,r),j v^(r-1),t phi_t^(r),s
    """
    f_p, f_pp, u, v, n, layers = s.f_p, s.f_pp, s.u, s.v, s.n, range(1, s.n + 1)
    h = einsum("ij,is,j,t,st->", omega, f_pp, v[n], v[n], omega)
    for k in layers:
        eta_nk = eta(s, n, k)
        h += 2 * einsum("ij,i,js,t,st->", omega, f_p, eta_nk, v[k - 1], phi[k])
        h += 2 * einsum("ij,il,j,lm,ms,t,st->", omega, f_pp, v[n], u, eta_nk, v[k - 1], phi[k])
        for r in layers:
            h += eq_39_line_3(s, phi, k, r)
        for r in range(1, k):
            h += 2 * einsum("ij,l,lm,mi,js,t,st->", phi[k], f_p, u, eta_nk, eta(s, k - 1, r),
                            v[r - 1], phi[r])
    return h


def eq_39_line_3(s, phi, k, r):
    """One term of line 3 of (39): how f_pp joins two hidden layers"""
    return einsum("ij,lq,lm,mi,j,qa,as,t,st->", phi[k], s.f_pp, s.u, eta(s, s.n, k), s.v[k - 1],
                  s.u, eta(s, s.n, r), s.v[r - 1], phi[r])


def eq_39_as_printed(s, omega, phi):
    """Eq. (39) as printed: line 3 has r = k alone, as if f_pp joined no two hidden layers"""
    return eq_39_curvature(s, omega, phi) - sum(eq_39_line_3(s, phi, k + 1, r + 1)
                                                for k, r in np.ndindex(s.n, s.n) if k != r)


# -- (38), (39) by pairs of layers, of a batch -----------------------------------------------------


def eq_39_by_layers(layers, f_pp, g):
    """Eq. (38), (39), in the pieces g_k of the direction: g_k^T grad F (K,), g_k^T H g_r (K, K)

    The latter as three matrices: of f_pp (lines 1 to 3), of eta between two layers (4, and the
    first term of 2), and of A'', which (39) has not. ``shares[k]`` (S, d) is how the layer that has
    been reached moves by layer k alone. `layers` and f_pp as of :func:`~.layers.fcnn`.
    """
    K = len(layers)
    of_eta, bent = np.zeros((K, K)), np.zeros((K, K))
    shares = np.empty((0, *layers[0].v.shape), g.dtype)
    for k, layer in enumerate(layers):
        own = np.zeros_like(layer.f_z)
        if layer.trained:
            phi, *of_bias = layer.own.split(g[layer.where])
            of_eta[k, :k] = pairs((layer.f_z @ phi)[None], shares)
            own = layer.v @ phi.T + sum(of_bias)
        shares = np.concatenate([shares @ layer.own.weight.T, own[None]])
        if k < K - 1:
            bent[:k + 1, :k + 1] += pairs(shares * (layer.f_v * layer.bend), shares)
            shares = shares * layer.slope
    a = pairs(layers[-1].f_z[None], shares)[0]
    of_f_pp = pairs(np.einsum("sij,ksj->ksi", f_pp, shares), shares)
    return a, of_f_pp, of_eta + of_eta.T, bent


def eq_39_by_layers_as_printed(layers, f_pp, g):
    """Eq. (38), and (39) as printed, in the pieces g_k: f_pp joins no two hidden layers, no A''"""
    a, of_f_pp, of_eta, _ = eq_39_by_layers(layers, f_pp, g)
    of_f_pp[:-1, :-1] *= np.eye(len(a) - 1)
    return a, of_f_pp, of_eta


def eq_38_39_as_printed(layers, f_pp, g):
    """Eq. (38), and (39) as printed, of a batch: the sums over all pairs of layers"""
    a, *terms = eq_39_by_layers_as_printed(layers, f_pp, g)
    return a.sum().item(), sum(terms).sum().item()


def pairs(left, right):
    """E[left_k^T right_r] over the samples, (K, R), of (K, S, d) and (R, S, d), in float64."""
    flat = [a.reshape(len(a), a.shape[1] * a.shape[2]).astype(np.float64) for a in (left, right)]
    return flat[0] @ flat[1].T / left.shape[1]
