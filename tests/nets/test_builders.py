"""`cnn`, `rnn` and `Network.summary`."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import (Activation, AvgPool2d, Conv2d, Flatten, Linear, MaxPool2d, Network,
                              Recurrent)


def kinds(net):
    return [type(layer) for layer in net.layers]


def test_a_convolutional_network():
    net = so.cnn((2, 9, 8), [3, 5], 4, kernel_size=3, padding=1, rng=0)
    assert kinds(net) == [Conv2d, Activation, MaxPool2d] * 2 + [Flatten, Linear]
    assert net.input_shape == (2, 9, 8) and net.output_shape == (4,)
    assert [net.layers[i].weight.shape for i in (0, 3, 7)] == [(3, 2, 3, 3), (5, 3, 3, 3), (4, 20)]
    assert net.layers[1].function.name == "relu" and net(np.ones((2, 2, 9, 8))).shape == (2, 4)
    again = so.cnn((2, 9, 8), [3, 5], 4, kernel_size=3, padding=1, rng=0)
    assert np.array_equal(net.theta, again.theta)


def test_options_of_a_convolutional_network():
    net = so.cnn((1, 7, 7), [2], 3, kernel_size=(3, 2), stride=2, padding=(0, 1), pool="avg",
                 activation="tanh", output="sigmoid", bias=False, init=0.01, rng=1, dtype="float32")
    assert kinds(net) == [Conv2d, Activation, AvgPool2d, Flatten, Linear, Activation]
    first = net.layers[0]
    assert (first.kernel_size, first.stride, first.padding) == ((3, 2), 2, (0, 1))
    assert all(layer.bias is None for layer in (first, net.layers[4]))
    assert np.abs(net.theta).max() <= 0.01 and net.dtype == np.float32
    assert [net.layers[i].function.name for i in (1, 5)] == ["tanh", "sigmoid"]
    assert kinds(so.cnn((1, 4, 4), [1], 1, pool=None)) == [Conv2d, Activation, Flatten, Linear]


def test_a_recurrent_network():
    net = so.rnn((10, 2), 8, 3, activation="sigmoid", output="tanh", bias=False, rng=0,
                 dtype="float32")
    assert kinds(net) == [Recurrent, Linear, Activation] and net.dtype == np.float32
    assert net.input_shape == (10, 2) and net.output_shape == (3,)
    assert net.layers[0].weight_ih.shape == (8, 2) and net.layers[0].bias is None
    assert net.layers[0].function.name == "sigmoid" and net.layers[1].bias is None
    assert kinds(so.rnn((4, 1), 2, 1)) == [Recurrent, Linear]


@pytest.mark.parametrize("arguments, error, words", [
    (((1, 4, 4), [2, 2], 3), ValueError, "the kernel .* is larger than the image"),
    (((8, 8), [2], 3), ValueError, "takes images"), (((1, 8, 8), 4, 3), TypeError, "channels"),
    (((1, 8, 8), [2], 0), ValueError, "outputs")])
def test_cnn_refuses(arguments, error, words):
    with pytest.raises(error, match=words):
        so.cnn(*arguments)


def test_rnn_refuses():
    with pytest.raises(ValueError, match=r"input_shape must be \(T, D\)"):
        so.rnn((3,), 4, 1)
    with pytest.raises(ValueError, match="outputs"):
        so.rnn((3, 1), 2, 0)


def test_summary(capsys):
    net = Network([so.Skip([Conv2d(2, 2, 3, padding=1, trainable=False), Activation("tanh")]),
                   Flatten(), Linear(18, 5, rng=0)], input_shape=(2, 3, 3))
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
    so.mlp([3, 2], rng=0).summary()
    assert capsys.readouterr().out.endswith("8 parameters, float64\n")
