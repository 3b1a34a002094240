"""Memory: the peak of a gradient and of a product."""

import math

import numpy as np
import pytest

import secondorder as so
from secondorder.bench import peak

LOSS = so.SoftmaxCrossEntropy()
NETWORKS = {
    "tanh": (lambda: so.mlp([200] * 6 + [10], rng=0), 1000),
    "relu": (lambda: so.mlp([200] * 6 + [10], activation="relu", rng=0), 1000),
    "images": (lambda: so.cnn((1, 28, 28), [8, 16], 10, pool=None, padding=1, rng=0), 100),
    "sequences": (lambda: so.rnn((20, 8), 64, 10, rng=0), 400)}


def outputs(net, samples):
    """Bytes of what the layers make of a batch, a recurrence at every step."""
    shape, numbers = net.input_shape, 0
    for layer in net.layers:
        steps = 2 * shape[0] if isinstance(layer, so.Recurrent) else 1  # argument and state
        shape = layer.output_shape(shape)
        numbers += steps * math.prod(shape)
    return numbers * samples * net.dtype.itemsize


@pytest.mark.parametrize("name", NETWORKS)
def test_peaks_as_multiples_of_the_outputs_of_all_layers(name):
    make, samples = NETWORKS[name]
    net, rng = make(), np.random.default_rng(0)
    x, y = rng.normal(size=(samples, *net.input_shape)), rng.integers(0, 10, samples)
    v, all_outputs = rng.normal(size=net.size), outputs(net, samples)
    room = x.nbytes + 6 * net.theta.nbytes  # a copy of x, some vectors of parameters
    gradient = peak(lambda: so.exact.gradient(net, LOSS, x, y))
    product = peak(lambda: so.exact.hessian_vector_product(net, LOSS, x, y, v))
    assert gradient < 2.2 * all_outputs + room and product < 4 * all_outputs + room
