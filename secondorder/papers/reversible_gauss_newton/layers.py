"""The tangent kernel J J^T layer by layer, without J: for (5) in large networks, and for Figure 4.

The rows of J are the outputs c of all samples s. A rule takes a function g that gives the gradients
of all outputs in the layer's own outputs, (C, S, ...). It adds the layer's part to the blocks
c' <= c of K (C, S, C, S), and returns such a function for the layer below. So nothing is computed
that no parameter needs. A layer without a rule goes by its own gradients.
"""

from functools import cache

import numpy as np

from ...checks import all_finite
from ...nets import Activation, AvgPool2d, Chain, Flatten, Linear, MaxPool2d, Reshape, Skip
from ...nets.rules import LayerRules
from .eq_14_15_coupling import Coupling

rules = LayerRules("Gauss-Newton through the tangent kernel", without_rule="by gradients")


def tangent_kernel(network, saved, S, C):
    """J J^T (C, S, C, S) of the outputs (S, C), in float64, from what the layers saved.

    FloatingPointError if an entry is not finite: products overflow before the outputs do.
    """
    K = np.zeros((C, S, C, S))
    with np.errstate(over="ignore", invalid="ignore"):
        add_chain(network.chain, saved, lambda: seeds(S, C, network.dtype), K)
    for c in range(C):
        K[:c, :, c] = K[c, :, :c].transpose(1, 2, 0)
    if not all_finite(K):
        raise FloatingPointError("the tangent kernel J J^T is not finite although the outputs are: "
                                 "inputs, activations or weights are too large for its products")
    return K


def jacobian(network, saved, S, C):
    """J (C S, P) itself, in float64."""
    return np.concatenate([network.chain.flat_parameter_gradients(saved, g_c)
                           for g_c in seeds(S, C, network.dtype)]).astype(float, copy=False)


def seeds(S, C, dtype):
    """d f_c / d f for every output c: (C, S, C)."""
    return np.eye(C, dtype=dtype)[:, None].repeat(S, axis=1)


def add(layer, saved, called, g, K):
    """Add the part of a layer by its rule, and return the function for the layer below. `called` is
    the layer as its chain calls it, with what that saved: it has all passes.
    """
    try:
        rule = rules(layer)
    except TypeError:
        return add_by_gradients(*called, g, K)
    return rule(layer, saved, g, K)


def below(layer, saved, g):
    """The gradients of all outputs in the inputs of the layer, when they are asked for."""
    return cache(lambda: layer.input_gradient(saved, g()))


@rules.register(Linear)
def add_linear(layer, saved, g, K):
    """J[cs, ij] = g_csi a_sj, a Khatri-Rao product:

    (J J^T)[cs, c't] = (sum_j a_sj a_tj + 1) (sum_i g_csi g_c'ti), where the 1 is that of a bias.
    """
    if layer.size:
        a, G = np.asarray(saved.input, float), g().astype(float, copy=False)
        C, S, _ = G.shape
        inner, G = a @ a.T + (layer.bias is not None), G.reshape(C * S, -1)
        for c in range(C):
            products = (G[c * S:(c + 1) * S] @ G[:(c + 1) * S].T).reshape(S, c + 1, S)
            products *= inner[:, None]
            K[c, :, :c + 1] += products
    return below(layer, saved, g)


@rules.register(Activation, AvgPool2d, MaxPool2d, Flatten, Reshape)
def add_nothing(layer, saved, g, K):
    """Layers without parameters."""
    return below(layer, saved, g)


@rules.register(Chain)
def add_chain(layer, saved, g, K):
    for inner, own, called in reversed(list(zip(layer.layers, saved, layer.called(saved)))):
        g = add(inner, own, called, g, K)
    return g


@rules.register(Skip)
def add_skip(layer, saved, g, K):
    """y = x + F(x): g_x = g + F'^T g."""
    inside = add_chain(layer.inner, saved.inner, g, K)
    return cache(lambda: g() + inside())


@rules.register(Coupling)
def add_coupling(layer, saved, g, K):
    """y_m = x_m + F(x_k), y_k = x_k: g_x adds F'^T g_m to the half k that stays."""
    inside = add_chain(layer.inner, saved.inner, lambda: g()[..., layer.moved], K)

    def g_x():
        whole = g().copy()
        whole[..., layer.source] += inside()
        return whole
    return cache(g_x)


def add_by_gradients(layer, saved, g, K):
    """Any layer: (J J^T)[cs, c't] = sum_p (d f_cs / d theta_p) (d f_c't / d theta_p)."""
    if layer.size:
        J = np.concatenate([layer.flat_parameter_gradients(saved, g_c) for g_c in g()])
        J = J.astype(float, copy=False)
        K += (J @ J.T).reshape(K.shape)
    return below(layer, saved, g)
