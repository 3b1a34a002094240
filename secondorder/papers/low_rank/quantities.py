"""The paper's quantities at one sample: outputs v, slopes gamma, Jacobians beta, alpha and eta,
second derivatives lambda.

An upper index is a row and a lower one a column. Layers are counted as in the paper: hidden layers
1 to n, v[0] = x.
"""

from dataclasses import dataclass

import numpy as np

from .rules import hidden_layers


@dataclass(frozen=True)
class Quantities:
    """Table 1: everything that the formulas mention, at one sample.

    Lists are indexed by the layer's number k; their entry 0 is None but for v and v_bar.

    Attributes
    ----------
    n : int
        Number of hidden layers.
    w : list of (d_k, d_k-1) arrays
    z, v : lists of (d_k,) arrays
        Pre-activations; outputs, v[0] = x.
    v_bar : list of arrays
        v[k], with a 1 behind it where the layer above has a bias: (d_k,) or (d_k + 1,).
    slope, second_derivative : lists of (d_k,) arrays
        A'(z), A''(z).
    u : (C, d_n) array
    p, f_p : (C,) arrays
    f_pp : (C, C) array
        Value, and derivatives of the objective f, in p.
    """

    n: int
    w: list
    z: list
    v: list
    v_bar: list
    slope: list
    second_derivative: list
    u: np.ndarray
    p: np.ndarray
    f_p: np.ndarray
    f_pp: np.ndarray


def quantities(evaluation, sample=0):
    """The `Quantities` of one sample of an evaluation of a chain of `Linear` and `Activation`
    layers: v^(k) = A(w^(k) v^(k-1)), p = u v^(n), and the derivatives of f in p.

    An activation behind the last affine layer belongs to the objective, which is a function of p.

    Raises
    ------
    TypeError, ValueError
        As :func:`hidden_layers`.
    """
    evaluation.require_current()
    layers, places = hidden_layers(evaluation)
    n = len(layers) - 1
    f_p, f_pp = objective_derivatives(evaluation, places[-1])
    v = [layer.input[sample] for layer in layers]  # (12)
    v_bar = [extended(layer, layer.input)[sample] for layer in layers]
    slope = [None, *(derivatives(layer)[0][sample] for layer in layers[:n])]
    second_derivative = [None, *(derivatives(layer)[1][sample] for layer in layers[:n])]
    w, z = ([None, *(layer.linear.weight for layer in layers[:n])],
            [None, *(layer.z[sample] for layer in layers[:n])])
    return Quantities(n, w, z, v, v_bar, slope, second_derivative,
                      # (13)
                      layers[n].linear.weight, layers[n].z[sample], f_p[sample], f_pp[sample])


def derivatives(layer):
    """A'(z) and A''(z) as arrays like z."""
    if layer.slope is None:
        return np.ones_like(layer.z), np.zeros_like(layer.z)
    return layer.slope, layer.second_derivative


def extended(layer, v):
    """v (S, d), with a column of ones behind it where `layer` has a bias."""
    return v if layer.linear.bias is None else np.concatenate([v, np.ones_like(v[:, :1])], axis=1)


def objective_derivatives(evaluation, place):
    """Gradient (S, C) and Hessian (S, C, C) of every sample's f in the output p of the layer at
    `place`.
    """
    chain, loss = evaluation.network.chain, evaluation.loss_function
    f_pp = loss.hessian(evaluation.outputs, evaluation.y)
    return evaluation.deltas[place], chain.input_hessian_from(evaluation.saved, evaluation.deltas,
                                                              f_pp, place + 1)[0]


# -- the network, (10)-(16)

def objective(losses):
    """Eq. (16): F = E[f], the mean of f over the samples.

    Parameters
    ----------
    losses : sequence of float
        f of every sample.
    """
    return sum(float(f) for f in losses) / len(losses)


def layer_output(w, v, activation):
    """Eq. (10): v^(k),j = A(w_i^(k),j v^(k-1),i), (d_k,).

    Parameters
    ----------
    w : (d_k, d_k-1) array
    v : (d_k-1,) array
    activation : callable
    """
    return activation(np.einsum("ji,i->j", w, v))  # (10)


# -- Jacobians, (19)-(26)

def gamma(sample, k):
    """Eq. (19): gamma_s^(k),j = delta_s^j A'(z^(k),j), (d_k, d_k)."""
    return np.diag(sample.slope[k])  # (19)


def beta(sample, k):
    """Eq. (20), (70): beta_i^(k),j = gamma_s^(k),j w_i^(k),s, (d_k, d_k-1)."""
    return np.einsum("js,si->ji", gamma(sample, k), sample.w[k])  # (20), (70)


def alpha(sample, k, l):
    """Eq. (21), corrected: the Jacobian of v^(k) in v^(l), (d_k, d_l).

    k > l:  the product beta^(k) beta^(k-1) ... beta^(l+1)
    k = l:  the identity
    k < l:  0
    """
    if k < l:
        return np.zeros((len(sample.v[k]), len(sample.v[l])), dtype=sample.p.dtype)
    product = np.eye(len(sample.v[l]), dtype=sample.p.dtype)
    for i in range(l + 1, k + 1):
        product = beta(sample, i) @ product
    return product


def eta(sample, k, l):
    """Eq. (23), corrected: the Jacobian of v^(k) in z^(l), (d_k, d_l); gamma is that of layer l.

    eta_i^(k,l),j = alpha_s^(k,l),j gamma_i^(l),s
    """
    return np.einsum("js,si->ji", alpha(sample, k, l), gamma(sample, l))


def eta_as_printed(sample, k, l):
    """Eq. (23) as printed, with the slopes of layer k.

    eta_i^(k,l),j = alpha_s^(k,l),j gamma_i^(k),s
    """
    return np.einsum("js,si->ji", alpha(sample, k, l), gamma(sample, k))


def eta_bar(sample, k, l):
    """eta^(k,l) with a row of zeros behind it where layer k + 1 has a bias.

    It is the derivative of v_bar[k] in z^(l).
    """
    rows = eta(sample, k, l)
    missing = len(sample.v_bar[k]) - len(rows)
    return np.concatenate([rows, np.zeros((missing, rows.shape[1]), dtype=rows.dtype)])


def lambda_(sample, k):
    """Eq. (67): second derivatives of the activation of layer k, indices m, r, s.

    lambda_rs^(k),m = delta_r^m delta_s^m A''(z^(k),m)
    """
    identity = np.eye(len(sample.z[k]), dtype=sample.p.dtype)
    return np.einsum("mr,ms,m->mrs", identity, identity, sample.second_derivative[k])


def output(u, v):
    """Eq. (13), and what section 2 means: p^j = u_i^j v^(n),i, (C,)."""
    return np.einsum("ji,i->j", u, v)


def cross_entropy(y, y_hat):
    """Eq. (15): f = -y^l ln y_hat^l, for every row."""
    return -np.sum(y * np.log(y_hat), axis=-1)


def alpha_composed(sample, k, l, m):
    """Eq. (22), left side: alpha_j_l^(k,l),j_k alpha_j_m^(l,m),j_l, (d_k, d_m)."""
    return alpha(sample, k, l) @ alpha(sample, l, m)


def alpha_split(sample, k, r, l):
    """Eq. (69), right side: alpha_b^(k,r),j alpha_a^(r,r-1),b alpha_m^(r-1,l),a, (d_k, d_l)."""
    return alpha(sample, k, r) @ alpha(sample, r, r - 1) @ alpha(sample, r - 1, l)


def number_of_etas(n):
    """How many eta between n hidden layers are neither zero nor diagonal: n (n - 1) / 2."""
    return n * (n - 1) / 2


def number_of_products(n):
    """Products of weights and eta for (39), with n hidden layers: n (n + 1) / 2."""
    return n * (n + 1) / 2
