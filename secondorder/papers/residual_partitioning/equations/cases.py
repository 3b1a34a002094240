"""Random small cases for the checks; what they are compared with stands in ``reference``."""

from collections import namedtuple
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from .... import exact
from ....nets import Activation, Chain, Linear, Network, SoftmaxCrossEntropy, SquaredError
from ..section_2_setup import by_parameter, flat, own_inputs
from ..section_3_residual_partitioning import Coefficients, eq_9_coefficients, theorem_1
from ..section_3_what_is_bounded import bounded_hessian
from ..section_4_partitioning_variables import eq_10_fractions, theorem_2
from ..section_7_3_proof_of_theorem_2 import eq_46_fractions_at_outputs
from ..section_7_algorithm_1 import algorithm_1_last_lines
from . import reference

CURVED = ("tanh", "softplus", "sigmoid")
SMOOTH = (*CURVED, "sin")  # sin: slopes below 0
kept = np.positive  # what becomes of a negative coefficient where its sign is kept


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
        "slopes below zero": {"activation": "sin", "scale": 3.0},
        "second derivatives of ten": {"loss": "steep"},
        "large numbers": {"activation": "softplus", "loss": "steep", "size": 3.0}}


def rows(rng, **options):
    """A dict with an evaluation for everything that a fault may hide behind: `ROWS`, each
    :func:`by_chance`, and a dead unit; `options` go before those of a row.
    """
    net = network(rng, "relu")
    # its first hidden unit is 0 in the whole batch, and with it its slope
    net.layers[0].bias[0] = -100.0
    return {name: by_chance(rng, **row | options) for name, row in ROWS.items()} | {
        "a dead unit": evaluated(rng, net, rng.choice(list(LOSSES)))}


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


def tight(rng, activation="relu"):
    """A positive network with one output: equalities if all parameters change alike."""
    return evaluation(rng, activation, positive=True, sizes=(3, 4, 3, 1))


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


def bounded(at):
    """The Hessian of what is bounded at an evaluation, (P, P)."""
    return bounded_hessian(at.network, at.loss_function, at.x, at.y)


def true_hessian(at):
    """The Hessian of the objective at an evaluation, (P, P)."""
    return exact.hessian(at.network, at.loss_function, at.x, at.y, method="products")


# -- the bound from explicit fractions -------------------------------------------------------------

#: `theorem_1` at an evaluation, with what went into it; gradient and curvature are (P,).
Built = namedtuple("Built", (*Coefficients._fields, "partitions", "u", "gradient", "curvature"))


def built(at, partitions=None, phi=None, correct=np.abs):
    """The bound from explicit fractions; by default those of Theorem 2, at the outputs too."""
    best, u = theorem_2(at)
    partitions = best if partitions is None else partitions
    if phi is None:
        f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
        phi = eq_46_fractions_at_outputs(f_ii, u[-1])
    made = theorem_1(at, partitions, phi, correct)
    W = [flat(part for layer, W in zip(at.network.layers, Ws) if W is not None
              for part in by_parameter(layer, W)) for Ws in made[:2]]
    return Built(*made, partitions, u, *W)


def drawn(at, rng):
    """Random fractions for every affine layer of a chain, as `theorem_1` takes them."""
    return [None if isinstance(layer, Activation)
            else arbitrary(own_inputs(layer, saved.input), layer.weight, u, rng)
            for layer, saved, u in zip(at.network.layers, at.saved, reference.total_gradients(at))]


def arbitrary(y, w, u, rng):
    """Random (eps, phi): Dirichlet fractions over the terms that are not zero."""
    fractions = arbitrary_fractions(reference.terms(y, w, u), rng)
    return fractions[..., : y.shape[1]], fractions[..., y.shape[1]:]


def arbitrary_fractions(x, rng):
    """Dirichlet fractions over the entries of x (..., n) that are not zero."""
    p = (rng.gamma(1.0, size=x.shape) + 1e-3) * (x != 0)
    return reference.ratio(p, p.sum(axis=-1, keepdims=True))


def optimal_up_to(at, below, rng, correct=kept):
    """A bound that is optimal in the first `below` layers, with random fractions above."""
    best, above = theorem_2(at)[0], drawn(at, rng)
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y)
    phi = arbitrary_fractions(reference.total_gradients(at)[-1] * f_ii, rng)
    return built(at, best[:below] + above[below:], phi, correct)


# -- one affine layer ------------------------------------------------------------------------------

class AffineCase(NamedTuple):
    """One affine layer with everything that its equations mention, all entries non-zero."""

    layer: Linear
    x: np.ndarray       # (S, in)
    y: np.ndarray       # (S, k), x with y_s0 in front
    u: np.ndarray       # (S, in), positive
    Y_dot: np.ndarray   # (S, out), both signs
    Y_ddot: np.ndarray  # (S, out), positive
    dw: np.ndarray      # (out, k)
    dy: np.ndarray      # (S, in)
    eps: np.ndarray     # (S, out, k)
    phi: np.ndarray     # (S, out, in)

    @property
    def w(self):
        """(out, in)."""
        return self.layer.weight

    @property
    def p(self):
        """All fractions, (S, out, k + in)."""
        return np.concatenate([self.eps, self.phi], axis=2)

    @property
    def changes(self):
        """What (4) is made of."""
        return self.y, self.w, self.dw, self.dy

    @property
    def terms(self):
        """The numbers that share a simplex, (S, out, k + in)."""
        return reference.terms(self.y, self.w, self.u)

    @property
    def u_above(self):
        """Total gradients of the outputs, by their sums."""
        return np.abs(self.terms).sum(axis=2)

    def at_best(self):
        """The same case with the fractions of (10)."""
        eps, phi = eq_10_fractions(self.y, self.w, self.u, self.u_above)
        return self._replace(eps=eps, phi=phi)

    def below(self):
        """The coefficients (9) of the layer's weights and inputs."""
        return eq_9_coefficients(self.y, self.w, self.Y_dot, self.Y_ddot, self.eps, self.phi)


def affine(rng, samples=4, n_in=3, n_out=2, first=False, size=1.0, **options):
    """A random :class:`AffineCase`; `first`: u = dy = phi = 0; y, u and Y_dot are of about `size`.
    """
    layer = Linear(n_in, n_out, init=1.5, rng=rng, **options)
    x, dy = size * rng.normal(size=(2, samples, n_in))
    u = size * rng.uniform(0.2, 3.0, size=(samples, n_in))
    if first:
        u, dy = np.zeros_like(u), np.zeros_like(dy)
    Y_dot = size * rng.normal(size=(samples, n_out))
    Y_ddot = rng.uniform(0.1, 2.0, size=(samples, n_out))
    y = own_inputs(layer, x)
    dw = rng.normal(size=(n_out, y.shape[1]))
    return AffineCase(layer, x, y, u, Y_dot, Y_ddot, dw, dy, *arbitrary(y, layer.weight, u, rng))


AFFINE_ROWS = {"four samples": {}, "one sample": {"samples": 1}, "eleven samples": {"samples": 11},
               "no bias": {"bias": False}, "fixed": {"trainable": False},
               "large numbers": {"size": 30.0}}


def affine_rows(rng, first=False):
    """A dict with an `AffineCase` for everything that a fault may hide behind: inner layers; or
    first ones, trained, as nothing moves otherwise; None adds one of these to the others.
    """
    rows = {name: affine(rng, first=bool(first), **row) for name, row in AFFINE_ROWS.items()
            if not (first and name == "fixed")}
    return rows | {"first": affine(rng, first=True)} if first is None else rows


def in_proportion(a):
    """One sample, one output, changes in proportion to optimal fractions: equalities hold."""
    only = np.eye(len(a.dw))[:1]
    one = a._replace(x=a.x[:1], y=a.y[:1], u=a.u[:1], Y_dot=a.Y_dot[:1] * only,
                     Y_ddot=a.Y_ddot[:1] * only, dw=0.7 * np.sign(a.y[:1]) * np.ones_like(a.dw),
                     dy=0.7 * a.u[:1] * np.sign(a.w[:1]))
    return one.at_best()


# -- steps -----------------------------------------------------------------------------------------

def steps(rng, size, count=40):
    """Changes, (count, size): normal, sign vectors, sparse ones, of lengths from 0.01 to 10."""
    normal, signs = rng.normal(size=(count, size)), rng.choice([-1.0, 1.0], size=(count, size))
    sparse = normal * (rng.random((count, size)) < 0.15)
    chosen = np.array([(normal, signs, sparse)[k % 3][k] for k in range(count)])
    return chosen * 10.0 ** rng.uniform(-2, 1, size=(count, 1))


def last_lines(W_dot, W_ddot, rate):
    """The step over its rate, (P,), and the decrease that it promises, from both coefficients."""
    step, none = np.empty_like(W_dot), np.zeros_like(W_dot)
    told = algorithm_1_last_lines(W_dot, none, 1.0, 0.0, 0.0, 1.0, rate, 0.0, W_ddot, step)
    return step, told[4]
