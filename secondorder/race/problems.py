"""The three problems of the race: 6000 images of MNIST, a network and a loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import secondorder as so
from secondorder.studies.data import images

TRAINED, HELD_OUT = 6000, 2000
GAIN = 4.0  # of Xavier's weights below sigmoids: without it the network stays on a plateau


@dataclass(frozen=True)
class Problem:
    """A network, by its seed, that is trained on images in batches.

    Inputs lie between `lowest` and 1; targets are the labels, or the inputs where it `repeats`.
    """

    key: str
    title: str
    network: Callable
    loss: object
    batch: int
    lowest: float = 0.0
    repeats: bool = False

    def parts(self, seed):
        """(x, y) of MNIST to train on and (x, y) held out, drawn by the seed; x (S, 784) in
        float32. Where there is no MNIST, digits stand in its place.
        """
        parts = []
        for part, count in (("train", TRAINED), ("test", HELD_OUT)):
            there = images("mnist", part, (self.lowest, 1.0))
            rows = np.random.default_rng([seed, 1]).permutation(len(there.labels))[:count]
            x = there.inputs[rows].astype("float32")
            parts.append((x, x if self.repeats else there.labels[rows]))
        return parts


def stand_in():
    """Whether there is no MNIST."""
    return images("mnist").stand_in


def dense(*sizes, **options):
    """Seed -> a fully-connected network in float32."""
    return lambda seed: so.mlp(sizes, rng=seed, dtype="float32", **options)


def sigmoids(seed):
    """Sigmoids whose weights are Xavier's times a gain."""
    network = dense(784, 128, 64, 32, 10, activation="sigmoid", init="xavier")(seed)
    for layer in network.layers:
        if layer.size:
            layer.weight[...] *= GAIN
    return network


PROBLEMS = {problem.key: problem for problem in (
    Problem("classifier", "classifier 784-128-64-32-10, sigmoid, cross-entropy", sigmoids,
            so.SoftmaxCrossEntropy(), 100),
    Problem("autoencoder", "autoencoder 784-64-2-64-784, tanh, squared error",
            dense(784, 64, 2, 64, 784, activation="tanh", output="tanh"), so.SquaredError(), 100,
            lowest=-1.0, repeats=True),
    Problem("plateau", "plateau: twelve hidden layers of 128 ReLU, cross-entropy",
            dense(784, *[128] * 12, 10, activation="relu", bias=False, init=0.1),
            so.SoftmaxCrossEntropy(), 32),
)}
