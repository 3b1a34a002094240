"""Random networks on which two rooms meet."""

from typing import NamedTuple

import numpy as np

from ....nets import Activation, Linear, Network, SoftmaxCrossEntropy, SquaredError


class Case(NamedTuple):
    """A network with a loss and a batch."""

    name: str
    network: Network
    loss: object
    x: np.ndarray
    y: np.ndarray


def linear(rng, n_in, n_out, bias=True, trainable=True):
    """A linear layer with random weights and, unlike a fresh one, random biases."""
    layer = Linear(n_in, n_out, bias=bias, trainable=trainable, rng=rng)
    layer.weight = rng.normal(size=(n_out, n_in)) / np.sqrt(n_in)
    if bias:
        layer.bias = rng.normal(size=n_out) / 2
    return layer


def targets(rng, loss, samples, outputs):
    """Random targets in the form that the loss takes."""
    if isinstance(loss, SoftmaxCrossEntropy):
        return rng.integers(outputs, size=samples)
    return rng.normal(size=(samples, outputs))


def network(rng, activation, widths, bias=True, trained=None):
    """Linear layers of these widths with an activation between each two.

    `trained` is the number of the only layer that is trained; default: all are.
    """
    layers = []
    for t, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
        layers += [linear(rng, n_in, n_out, bias, trained in (None, t)), Activation(activation)]
    return Network(layers[:-1])


def variety(rng, losses=(SquaredError, SoftmaxCrossEntropy)):
    """Networks with several activations, with and without biases, and batches of 1, 2 and 9."""
    cases = []
    for activation, samples, bias in (("tanh", 2, True), ("sigmoid", 9, False),
                                      ("softplus", 1, True), ("relu", 9, True)):
        for loss in (loss_class() for loss_class in losses):
            net = network(rng, activation, [3, 4, 3, 2], bias)
            cases.append(Case(f"{activation}, {_name(loss)}, batch {samples}", net, loss,
                              rng.normal(size=(samples, 3)), targets(rng, loss, samples, 2)))
    return cases


def _name(loss):
    return "softmax" if isinstance(loss, SoftmaxCrossEntropy) else "squared"
