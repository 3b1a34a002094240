"""Work: the multiplications of a step's matrix products, in gradients of the problem's batch.

A Cholesky factorisation of n rows counts n^3 / 3, eigenvectors 9 n^3. What goes entry by entry is
not counted. Of a linear layer with m inputs and n outputs a product with the weights (`up`), one
with the transposed weights (`down`) and one that gives the weights' gradient (`weights`) count
S n m each for S samples. A gradient takes `up` and `weights` in every layer, and `down` in all but
the first. A second number, "above", sums over all layers but the first.
"""

from typing import NamedTuple

import numpy as np

from secondorder.nets import Activation, Linear


class Layers(NamedTuple):
    """(m, n) of the linear layers from the input up, whether each has a bias, and the samples;
    `sigma` is whether an activation ends the network; `all` is one product in every layer, `above`
    one in every layer but the first.
    """

    shapes: list
    biases: list
    samples: int
    sigma: bool
    all: int
    above: int


def layers_of(network, samples):
    """`Layers` of a fully-connected network."""
    linear = [layer for layer in network.layers if isinstance(layer, Linear)]
    shapes = [layer.weight.shape[::-1] for layer in linear]
    products = [samples * m * n for m, n in shapes]
    return Layers(shapes, [layer.bias is not None for layer in linear], samples,
                  isinstance(network.layers[-1], Activation), sum(products), sum(products[1:]))


def gradient(layers):
    """up + weights + down above."""
    return 2 * layers.all + layers.above


# -- what a step takes beyond a gradient -----------------------------------------------------------


def partitioning(layers, info):
    """u up above; Z down above; the curvature like the weights' gradient."""
    return layers.all + 2 * layers.above


def cubic(layers, info):
    """P v; above W v' and P v' besides."""
    return layers.all + 2 * layers.above


def ea_cg(layers, info):
    """Pos-Eig at the top; below it W^T B W and the slopes' second moment; conjugate gradients.

    An iteration is a product with B (n, n). The solution for the weights takes one with the mean
    input before. Where a sigma ends the network, one layer with W = I carries it.
    """
    S, (_, classes) = layers.samples, layers.shapes[-1]
    steps = layers.shapes[1:] + ([(classes, classes)] if layers.sigma else [])
    systems = [n for (_, n), bias in zip(layers.shapes, layers.biases) for _ in range(1 + bias)]
    iterations = info["cg_iterations"] / len(systems)  # of one system, in the mean
    return (10 * classes**3 + sum(n * n * m + n * m * m + S * m * m for m, n in steps)
            + iterations * sum(n * n for n in systems) + sum(m * n for m, n in layers.shapes))


def kfi(layers, info):
    """A second backward pass for drawn targets; both second moments, their factors, their solves.

    Inputs wider than the batch are solved for by the batch's Gram matrix.
    """
    S, work = layers.samples, layers.above
    for (m, n), bias in zip(layers.shapes, layers.biases):
        work += S * n * n + n**3 / 3 + n * n * m + bias * (n**3 / 3 + n * n)  # B, and its solves
        if m <= S:
            work += S * m * m + m**3 / 3 + n * m * m
        else:
            work += S * S * m + S**3 / 3 + n * S * S + 2 * S * n * m
    return work


def truncated_newton(layers, info):
    """Products of conjugate gradients and one for the predicted decrease, each with tangents up
    (P v; above W v') and a way back; a forward pass for every step that was tried.
    """
    product = 2 * layers.all + 2 * layers.above
    return (info["cg_iterations"] + 1) * product + (1 + info["halvings"]) * layers.all


BEYOND = {"partitioning": partitioning, "cubic": cubic, "ea-cg": ea_cg, "kfi": kfi,
          "truncated-newton": truncated_newton}


def step_work(method, network, problem, samples):
    """The work of a step, as a function of what the step reports.

    Of a method that is not known here, a user's own, only the gradient is counted.
    """
    layers, beyond = layers_of(network, samples), BEYOND.get(method.key, lambda *_: 0)
    unit, own = gradient(layers_of(network, problem.batch)), gradient(layers)
    return lambda info: float(np.divide(own + beyond(layers, info), unit))
