"""The paper's two networks, its data, and the methods that are compared."""

import numpy as np

import secondorder as so
from secondorder.studies import images

BATCH = 100
L2 = 1e-2  # the paper's penalty, (l2 / 2) |theta|^2 in the objective of every method
HIDDEN = {"autoencoder": (64, 2, 64), "classifier": (400, 100, 36)}
KINDS = tuple(HIDDEN)
SETS = {"digits": "digits", "mnist": "MNIST", "cifar-10": "CIFAR-10"}
METHODS = {"partitioning": so.ResidualPartitioning, "sgd": so.SGD, "adam": so.Adam}
NAMES = {"partitioning": "residual partitioning", "sgd": "SGD", "adam": "Adam"}
LOOKS = {"partitioning": ("C3", "o"), "sgd": ("C0", "s"), "adam": ("C2", "^")}


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


def data_of(kind, name, part="train", dtype="float32"):
    """Images in [-1, 1] and targets: the images again for an autoencoder, else the labels."""
    dataset = images(name, part, (-1.0, 1.0))
    x = dataset.inputs.astype(dtype)
    return x, x if kind == "autoencoder" else dataset.labels


def random_batch(kind, inputs, seed):
    """A batch of noise, where only time and memory count."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (BATCH, inputs)).astype("float32")
    return x, x if kind == "autoencoder" else rng.integers(0, 10, BATCH)


def trained(record, look, step, x, y, seed, steps):
    """A training whose `look(k)` sees the network before step k, up to `steps`, until it returns
    True; `step` takes a batch. The record, with ``diverged`` where numbers stop being finite.
    """
    rows = batches(len(x), seed)
    for k in range(steps + 1):
        try:
            if look(k):
                break
            batch = next(rows)
            step(x[batch], y[batch])
        except FloatingPointError as error:
            record["diverged"] = f"step {k}: {error}"
            break
    return record


def batches(samples, seed):
    """Rows of batch after batch, shuffled in every epoch, without end."""
    rng = np.random.default_rng([seed, 1])
    while True:
        order = rng.permutation(samples)
        for start in range(0, samples - BATCH + 1, BATCH):
            yield order[start:start + BATCH]
