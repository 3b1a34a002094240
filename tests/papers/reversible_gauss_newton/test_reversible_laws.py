"""What Gauss-Newton must do on digits: what gradient descent on the outputs themselves does."""

import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP

LOSS, MARKS = so.SoftmaxCrossEntropy(), [1, 5, 10, 20, 100]


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
    """100 steps at rate 1 on 512 images."""
    digits = so.datasets.load_digits()
    x = (digits.inputs - digits.inputs.mean()) / digits.inputs.std()
    train = np.random.default_rng([seed, 1]).permutation(len(x))[:512]
    x, labels = x[train], digits.targets[train]
    net = RevMLP(64, 2, 600, outputs=10, rng=seed)
    pure = descent_on_logits(net(x), labels, 100)
    optimizer = so.GaussNewton(net, LOSS, 1.0, measure=False, pseudo_inverse="exact")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        losses = np.array([optimizer.step(x, labels)["loss"] for _ in range(101)])
    ratio = losses[MARKS] / pure[MARKS]
    assert ((ratio > 0.5) & (ratio < 2)).all(), ratio
