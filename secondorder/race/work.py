"""Work: the multiplications of a step's matrix products, in gradients of the same batch.

Products are counted as :mod:`secondorder.bench` and the analysis of EA-CG count them. A
Cholesky factorisation of n rows counts n^3 / 3, an eigen-decomposition 9 n^3. What goes entry by
entry is not counted. With, for a layer l and a batch of S samples,

    up_l        a product with the weights (forward, or of a tangent)
    down_l      one with the transposed weights
    weights_l   one that gives the weights' gradient

a gradient takes up_l and weights_l in every layer, and down_l above the first trained one.
"""

import math
from typing import NamedTuple

import numpy as np

from secondorder.nets import Conv2d, Linear
from secondorder.papers.reversible_gauss_newton.eq_14_15_coupling import Coupling


class Passes(NamedTuple):
    """Multiplications of one layer's products for S samples: `up`, `down` and `weights`. `inputs`
    and `outputs` are those of a linear layer or of a patch, `size` is that of its parameters.
    """

    up: int
    down: int
    weights: int
    inputs: int
    outputs: int
    size: int


def passes(network, samples):
    """`Passes` of every layer with products, from the input up."""
    layers, shape = [], network.input_shape
    for layer in network.layers:
        after = layer.output_shape(shape)
        if isinstance(layer, Linear):
            n, m = layer.weight.shape
            layers.append(one(samples * n * m, layer, m, n))
        elif isinstance(layer, Conv2d):
            n, m = after[0], math.prod(layer.weight.shape[1:])
            layers.append(one(samples * math.prod(after[1:]) * n * m, layer, m, n))
        elif isinstance(layer, Coupling):
            n, m = layer.trained.weight.shape
            product = samples * n * m
            layers.append(Passes(2 * product, 2 * product, product, m, n, layer.size))
        shape = after
    return layers


def one(product, layer, inputs, outputs):
    """A layer with one product up, one down and, if it is trained, one for its weights."""
    return Passes(product, product, product if layer.size else 0, inputs, outputs, layer.size)


def total(layers, name):
    return sum(getattr(layer, name) for layer in layers)


def gradient(layers):
    """A forward and a backward pass."""
    return total(layers, "up") + total(layers[1:], "down") + total(layers, "weights")


def hessian_vector_product(layers):
    """A tangent and the derivative of the backward pass: each product twice, but that the first
    layer's input has no tangent.
    """
    return (total(layers, "up") + total(layers[1:], "up") + 2 * total(layers[1:], "down")
            + total(layers, "weights") + total(layers[1:], "weights"))


def directional_curvature(layers):
    """P v and W v' in every layer, and P v' in every layer that gets a tangent."""
    return total(layers, "up") + 2 * total(layers[1:], "up")


# -- a step of every method: what it takes beyond a gradient ---------------------------------------


def nothing(layers, samples, classes, info):
    return 0


def partitioning(layers, samples, classes, info):
    """u through every layer but the first, and Z back like the gradient."""
    return total(layers[1:], "up") + total(layers[1:], "down") + total(layers, "weights")


def cubic(layers, samples, classes, info):
    return directional_curvature(layers)


def ea_cg(layers, samples, classes, info):
    """Pos-Eig at the top, W^T B W and E[h' h'^T] below, conjugate gradients in n + 1 numbers.

    An iteration is a product with B; the weights of a layer take one with the mean input besides.
    """
    mean = info["cg_iterations"] / (2 * len(layers))  # of a system: weights and bias of each layer
    iterations = mean * sum(2 * layer.outputs**2 for layer in layers)
    return 9 * classes**3 + propagated(layers, samples) + iterations + sum(
        layer.outputs * layer.inputs for layer in layers)


def propagated(layers, samples):
    """W^T B W and the second moment of the slopes, in every layer but the first."""
    return sum(n * n * m + n * m * m + samples * m * m
               for m, n in ((layer.inputs, layer.outputs) for layer in layers[1:]))


def kfac(layers, samples, classes, info, rank_one=False):
    """A second backward pass for drawn targets, two second moments, their factorisations, and
    solves; inputs wider than the batch by the batch's Gram matrix.
    """
    work = total(layers[1:], "down")
    for k, layer in enumerate(layers):
        m, n = layer.inputs, layer.outputs
        work += samples * n * n + 2 * n**3 / 3 + n * n  # B, and its factors for weights and bias
        if rank_one and k == 0:
            work += n * n * min(samples, m) + (samples * n * m if m > samples else 0) + n * m
        elif m <= samples:
            work += samples * m * m + m**3 / 3 + n * n * m + n * m * m
        else:
            work += (samples * samples * m + samples**3 / 3 + n * n * samples
                     + n * samples * samples + samples * n * m)
    return work


def truncated_newton(layers, samples, classes, info):
    """The products of conjugate gradients and one for the predicted decrease; a forward pass for
    every step that was tried.
    """
    return ((info["cg_iterations"] + 1) * hessian_vector_product(layers)
            + (1 + info["halvings"]) * total(layers, "up"))


def moore_penrose(layers, samples, classes, info):
    """Gradients of all outputs, the kernel's blocks, its Cholesky factor (eigenvalues where its
    rank is lost); the way back is the gradient's.
    """
    pairs, rows = classes * (classes + 1) // 2, samples * classes
    work = classes * total(layers[1:], "down") + rows**3 / 3 + rows**2
    work += 9 * rows**3 if info["rank"] < info["full_rank"] else 0
    for layer in layers:
        if layer.up == samples * layer.inputs * layer.outputs:  # linear: a Khatri-Rao product
            work += samples**2 * (layer.inputs + pairs * layer.outputs)
        else:
            work += (classes + pairs - classes) * layer.weights + pairs * samples**2 * layer.size
    return work


def right_inverse(layers, samples, classes, info):
    """In every half-coupled layer an inverse tangent (not below the first), the Gram matrix of its
    features, its eigenvalues, their use on the targets, what is reached, and the weights.
    """
    couplings = [layer for layer in layers if layer.up == 2 * samples * layer.inputs
                 * layer.outputs]
    work = -total(layers[1:], "down") - total(layers, "weights")  # no gradient is needed
    for k, layer in enumerate(couplings):
        small = min(samples, layer.inputs)
        work += samples**2 * layer.inputs + 9 * small**3 + 3 * small**2 * layer.outputs
        work += layer.weights + (2 if k == 0 else 3) * layer.up / 2
    return work


BEYOND = {"partitioning": partitioning, "cubic-sgd": cubic, "cubic-adam": cubic, "ea-cg": ea_cg,
          "truncated-newton": truncated_newton}


def step_work(entrant, network, samples):
    """The work of a step in gradients of the batch, as a function of what `step` reports.

    Of an `entrant` that is not known here, a user's own, only the gradient is counted.
    """
    layers, classes = passes(network, samples), int(np.prod(network.output_shape))
    whole, beyond = gradient(layers), BEYOND.get(entrant, nothing)
    if entrant == "gauss-newton":
        coupled = any(isinstance(layer, Coupling) for layer in network.layers)
        beyond = right_inverse if coupled else moore_penrose
    if entrant == "kfac":
        wide = layers[0].inputs >= 500
        return lambda info: 1 + kfac(layers, samples, classes, info, wide) / whole
    return lambda info: 1 + beyond(layers, samples, classes, info) / whole
