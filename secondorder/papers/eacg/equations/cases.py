"""Random small networks with their batches, and what the room makes of them."""

from typing import NamedTuple

import numpy as np

from ....nets import BoundedCriterion, SoftmaxCrossEntropy, mlp
from .. import hessians, layers

LOSSES = {"softmax": SoftmaxCrossEntropy, "bounded": BoundedCriterion}
SIZES = (3, 4, 3, 3)


class Case(NamedTuple):
    """A network at theta, a batch, its evaluation, and the room's units (layers with what they
    saved).
    """

    activation: str
    loss: str
    sizes: tuple
    network: object
    theta: np.ndarray
    x: np.ndarray
    y: np.ndarray
    evaluation: object
    units: list

    def linear(self, t):
        """The linear layer t = 1..k."""
        return layers.linear(self.units)[t - 1]

    def weights(self, t):
        """W^t."""
        return self.linear(t).layer.weight

    def inputs(self, t):
        """h_i^{t-1}, (S, n_{t-1})."""
        return self.linear(t).saved.input

    def deltas(self, t):
        """g_i^t, (S, n_t)."""
        return self.linear(t).delta

    def hidden(self, t):
        """What the activation of layer t saved: slope h' and curvature h''."""
        return self.units[2 * t - 1].saved

    def top(self):
        """H_i^k, (S, C, C)."""
        return hessians.output_hessians(self.evaluation.loss_function, self.evaluation.outputs,
                                        self.evaluation.y)

    def exact(self):
        """H_i^t of all layers."""
        return hessians.bias_hessians(self.units, self.top())

    @property
    def name(self):
        """Activation and loss."""
        return f"{self.activation}, {self.loss}"

    @property
    def depth(self):
        """k."""
        return len(self.sizes) - 1


def case(rng, activation="sigmoid", loss="softmax", sizes=SIZES, samples=5, scale=1.0):
    """A random network with biases, evaluated on normal inputs and random labels."""
    net = mlp(sizes, activation=activation, init=scale, rng=rng)
    x, y = rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)
    evaluation = net.evaluate(LOSSES[loss](), x, y)
    return Case(activation, loss, tuple(sizes), net, net.theta.copy(), x, y, evaluation,
                layers.units(evaluation))


def variety(rng, activations=("sigmoid", "tanh", "softplus", "sin"), losses=tuple(LOSSES),
            **options):
    """A case for every activation, the losses taking turns."""
    return [case(rng, activation, losses[k % len(losses)], **options)
            for k, activation in enumerate(activations)]


def psd(rng, n, rank=None):
    """A random positive semidefinite matrix (n, n)."""
    root = rng.normal(size=(n, n if rank is None else rank))
    return root @ root.T / n
