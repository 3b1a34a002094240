"""Random small cases for the checks; what they are compared with stands in ``reference``."""

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from .... import exact
from ....nets import (Activation, ActivationFunction, Chain, Linear, Network, SoftmaxCrossEntropy,
                      SquaredError)
from .. import coefficients, partitions
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
    absolute values of all parameters; ``output="identity"`` adds no layer at the end.
    """
    layers = []
    for k, (n_in, n_out) in enumerate(pairwise(sizes)):
        layers.append(Linear(n_in, n_out, bias=bias, trainable=k not in fixed,
                             init=scale / np.sqrt(n_in), rng=rng))
        behind = activation if k < len(sizes) - 2 else output
        if behind != "identity":
            layers.append(Activation(behind))
    net = Network(layers)
    if positive:
        net.theta = np.abs(net.theta)
    return net


def evaluated(rng, net, loss="squared", samples=5, positive=False, size=1.0):
    """A network on a random batch: normal numbers times `size`, or labels for the softmax."""
    x = size * rng.normal(size=(samples, *net.input_shape))
    shape = (samples, *net.output_shape)
    y = rng.integers(0, shape[1], samples) if loss == "softmax" else size * rng.normal(size=shape)
    return net.evaluate(ALL_LOSSES[loss](), np.abs(x) if positive else x, y)


def evaluation(rng, activation="tanh", loss="squared", samples=5, positive=False, size=1.0,
               **options):
    """A random network (``options`` as for :func:`network`), :func:`evaluated`."""
    net = network(rng, activation, positive=positive, **options)
    return evaluated(rng, net, loss, samples, positive, size)


def variety(rng, activations=(*CURVED, "relu", "identity"), losses=tuple(LOSSES), **options):
    """A dict with an evaluation for every pair of activation and loss, named by both."""
    return {f"{activation}, {loss}": evaluation(rng, activation, loss, **options)
            for activation, loss in product(activations, losses)}


def by_chance(rng, **options):
    """An :func:`evaluation` with three samples, a curved activation and a loss by chance."""
    return evaluation(rng, **{"activation": rng.choice(CURVED), "loss": rng.choice(list(LOSSES)),
                              "samples": 3} | options)


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
    """A dict with an evaluation for everything that a fault may hide behind: `ROWS`, each
    :func:`by_chance`, and a dead unit; `options` go before those of a row.
    """
    drawn = {name: by_chance(rng, **row | options) for name, row in ROWS.items()
             if name not in leave_out}
    loss, net = rng.choice(list(LOSSES)), network(rng, "relu")
    # its first hidden unit is 0 in the whole batch, and with it its slope
    net.layers[0].bias[0] = -100.0
    return drawn | {"a dead unit": evaluated(rng, net, loss)}


def rows_and_sin(rng):
    """:func:`rows`, and an activation with slopes of both signs."""
    return rows(rng) | {"sin": evaluation(rng, "sin", scale=3.0)}


def numbers_of_samples(make, rng, **options):
    """`make(rng, samples=...)` for batches of one, of three and of more than eight."""
    return {f"{samples} samples": make(rng, samples=samples, **options) for samples in (1, 3, 11)}


def nested(at):
    """The same network as a chain in a chain in a chain, evaluated on the same batch."""
    first, *rest = [layer.copy() for layer in at.network.layers]
    net = Network([first, Chain([*rest[:1], Chain(rest[1:])])] if len(rest) > 1 else [first, *rest])
    return net.evaluate(at.loss_function, at.x, at.y)


def single_precision(at):
    """The same network and batch in float32."""
    return at.network.astype("float32").evaluate(at.loss_function, at.x, at.y)


def curved(rng, **options):
    """A small network with a curved activation and three outputs, evaluated on three samples.

    With two outputs both second derivatives of the softmax would be the same.
    """
    return by_chance(rng, **{"scale": 1.5, "sizes": (3, 3, 2, 3)} | options)


def tight(rng):
    """A positive relu network with one output: equalities if all parameters change alike."""
    return evaluation(rng, "relu", positive=True, sizes=(3, 4, 3, 1))


def one_unit(theta, target, activation="identity", x=1.0, bias=True):
    """One unit a layer, one sample: y = w2 s(w1 x + b1) + b2, theta = w1, b1, w2, b2."""
    hidden = [] if activation == "identity" else [Activation(activation)]
    net = Network([Linear(1, 1, bias=bias), *hidden, Linear(1, 1, bias=bias)])
    net.theta = np.array(theta)
    return net.evaluate(SquaredError(), np.full((1, 1), x), np.full((1, 1), target))


def product_of_weights():
    """The smallest case in which dropped products matter: y = w2 w1 x, all zero but x = 1."""
    return one_unit((0.0, 0.0, 0.0, 0.0), 1.0)


def bent_unit():
    """One tanh unit far above its target: the coefficient below it is negative."""
    return one_unit((1.0, 0.0, 1.0, 0.0), -5.0, "tanh")


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


def true_hessian(at):
    """The Hessian of the objective at an evaluation, (P, P)."""
    return exact.hessian(at.network, at.loss_function, at.x, at.y, method="products")


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

    @property
    def best(self):
        """The fractions of (10)."""
        return partitions.optimal(self.layer, self.y, self.u)

    def below(self, partition=None):
        """The coefficients (9) of the layer's weights and inputs."""
        return coefficients.affine(self.layer, self.y, self.Y_dot, self.Y_ddot,
                                   self.partition if partition is None else partition)

    @property
    def terms(self):
        """The numbers that share a simplex, (S, out, 1 + 2 in)."""
        return reference.terms(self.layer, self.y, self.u)


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


def affine_and_first(rng):
    """:func:`affine_rows`, and a first layer."""
    return affine_rows(rng) | {"first": affine(rng, first=True)}


def in_proportion(a):
    """One sample, one output, changes in proportion to optimal fractions: equalities hold."""
    y, u, only = a.y[:1], a.u[:1], np.eye(len(a.dW))[:1]
    signs = np.sign(np.hstack([np.ones((1, 1)), y]))
    return AffineCase(a.layer, y, u, a.Y_dot[:1] * only, a.Y_ddot[:1] * only,
                      0.7 * signs * np.ones_like(a.dW),
                      0.7 * u * np.sign(a.layer.weight[:1]), partitions.optimal(a.layer, y, u))


def proportional_change(a):
    """The change of the only output of :func:`in_proportion`, and the right side of (7)."""
    one = in_proportion(a)
    return (reference.parts(one.layer, one.y, one.dW, one.dY)[0, 0].sum(),
            coefficients.squared_change_bound(one.layer, one.y, one.dW, one.dY,
                                              one.partition)[0, 0])


def steps(rng, size, count=40):
    """Changes, (count, size): normal, sign vectors, sparse ones, of lengths from 0.01 to 10."""
    normal, signs = rng.normal(size=(count, size)), rng.choice([-1.0, 1.0], size=(count, size))
    sparse = normal * (rng.random((count, size)) < 0.15)
    chosen = np.array([(normal, signs, sparse)[k % 3][k] for k in range(count)])
    return chosen * 10.0 ** rng.uniform(-2, 1, size=(count, 1))
