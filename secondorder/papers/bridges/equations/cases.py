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

    @property
    def model(self):
        """What the package's functions take."""
        return self[1:]


def linear(rng, n_in, n_out, bias=True, trainable=True):
    """A linear layer with random weights and, unlike a fresh one, random biases."""
    layer = Linear(n_in, n_out, bias=bias, trainable=trainable, init=1 / np.sqrt(n_in), rng=rng)
    if bias:
        layer.bias = rng.normal(size=n_out) / 2
    return layer


def network(rng, activation, widths, bias=True, trained=None):
    """Linear layers of these widths with an activation between each two.

    `trained` is the number of the only layer that is trained; default: all are.
    """
    layers = []
    for t, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
        layers += [linear(rng, n_in, n_out, bias, trained in (None, t)), Activation(activation)]
    return Network(layers[:-1])


def variety(rng):
    """Networks with several activations, with and without biases, batches of 1, 2 and 9, and both
    losses.
    """
    cases = []
    for activation, samples, bias in (("tanh", 2, True), ("sigmoid", 9, False),
                                      ("softplus", 1, True), ("relu", 9, True)):
        for name, loss, y in (("squared", SquaredError(), rng.normal(size=(samples, 2))),
                              ("softmax", SoftmaxCrossEntropy(), rng.integers(2, size=samples))):
            cases.append(Case(f"{activation}, {name}, batch {samples}",
                              network(rng, activation, [3, 4, 3, 2], bias), loss,
                              rng.normal(size=(samples, 3)), y))
    return cases
