"""What Gauss-Newton must do on digits, within a factor of two of figures that were measured apart
from this code.
"""

import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP

LOSS, MARKS = so.SoftmaxCrossEntropy(), [1, 5, 10, 20, 100]


def within_two(found, expected):
    ratio = np.asarray(found) / np.asarray(expected)
    assert ((ratio > 0.5) & (ratio < 2)).all(), ratio


def descent_on_logits(logits, labels, steps):
    """Losses of gradient descent on the logits themselves, at rate 1."""
    f, y, losses = logits.copy(), np.eye(logits.shape[1])[labels], []
    for _ in range(steps + 1):
        losses.append(LOSS.value(f, y).mean())
        f -= LOSS.gradient(f, y)
    return np.array(losses)


@pytest.mark.slow
@pytest.mark.parametrize("seed", (0, 1, 2))
def test_full_batch_follows_descent_on_the_logits(seed):
    """100 steps at rate 1 on 512 images; without truncation it learns them by heart."""
    digits = so.datasets.load_digits()
    x = (digits.inputs - digits.inputs.mean()) / digits.inputs.std()
    order = np.random.default_rng([seed, 1]).permutation(len(x))
    train, test = order[:512], order[1437:]
    labels, net = digits.targets, RevMLP(64, 2, 600, outputs=10, rng=seed)
    pure, told = descent_on_logits(net(x[train]), labels[train], 100), {}
    for name, options in (("exact", {"pseudo_inverse": "exact"}), ("truncated", {})):
        at = net.copy()
        optimizer = so.GaussNewton(at, LOSS, 1.0, measure=False, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            losses = [optimizer.step(x[train], labels[train])["loss"] for _ in range(101)]
        told[name] = np.array(losses), np.mean(at(x[test]).argmax(axis=1) == labels[test])
    within_two(told["exact"][0][MARKS], pure[MARKS])
    within_two(told["exact"][0][MARKS], [1.99, 0.299, 0.112, 0.0496, 0.00904])
    within_two(told["truncated"][0][MARKS], [2.10, 0.442, 0.159, 0.0655, 0.0110])
    assert told["exact"][1] < 0.75 < 0.93 < told["truncated"][1]
