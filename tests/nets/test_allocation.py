"""Memory at the peak of a gradient and of a product, as multiples of the outputs of all layers."""

import math
import tracemalloc

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Linear, Network, cnn, mlp, rnn

LOSS = so.SoftmaxCrossEntropy()
NETWORKS = {
    "tanh": (lambda: mlp([200] * 6 + [10], rng=0), 1000),
    "relu": (lambda: mlp([200] * 6 + [10], activation="relu", rng=0), 1000),
    "images": (lambda: cnn((1, 28, 28), [8, 16], 10, pool=None, padding=1, rng=0), 100),
    "sequences": (lambda: rnn((20, 8), 64, 10, rng=0), 400)}


def outputs(net, samples):
    """Bytes of what the layers make of a batch, a recurrence at every step."""
    shape, numbers = net.input_shape, 0
    for layer in net.layers:
        steps = 2 * shape[0] if isinstance(layer, so.Recurrent) else 1  # argument and state
        shape = layer.output_shape(shape)
        numbers += steps * math.prod(shape)
    return numbers * samples * net.dtype.itemsize


def peak(function):
    """Bytes that are held at one time, at most."""
    function()  # loops are compiled
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", NETWORKS)
def test_peaks(name):
    make, samples = NETWORKS[name]
    net, rng = make(), np.random.default_rng(0)
    x, y = rng.normal(size=(samples, *net.input_shape)), rng.integers(0, 10, samples)
    v, all_outputs = rng.normal(size=net.size), outputs(net, samples)
    assert all_outputs > 4 * net.theta.nbytes
    room = x.nbytes + 6 * net.theta.nbytes  # a copy of x, some vectors of parameters
    gradient = peak(lambda: so.exact.gradient(net, LOSS, x, y))
    product = peak(lambda: so.exact.hessian_vector_product(net, LOSS, x, y, v))
    assert gradient < 2.2 * all_outputs + room
    assert product < 4 * all_outputs + room


def test_the_measure_sees_an_array():
    net = Network([Linear(50, 50, rng=0), Activation("tanh")])
    x = np.ones((1000, 50))
    assert peak(lambda: [net.chain.forward(x), x.copy()]) >= outputs(net, 1000) + x.nbytes
