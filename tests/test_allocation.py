"""A step makes no large array: whatever is as long as theta, or as a layer's output, is there
already."""

import gc
import tracemalloc

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network, Skip
from secondorder.optimizers import Wrapper

SAMPLES, WIDTH = 300, 128

METHODS = {
    "sgd": (so.SGD, {}),
    "momentum": (so.Momentum, {"nesterov": True}),
    "adagrad": (so.Adagrad, {}),
    "adadelta": (so.Adadelta, {}),
    "adam": (so.Adam, {}),
    "truncated-newton": (so.TruncatedNewton, {"max_cg": 5}),
    "gauss-newton": (so.TruncatedNewton, {"max_cg": 5, "curvature": "gauss-newton"}),
    "partitioning": (so.ResidualPartitioning, {}),
    "partitioning-pairwise": (so.ResidualPartitioning,
                              {"negative_curvature": "max", "damping": 0.1}),
}


class Halved(Wrapper):
    def change(self, evaluation, direction, rate):
        change = super().change(evaluation, direction, rate)
        change *= 0.5
        return change


def network(activation):
    """Every layer's output, and every weight, has at least WIDTH columns or rows."""
    rng = np.random.default_rng(0)
    return Network([Linear(WIDTH, WIDTH, rng=rng), Activation(activation),
                    Skip([Linear(WIDTH, WIDTH, rng=rng), Activation(activation)]),
                    Chain([Linear(WIDTH, WIDTH, trainable=False, rng=rng), Activation(activation)]),
                    Linear(WIDTH, WIDTH, bias=False, rng=rng)], dtype="float32")


def batch(loss):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32)
    if isinstance(loss, so.SquaredError):
        return x, rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32)
    return x, rng.integers(0, WIDTH, SAMPLES)


def allocated(step, x, y):
    """Bytes that are asked for at one time, at most, during a step after two others."""
    for _ in range(2):
        step(x, y)
    gc.collect()
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        step(x, y)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


LOSSES = {"squared": so.SquaredError(), "softmax": so.SoftmaxCrossEntropy()}
CASES = [(name, *case) for name in METHODS
         for case in (("tanh", "squared"), ("softplus", "softmax"))]
CASES += [("partitioning", activation, "squared") for activation in ("sigmoid", "relu", "sin")]


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name, activation, criterion", CASES)
def test_a_step_makes_no_large_array(name, activation, criterion, wrapped):
    """Less in all than one array of S x width; those of length P are larger still."""
    (kind, settings), loss = METHODS[name], LOSSES[criterion]
    net, (x, y) = network(activation), batch(loss)
    smallest = SAMPLES * WIDTH * net.dtype.itemsize
    assert net.size * net.dtype.itemsize > smallest
    optimizer = kind(net, loss, learning_rate=1e-3, l2=1e-3, **settings)
    optimizer = Halved(optimizer) if wrapped else optimizer
    assert allocated(optimizer.step, x, y) < smallest


def test_the_measure_sees_an_array():
    """One array of S x width, made and dropped in a step, is above the limit."""
    class Copying(so.SGD):
        def _direction(self, evaluation):
            evaluation.outputs.copy()
            return super()._direction(evaluation)

    net, loss = network("tanh"), so.SquaredError()
    assert allocated(Copying(net, loss).step, *batch(loss)) >= SAMPLES * WIDTH * 4
