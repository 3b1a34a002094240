"""What Gauss-Newton must do on digits, within a factor of two of figures that were measured apart
from this code.
"""

import numpy as np
import pytest

from secondorder.experiments import reversible_digits as digits


def within_two(found, expected):
    ratio = np.asarray(found) / np.asarray(expected)
    assert ((ratio > 0.5) & (ratio < 2)).all(), ratio


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_quick_form_of_both_inverses(seed):
    """Twelve steps at the interpolation threshold: one training curve, two accuracies."""
    found = digits.two_inverses(seed, steps=12, widths=(120,))
    right, moore = found["120, right"], found["120, moore-penrose"]
    assert np.isclose(right["training"], moore["training"], rtol=0.1)
    assert moore["test accuracy"] > right["test accuracy"] + 0.15
    assert moore["travelled"] < right["travelled"] / 3


def test_square_loss_at_rate_1_and_a_half():
    found = digits.square_loss(0, samples=256, steps=5)
    losses = np.array(found["rate 1"])
    assert losses[5] < 1e-3 * losses[3] < 1e-5 * losses[1]
    halves = np.array(found["rate 0.5"])
    np.testing.assert_allclose(halves[2:] / halves[1:-1], 0.25, rtol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", (0, 1, 2))
def test_full_batch_follows_descent_on_the_logits(seed):
    found = digits.logit_law(seed)
    within_two(found["exact"], found["logits"])
    within_two(found["exact"], [1.99, 0.299, 0.112, 0.0496, 0.00904])
    within_two(found["truncated"], [2.10, 0.442, 0.159, 0.0655, 0.0110])
    assert found["exact test accuracy"] < 0.75 < 0.93 < found["truncated test accuracy"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", (0, 1, 2))
def test_both_inverses(seed):
    found = digits.two_inverses(seed)
    for width, right, moore in ((120, 0.44, 0.87), (400, 0.84, 0.90)):
        assert abs(found[f"{width}, right"]["test accuracy"] - right) < 0.2
        assert abs(found[f"{width}, moore-penrose"]["test accuracy"] - moore) < 0.08
    within_two([found[f"120, {name}"]["travelled"] for name in ("right", "moore-penrose")],
               [94, 10])


@pytest.mark.slow
def test_mini_batches_with_fresh_noise_saturate():
    found = digits.fresh_noise(0, epochs=40, methods=("exact, rate 1", "Adam, 3e-3"))
    exact, adam = found["exact, rate 1"], found["Adam, 3e-3"]
    within_two(exact["training"], [0.829, 0.663, 0.544, 0.529])
    within_two(adam["training"], [0.789, 0.574, 0.420, 0.371])
    within_two([exact["change"], adam["change"]], [-43, -5.5])
    assert exact["training"][3] > 1.15 * adam["training"][3]
    assert exact["training"][2] - exact["training"][3] < 0.05, "no progress in the second half"
