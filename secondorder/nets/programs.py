"""Which networks and losses have a compiled form, and their rows in its table.

The one rule: a network runs compiled if every layer of it, and the loss, has an entry here. If one
has none, such as an author's own class or a subclass that overrides anything, then the whole
network runs its literal passes. ``network.summary()`` says which form runs, and why.
"""

import math

import numpy as np

from ..compiled import kinds
from ..compiled.kinds import Row
from ..compiled.program import Program
from .entries import Entries
from .layers import (Activation, ActivationSaved, AvgPool2d, AvgPool2dSaved, Chain, ChainSaved,
                     Conv2d, Conv2dSaved, Flatten, FlattenSaved, Identity, LayerNorm,
                     LayerNormSaved, LeakyReLU, Linear, LinearSaved, MaxPool2d, MaxPool2dSaved,
                     ReLU, Recurrent, RecurrentSaved, Reshape, Sigmoid, Sin, Skip, SkipSaved,
                     Softplus, Tanh)
from .losses import (BinaryCrossEntropy, BoundedCriterion, Huber, PoissonNLL, SoftmaxCrossEntropy,
                     SquaredError, TukeyBiweight)

layers = Entries()  # layer, shape of its input -> rows of the table
saved_by = Entries()  # layer, its input, what its rows left behind, row by row -> what it saves
functions = Entries()  # activation function -> kind, slope below zero
criteria = Entries()  # loss -> file, function, names of its numbers


class NoEntry(Exception):
    """What has no compiled form; the message says why."""


@layers.register(Linear)
def linear(layer, shape):
    kind = kinds.LINEAR if layer.trainable else kinds.FIXED
    n_b = 0 if layer.bias is None else layer.out_features
    return [Row(kind, layer.in_features, layer.out_features, layer.weight.size, n_b,
                fixed=not layer.trainable)]


@layers.register(Activation)
def activation(layer, shape):
    kind, below = function_of(layer)
    n = math.prod(shape)
    return [Row(kind, n, n, own=below)]


def function_of(layer):
    """Kind of a layer's activation function, and its slope below zero."""
    entry = functions.find(layer.function)
    if entry is None:
        raise NoEntry(f"{layer.function!r} has no compiled form")
    return entry(layer.function)


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
    return beside(layer.inner, shape, math.prod(shape), 0, 0)


def beside(inner, shape, n_in, taken, changed):
    """Rows of y = x, x with n_in columns, changed by a layer's output in some of them, those from
    `changed` on; the layer's input, of this shape, are the columns of x from `taken` on.
    """
    rows = rows_of(inner, shape)
    return [Row(kinds.FORK, n_in, math.prod(shape), at=taken), *rows,
            Row(kinds.ADD, rows[-1].n_out, n_in, at=changed)]


@layers.register(LayerNorm)
def layer_norm(layer, shape):
    n_in, n = math.prod(shape), layer.weight.size
    return [Row(kinds.LAYER_NORM, n_in, n_in, n, n, layer.epsilon, fixed=not layer.trainable)]


@layers.register(Recurrent)
def recurrent(layer, shape):
    n_in, (function, below) = math.prod(shape), function_of(layer)
    d = layer.input_size if layer.has_input else 0
    T = n_in // d if d else layer.steps
    h, n_b = layer.hidden_size, 0 if layer.bias is None else layer.hidden_size
    return [Row(kinds.RECURRENT, n_in, h, h * (d + h), n_b, below, fixed=not layer.trainable,
                steps=(T, d, function))]


@layers.register(Flatten)
@layers.register(Reshape)
def flatten(layer, shape):
    """The same numbers, sample by sample."""
    n = math.prod(shape)
    return [Row(kinds.IDENTITY, n, n)]


@layers.register(Conv2d)
def convolution(layer, shape):
    n_b = 0 if layer.bias is None else layer.bias.size
    return [windowed(kinds.CONVOLUTION, layer, shape, layer.paddings, layer.weight.size, n_b,
                     not layer.trainable)]


@layers.register(AvgPool2d)
def average_pool(layer, shape):
    return [windowed(kinds.AVERAGE_POOL, layer, shape)]


@layers.register(MaxPool2d)
def max_pool(layer, shape):
    return [windowed(kinds.MAX_POOL, layer, shape)]


def windowed(kind, layer, shape, paddings=(0, 0), n_W=0, n_b=0, fixed=False):
    """The row of a layer that looks at images (C, H, W) through windows."""
    after = layer.output_shape(shape)
    return Row(kind, math.prod(shape), math.prod(after), n_W, n_b, fixed=fixed,
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


def numbers(loss, names, C):
    """The numbers of a loss that its passes take: weights output by output."""
    return [number for name in names for number in
            np.broadcast_to(getattr(loss, name), C if name == "pos_weight" else 1)]


#: Loss -> file and function of its passes, and the names of its numbers there.
CRITERIA = {SquaredError: ("losses", "squared_error", ()),
            SoftmaxCrossEntropy: ("losses", "softmax_cross_entropy", ()),
            BoundedCriterion: ("losses", "bounded_criterion", ("delta", "epsilon")),
            TukeyBiweight: ("losses_by_output", "tukey_biweight", ("c",)),
            BinaryCrossEntropy: ("losses_by_output", "binary_cross_entropy", ("pos_weight",)),
            Huber: ("losses_by_output", "huber", ("delta",)),
            PoissonNLL: ("losses_by_output", "poisson", ("limit",))}
for _cls, _entry in CRITERIA.items():
    criteria.register(_cls)(_entry)


def made(network):
    """The program of a network; `NoEntry` where a layer has none."""
    if network.dtype.kind != "f":
        raise NoEntry(f"{network.dtype} has no compiled form")
    if len(network.output_shape) != 1:
        raise NoEntry(f"outputs of shape {network.output_shape} have no compiled form")
    return Program(rows_of(network.chain, network.input_shape), network.dtype)


# -- what the passes left behind, as layers save it ------------------------------------------------


def saved_of(network, work):
    """What every layer of the network saved, as views of the work array."""
    work.curvatures()
    rows = zip(*map(work.stacks, ("y", "slope", "curvature")))
    return saved(network.chain, work.x.reshape(work.rows, *network.input_shape), rows)


def saved(layer, x, rows):
    """What a layer saves, from its input and the outputs, slopes and curvatures of its rows, each
    (steps, S, n).
    """
    return saved_by.find(layer)(layer, x, rows)


def _next(layer, x, rows):
    """The next row's output, slope and curvature, in the shape of the layer's output."""
    shape = len(x), *layer.output_shape(x.shape[1:])
    return [part.reshape(shape) for part in next(rows)]


@saved_by.register(Chain)
def chain_saved(chain, x, rows):
    inside = ChainSaved()
    for layer in chain.layers:
        inside.append(saved(layer, x, rows))
        x = inside[-1].output
    return inside


@saved_by.register(Skip)
def skip_saved(layer, x, rows):
    next(rows)
    inner = saved(layer.inner, x, rows)
    return SkipSaved(x, _next(layer, x, rows)[0], inner)


#: What is saved by layers that save their input and their output alone.
INPUT_AND_OUTPUT = {Linear: LinearSaved, Flatten: FlattenSaved, Reshape: FlattenSaved,
                    Conv2d: Conv2dSaved, AvgPool2d: AvgPool2dSaved}
for _cls, _saved in INPUT_AND_OUTPUT.items():
    saved_by.register(_cls)(lambda layer, x, rows, kind=_saved: kind(x, _next(layer, x, rows)[0]))


@saved_by.register(Activation)
def activation_saved(layer, x, rows):
    return ActivationSaved(x, *_next(layer, x, rows))


@saved_by.register(Recurrent)
def recurrent_saved(layer, x, rows):
    states, slopes, curvatures = map(list, next(rows))
    return RecurrentSaved(x, states[-1], [layer.start(x), *states], slopes, curvatures)


@saved_by.register(LayerNorm)
def layer_norm_saved(layer, x, rows):
    y, normalised, rates = _next(layer, x, rows)
    blocks = x.shape[: x.ndim - len(layer.shape)]  # their rates stand first, without gaps
    rate = rates.reshape(-1)[: math.prod(blocks)].reshape(*blocks, *(1,) * len(layer.shape))
    return LayerNormSaved(x, y, normalised, rate)


@saved_by.register(MaxPool2d)
def max_pool_saved(layer, x, rows):
    y, chosen, _ = _next(layer, x, rows)
    return MaxPool2dSaved(x, y, chosen.astype(np.intp))


def deltas_of(network, work):
    """Gradients in the outputs of all layers of the network, as views of the work array."""
    work.output_gradients(network.all_parameters)
    bars, deltas, last, shape = work.batches("bar"), [], -1, network.input_shape
    for layer in network.layers:
        last, shape = last + _depth(layer), layer.output_shape(shape)
        deltas.append(bars[last].reshape(work.rows, *shape))
    return deltas


def _depth(layer):
    """Number of rows of a layer."""
    inside = sum(map(_depth, layer.children)) if layer.children else 1
    return inside + 2 * (bool(layer.children) and not isinstance(layer, Chain))
