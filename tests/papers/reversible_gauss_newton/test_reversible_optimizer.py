"""`GaussNewton`: what a step adds and reports, and the laws that it must follow."""

import warnings

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import batch, network
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP, direction

SQUARED, SOFTMAX = so.SquaredError(), so.SoftmaxCrossEntropy()
KINDS = {"right": {"pseudo_inverse": "exact"}, "truncated": {},
         "moore-penrose": {"pseudo_inverse": "exact", "inverse": "moore-penrose"},
         "quick": {"measure": False}}


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.fixture
def net(rng):
    return network(rng, d=5, activation="tanh", bottleneck=24, outputs=3, bias=True)


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_step_adds_rate_times_direction(settings, net, rng):
    x, y = batch(rng, net)
    options = {name: value for name, value in settings.items() if name != "measure"}
    optimizer = so.GaussNewton(net, SOFTMAX, learning_rate=0.3, l2=0.1, **settings)
    expected = net.theta + 0.3 * direction(net, SOFTMAX, x, y, l2=0.1, **options)
    info = optimizer.step(x, y)
    np.testing.assert_allclose(net.theta, expected, rtol=1e-12)
    assert info["full_rank"] == (12 if "inverse" in settings else 4) >= info["rank"]
    measured = settings.get("measure", True)
    assert np.isfinite(info["defect"]) == np.isfinite(info["gradient_norm"]) == measured
    if settings.get("pseudo_inverse") == "exact":
        assert info["defect"] < 1e-8 and info["rank"] == info["full_rank"]


def test_every_step_draws_its_own_noise_and_draws_it_again(net, rng):
    x, y = batch(rng, net)
    optimizer = so.GaussNewton(net, SOFTMAX, pseudo_inverse="noise", rng=3)
    evaluation = optimizer.evaluate(x, y)
    first, again = (optimizer.direction(evaluation) for _ in range(2))
    optimizer.steps = 1
    assert np.array_equal(first, again)
    assert not np.allclose(first, optimizer.direction(evaluation), rtol=1e-6)


def test_one_warning_in_the_life_of_an_optimizer(rng):
    net = network(rng, bottleneck=3, activation="tanh", outputs=2)
    x, y = batch(rng, net, samples=6)
    optimizer = so.GaussNewton(net, SOFTMAX, 0.1, pseudo_inverse="exact")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        infos = [optimizer.step(x, y) for _ in range(4)]
    assert [w.category for w in seen] == [RankWarning]
    assert all(info["rank"] == 3 and info["full_rank"] == 6
               and 0 < info["defect"] < 1 for info in infos)


@pytest.mark.parametrize("options", ({}, {"inverse": "moore-penrose",
                                          "pseudo_inverse": "tikhonov"}))
def test_a_batch_of_zeros_has_nothing_to_move(options):
    net = RevMLP(4, 2, 8, activation="tanh", outputs=2, rng=0)
    before = net.theta.copy()
    info = so.GaussNewton(net, SQUARED, **options).step(np.zeros((3, 4)), np.ones((3, 2)))
    assert info["loss"] == 1 and np.array_equal(net.theta, before)


@pytest.mark.parametrize("inverse", ("right", "moore-penrose"))
def test_the_default_leaves_out_small_singular_values_as_the_paper_does(inverse):
    """Four correlated columns of wine: inverted exactly, the loss passes 1000 within 60 steps."""
    wine = so.datasets.load_wine()
    x = (wine.inputs[:, :4] - wine.inputs[:, :4].mean(axis=0)) / wine.inputs[:, :4].std(axis=0)
    optimizer = so.GaussNewton(RevMLP(4, 2, 100, outputs=3, rng=0), SOFTMAX, inverse=inverse)
    for _ in range(60):
        info = optimizer.step(x, wine.targets)
    assert info["loss"] < 0.5
