"""The paper's quantities at one sample: outputs v, slopes gamma, Jacobians beta, alpha and eta,
second derivatives lambda.

An upper index is a row and a lower one a column. Layers are counted as in the paper: hidden layers
1 to n, v[0] = x.
"""

from dataclasses import dataclass

import numpy as np

from ...exact.curvature import check_network
from ...nets import Activation, Linear
from ...nets.rules import LayerRules

rules = LayerRules("low-rank factors")


@rules.register(Linear)
def _linear(layer, kept, layers):
    """An affine layer begins a new layer of the paper's network."""
    layers.append(HiddenLayer(layer, kept.input, kept.output))


@rules.register(Activation)
def _activation(layer, kept, layers):
    """An activation belongs to the affine layer before it; one before all of them only changes the
    inputs.
    """
    if layers:
        layers[-1].bend(kept)


class HiddenLayer:
    """An affine layer with the activation behind it: arrays of all samples, (S, d).

    Attributes
    ----------
    linear : Linear
    input, z, output : arrays
        Input, pre-activation and output.
    slope, curvature : arrays or None
        A'(z) and A''(z); None where nothing follows the affine layer, which means A(z) = z.
    """

    def __init__(self, linear, x, z):
        self.linear, self.input, self.z, self.output = linear, x, z, z
        self.slope = self.curvature = None

    def part(self, where):
        """The same layer with the samples `where` only."""
        if where == slice(None):
            return self
        layer = HiddenLayer(self.linear, self.input[where], self.z[where])
        layer.output = self.output[where]
        if self.slope is not None:
            layer.slope, layer.curvature = self.slope[where], self.curvature[where]
        return layer

    def bend(self, kept):
        """Take in an activation; a second one in a row composes with the first."""
        if self.slope is None:
            self.slope, self.curvature = kept.slope, kept.curvature
        else:
            self.curvature = kept.curvature * self.slope**2 + kept.slope * self.curvature
            self.slope = kept.slope * self.slope
        self.output = kept.output


def hidden_layers(evaluation):
    """The affine layers of a fully-connected chain, each with its activation, and the place of each
    in the chain.

    Returns
    -------
    list of HiddenLayer, list of int

    Raises
    ------
    TypeError
        If a layer is neither `Linear` nor `Activation`; it is named.
    ValueError
        If there is no affine layer.
    """
    network = evaluation.network
    check_network(network)
    found = [rules(layer) for layer in network.layers]
    layers, places = [], []
    for i, (layer, rule, kept) in enumerate(zip(network.layers, found, evaluation.saved)):
        before = len(layers)
        rule(layer, kept, layers)
        if len(layers) > before:
            places.append(i)
    return layers, places


@dataclass(frozen=True)
class Quantities:
    """[low-rank] Table 1: everything that the formulas mention, at one sample.

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
    slope, curvature : lists of (d_k,) arrays
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
    curvature: list
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
    v = [layer.input[sample] for layer in layers]
    v_bar = [extended(layer, layer.input)[sample] for layer in layers]
    slope = [None, *(_jet(layer)[0][sample] for layer in layers[:n])]
    curvature = [None, *(_jet(layer)[1][sample] for layer in layers[:n])]
    w, z = ([None, *(layer.linear.weight for layer in layers[:n])],
            [None, *(layer.z[sample] for layer in layers[:n])])
    return Quantities(n, w, z, v, v_bar, slope, curvature, layers[n].linear.weight,
                      layers[n].z[sample], f_p[sample], f_pp[sample])


def _jet(layer):
    """A'(z) and A''(z) as arrays like z."""
    if layer.slope is None:
        return np.ones_like(layer.z), np.zeros_like(layer.z)
    return layer.slope, layer.curvature


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

def layer_output(w, v, activation):
    """[low-rank] Eq. (10): v^(k),j = A(w_i^(k),j v^(k-1),i), (d_k,).

    Parameters
    ----------
    w : (d_k, d_k-1) array
    v : (d_k-1,) array
    activation : callable
    """
    return activation(np.einsum("ji,i->j", w, v))


# -- Jacobians, (19)-(26)

def gamma(sample, k):
    """[low-rank] Eq. (19): gamma_s^(k),j = delta_s^j A'(z^(k),j), (d_k, d_k)."""
    return np.diag(sample.slope[k])


def beta(sample, k):
    """[low-rank] Eq. (20), (70): beta_i^(k),j = gamma_s^(k),j w_i^(k),s, (d_k, d_k-1)."""
    return np.einsum("js,si->ji", gamma(sample, k), sample.w[k])


def alpha(sample, k, l):
    """[low-rank] Eq. (21): Jacobian of v^(k) in v^(l), beta^(k) ... beta^(l+1); I if k = l, 0 if k
    < l, (d_k, d_l).
    """
    if k < l:
        return np.zeros((len(sample.v[k]), len(sample.v[l])), dtype=sample.p.dtype)
    product = np.eye(len(sample.v[l]), dtype=sample.p.dtype)
    for i in range(l + 1, k + 1):
        product = beta(sample, i) @ product
    return product


def eta(sample, k, l):
    """[low-rank] Eq. (23), corrected: eta_i^(k,l),j = alpha_s^(k,l),j gamma_i^(l),s, (d_k, d_l);
    gamma is that of layer l.
    """
    return np.einsum("js,si->ji", alpha(sample, k, l), gamma(sample, l))


def eta_bar(sample, k, l):
    """eta^(k,l) with a row of zeros behind it where layer k + 1 has a bias: the derivative of
    v_bar[k] in z^(l).
    """
    rows = eta(sample, k, l)
    missing = len(sample.v_bar[k]) - len(rows)
    return np.concatenate([rows, np.zeros((missing, rows.shape[1]), dtype=rows.dtype)])


def lambda_(sample, k):
    """[low-rank] Eq. (67): lambda_rs^(k),m = delta_r^m delta_s^m A''(z^(k),m), (d_k, d_k, d_k),
    indices m, r, s.
    """
    identity = np.eye(len(sample.z[k]), dtype=sample.p.dtype)
    return np.einsum("mr,ms,m->mrs", identity, identity, sample.curvature[k])
