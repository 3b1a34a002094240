"""Compiled convolutions and poolings against the literal ones, in networks that look at images."""

import numpy as np
import pytest

import secondorder as so
from harness.everyday import all_but
from harness.two_forms import both, check_every_quantity
from secondorder.nets import (Activation, AvgPool2d, Chain, Conv2d, Flatten, Linear, MaxPool2d,
                              Network, Skip, SoftmaxCrossEntropy, SquaredError)
from secondorder.papers.low_rank.curvature import directional_curvature_at
from test_programs import targets

NETS = {
    "usual": lambda: [Conv2d(2, 3, 3, rng=0), Activation("tanh"), MaxPool2d(2), Flatten()],
    "padding": lambda: [Conv2d(2, 4, 3, padding=1, rng=0), Activation("softplus"), AvgPool2d(2),
                        Conv2d(4, 2, 2, padding=(0, 1), rng=1), Activation("sin"), Flatten()],
    "strides": lambda: [Conv2d(2, 3, (2, 3), (3, 2), (2, 1), rng=0), Activation("sigmoid"),
                        Flatten()],
    "no bias, no activation": lambda: [Conv2d(2, 2, 2, bias=False, rng=0),
                                       Conv2d(2, 3, 3, stride=2, bias=False, rng=1), Flatten()],
    "as large as the image": lambda: [Conv2d(2, 5, (7, 6), rng=0), Flatten(), Activation("tanh")],
    "one pixel, in the padding too": lambda: [Conv2d(2, 3, 1, padding=2, stride=3, rng=0),
                                              Activation("leaky_relu"), Flatten()],
    "poolings that overlap, first": lambda: [
        AvgPool2d((3, 2), (1, 2)), Conv2d(2, 3, 2, rng=0), Activation("tanh"),
        MaxPool2d((2, 1), 1), Flatten()],
    "maxima with gaps, first": lambda: [MaxPool2d(2, 3), Conv2d(2, 3, 1, rng=0), Flatten()],
    "fixed": lambda: [Conv2d(2, 3, 2, rng=0), Activation("tanh"),
                      Conv2d(3, 2, 2, rng=1, trainable=False), Activation("sin"), Flatten()],
    "skip": lambda: [Skip([Conv2d(2, 3, 3, padding=1, rng=0), Activation("tanh"),
                           Conv2d(3, 2, 1, rng=1)]), Chain([Activation("sin"), MaxPool2d(3, 2)]),
                     so.LayerNorm((2, 3, 2)), Flatten()],
}
SHAPE = 2, 7, 6


def network(kind, dtype):
    layers = NETS[kind]()
    inside = Chain(layers).output_shape(SHAPE)
    net = Network([*layers, Linear(*inside, 5, rng=3)], dtype=dtype, input_shape=SHAPE)
    net.theta = net.theta + np.random.default_rng(4).normal(size=net.size) / 5
    return net


def batch(samples):
    return np.random.default_rng(2).normal(size=(samples, *SHAPE))


@pytest.mark.parametrize("dtype", all_but(["float64", "float32"], "float32"))
@pytest.mark.parametrize("kind", NETS)
def test_every_quantity_is_the_literal_one(kind, dtype):
    net = network(kind, dtype)
    v = np.random.default_rng(5).normal(size=net.size).astype(dtype)
    for samples, loss in ((11, SoftmaxCrossEntropy()), (1, SquaredError())):
        given = loss, batch(samples), targets(loss, samples)
        check_every_quantity(net, *given)
        found, literal = both(lambda: directional_curvature_at(net.evaluate(*given), v))
        assert found == pytest.approx(literal, rel=1e4 * float(np.finfo(dtype).eps))
