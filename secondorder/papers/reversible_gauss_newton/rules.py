"""What each class of layers adds to the tangent kernel J J^T.

A linear layer with input a and the gradients g_c of output c in its own output has

    J[(c, s), (i, j)] = g_c[s, i] a[s, j]

a Khatri-Rao product, and so

    (J J^T)[(c, s), (c', t)] = (a_s . a_t + 1 if there is a bias) (g_c[s] . g_c'[t])

A rule adds this to the blocks c' <= c of K, and returns the gradients below the layer. A layer
without a rule adds the products of its gradients, sample by sample and output by output.
"""

import numpy as np

from ...nets import Activation, AvgPool2d, Chain, Flatten, Linear, MaxPool2d, Reshape, Skip
from ...nets.rules import LayerRules
from .coupling import Coupling
from .gram import gram_matrix

rules = LayerRules("Gauss-Newton through the tangent kernel", without_rule="by gradients")


def add_layer(layer, saved, bars, K, last):
    """Add a layer's part to the lower blocks of K; return the gradients below it (None if `last`
    and they are not needed).
    """
    try:
        rule = rules(layer)
    except TypeError:
        rule = add_by_gradients
    return rule(layer, saved, bars, K, last)


def khatri_rao(inner, bars, K):
    """Add a Khatri-Rao product to the blocks c' <= c of K, with g_c the rows of bars[c]:

        K[(c, s), (c', t)] += inner[s, t] (g_c[s] . g_c'[t])
    """
    count, samples = len(bars), len(inner)
    g = np.concatenate([bar.astype(K.dtype, copy=False) for bar in bars])
    for c in range(count):
        below = samples * (c + 1)
        products = (g[below - samples:below] @ g[:below].T).reshape(samples, c + 1, samples)
        products *= inner[:, None, :]
        K[c, :, :c + 1] += products


@rules.register(Linear)
def add_linear(layer, saved, bars, K, last):
    if layer.size:
        inner = gram_matrix(saved.input, K.dtype, ones=layer.bias is not None)
        khatri_rao(inner, bars, K)
    return _below(layer, saved, bars, last)


@rules.register(Activation, AvgPool2d, MaxPool2d, Flatten, Reshape)
def add_nothing(layer, saved, bars, K, last):
    """Layers without parameters."""
    return _below(layer, saved, bars, last)


@rules.register(Chain)
def add_chain(layer, saved, bars, K, last):
    lowest = next((i for i, inner in enumerate(layer.layers) if inner.size), 0)
    for i in reversed(range(lowest if last else 0, len(layer.layers))):
        bars = add_layer(layer.layers[i], saved[i], bars, K, last and i == lowest)
    return bars


@rules.register(Skip)
def add_skip(layer, saved, bars, K, last):
    inside = add_chain(layer.inner, saved.inner, bars, K, last)
    return None if last else [bar + back for bar, back in zip(bars, inside)]


@rules.register(Coupling)
def add_coupling(layer, saved, bars, K, last):
    inside = add_chain(layer.inner, saved.inner, [bar[:, layer.moved] for bar in bars], K, last)
    if last:
        return None
    return [layer._joined(bar[:, layer.moved], bar[:, layer.source] + back)
            for bar, back in zip(bars, inside)]


def add_by_gradients(layer, saved, bars, K, last):
    """For layers without structure: gradients of every output, sample by sample, two outputs at a
    time.
    """
    if layer.size:
        for c in range(len(bars)):
            own = layer.flat_parameter_gradients(saved, bars[c]).astype(K.dtype, copy=False)
            for other in range(c + 1):
                rows = (own if other == c else layer.flat_parameter_gradients(saved, bars[other]).astype(
                    K.dtype, copy=False))
                K[c, :, other] += own @ rows.T
    return _below(layer, saved, bars, last)


def _below(layer, saved, bars, last):
    return None if last else [layer.input_gradient(saved, bar) for bar in bars]
