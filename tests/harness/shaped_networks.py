"""Small networks of layers for images and sequences, three of each kind of layer's neighbours."""

import numpy as np

import secondorder as so
from harness.cases import moved
from secondorder.nets import (Activation, AvgPool2d, Conv2d, Flatten, LayerNorm, Linear, MaxPool2d,
                              Network, Recurrent, Reshape, Skip)


def convolutional(rng):
    """Padding, a skip connection, both kinds of pooling, a fixed layer, stride 2: P = 72."""
    return Network([
        Conv2d(1, 2, 3, padding=1, init=0.6, rng=rng), Activation("tanh"), MaxPool2d(2),
        Skip([Conv2d(2, 2, (1, 3), padding=(0, 1), bias=False, init=0.6, rng=rng),
              Activation("softplus")]),
        Conv2d(2, 2, 1, trainable=False, init=0.8, rng=rng), AvgPool2d(2, 1),
        Conv2d(2, 3, 2, stride=2, padding=(1, 0), init=0.6, rng=rng), Activation("sigmoid"),
        Flatten(), Linear(3, 3, init=0.9, rng=rng)], input_shape=(1, 4, 6))


def recurrent(rng):
    """An input at every step, then a recurrence on its own."""
    return Network([Recurrent(2, 3, init=0.8, rng=rng), Linear(3, 4, init=0.8, rng=rng),
                    Recurrent(4, steps=3, activation="softplus", bias=False, init=0.5, rng=rng),
                    Linear(4, 3, init=0.9, rng=rng)], input_shape=(4, 2))


def normalised(rng):
    """Blocks of an image, a whole vector, and both through a skip connection."""
    return Network([Linear(4, 8, init=0.8, rng=rng), Reshape(8, (2, 2, 2)),
                    moved(LayerNorm((2, 2), epsilon=0.1), rng), Activation("tanh"), Flatten(),
                    Skip([moved(LayerNorm(8), rng), Activation("sin")]),
                    Linear(8, 3, init=0.9, rng=rng)])


NETWORKS = {"convolutional": convolutional, "recurrent": recurrent, "normalised": normalised}


def problem(name, seed=0, samples=4):
    """(network, loss, x, y) with labels."""
    rng = np.random.default_rng(seed)
    net = NETWORKS[name](rng)
    return (net, so.SoftmaxCrossEntropy(), rng.normal(size=(samples, *net.input_shape)),
            rng.integers(0, 3, samples))
