"""The paper's networks on images: one training run of any method, and what is recorded along it.

Full batch or mini-batches; crops of CIFAR-10, anew at every step, by every method alike; weights
that start at N(0, 1e-6) unless told otherwise; a fixed orthonormal readout of ten classes, which
the paper does not mention. Float32. Data, network, readout, order and crops hang on the seed alone,
so that methods can be compared seed by seed.
"""

import functools
import warnings
from dataclasses import dataclass

import numpy as np

import secondorder as so
from secondorder import studies
from secondorder.studies import images

from ..eq_14_15_revmlp import RevMLP
from ..method import RankWarning
from ..section_5_kernel_and_cka import kernel_similarity, linear_cka, ntk, weight_change
from .crops import random_boxes, resized_crops
from .features_step import FeaturesGaussNewton

LOSS = so.SoftmaxCrossEntropy()
TESTS = 2000  # images of the test set at most
OWN_EVERY = 5  # of so many steps the change of one's own batch and of another is measured
METHODS = {"gn": (so.GaussNewton, {"pseudo_inverse": "truncate", "measure": False}),
           "exact": (so.GaussNewton, {"pseudo_inverse": "exact", "measure": False}),
           "mp": (so.GaussNewton, {"inverse": "moore-penrose", "pseudo_inverse": "exact",
                                   "measure": False}),
           "mp-features": (FeaturesGaussNewton, {}),
           "adam": (so.Adam, {}), "sgd": (so.SGD, {})}
NAMES = {"gn": "Gauss-Newton, 1 %", "exact": "Gauss-Newton, exact", "mp": "Moore-Penrose",
         "mp-features": "Moore-Penrose of x_L", "adam": "Adam", "sgd": "SGD"}


@dataclass(frozen=True)
class Task:
    """Images at a size, and the network for them: what the ledger of settings calls M28, C8, ..."""

    images: str
    side: int
    blocks: int
    to: int | None = None  # images are pooled to this side; None: as they are
    augment: str = "none"

    @property
    def channels(self):
        return 3 if self.images == "cifar-10" else 1


TASKS = {"mnist": Task("mnist", 28, 2), "digits": Task("digits", 8, 2),
         "noisy digits": Task("digits", 8, 2, augment="noise"),
         "cifar-8": Task("cifar-10", 32, 6, 8, "crops"),
         "cifar-16": Task("cifar-10", 32, 6, 16, "crops")}
TITLES = {"mnist": "MNIST", "digits": "digits", "noisy digits": "noisy digits",
          "cifar-8": "CIFAR-10 at 8 x 8", "cifar-16": "CIFAR-10 at 16 x 16"}


@functools.lru_cache(maxsize=2)
def split(task, samples, seed):
    """Training and test images (standardised, float32) and labels, drawn by the seed."""
    about = TASKS[task]
    parts = [images(about.images, part) for part in ("train", "test")]
    x = np.concatenate([part.inputs for part in parts]).astype("float32")
    labels = np.concatenate([part.labels for part in parts])
    order = np.random.default_rng([seed, 1]).permutation(len(x))
    rows, others = order[:samples], order[samples:samples + TESTS]
    if about.images == "mnist":
        mean, deviation = 0.1307, 0.3081  # of the full set, as the authors have it
    else:
        grid = x[rows].reshape(len(rows), about.channels, -1)
        mean, deviation = (np.repeat(np.atleast_1d(function(grid, axis=(0, 2))),
                                     about.side**2) for function in (np.mean, np.std))
    x = (x - np.float32(mean)) / np.float32(deviation)
    return x[rows], labels[rows], shown(about, x[others]), labels[others]


def shown(task, x):
    """Images as a network sees them where nothing is augmented: pooled to the task's size."""
    if task.to is None:
        return x
    return studies.pooled(x, task.side, task.channels, task.side // task.to)


def augmented(task, x, rng):
    """A batch as the network sees it in training, drawn anew."""
    if task.augment == "crops":
        boxes = random_boxes(rng, len(x), task.side)
        return resized_crops(x, task.channels, boxes, task.to)
    if task.augment == "noise":
        return x + rng.standard_normal(x.shape).astype(x.dtype)
    return shown(task, x)


def optimizer_of(network, method, rate, options=None, l2=0.0):
    """The optimizer of a method."""
    kind, given = METHODS[method]
    return kind(network, LOSS, learning_rate=rate, l2=l2, **(given | (options or {})))


def train(seed, task, method, rate, epochs, samples, width, batch, init=1e-3, options=None, l2=0.0,
          then=None, halve=0, looks=0, until=0.0):
    """Train once on `samples` images of a task, by a method of `METHODS` with its options.

    `width` is d', the bottleneck (None: without); `init` is a float or "xavier". A batch of
    all samples is one step an epoch, nothing augmented; a short last batch is dropped. `then` is
    [epoch, method, rate]: from that epoch on another method goes on, its memory fresh. The rate is
    halved after every `halve` epochs, and kernel, representations and weights are looked at every
    `looks` epochs (0: never). An epoch whose loss is below `until` is the last one.

    Returns
    -------
    dict
        By epoch: ``loss`` (of the batches, before their updates), ``test``, ``accuracy``,
        ``change`` and ``carried`` (per cent by which a step changes the loss of its own batch and
        of one that it has not seen; 0 in full batch), ``size`` (|theta|), ``rank`` (least, of
        features, if told).
        ``looks``: a list; ``grams``: see `look`. Of a run that ended early what came before, and
        ``diverged``.
    """
    about, full = TASKS[task], batch == samples
    x, y, x_test, y_test = split(task, samples, seed)
    rng = np.random.default_rng([seed, 2])
    if about.augment == "noise" and not full:
        x_test = augmented(about, x_test, np.random.default_rng([seed, 3]))
    if full:  # the test set is looked at after every step
        x, x_test, y_test = shown(about, x), x_test[:1000], y_test[:1000]
    network = RevMLP(x_test.shape[1], about.blocks, width, outputs=10, init=init, rng=seed,
                     dtype="float32")
    optimizer, start = optimizer_of(network, method, rate, options, l2), Start(network, x_test)
    record = {name: [] for name in ("loss", "test", "accuracy", "change", "carried", "size", "rank",
                                  "looks")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        try:
            for epoch in range(epochs):
                if then is not None and epoch == then[0]:
                    optimizer = optimizer_of(network, *then[1:])
                if halve and epoch and epoch % halve == 0:
                    rate /= 2
                    optimizer = optimizer_of(network, method, rate, options, l2)
                if looks and epoch % looks == 0:
                    record["looks"].append(start.look(network))
                _epoch(record, optimizer, about, x, y, x_test, y_test, batch, rng, full)
                if out_of_bounds(record["loss"]):
                    raise FloatingPointError(f"epoch {epoch + 1}: the loss is out of bounds")
                if record["loss"][-1] < until:
                    break
            if looks:
                record["looks"].append(start.look(network))
                record["grams"] = start.grams(network)
        except FloatingPointError as error:
            return record | {"diverged": str(error)[:200]}
    return record


def _epoch(record, optimizer, task, x, y, x_test, y_test, batch, rng, full):
    network, told = optimizer.network, {name: [] for name in ("loss", "change", "carried", "rank")}
    order = np.arange(len(x)) if full else rng.permutation(len(x))
    for step, start in enumerate(range(0, len(x) - batch + 1, batch)):
        part = order[start:start + batch]
        inputs = x[part] if full else augmented(task, x[part], rng)
        other = rng.choice(len(x_test), min(batch, len(x_test)), replace=False)
        measured = not full and step % OWN_EVERY == 0
        before = value(network, x_test[other], y_test[other]) if measured else None
        info = optimizer.step(inputs, y[part])
        told["loss"].append(info["loss"])
        if "rank" in info:
            told["rank"].append(info["rank"])
        if measured:
            told["change"].append(100 * (value(network, inputs, y[part]) / info["loss"] - 1))
            told["carried"].append(100 * (value(network, x_test[other], y_test[other]) / before
                                          - 1))
    for name in ("loss", "change", "carried"):
        record[name].append(rounded(np.mean(told[name])) if told[name] else 0.0)
    record["rank"].append(min(told["rank"], default=0))
    outputs = network(x_test)
    record["test"].append(rounded(LOSS.value(outputs, np.eye(10)[y_test]).mean()))
    record["accuracy"].append(rounded((outputs.argmax(axis=1) == y_test).mean()))
    record["size"].append(rounded(np.linalg.norm(network.theta)))


def out_of_bounds(losses):
    """Whether the last loss is above a thousand times the first one (or 1000), or not finite."""
    return not losses[-1] < 1e3 * max(losses[0], 1.0)


def value(network, x, labels):
    """Mean cross-entropy."""
    return float(LOSS.value(network(x), np.eye(10)[labels]).mean())


def rounded(number):
    """Five digits: files stay small, and no claim hangs on more."""
    return float(f"{number:.5g}")


class Start:
    """Kernel, representations and weights at the start, on fixed test images, and what became of
    them.
    """

    def __init__(self, network, x_test):
        self.x, self.x_kernel = x_test[:500], x_test[:100]
        self.theta, self.blocks, self.kernel, self.last = network.theta.copy(), None, None, None
        self.network = network.copy()

    def look(self, network):
        """Similarity of the tangent kernel with that of the start, and with that of the last look
        (both 1 at first); CKA of every block with the start, of x_l and of what the blocks added,
        x_l - x_0; cosine and distance of every half layer's weights.
        """
        kernel, here = ntk(network, self.x_kernel), representations(network, self.x)
        if self.kernel is None:
            self.kernel, self.last = ntk(self.network, self.x_kernel), kernel
            self.blocks = representations(self.network, self.x)
        told = {"ntk": rounded(kernel_similarity(kernel, self.kernel)),
                "step": rounded(kernel_similarity(kernel, self.last)),
                "cka": [rounded(linear_cka(a, b)) for a, b in zip(here, self.blocks)],
                "added": [rounded(linear_cka(a - self.x, b - self.x)) for a, b in
                          zip(here, self.blocks)],
                "weights": [[rounded(size), rounded(cosine)] for size, cosine in
                            weight_change(network, self.theta)]}
        self.last = kernel
        return told

    def grams(self, network, count=60):
        """Centred Gram matrices of some test images by every block, of length 1, upper triangles:
        the inner product of two is the CKA between two networks.
        """
        rows = []
        for block in representations(network, self.x[:count]):
            block = block - block.mean(axis=0)
            gram = block @ block.T
            entries = weighted(gram)
            rows.append([rounded(entry) for entry in entries / np.linalg.norm(entries)])
        return rows


def weighted(gram):
    """The upper triangle, off-diagonal entries times sqrt(2): inner products are those of the whole
    matrices.
    """
    rows, columns = np.triu_indices(len(gram))
    return gram[rows, columns] * np.where(rows == columns, 1.0, 2**0.5)


def representations(network, x):
    """x_1, ..., x_L, each (S, width)."""
    rows = []
    for number, layer in enumerate(network.couplings):
        x = layer.forward(x)[0]
        if number % 2:
            rows.append(x.astype(float))
    return rows
