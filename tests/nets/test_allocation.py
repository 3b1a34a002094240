"""A step makes no large array: whatever is as long as theta, or as a layer's output, is there
already.

Two methods are left out, as what they solve with is larger than any of these arrays, and is made
anew in every step: `EACG` carries a matrix (n, n) for every sample through every layer, (S, n, n),
and `GaussNewton` factorises the features or the kernel of the whole batch, up to (S C, S C), in
LAPACK's own arrays. `output="pairwise"` asks the loss for its Hessians, (S, C, C); it is tested
where outputs are few.
"""

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
    "partitioning-damped": (so.ResidualPartitioning,
                            {"negative_curvature": "max", "damping": 0.1}),
}


class Halved(Wrapper):
    def change(self, evaluation, direction, rate):
        change = super().change(evaluation, direction, rate)
        change *= 0.5
        return change


def network(activation, outputs=WIDTH):
    """Every layer's output but the last, and every weight, has WIDTH columns or rows."""
    rng = np.random.default_rng(0)
    return Network([Linear(WIDTH, WIDTH, rng=rng), Activation(activation),
                    Skip([Linear(WIDTH, WIDTH, rng=rng), Activation(activation)]),
                    Chain([Linear(WIDTH, WIDTH, trainable=False, rng=rng), Activation(activation)]),
                    Linear(WIDTH, outputs, bias=False, rng=rng)], dtype="float32")


def batch(loss, outputs=WIDTH):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32)
    if isinstance(loss, so.SquaredError):
        return x, rng.normal(size=(SAMPLES, outputs)).astype(np.float32)
    return x, rng.integers(0, outputs, SAMPLES)


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


@pytest.mark.everyday(1)
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name, activation, criterion", CASES)
def test_a_step_makes_no_large_array(name, activation, criterion, wrapped):
    """Less in all than one array of S x width; those of length P are larger still. Labels apart:
    the loss makes rows of weights of them, (S, C), by way of as many truth values.
    """
    (kind, settings), loss = METHODS[name], LOSSES[criterion]
    net, (x, y) = network(activation), batch(loss)
    smallest = SAMPLES * WIDTH * net.dtype.itemsize
    assert net.size * net.dtype.itemsize > smallest
    optimizer = kind(net, loss, learning_rate=1e-3, l2=1e-3, **settings)
    optimizer = Halved(optimizer) if wrapped else optimizer
    rows = SAMPLES * WIDTH * (net.dtype.itemsize + 1) if criterion == "softmax" else 0
    assert allocated(optimizer.step, x, y) < smallest + rows


@pytest.mark.everyday(1)
@pytest.mark.parametrize("activation, criterion", [("tanh", "squared"), ("softplus", "softmax")])
def test_pairwise_makes_no_large_array_but_the_hessians_of_the_loss(activation, criterion):
    loss, outputs = LOSSES[criterion], 4
    optimizer = so.ResidualPartitioning(network(activation, outputs), loss, output="pairwise")
    assert allocated(optimizer.step, *batch(loss, outputs)) < SAMPLES * WIDTH * 4


@pytest.mark.slow
def test_the_measure_sees_an_array():
    """One array of S x width, made and dropped in a step, is above the limit."""
    class Copying(so.SGD):
        def direction(self, evaluation):
            evaluation.outputs.copy()
            return super().direction(evaluation)

    net, loss = network("tanh"), so.SquaredError()
    assert allocated(Copying(net, loss).step, *batch(loss)) >= SAMPLES * WIDTH * 4
