"""Which networks and losses have a compiled form, and their rows in its table.

The one rule: a network runs compiled if every layer of it, and the loss, has an entry here. If one
has none, such as an author's own class or a subclass that overrides anything, then the whole
network runs layer by layer: by the literal passes, or the twins in :mod:`secondorder.nets.in_place`
which write the same numbers into arrays that are used again.
"""

import math

import numpy as np

from ..compiled import forms, kinds
from ..compiled.kinds import Row
from ..compiled.program import Criterion, Program
from .in_place.base import Twins
from .layers import (Activation, ActivationSaved, AvgPool2d, AvgPool2dSaved, Chain, ChainSaved,
                     Conv2d, Conv2dSaved, Flatten, FlattenSaved, Identity, LayerNorm,
                     LayerNormSaved, LeakyReLU, Linear, LinearSaved, MaxPool2d, MaxPool2dSaved,
                     ReLU, Reshape, Sigmoid, Sin, Skip, SkipSaved, Softplus, Tanh)
from .losses import (BinaryCrossEntropy, BoundedCriterion, Huber, PoissonNLL, SoftmaxCrossEntropy,
                     SquaredError, TukeyBiweight)
from .losses.by_output import LIMIT

layers = Twins(None)  # layer, shape of its input -> rows of the table
functions = Twins(None)  # activation function -> kind, slope below zero
criteria = Twins(None)  # loss, outputs -> file, function, numbers


class NoEntry(Exception):
    """What has no compiled form; the message says why."""


@layers.register(Linear)
def linear(layer, shape):
    if not layer.trainable:
        raise NoEntry(f"{layer!r} is fixed")
    return [Row(kinds.LINEAR, layer.in_features, layer.out_features, layer.weight.size,
                0 if layer.bias is None else layer.bias.size)]


@layers.register(Activation)
def activation(layer, shape):
    entry = functions.find(layer.function)
    if entry is None:
        raise NoEntry(f"{layer.function!r} has no compiled form")
    kind, below = entry(layer.function)
    n = math.prod(shape)
    return [Row(kind, n, n, own=below)]


@layers.register(Chain)
def chain(layer, shape):
    rows = []
    for inner in layer.layers:
        rows += rows_of(inner, shape)
        shape = inner.output_shape(shape)
    return rows


@layers.register(Skip)
def skip(layer, shape):
    """Its layers between the rows that keep their input and add it."""
    n = math.prod(shape)
    ends = [Row(kind, n, n) for kind in (kinds.FORK, kinds.ADD)]
    return [ends[0], *rows_of(layer.inner, shape), ends[1]]


@layers.register(LayerNorm)
def layer_norm(layer, shape):
    if not layer.trainable:
        raise NoEntry(f"{layer!r} is fixed")
    n = math.prod(shape)
    if layer.weight.size != n:
        raise NoEntry(f"{layer!r} over parts of a sample has no compiled form")
    return [Row(kinds.LAYER_NORM, n, n, n, n, layer.epsilon)]


@layers.register(Flatten)
@layers.register(Reshape)
def flatten(layer, shape):
    """The same numbers, sample by sample."""
    n = math.prod(shape)
    return [Row(kinds.IDENTITY, n, n)]


@layers.register(Conv2d)
def convolution(layer, shape):
    if not layer.trainable:
        raise NoEntry(f"{layer!r} is fixed")
    n_b = 0 if layer.bias is None else layer.bias.size
    return [windowed(kinds.CONVOLUTION, layer, shape, layer.paddings, layer.weight.size, n_b)]


@layers.register(AvgPool2d)
def average_pool(layer, shape):
    return [windowed(kinds.AVERAGE_POOL, layer, shape)]


@layers.register(MaxPool2d)
def max_pool(layer, shape):
    return [windowed(kinds.MAX_POOL, layer, shape)]


def windowed(kind, layer, shape, paddings=(0, 0), n_W=0, n_b=0):
    """The row of a layer that looks at images (C, H, W) through windows."""
    after = layer.output_shape(shape)
    return Row(kind, math.prod(shape), math.prod(after), n_W, n_b,
               sizes=(*shape, *after[1:], *layer.kernel, *layer.strides, *paddings))


def rows_of(layer, shape):
    """Rows of the table of a layer whose input has this shape, without the sample axis."""
    entry = layers.find(layer)
    if entry is None:
        raise NoEntry(f"{type(layer).__name__} has no compiled form")
    return entry(layer, shape)


KINDS = {Identity: kinds.IDENTITY, Tanh: kinds.TANH, Sigmoid: kinds.SIGMOID,
         Softplus: kinds.SOFTPLUS, Sin: kinds.SIN}
for _cls, _kind in KINDS.items():
    functions.register(_cls)(lambda function, kind=_kind: (kind, 0.0))
for _cls in (LeakyReLU, ReLU):
    functions.register(_cls)(lambda function: (kinds.LEAKY, function.negative_slope))


CRITERIA = {
    SquaredError: ("losses", "squared_error", lambda loss, C: ()),
    SoftmaxCrossEntropy: ("losses", "softmax_cross_entropy", lambda loss, C: ()),
    BoundedCriterion: ("losses", "bounded_criterion", lambda loss, C: (loss.delta, loss.epsilon)),
    TukeyBiweight: ("losses_by_output", "tukey_biweight", lambda loss, C: (loss.c,)),
    BinaryCrossEntropy: ("losses_by_output", "binary_cross_entropy",
                         lambda loss, C: np.broadcast_to(loss.pos_weight, C)),
    Huber: ("losses_by_output", "huber", lambda loss, C: (loss.delta,)),
    PoissonNLL: ("losses_by_output", "poisson", lambda loss, C: (LIMIT, float(loss.full)))}
for _cls, _entry in CRITERIA.items():
    criteria.register(_cls)(_entry)


def made(network):
    """The program of a network; `NoEntry` where a layer has none."""
    if network.dtype.kind != "f":
        raise NoEntry(f"{network.dtype} has no compiled form")
    if len(network.output_shape) != 1:
        raise NoEntry(f"outputs of shape {network.output_shape} have no compiled form")
    return Program(rows_of(network.chain, network.input_shape), network.dtype)


class Settled:
    """The program of a network, made once, and anew only if since then a layer was given a method
    of its own, another function, or a function of other numbers.

    Attributes
    ----------
    program : Program or None
    why : str or None
        Why there is none.
    """

    def __init__(self, network):
        self._known = [(vars(layer), len(vars(layer)), *_function_of(vars(layer)))
                       for layer in network.chain.sublayers()]
        try:
            self.program, self.why = made(network), None
        except NoEntry as error:
            self.program, self.why = None, str(error)

    def holds(self):
        """Whether the layers are what they were."""
        for state, length, function, numbers in self._known:
            if len(state) != length or state.get("function") is not function:
                return False
            if function is not None and getattr(function, "__dict__", {}) != numbers:
                return False
        return True


def _function_of(state):
    """The activation function of a layer, if it has one, and a copy of its numbers."""
    function = state.get("function")
    return function, dict(getattr(function, "__dict__", {}))


def settled(network):
    """The `Settled` of a network, kept in it."""
    if network.settled is None or not network.settled.holds():
        network.settled = Settled(network)
    return network.settled


def program_of(network):
    """The program that runs for a network now, or None: the literal passes run."""
    return None if forms.is_literal() else settled(network).program


def criterion_of(loss, network):
    """A loss as compiled passes see it, or None."""
    entry = criteria.find(loss)
    if entry is None:
        return None
    module, name, own = entry
    return Criterion(module, name, own(loss, network.output_shape[0]), network.dtype)


def form(network):
    """The sentence of ``network.summary()``: which form runs, and why."""
    if forms.is_literal():
        return "literal passes run, as asked"
    why = settled(network).why
    return "compiled passes run" if why is None else f"passes run layer by layer: {why}"


# -- what the passes left behind, as layers save it ------------------------------------------------


def saved_of(network, work):
    """What every layer of the network saved, as views of the work array."""
    work.curvatures()
    shape = network.input_shape
    rows = zip(*map(work.batches, ("y", "slope", "curvature")))
    return _chain_saved(network.chain, work.x.reshape(work.rows, *shape), rows)


def _chain_saved(chain, x, rows):
    saved = ChainSaved()
    for layer in chain.layers:
        saved.append(_saved(layer, x, rows))
        x = saved[-1].output
    return saved


def _saved(layer, x, rows):
    if isinstance(layer, Chain):
        return _chain_saved(layer, x, rows)
    shape = len(x), *layer.output_shape(x.shape[1:])
    if isinstance(layer, Skip):
        next(rows)
        inner = _chain_saved(layer.inner, x, rows)
        return SkipSaved(x, next(rows)[0].reshape(shape), inner)
    y, slope, curvature = (part.reshape(shape) for part in next(rows))
    if isinstance(layer, LayerNorm):
        ones = (1,) * len(layer.shape)
        return LayerNormSaved(x, y, slope, curvature.reshape(-1)[: len(x)].reshape(len(x), *ones))
    if isinstance(layer, MaxPool2d):
        return MaxPool2dSaved(x, y, slope.astype(np.intp))
    for cls, kept in ((Linear, LinearSaved), (Flatten, FlattenSaved), (Conv2d, Conv2dSaved),
                      (AvgPool2d, AvgPool2dSaved)):
        if isinstance(layer, cls):
            return kept(x, y)
    return ActivationSaved(x, y, slope, curvature)


def deltas_of(network, work):
    """Gradients in the outputs of all layers of the network, as views of the work array."""
    work.output_gradients(network.theta)
    bars, deltas, last, shape = work.batches("bar"), [], -1, network.input_shape
    for layer in network.layers:
        last, shape = last + _depth(layer), layer.output_shape(shape)
        deltas.append(bars[last].reshape(work.rows, *shape))
    return deltas


def _depth(layer):
    """Number of rows of a layer."""
    inside = sum(map(_depth, layer.layers)) if isinstance(layer, (Chain, Skip)) else 1
    return inside + 2 * isinstance(layer, Skip)
