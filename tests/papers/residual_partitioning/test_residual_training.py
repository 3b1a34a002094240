"""Training with residual partitioning on the digits, against reference runs of an independent
implementation.

The references are means over two seeds of a separate plain-NumPy script (other random numbers,
another split of the data), same settings: 1400 training and 397 validation images scaled to [-1,
1], batches of 100, l2 = 1e-2, float32. Ours must lie within three standard deviations, estimated
from our own seeds, of the reference for the training loss, and within a factor of two for the
validation loss, which depends on the split as well.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import secondorder as so

SEEDS = (1, 2, 3, 4)

# task, epochs, output, rate; reference training and validation loss
RUNS = [("autoencoder", 200, "diagonal", 3.0, 6.38, 6.47),
        ("autoencoder", 200, "diagonal", 10.0, 5.67, 5.73),
        ("autoencoder", 200, "jensen", 300.0, 5.81, 5.88),
        ("classifier", 100, "jensen", 30.0, 1.033, 1.002),
        ("classifier", 100, "jensen", 100.0, 0.357, 0.319),
        ("classifier", 100, "pairwise", 30.0, 0.367, 0.329)]


def final_losses(task, epochs, output, rate, seed):
    """Training and validation loss after one run."""
    rng = np.random.default_rng(seed)
    training, validation = so.datasets.split(so.datasets.load_digits(), validation=397, rng=rng)
    training, validation = (so.datasets.scale(part, (-1.0, 1.0)) for part in (training, validation))
    if task == "autoencoder":
        network = so.mlp([64, 64, 2, 64, 64], activation="tanh", output="tanh", rng=rng,
                         dtype="float32")
        loss, targets = so.SquaredError(), (training.inputs, validation.inputs)
    else:
        network = so.mlp([64, 400, 100, 36, 10], activation="softplus", rng=rng, dtype="float32")
        loss, targets = so.SoftmaxCrossEntropy(), (training.targets, validation.targets)
    optimizer = so.ResidualPartitioning(network, loss, rate, l2=1e-2, output=output)
    history = so.train(optimizer, training.inputs, targets[0], epochs=epochs, batch_size=100,
                       rng=rng, validation=(validation.inputs, targets[1]), evaluate_every=epochs)
    return history.records[-1].train_loss, history.records[-1].validation_loss


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[2]}-{run[3]:g}")
def test_losses_agree_with_an_independent_implementation(run):
    *setting, train_reference, validation_reference = run
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(final_losses, *setting, seed) for seed in SEEDS]
        train, validation = np.array([job.result() for job in jobs]).T
    assert abs(train.mean() - train_reference) <= 3 * train.std(ddof=1)
    assert validation_reference / 2 < validation.mean() < validation_reference * 2
