"""Layers of images, sequences and blocks: any of them against decimals and differences, where they
begin, at their ends, and what they refuse."""

import decimal
import math

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import secondorder as so
from harness import derivations
from harness.cases import moved, relative
from secondorder.nets import (AvgPool2d, Conv2d, Flatten, LayerNorm, MaxPool2d, Network, Recurrent,
                              Reshape)

PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))
NAMES = st.sampled_from(["tanh", "softplus", "sigmoid", "sin"])


def shaped(draw, kind):
    """A layer of a kind with random parameters, and the shape of a sample."""
    kernel, stride, more, channels, bias = *(draw(PAIRS) for _ in range(4)), draw(st.booleans())
    if kind == "layer norm":
        layer = LayerNorm(more[:draw(st.integers(1, 2))] + (3,), epsilon=0.1)
        return moved(layer, np.random.default_rng(0)), (*channels, *layer.shape)[-3:]
    if kind == "recurrent":
        layer = Recurrent(*kernel, activation=draw(NAMES), bias=bias, rng=0)
        return layer, (more[0], kernel[0])
    if kind == "autonomous":
        layer = Recurrent(kernel[0], steps=more[0], activation=draw(NAMES), bias=bias, rng=0)
        return layer, (kernel[0],)
    shape = channels[0], *(k + m - 1 for k, m in zip(kernel, more))
    if kind == "convolution":
        padding = tuple(min(k - 1, p - 1) for k, p in zip(kernel, draw(PAIRS)))
        return Conv2d(*channels, kernel, stride, padding, bias=bias, rng=0), shape
    return (AvgPool2d if kind == "mean" else MaxPool2d)(kernel, stride), shape


@pytest.mark.parametrize("kind", ["convolution", "mean", "largest", "layer norm", "recurrent",
                                  "autonomous"])
@settings(max_examples=6, deadline=None, derandomize=True, database=None,
          phases=[Phase.generate])  # a smaller case costs more than it tells
@given(data=st.data())
def test_any_layer_against_decimals_and_differences(kind, data):
    """`forward` number by number, and every other pass by the derivatives of `forward`."""
    layer, shape = shaped(data.draw, kind)
    x = np.random.default_rng(1).normal(size=(2, *shape))
    around = [Reshape(math.prod(shape), shape), layer, Flatten()]
    with decimal.localcontext(prec=50):
        theta = derivations.decimals(np.concatenate(
            [np.ravel(value) for value in layer.parameters.values()] or [np.zeros(0)]))
        rows = derivations.decimals(x.reshape(2, -1))
        expected = derivations.floats([derivations.run_layers(around, row, iter(theta))
                                       for row in rows])
    y, saved = layer.forward(x)
    assert layer.output_shape(shape) == y.shape[1:] and saved.output is y
    assert relative(y.reshape(2, -1), expected) < 1e-14
    report = so.verify.layer(layer, shape)
    assert report, str(report)


def test_a_convolution_of_more_samples_than_one_turn():
    """Samples are worked through some at a time; the last turn is shorter."""
    net = so.Network([Conv2d(2, 3, 3, padding=1, rng=0), so.Activation("tanh"),
                      Conv2d(3, 2, 3, stride=2, rng=0), Flatten(), so.Linear(98, 2, rng=0)],
                     input_shape=(2, 16, 16))
    rng, loss = np.random.default_rng(0), so.SquaredError()
    x, y, v = rng.normal(size=(17, 2, 16, 16)), rng.normal(size=(17, 2)), rng.normal(size=net.size)
    for function in (lambda x, y: so.exact.gradient(net, loss, x, y),
                     lambda x, y: so.exact.hessian_vector_product(net, loss, x, y, v),
                     lambda x, y: so.exact.sample_gradients(net, loss, x, y).mean(axis=0)):
        alone = [function(x[k:k + 1], y[k:k + 1]) for k in range(17)]
        assert relative(function(x, y), np.mean(alone, axis=0)) < 1e-12


def test_where_parameters_begin():
    conv, even, layer = (Conv2d(3, 200, (2, 5), rng=0), Conv2d(3, 200, 2, init="xavier", rng=0),
                         Recurrent(40, 25, rng=0))
    for values in (conv.weight, conv.bias):
        assert 0.98 / np.sqrt(30) < np.abs(values).max() <= 1 / np.sqrt(30)
    assert 0.98 < np.abs(even.weight).max() / np.sqrt(6 / (12 + 800)) <= 1 and not even.bias.any()
    for values in layer.parameters.values():
        assert 0.9 / 5 < np.abs(values).max() <= 1 / 5


def test_of_equal_entries_the_first_is_the_maximum():
    layer = MaxPool2d(2)
    x = np.array([[[[1.0, 3.0], [3.0, 3.0]]], [[[0.0, 0.0], [0.0, 0.0]]]])
    y, saved = layer.forward(x)
    assert y.ravel().tolist() == [3.0, 0.0]
    x_bar = layer.backward(saved, np.ones((2, 1, 1, 1)))[0]
    assert x_bar.ravel().tolist() == [0, 1, 0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("dtype, size", [("float64", 1e155), ("float32", 1e19)])
def test_normalisation_of_blocks_of_any_size(dtype, size):
    """Outputs and derivatives are those of the input without its size, where epsilon is small; a
    constant block is no division by zero."""
    rng = np.random.default_rng(0)
    net = Network([LayerNorm(4, epsilon=1e-20), so.Linear(4, 3, rng=0), so.Activation("tanh"),
                   LayerNorm(3), so.Linear(3, 2, rng=1)], dtype=dtype, input_shape=(4,))
    x, y = rng.normal(size=(6, 4)).astype(dtype), rng.normal(size=(6, 2)).astype(dtype)
    large, tolerance = x * np.dtype(dtype).type(size), 200 * np.finfo(dtype).eps
    for found in (lambda x: net(x), lambda x: so.exact.gradient(net, so.SquaredError(), x, y),
                  lambda x: so.exact.hessian(net, so.SquaredError(), x, y)):
        assert relative(found(large), found(x)) < tolerance
    flat, saved = LayerNorm(3).forward(np.full((1, 3), 7.0))
    assert not flat.any()
    assert np.isfinite(LayerNorm(3).backward(saved, np.ones((1, 3)))[0]).all()


@pytest.mark.parametrize("call, error, words", [
    (lambda: Conv2d(2, 3, (4, 3)).output_shape((1, 8, 8)), ValueError, "Conv2d.*takes images"),
    (lambda: Conv2d(2, 3, (4, 3)).output_shape((2, 2, 8)), ValueError, "the kernel .* is larger"),
    (lambda: LayerNorm((2, 3)).output_shape((3, 2)), ValueError, "LayerNorm.*takes inputs"),
    (lambda: Recurrent(2, 3).output_shape((4, 3)), ValueError, "Recurrent.*takes sequences"),
    (lambda: Recurrent(2, steps=3).output_shape((3,)), ValueError, "takes its first state"),
    (lambda: Reshape(4, (2, 3)), ValueError, "output_shape"),
    (lambda: Network([Conv2d(1, 2, 3)]), ValueError, "input_shape must be given"),
    (lambda: so.cnn((1, 8, 8), 4, 3), TypeError, "channels"),
    (lambda: so.rnn((3,), 4, 1), ValueError, "input_shape")])
def test_shapes_that_do_not_fit(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_convolutional_network():
    net = so.cnn((2, 9, 8), [3, 5], 4, kernel_size=3, padding=1, rng=0)
    assert [type(layer).__name__ for layer in net.layers] == [
        "Conv2d", "Activation", "MaxPool2d", "Conv2d", "Activation", "MaxPool2d", "Flatten",
        "Linear"]
    assert [net.layers[i].weight.shape for i in (0, 3, 7)] == [(3, 2, 3, 3), (5, 3, 3, 3), (4, 20)]
    net = so.cnn((1, 7, 7), [2], 3, kernel_size=(3, 2), stride=2, padding=(0, 1), pool="avg",
                 activation="tanh", output="sigmoid", bias=False, init=0.01, rng=1, dtype="float32")
    first, last = net.layers[0], net.layers[-1]
    assert (first.kernel_size, first.stride, first.padding) == ((3, 2), 2, (0, 1))
    assert first.bias is None and isinstance(net.layers[2], AvgPool2d)
    assert np.abs(net.theta).max() <= 0.01 and net.dtype == np.float32
    assert (net.layers[1].function.name, last.function.name) == ("tanh", "sigmoid")


def test_a_recurrent_network():
    net = so.rnn((10, 2), 8, 3, activation="sigmoid", output="tanh", bias=False, rng=0)
    assert net.input_shape == (10, 2) and net.output_shape == (3,) and len(net.layers) == 3
    assert net.layers[0].weight_ih.shape == (8, 2) and net.layers[0].bias is None
    assert net.layers[0].function.name == "sigmoid" and net.layers[2].function.name == "tanh"


def test_summary(capsys):
    net = Network([so.Skip([Conv2d(2, 2, 3, padding=1, trainable=False), so.Activation("tanh")]),
                   Flatten(), so.Linear(18, 5, rng=0)], input_shape=(2, 3, 3))
    net.summary()
    assert capsys.readouterr().out == """\
layer                                          output shape  parameters  fixed
input                                          (2, 3, 3)
Skip                                           (2, 3, 3)              0     38
  Conv2d(2, 2, 3, padding=1, trainable=False)  (2, 3, 3)              0     38
  Activation(tanh)                             (2, 3, 3)              0
Flatten()                                      (18,)                  0
Linear(18, 5)                                  (5,)                  95
95 parameters, float64; 38 fixed
"""
