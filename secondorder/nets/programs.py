"""Which networks and losses have a compiled form, and their rows in its table.

The one rule: a network runs compiled if every layer of it, and the loss, has an entry here. If one
has none, such as an author's own class or a subclass that overrides anything, then the whole
network runs layer by layer: by the literal passes, or the twins in :mod:`secondorder.nets.in_place`
which write the same numbers into arrays that are used again.
"""

import math

import numpy as np

from ..compiled import forms, kinds
from ..compiled.program import Criterion, Program, Work
from .layers import (Activation, ActivationSaved, Chain, ChainSaved, Flatten, FlattenSaved,
                     Identity, LayerNorm, LayerNormSaved, LeakyReLU, Linear, LinearSaved, ReLU,
                     Reshape, Sigmoid, Sin, Skip, SkipSaved, Softplus, Tanh)
from .in_place.base import Twins
from .losses import (BinaryCrossEntropy, BoundedCriterion, Huber, PoissonNLL, SoftmaxCrossEntropy,
                     SquaredError, TukeyBiweight)
from .losses.by_output import LIMIT

layers = Twins(None)  # layer, width of its input -> rows of the table
functions = Twins(None)  # activation function -> kind, slope below zero
criteria = Twins(None)  # loss, outputs -> file, function, numbers


class NoEntry(Exception):
    """What has no compiled form; the message says why."""


@layers.register(Linear)
def linear(layer, n_in):
    if not layer.trainable:
        raise NoEntry(f"{layer!r} is fixed")
    return [(kinds.LINEAR, layer.in_features, layer.out_features, layer.bias is not None, 0.0)]


@layers.register(Activation)
def activation(layer, n_in):
    entry = functions.find(layer.function)
    if entry is None:
        raise NoEntry(f"{layer.function!r} has no compiled form")
    kind, below = entry(layer.function)
    return [(kind, n_in, n_in, False, below)]


@layers.register(Chain)
def chain(layer, n_in):
    rows = []
    for inner in layer.layers:
        rows += rows_of(inner, n_in)
        n_in = rows[-1][2]
    return rows


@layers.register(Skip)
def skip(layer, n_in):
    """Its layers between the rows that keep their input and add it."""
    ends = [(kind, n_in, n_in, False, 0.0) for kind in (kinds.FORK, kinds.ADD)]
    return [ends[0], *rows_of(layer.inner, n_in), ends[1]]


@layers.register(LayerNorm)
def layer_norm(layer, n_in):
    if not layer.trainable:
        raise NoEntry(f"{layer!r} is fixed")
    if layer.weight.size != n_in:
        raise NoEntry(f"{layer!r} over parts of a sample has no compiled form")
    return [(kinds.LAYER_NORM, n_in, n_in, True, layer.epsilon)]


@layers.register(Flatten)
@layers.register(Reshape)
def flatten(layer, n_in):
    """The same numbers, sample by sample."""
    return [(kinds.IDENTITY, n_in, n_in, False, 0.0)]


def rows_of(layer, n_in):
    """Rows of the table of a layer whose input has n_in numbers a sample."""
    entry = layers.find(layer)
    if entry is None:
        raise NoEntry(f"{type(layer).__name__} has no compiled form")
    return entry(layer, n_in)


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
    return Program(rows_of(network.chain, math.prod(network.input_shape)), network.dtype)


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


def run(network, x, workspace=None):
    """The work array behind the compiled forward pass, for inputs x that were checked; None where
    the literal passes run, and where an output is not finite: they find out where.
    """
    program = program_of(network)
    if program is None:
        return None
    rows = len(x)
    work = Work(program).resize(rows) if workspace is None else workspace.work(program, rows)
    return work if work.forward(network.theta, behaved(x)) else None


def behaved(array):
    """The array in one piece and writeable, as compiled passes take it."""
    return array if array.flags.carray else array.copy()


def criterion_of(loss, network):
    """A loss as compiled passes see it, or None: the literal one runs."""
    entry = None if forms.is_literal() else criteria.find(loss)
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
    if isinstance(layer, (Linear, Flatten)):
        return (LinearSaved if isinstance(layer, Linear) else FlattenSaved)(x, y)
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
