"""The paper's two networks, its data, and the methods that are compared."""

import numpy as np

import secondorder as so
from secondorder.studies import Images, images

BATCH = 100
L2 = 1e-2  # the paper's penalty, (l2 / 2) |theta|^2 in the objective of every method
HIDDEN = {"autoencoder": (64, 2, 64), "classifier": (400, 100, 36)}
METHODS = {"partitioning": (so.ResidualPartitioning, {}),
           "sgd": (so.SGD, {}),
           "adam": (so.Adam, {})}
NAMES = {"partitioning": "residual partitioning", "sgd": "SGD", "adam": "Adam"}
LUMINANCE = (0.299, 0.587, 0.114)  # of red, green, blue


def network_of(kind, inputs, seed, dtype="float32", hidden=None):
    """The autoencoder D-64-2-64-D, all layers tanh, or the classifier D-400-100-36-10, softplus
    and logits; weights and biases uniform within +-1 / sqrt(fan-in). With its loss.
    """
    hidden = HIDDEN[kind] if hidden is None else hidden
    if kind == "autoencoder":
        return so.mlp([inputs, *hidden, inputs], activation="tanh", output="tanh", rng=seed,
                      dtype=dtype), so.SquaredError()
    return so.mlp([inputs, *hidden, 10], activation="softplus", rng=seed,
                  dtype=dtype), so.SoftmaxCrossEntropy()


def pictures(name, part="train"):
    """Images in [-1, 1] by name; ``"cifar-10-grey"``, the stand-in for Fashion-MNIST, is the
    luminance of CIFAR-10, rows and columns 2 to 29.
    """
    if name != "cifar-10-grey":
        return images(name, part, (-1.0, 1.0))
    coloured = images("cifar-10", part, (-1.0, 1.0))
    grey = np.tensordot(LUMINANCE, coloured.inputs.reshape(-1, 3, 32, 32), axes=(0, 1))
    return Images(grey[:, 2:30, 2:30].reshape(len(grey), -1), coloured.labels,
                  "grey centres of CIFAR-10, for Fashion-MNIST", stand_in=True)


def data_of(kind, name, part="train", dtype="float32"):
    """Inputs and targets: the inputs again for an autoencoder, else the labels."""
    dataset = pictures(name, part)
    x = dataset.inputs.astype(dtype)
    return x, x if kind == "autoencoder" else dataset.labels


def batches(samples, seed):
    """Rows of batch after batch, shuffled in every epoch, without end."""
    rng = np.random.default_rng([seed, 1])
    while True:
        order = rng.permutation(samples)
        for start in range(0, samples - BATCH + 1, BATCH):
            yield order[start:start + BATCH]
