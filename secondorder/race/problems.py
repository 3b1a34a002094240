"""The problems of the race: data, network, loss, batch, and where the clock stops."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import secondorder as so
from secondorder.datasets import Standardisation
from secondorder.studies import images, table


@dataclass(frozen=True)
class Problem:
    """One problem."""

    key: str
    title: str  # what a figure says
    needs: tuple  # public data sets, as a study names them
    parts: Callable  # seed -> ((x, y), (x, y)), training and held-out, float32
    network: Callable  # seed -> Network, float32
    loss: object
    batch: object  # samples, or "all"
    most: float  # upper limit of T, in CPU seconds of steps
    level: float | None = None  # the training loss at which T is read from Adam's clock
    epochs: int | None = None  # where there is no level: after so many epochs
    noise: float = 0.0  # deviation of noise that is added to the inputs, anew for every batch

    def rows(self, samples):
        """How many samples a step takes."""
        return samples if self.batch == "all" else min(self.batch, samples)


# -- data ------------------------------------------------------------------------------------------


def cut(x, y, training, held_out, seed):
    """So many rows for training and so many others, drawn by the seed; of a stand-in with fewer
    rows three of four are for training.
    """
    training = min(training, 3 * len(x) // 4) if training + held_out > len(x) else training
    order = np.random.default_rng([seed, 1]).permutation(len(x))
    first, second = order[:training], order[training:training + held_out]
    return (x[first], y[first]), (x[second], y[second])


@functools.lru_cache(maxsize=4)
def pictures(name, interval):
    """Both parts of a set of images, together: inputs in float32 and labels."""
    parts = [images(name, part, interval) for part in ("train", "test")]
    return (np.concatenate([part.inputs for part in parts]).astype("float32"),
            np.concatenate([part.labels for part in parts]))


def digits(seed, training=1400, shape=(64,)):
    """Digits in [-1, 1]; what is not trained on, up to 397, is held out."""
    x, labels = pictures("digits", (-1.0, 1.0))
    return cut(x.reshape(len(x), *shape), labels, training, 397, seed)


def standard_digits(seed, training=1400):
    """Digits with mean 0 and deviation 1 over all training pixels."""
    (x, y), (x_held, y_held) = digits(seed, training)
    mean, deviation = x.mean(), x.std()
    return ((x - mean) / deviation, y), ((x_held - mean) / deviation, y_held)


def noisy_digits(seed):
    """Standard digits; noise of the same size lies over the held-out ones, once for all."""
    training, (x, y) = standard_digits(seed)
    noise = np.random.default_rng([seed, 3]).standard_normal(x.shape).astype(x.dtype)
    return training, (x + noise, y)


def mnist(seed, interval=(0.0, 1.0)):
    """6000 images for training, 2000 held out."""
    return cut(*pictures("mnist", interval), 6000, 2000, seed)


def mnist_twice(seed):
    """Images as inputs and as targets, in [-1, 1]."""
    (x, _), (x_held, _) = mnist(seed, (-1.0, 1.0))
    return (x, x), (x_held, x_held)


def wine(seed):
    """Red wines, four of five for training; inputs and quality standardised by these."""
    data = table("wine-quality")
    count = 4 * len(data) // 5
    parts = cut(data.inputs, data.targets.reshape(len(data), -1), count, len(data) - count, seed)
    rules = [Standardisation.fit(values) for values in parts[0]]
    return tuple(tuple(rule.apply(values).astype("float32") for rule, values in zip(rules, part))
                 for part in parts)


# -- networks --------------------------------------------------------------------------------------


def dense(sizes, activation, **options):
    """Seed -> a fully-connected network in float32."""
    return lambda seed: so.mlp(sizes, activation=activation, rng=seed, dtype="float32", **options)


def wine_network(seed):
    """Two hidden layers of 50, for as many inputs as the table has."""
    return dense([table("wine-quality").inputs.shape[1], 50, 50, 1], "softplus")(seed)


def scaled_xavier(seed, gain=4.0):
    """Sigmoids with Xavier's weights times a gain: without it the net stays on a plateau."""
    network = dense([784, 128, 64, 32, 10], "sigmoid", init="xavier")(seed)
    for layer in network.layers:
        if layer.size:
            layer.weight[...] *= gain
    return network


def convolutional(seed):
    return so.cnn((1, 8, 8), [8, 16], 10, padding=1, rng=seed, dtype="float32")


def reversible(seed):
    return so.reversible_gauss_newton.RevMLP(64, 4, 120, outputs=10, rng=seed, dtype="float32")


# -- all of them -----------------------------------------------------------------------------------

ENTROPY, SQUARES = so.SoftmaxCrossEntropy(), so.SquaredError()
DIGITS_NETWORK = dense([64, 60, 30, 10], "tanh")

PROBLEMS = {problem.key: problem for problem in (
    Problem("digits", "digits, 64-60-30-10 tanh", (), digits, DIGITS_NETWORK, ENTROPY, 100,
            2.0, level=0.02),
    Problem("wine", "red wines, 11-50-50-1 softplus", ("wine-quality",), wine, wine_network,
            SQUARES, 64, 5.0, epochs=100),
    Problem("reversible", "digits with noise, RevMLP 64, 4 blocks, bottleneck 120", (),
            noisy_digits, reversible, ENTROPY, 96, 10.0, level=0.02, noise=1.0),
    Problem("one-batch", "96 digits as one batch, RevMLP 64, 4 blocks, bottleneck 120", (),
            lambda seed: standard_digits(seed, 96), reversible, ENTROPY, "all", 10.0, level=0.02),
    Problem("convolution", "digits as images, convolutions 8 and 16", (),
            lambda seed: digits(seed, shape=(1, 8, 8)), convolutional, ENTROPY, 100, 20.0,
            level=0.02),
    Problem("plateau", "6000 images of MNIST, twelve hidden layers of 128 ReLU", ("mnist",),
            mnist, dense([784, *[128] * 12, 10], "relu", bias=False, init=0.1), ENTROPY, 32, 30.0,
            level=0.05),
    Problem("classifier", "6000 images of MNIST, 784-128-64-32-10 sigmoid", ("mnist",),
            mnist, scaled_xavier, ENTROPY, 100, 30.0, level=0.02),
    Problem("autoencoder", "6000 images of MNIST, 784-64-2-64-784 softplus", ("mnist",),
            mnist_twice, dense([784, 64, 2, 64, 784], "softplus"), SQUARES, 100, 30.0, epochs=100),
    Problem("digits-10", "digits, batches of 10", (), digits, DIGITS_NETWORK, ENTROPY, 10,
            2.0, level=0.02),
    Problem("digits-all", "digits, all 1400 in one batch", (), digits, DIGITS_NETWORK,
            ENTROPY, "all", 2.0, level=0.02),
)}
