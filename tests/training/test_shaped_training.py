"""Small convolutional and recurrent networks learn: handwritten digits, the MNIST subset where
there is one, and the sum of two marked numbers out of ten."""


import numpy as np
import pytest

import secondorder as so
from harness import slow

LOSS = so.SoftmaxCrossEntropy()
#: Method, and the share of validation images that it must get right after three epochs of the
#: digits; a guess gets 0.1.
METHODS = {
    "SGD": (lambda net: so.SGD(net, LOSS, learning_rate=0.3), 0.45),
    "Adam": (lambda net: so.Adam(net, LOSS, learning_rate=0.01), 0.7),
    "residual partitioning": (
        lambda net: so.ResidualPartitioning(net, LOSS, learning_rate=30.0), 0.6),
    "cubic": (lambda net: so.CubicRegularization(so.SGD(net, LOSS), sigma=10.0), 0.6),
    "cubic around Adam": (lambda net: so.CubicRegularization(so.Adam(net, LOSS), sigma=10.0), 0.6),
}


def accuracy(net, x, y):
    return (net(x).argmax(axis=1) == y).mean()


@pytest.mark.parametrize("name", [*list(METHODS)[:1], *slow(list(METHODS)[1:])])
def test_digits(name):
    make, wanted = METHODS[name]
    parts = so.datasets.split(so.datasets.load_digits(), validation=397,
                              rng=np.random.default_rng(0))
    training, validation = (so.datasets.scale(part, (-1.0, 1.0)) for part in parts)
    x, vx = (part.inputs.reshape(-1, 1, 8, 8) for part in (training, validation))
    net = so.cnn((1, 8, 8), [8, 16], 10, padding=1, activation="tanh", pool="avg", rng=0)
    assert accuracy(net, vx, validation.targets) < 0.3
    so.train(make(net), x, training.targets, epochs=3, batch_size=100, rng=0)
    assert accuracy(net, vx, validation.targets) > wanted


def adding(count, steps, rng):
    """Sequences (count, steps, 2) of numbers and marks, two marks each, and the sum of the marked
    numbers."""
    numbers, marks = rng.uniform(size=(count, steps)), np.zeros((count, steps))
    for row in marks:
        row[rng.choice(steps, 2, replace=False)] = 1
    return np.stack([numbers, marks], axis=-1), (numbers * marks).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("cubic", [False, True])
def test_adding_over_ten_steps(cubic):
    rng = np.random.default_rng(0)
    (x, y), (vx, vy) = adding(1000, 10, rng), adding(300, 10, rng)
    net = so.rnn((10, 2), 16, 1, rng=1)
    method = so.Adam(net, so.SquaredError(), learning_rate=0.01)
    so.train(so.CubicRegularization(method, sigma=10.0) if cubic else method, x, y, epochs=30,
             batch_size=50, rng=0)
    assert ((net(vx) - vy) ** 2).mean() < vy.var() / 4
