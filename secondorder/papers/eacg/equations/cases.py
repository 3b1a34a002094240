"""Random small networks with their batches, and the claims that are made of them."""

import functools
from typing import NamedTuple

import numpy as np

from .... import ledger
from ....ledger import AtMost, Equal
from ....nets import Activation, BoundedCriterion, Chain, Linear, Network, SoftmaxCrossEntropy
from .. import PAPER
from .. import eq_04_hessian as hessians
from . import reference

LOSSES = {"softmax": SoftmaxCrossEntropy, "bounded": BoundedCriterion}
ACTIVATIONS = ("sigmoid", "tanh", "softplus", "sin")
SIZES = (3, 4, 3, 3)


#: The registration of this paper's displays.
equation = functools.partial(ledger.equation, PAPER)


class Described(NamedTuple):
    """A linear layer with the name of the activation behind it (None: there is none), and where its
    entries stand in theta (None: they do not; the layer is frozen, or has no bias).
    """

    layer: object
    activation: str | None
    weight: np.ndarray | None
    bias: np.ndarray | None


class Case(NamedTuple):
    """A network, its parameters, a batch, and its evaluation.

    `theta` and `x` are float64 whatever the network's dtype: they are what the reference starts
    from.
    """

    name: str
    activation: str
    loss: str
    sizes: tuple
    network: object
    theta: np.ndarray
    x: np.ndarray
    y: np.ndarray
    evaluation: object
    layers: list  # `Described`, t = 1..k

    @property
    def all_layers(self):
        """The room's layers."""
        return hessians.layers_of(self.evaluation)

    @property
    def passes(self):
        """The room's layers and H_i^k, as the curvatures take them."""
        return self.all_layers, self.top()

    @property
    def model(self):
        """Network, loss, x and y, as the package's functions take them."""
        return self.network, self.evaluation.loss_function, self.x, self.y

    def layer(self, t):
        """The room's layer t = 1..k."""
        return self.all_layers[t - 1]

    def weights(self, t):
        """W^t, float64, from the network."""
        return self.layers[t - 1].layer.weight.astype(float)

    def top(self, rows=slice(None)):
        """H_i^k, (S, C, C), of all instances or of some."""
        at = self.evaluation
        return hessians.eq_4a_output_hessian(at.loss_function, at.outputs, at.y)[rows]

    def exact(self):
        """H_i^t of all layers."""
        return hessians.bias_hessians(*self.passes)

    def exact_means(self):
        """E_i[H_i^t] of all layers."""
        return [H.mean(axis=0) for H in self.exact()]

    def named(self, layer=None):
        """The name of the case, or of a layer of it."""
        return self.name if layer is None else f"{self.name}, layer {layer}"

    def allowed(self, tolerance):
        """The tolerance, or a hundred roundings in the network's dtype where that is more."""
        return max(tolerance, 100 * float(np.finfo(self.network.dtype).eps))

    def equal(self, what, left, right, tolerance, layer=None, **options):
        """The claim `Equal` on this case, or on a layer of it, with the tolerance `allowed`."""
        return Equal(what, left, right, self.allowed(tolerance), case=self.named(layer), **options)

    def positive(self, what, B, layer=None):
        """The claim that B has no negative eigenvalue; `what` names the least one."""
        return AtMost(f"0 against {what}", 0.0, reference.least(B), self.allowed(1e-12), scale=1.0,
                      case=self.named(layer))


def positive(what, *matrices, **options):
    """The claim that no matrix has a negative eigenvalue; `what` names the least one."""
    return AtMost(f"0 against {what}", 0.0, [reference.least(B) for B in matrices], scale=1.0,
                  **options)


def case(rng, activation="sigmoid", loss="softmax", sizes=SIZES, samples=5, scale=1.0, bias=True,
         frozen=(), plain=(), nested=False, dtype="float64", name=None):
    """A random network, evaluated on normal inputs and random labels.

    `frozen` and `plain` name the layers t that are not trained, and those without an activation;
    `nested` puts them into chains of chains.
    """
    sequence, described, start = [], [], 0
    for t, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]), start=1):
        follows = None if t in plain or t == len(sizes) - 1 else activation
        layer = Linear(m, n, bias=bias, trainable=t not in frozen, init=scale, rng=rng)
        sequence += [layer] if follows is None else [layer, Activation(follows)]
        weight = places = None
        if t not in frozen:
            weight = start + np.arange(n * m).reshape(n, m)
            places = start + n * m + np.arange(n) if bias else None
            start += n * (m + bias)
        described.append(Described(layer, follows, weight, places))
    if nested:
        sequence = [Chain(sequence[:1]), Chain([Chain(sequence[1:3]), *sequence[3:]])]
    net = Network(sequence).astype(dtype)
    linear = (layer for layer in net.chain.sublayers() if isinstance(layer, Linear))
    described = [one._replace(layer=layer) for one, layer in zip(described, linear)]
    x = rng.normal(size=(samples, sizes[0])).astype(dtype).astype(float)
    y = rng.integers(0, sizes[-1], samples)
    evaluation = net.evaluate(LOSSES[loss](), x, y)
    return Case(name or f"{activation}, {loss}", activation, loss, tuple(sizes), net,
                net.theta.astype(float), x, y, evaluation, described)


def variety(rng, activations=ACTIVATIONS, losses=tuple(LOSSES), **options):
    """A case for every activation, the losses taking turns."""
    return [case(rng, activation, losses[k % len(losses)], **options)
            for k, activation in enumerate(activations)]


#: What else a network or a batch may be, by name: options of `case`.
UNUSUAL = {
    "first layer frozen": {"frozen": (1,)},
    "middle layer frozen": {"frozen": (2,)},
    "last layer frozen": {"frozen": (3,)},
    "no biases": {"bias": False},
    "chains in chains": {"nested": True},
    "no activation after layer 1": {"plain": (1,)},
    "no activation after layer 2": {"plain": (2,)},
    "one instance": {"samples": 1},
    "eleven instances": {"samples": 11},
    "float32": {"dtype": "float32"},
}


def unusual(rng, names=tuple(UNUSUAL), **options):
    """A case for each of these, activation and loss drawn unless they are given."""
    return [case(rng, **{"activation": str(rng.choice(ACTIVATIONS)),
                         "loss": str(rng.choice(list(LOSSES))), "name": name,
                         **UNUSUAL[name], **options}) for name in names]


def various(rng):
    """`variety` and `unusual`."""
    return [*variety(rng), *unusual(rng)]


def psd(rng, n, rank=None):
    """A random positive semidefinite matrix (n, n)."""
    root = rng.normal(size=(n, n if rank is None else rank))
    return root @ root.T / n


def layer(rng, n=3, m=4, S=6):
    """B (n, n), inputs X (S, m), gradients of the bias (S, n), and the G (n, m) that follows."""
    B, X, deltas = psd(rng, n), rng.normal(size=(S, m)) + 0.5, rng.normal(size=(S, n))
    return B, X, deltas, deltas.T @ X / S
