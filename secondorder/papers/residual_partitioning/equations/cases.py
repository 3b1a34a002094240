"""Random small cases for the checks; what they are compared with stands in ``reference``."""

from itertools import product
from typing import NamedTuple

import numpy as np

from ....nets import (Activation, ActivationFunction, Chain, Linear, Network, SoftmaxCrossEntropy,
                      SquaredError)
from .. import partitions
from ..explicit import explicit_bound, partitions_of
from ..hessian import bounded_hessian
from . import reference

CURVED = ("tanh", "softplus", "sigmoid")


class Stretched(ActivationFunction):
    """s(x) = 3 sin x: slopes of both signs and above one."""

    name = "3 sin"

    def value(self, x):
        return 3 * np.sin(x)

    def slope(self, x):
        return 3 * np.cos(x)

    def curvature(self, x):
        return -3 * np.sin(x)


class Steep(SquaredError):
    """Ten times half the squared error: a diagonal Hessian with entries of ten."""

    def value(self, p, y):
        return 10 * super().value(p, y)

    def gradient(self, p, y):
        return 10 * super().gradient(p, y)

    def hessian_diagonal(self, p, y):
        return 10 * super().hessian_diagonal(p, y)


LOSSES = {"squared": SquaredError, "softmax": SoftmaxCrossEntropy}
ALL_LOSSES = LOSSES | {"steep": Steep}


# -- networks and batches --------------------------------------------------------------------------

def network(rng, activation="tanh", sizes=(3, 4, 3, 3), scale=1.0, bias=True, output="identity",
            fixed=(), positive=False):
    """A chain Linear, Activation, ..., Linear; uniform, of half-width scale / sqrt(fan in).

    `fixed` numbers the linear layers, from 0, that are not trained; ``positive=True`` takes
    absolute values of weights and biases; ``output="identity"`` adds no layer at the end.
    """
    layers = []
    for k, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:])):
        layer = Linear(n_in, n_out, bias=bias, trainable=k not in fixed, init=scale / np.sqrt(n_in),
                       rng=rng)
        if positive:
            for name, value in layer.parameters.items():
                layer.assign(name, np.abs(value))
        name = activation if k < len(sizes) - 2 else output
        layers += [layer] if name == "identity" else [layer, Activation(name)]
    return Network(layers)


def batch(rng, net, loss="squared", samples=5, positive=False, size=1.0):
    """Inputs and targets: normal numbers times `size`, or labels for the softmax."""
    x = size * rng.normal(size=(samples, *net.input_shape))
    shape = (samples, *net.output_shape)
    y = rng.integers(0, shape[1], samples) if loss == "softmax" else size * rng.normal(size=shape)
    return np.abs(x) if positive else x, y


def evaluation(rng, activation="tanh", loss="squared", samples=5, positive=False, size=1.0,
               **options):
    """A random network (``options`` as for :func:`network`), evaluated on a random batch."""
    net = network(rng, activation, positive=positive, **options)
    return net.evaluate(ALL_LOSSES[loss](), *batch(rng, net, loss, samples, positive, size))


def variety(rng, activations=(*CURVED, "relu", "identity"), losses=tuple(LOSSES), **options):
    """A dict with an evaluation for every pair of activation and loss, named by both."""
    return {f"{activation}, {loss}": evaluation(rng, activation, loss, **options)
            for activation, loss in product(activations, losses)}


ROWS = {"one sample": {"samples": 1}, "two samples": {"samples": 2},
        "eleven samples": {"samples": 11},
        "first layer fixed": {"fixed": (0,)}, "middle layer fixed": {"fixed": (1,)},
        "last layer fixed": {"fixed": (2,)}, "only the last layer trained": {"fixed": (0, 1)},
        "only the middle layer trained": {"fixed": (0, 2)},
        "no bias": {"bias": False}, "no activation": {"activation": "identity"},
        "an activation at the output": {"output": "softplus"},
        "a single layer": {"sizes": (3, 3)}, "one output": {"sizes": (2, 3, 1), "loss": "squared"},
        "slopes above one": {"activation": Stretched()},
        "second derivatives of ten": {"loss": "steep"},
        "large numbers": {"activation": "softplus", "loss": "steep", "size": 3.0}}


def rows(rng, leave_out=(), **options):
    """A dict with an evaluation for everything that a fault may hide behind: `ROWS`, each with a
    curved activation and a loss by chance, and a dead unit; `options` go before those of a row.
    """
    drawn = {name: evaluation(rng, **{"activation": rng.choice(CURVED),
                                      "loss": rng.choice(list(LOSSES)), "samples": 3} | row
                              | options)
             for name, row in ROWS.items() if name not in leave_out}
    return drawn | {"a dead unit": with_dead_unit(rng, rng.choice(list(LOSSES)))}


def numbers_of_samples(make, rng, **options):
    """`make(rng, samples=...)` for batches of one, of three and of more than eight."""
    return {f"{samples} samples": make(rng, samples=samples, **options) for samples in (1, 3, 11)}


def nested(at):
    """The same network as a chain in a chain in a chain, evaluated on the same batch."""
    first, *rest = [layer.copy() for layer in at.network.layers]
    net = Network([first, Chain([*rest[:1], Chain(rest[1:])])] if len(rest) > 1 else [first, *rest])
    return net.evaluate(at.loss_function, at.x, targets(at))


def single_precision(at):
    """The same network and batch in float32."""
    return at.network.astype("float32").evaluate(at.loss_function, at.x, targets(at))


def targets(at):
    """The targets of a batch as the loss takes them."""
    softmax = isinstance(at.loss_function, SoftmaxCrossEntropy)
    return at.y.argmax(axis=1) if softmax else at.y


def curved(rng, **options):
    """A small network with a curved activation and three outputs, evaluated on three samples.

    With two outputs both second derivatives of the softmax would be the same.
    """
    return evaluation(rng, rng.choice(CURVED), rng.choice(list(LOSSES)), scale=1.5,
                      **{"samples": 3, "sizes": (3, 3, 2, 3), **options})


def tight(rng):
    """A positive relu network with one output: equalities if all parameters change alike."""
    return evaluation(rng, "relu", positive=True, sizes=(3, 4, 3, 1))


def product_of_weights(w1=0.0, w2=0.0, target=1.0, bias=True):
    """The smallest case in which dropped products matter: y = w2 w1 x, biases zero, x = 1.

    Order of the parameters: w1, b1, w2, b2.
    """
    net = Network([Linear(1, 1, bias=bias, init=0.0), Linear(1, 1, bias=bias, init=0.0)])
    net.layers[0].weight, net.layers[1].weight = [[w1]], [[w2]]
    return net.evaluate(SquaredError(), np.ones((1, 1)), np.full((1, 1), target))


def bent_unit(w2=1.0, target=-5.0):
    """One tanh unit far above its target: the coefficient below it is negative.

    y = w2 tanh(w1 x + b1) + b2 with w1 = x = 1 and both biases 0; in order w1, b1, w2, b2.
    """
    net = Network([Linear(1, 1, init=0.0), Activation("tanh"), Linear(1, 1, init=0.0)])
    net.layers[0].weight, net.layers[2].weight = [[1.0]], [[w2]]
    return net.evaluate(SquaredError(), np.ones((1, 1)), np.full((1, 1), target))


def with_dead_unit(rng, loss="squared"):
    """A relu network whose first hidden unit is 0 in the whole batch, and with it its slope."""
    net = network(rng, "relu")
    net.layers[0].bias[0] = -100.0
    return net.evaluate(LOSSES[loss](), *batch(rng, net, loss))


def with_residual(at, residual):
    """The same network, inputs, and targets `residual` below the outputs, half squared error."""
    return at.network.evaluate(SquaredError(), at.x, at.outputs - residual)


def all_positive(rng, sizes=(3, 3, 2, 3), samples=2):
    """Softplus, positive weights, outputs above targets: no coefficient below is negative."""
    start = evaluation(rng, "softplus", samples=samples, sizes=sizes, positive=True)
    return with_residual(start, rng.uniform(0.5, 3.0, start.outputs.shape))


def all_negative(rng):
    """Softplus, positive weights, outputs far below targets: coefficients below are negative."""
    return with_residual(evaluation(rng, "softplus", samples=3, sizes=(3, 3, 2, 3), positive=True),
                         -1000.0)


def optimal_up_to(at, below, rng, negative_curvature="none"):
    """An explicit bound, optimal in the first `below` layers, with random fractions above."""
    best, drawn = partitions_of(at), partitions_of(at, rng)
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
    phi = partitions.arbitrary_output(f_ii, reference.total_gradients(at)[-1], rng)
    return explicit_bound(at, best[:below] + drawn[below:], phi, negative_curvature)


def bounded(at):
    """The Hessian of what is bounded at an evaluation, (P, P)."""
    return bounded_hessian(at.network, at.loss_function, at.x, at.y)


class AffineCase(NamedTuple):
    """One affine layer with everything that its equations mention, all entries non-zero."""

    layer: Linear
    y: np.ndarray       # (S, in)
    u: np.ndarray       # (S, in), positive
    Y_dot: np.ndarray   # (S, out), both signs
    Y_ddot: np.ndarray  # (S, out), positive
    dW: np.ndarray      # (out, 1 + in)
    dY: np.ndarray      # (S, in)
    partition: partitions.Partition


def affine(rng, samples=4, n_in=3, n_out=2, first=False, size=1.0, **options):
    """A random :class:`AffineCase`, arbitrary partition; `first`: u = dY = phi = 0; y, u and Y_dot
    are of about `size`.
    """
    layer = Linear(n_in, n_out, init=1.5, rng=rng, **options)
    y, dY = size * rng.normal(size=(2, samples, n_in))
    u = size * rng.uniform(0.2, 3.0, size=(samples, n_in))
    if first:
        u, dY = np.zeros_like(u), np.zeros_like(dY)
    Y_dot = size * rng.normal(size=(samples, n_out))
    Y_ddot = rng.uniform(0.1, 2.0, size=(samples, n_out))
    dW = rng.normal(size=(n_out, 1 + n_in)) * layer.trainable
    return AffineCase(layer, y, u, Y_dot, Y_ddot, dW, dY, partitions.arbitrary(layer, y, u, rng))


AFFINE_ROWS = {"four samples": {}, "one sample": {"samples": 1}, "eleven samples": {"samples": 11},
               "no bias": {"bias": False}, "fixed": {"trainable": False},
               "large numbers": {"size": 30.0}}


def affine_rows(rng, first=False):
    """A dict with an `AffineCase` for everything that a fault may hide behind; a first layer is
    trained, as nothing moves otherwise.
    """
    return {name: affine(rng, first=first, **row) for name, row in AFFINE_ROWS.items()
            if not (first and name == "fixed")}


def in_proportion(a):
    """One sample, one output, changes in proportion to optimal fractions: equalities hold."""
    y, u, only = a.y[:1], a.u[:1], np.eye(len(a.dW))[:1]
    signs = np.sign(np.hstack([np.ones((1, 1)), y]))
    return AffineCase(a.layer, y, u, a.Y_dot[:1] * only, a.Y_ddot[:1] * only,
                      0.7 * signs * np.ones_like(a.dW),
                      0.7 * u * np.sign(a.layer.weight[:1]), partitions.optimal(a.layer, y, u))


def steps(rng, size, count=40):
    """Changes, (count, size): normal, sign vectors, sparse ones, of lengths from 0.01 to 10."""
    normal, signs = rng.normal(size=(count, size)), rng.choice([-1.0, 1.0], size=(count, size))
    sparse = normal * (rng.random((count, size)) < 0.15)
    chosen = np.array([(normal, signs, sparse)[k % 3][k] for k in range(count)])
    return chosen * 10.0 ** rng.uniform(-2, 1, size=(count, 1))
