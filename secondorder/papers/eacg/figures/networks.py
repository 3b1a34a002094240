"""Networks and images that stand in for the paper's: fewer, smaller, of the same make.

Sigmoids, logits, Xavier's uniform weights, biases 0, pixels in [0, 1], float32. ``"R5"`` has
Cifar-10 at 16 x 16, ``"P8"`` is the paper's network for Cifar-10, ``"W4"`` has it enlarged to
64 x 64 in the place of ImageNet: an input layer that dwarfs the rest. ``"Q"`` is the digits.
"""

import functools

import numpy as np

import secondorder as so
from secondorder.studies import images
from secondorder.studies.data import pooled

WIDTHS = {"Q": (64, 32, 16, 10), "R5": (768, 256, 128, 64, 32, 10),
          "W4": (12288, 128, 64, 32, 10),
          "P8": (3072, 1024, 512, 256, 128, 64, 32, 16, 10)}
CRITERIA = {"cross-entropy": so.SoftmaxCrossEntropy,
            "bounded": lambda: so.BoundedCriterion(delta=5.0, epsilon=0.2)}
STARTED = {"cross-entropy": 2.2, "bounded": 0.58}  # below: off the plateau (log 10 = 2.303, 0.622)
TEST = 2000


@functools.lru_cache(maxsize=4)
def pictures(case):
    """All images and labels of a case, with the name that a title gives them."""
    parts = [images("digits" if case == "Q" else "cifar-10", part) for part in ("train", "test")]
    x, name = np.concatenate([part.inputs for part in parts]), parts[0].name
    labels = np.concatenate([part.labels for part in parts])
    if case == "R5":
        x, name = pooled(x, 32, 3, 2), f"{name}, 16 x 16"
    elif case == "W4":
        grid = x.reshape(len(x), 3, 32, 32).repeat(2, axis=2).repeat(2, axis=3)
        x, name = grid.reshape(len(x), -1), f"{name}, enlarged to 64 x 64"
    return x.astype("float32"), labels, name


def split(case, seed, samples, hold_out=False):
    """Training and test part, ((x, y), (x, y)), drawn by the seed; `samples` training images only.

    With `hold_out` the test is on `TEST` images taken from the training part, so that choosing
    rates never sees the test part.
    """
    x, labels, _ = pictures(case)
    order = np.random.default_rng([seed, 2]).permutation(len(x))
    test = min(TEST, len(x) // 5)
    training, held_out = order[test:], order[:test]
    if hold_out:
        training, held_out = training[test:], training[:test]
    training = training[:samples]
    return (x[training], labels[training]), (x[held_out], labels[held_out])


def batches(seed, samples, epochs, size=100):
    """Rows of batch after batch, shuffled in every epoch; a short last one is dropped."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(epochs):
        order = rng.permutation(samples)
        for start in range(0, samples - size + 1, size):
            yield order[start:start + size]


def network_of(case, seed):
    """The network of a case."""
    return so.mlp(WIDTHS[case], activation="sigmoid", init="xavier", rng=seed, dtype="float32")


def title_of(case, samples=None):
    """The images, of which so many are trained on, and the widths of the network."""
    part = f", {samples} of them" if samples else ""
    return f"{pictures(case)[2]}{part}; {'-'.join(map(str, WIDTHS[case]))}"
