"""Small random networks with the layer under test in the middle, targets for every loss, and care
for kinks."""

import numpy as np

import secondorder as so
from secondorder.nets import (ACTIVATIONS, Activation, AvgPool2d, Chain, Conv2d, Flatten,
                              LayerNorm, Linear, MaxPool2d, Network, Recurrent, Reshape, ScaleShift,
                              Skip)
from harness.shaped_layers import Mixing

ACTIVATION_NAMES = tuple(ACTIVATIONS)
SMOOTH = tuple(name for name in ACTIVATION_NAMES if not ACTIVATIONS[name].kinks)

LOSSES = {
    "squared": so.SquaredError,
    "softmax": so.SoftmaxCrossEntropy,
    "bounded": so.BoundedCriterion,
    "bounded-steep": lambda: so.BoundedCriterion(delta=3.0, epsilon=0.45),
    "tukey": so.TukeyBiweight,
    "tukey-narrow": lambda: so.TukeyBiweight(c=2.0),
}


def moved(layer, rng):
    """A layer whose parameters are no longer what they began with."""
    for value in layer.parameters.values():
        value += rng.uniform(-0.5, 0.5, size=value.shape)
    return layer


# Layers under test: from width 4 to the width that follows.
MIDDLE = {
    "linear": (lambda r: [Linear(4, 3, init=0.8, rng=r)], 3),
    "linear-no-bias": (lambda r: [Linear(4, 3, bias=False, init=0.8, rng=r)], 3),
    "linear-frozen": (lambda r: [Linear(4, 3, trainable=False, init=0.8, rng=r)], 3),
    "skip": (lambda r: [Skip([Linear(4, 2, init=0.8, rng=r), Activation("sigmoid"),
                              Linear(2, 4, bias=False, init=0.8, rng=r)])], 4),
    "skip-nested": (lambda r: [Skip([Linear(4, 2, bias=False, init=0.8, rng=r),
                                     Skip([Activation("sin")]),
                                     Skip([Activation("tanh"), Linear(2, 2, init=0.8, rng=r)]),
                                     Linear(2, 4, bias=False, init=0.8, rng=r)])], 4),
    "skip-frozen": (lambda r: [Skip([Linear(4, 2, trainable=False, init=0.8, rng=r),
                                     Activation("softplus"),
                                     Linear(2, 4, init=0.8, rng=r)])], 4),
    "skip-activation": (lambda r: [Skip([Activation("sin")])], 4),
    "chain": (lambda r: [Chain([Linear(4, 3, init=0.8, rng=r), Activation("softplus")])], 3),
    "chain-image": (lambda r: [Chain([
        Reshape(4, (1, 2, 2)), Mixing((1, 2, 2), 2, rng=r), Activation("tanh"),
        Mixing((2, 2, 2), 1, trainable=False, rng=r), Reshape((1, 2, 2), (4,))])], 4),
    "chain-sequence": (lambda r: [Chain([
        Reshape(4, (2, 2)), Skip([Activation("sin"), Mixing((2, 2), 2, axis=-1, rng=r)]),
        Mixing((2, 2), 3, axis=0, rng=r), Reshape((3, 2), 6)])], 6),
    **{name: (lambda r, name=name: [Activation(name)], 4) for name in ACTIVATION_NAMES},
    "chain-convolution": (lambda r: [Chain([
        Reshape(4, (1, 2, 2)), Conv2d(1, 2, 2, padding=1, init=0.8, rng=r), Activation("tanh"),
        AvgPool2d((2, 3), 1), Flatten()])], 4),
    "chain-convolution-frozen": (lambda r: [Chain([
        Reshape(4, (2, 2, 1)), Conv2d(2, 3, (2, 1), bias=False, init=0.8, rng=r),
        Conv2d(3, 2, 1, trainable=False, init=0.8, rng=r), Flatten()])], 2),
    "chain-max-pool": (lambda r: [Chain([Reshape(4, (1, 2, 2)), MaxPool2d((1, 2), 1),
                                         Flatten()])], 2),
    "chain-recurrent": (lambda r: [Chain([Reshape(4, (2, 2)), Recurrent(2, 3, init=0.8, rng=r)])],
                        3),
    "chain-autonomous": (lambda r: [Chain([Recurrent(4, steps=2, bias=False, activation="softplus",
                                                     init=0.8, rng=r)])], 4),
    "scale-shift": (lambda r: [moved(ScaleShift(4), r)], 4),
    "chain-scale-shift-images": (lambda r: [Chain([
        Reshape(4, (2, 2, 1)), moved(ScaleShift(2), r), moved(ScaleShift(2, trainable=False), r),
        Flatten()])], 4),
    "chain-layer-norm": (lambda r: [Chain([moved(LayerNorm(4), r)])], 4),
    "chain-layer-norm-rows": (lambda r: [Chain([
        Reshape(4, (2, 2)), moved(LayerNorm(2, epsilon=0.5), r), Activation("sin"),
        Flatten()])], 4),
}


def network(middle, rng, outputs=3, bias=True, dtype="float64"):
    """Linear, tanh, the layer under test, sin, Linear: P is between 23 and 55."""
    make, width = MIDDLE[middle]
    front = Linear(2, 4, bias=bias, init=0.9, rng=rng)
    back = Linear(width, outputs, bias=bias, init=0.9, rng=rng)
    return Network([front, Activation("tanh"), *make(rng), Activation("sin"), back], dtype=dtype)


def all_activations(activation, rng, bias=True):
    """A plain chain with the same activation twice, the second time right before the output."""
    return so.mlp([2, 4, 3, 3], activation=activation, output=activation, init=0.9, bias=bias,
                  rng=rng)


def targets(loss, rng, samples, outputs=3):
    """Random targets in a form that `loss` takes; class weights need not sum to one."""
    if isinstance(loss, (so.SoftmaxCrossEntropy, so.BoundedCriterion)):
        return rng.uniform(0, 1, size=(samples, outputs))
    return rng.normal(size=(samples, outputs)) * 1.5


def distance_to_kinks(net, x):
    """The smallest distance of all units to a kink of theirs."""
    seen = [np.ones(1)]

    def watch(layers, rows):
        for layer in layers:
            if isinstance(layer, Skip):
                rows = rows + watch(layer.layers, rows)
            elif isinstance(layer, Chain):
                rows = watch(layer.layers, rows)
            else:
                if isinstance(layer, Activation):
                    seen.extend((rows - kink).ravel() for kink in layer.function.kinks)
                rows = layer.forward(rows)[0]
        return rows

    watch(net.layers, np.asarray(x, dtype=net.dtype))
    return np.min(np.abs(np.concatenate(seen)))


def off_kinks(make, samples, rng):
    """A network and inputs whose units are farther from kinks than steps of differences carry them
    (6e-6 in a parameter)."""
    for _ in range(200):
        net, x = make(rng), rng.normal(size=(samples, 2))
        if distance_to_kinks(net, x) > 2e-3:
            return net, x
    raise RuntimeError("no draw out of 200 stays off the kinks")


def relative(left, right):
    """Largest difference in units of the largest entry."""
    left, right = np.asarray(left), np.asarray(right)
    assert left.shape == right.shape, f"shapes {left.shape} and {right.shape}"
    assert left.size, "nothing to compare"
    scale = max(np.max(np.abs(left)), np.max(np.abs(right)))
    return float(np.max(np.abs(left - right)) / scale) if scale else 0.0
