"""What the trainings of the reversible paper's studies record."""

import collections

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder.papers.reversible_gauss_newton import RevMLP, linear_cka
from secondorder.papers.reversible_gauss_newton.figures import training
from secondorder.papers.reversible_gauss_newton.figures.features_step import FeaturesGaussNewton


@pytest.mark.parametrize("method, rate", [
    ("gn", 0.5), *slow([("mp", 0.5), ("adam", 1e-3), ("sgd", 0.1)])])
def test_a_run_records_every_epoch(method, rate):
    one = training.train(1, "noisy digits", method, rate, 3, 96, 24, 32, looks=2)
    assert {len(one[name]) for name in ("loss", "test", "accuracy", "change", "carried")} == {3}
    assert one["loss"][-1] < one["loss"][0] and one["change"][0] < 0
    first, *_, last = one["looks"]
    assert first["ntk"] == first["step"] == 1 and last["ntk"] < 1
    assert first["cka"] == [1, 1] and len(last["weights"]) == 4
    np.testing.assert_allclose(np.linalg.norm(one["grams"], axis=1), 1, rtol=1e-3)
    assert one == training.train(1, "noisy digits", method, rate, 3, 96, 24, 32, looks=2)


def test_grams_give_the_alignment_of_two_networks():
    x = np.random.default_rng(0).normal(size=(9, 6))
    nets = [RevMLP(6, 2, 12, outputs=3, rng=seed) for seed in (1, 2)]
    told = [training.Start(net, x).grams(net, count=9) for net in nets]
    blocks = [training.representations(net, x) for net in nets]
    for block in range(2):
        assert np.dot(told[0][block], told[1][block]) == pytest.approx(
            linear_cka(blocks[0][block], blocks[1][block]), abs=1e-4)
    np.testing.assert_allclose(blocks[0][-1], nets[0].features(x))


@pytest.mark.slow
def test_a_full_batch_is_the_same_at_every_step():
    one = training.train(1, "cifar-8", "sgd", 0.03, 3, 20, 24, 20)
    two = training.train(1, "cifar-8", "sgd", 0.03, 3, 40, 24, 20)
    assert np.all(np.diff(one["loss"]) < 0) and one["loss"][0] != two["loss"][0]
    assert training.split("cifar-8", 40, 1)[0].shape == (40, 3072)


def test_a_run_that_diverges_says_so_and_a_low_loss_ends_it():
    assert "diverged" in training.train(1, "digits", "sgd", 1e9, 5, 24, 24, 24)
    one = training.train(1, "digits", "gn", 1.0, 30, 24, 60, 24, until=0.5)
    assert one["loss"][-1] < 0.5 <= one["loss"][-2] and len(one["loss"]) < 30


def test_another_method_takes_over_and_rates_are_halved():
    alone = training.train(1, "digits", "adam", 1e-2, 4, 48, 24, 24)
    after = training.train(1, "digits", "adam", 1e-2, 4, 48, 24, 24, then=[2, "sgd", 1e-9])
    assert after["loss"][:2] == alone["loss"][:2] and after["test"][3] == after["test"][2]
    halved = training.train(1, "digits", "sgd", 0.1, 3, 48, 24, 24, halve=1)
    usual = training.train(1, "digits", "sgd", 0.1, 3, 48, 24, 24)
    assert halved["loss"][0] == usual["loss"][0] and halved["size"][2] < usual["size"][2]


def test_an_epoch_records_the_mean_loss_of_its_steps():
    class Steps:
        network, losses = so.mlp([3, 10], rng=0), iter([1.0, 3.0])

        def step(self, x, y):
            return {"loss": next(self.losses), "rank": len(x)}

    rng, record = np.random.default_rng(0), collections.defaultdict(list)
    x, y = rng.normal(size=(4, 3)), np.arange(4)
    training._epoch(record, Steps(), None, x, y, x, y, 2, rng, full=True)
    assert record["loss"] == [2.0] and record["rank"] == [2] and record["change"] == [0.0]


@pytest.mark.parametrize("seed", range(3))
def test_the_control_solves_for_the_features(seed):
    """J_L d = -eps R^{+T} by the shortest d, with J_L from finite differences of x_L."""
    rng = np.random.default_rng(seed)
    network = RevMLP(6, 2, 9, outputs=3, init=0.3, rng=seed, activation="tanh")
    x, y = rng.normal(size=(4, 6)), np.eye(3)[rng.integers(3, size=4)]
    loss = so.SoftmaxCrossEntropy()
    evaluation = network.evaluate(loss, x, y)
    step = FeaturesGaussNewton(network, loss, learning_rate=1.0).direction(evaluation)
    J, theta, h = [], network.theta.copy(), 1e-6
    for one in np.eye(network.size):
        network.theta = theta + h * one
        above = network.features(x)
        network.theta = theta - h * one
        J.append((above - network.features(x)).ravel() / (2 * h))
    J = np.transpose(J)
    wanted = loss.gradient(evaluation.outputs, y) @ np.linalg.pinv(network.readout).T
    assert np.abs(step + np.linalg.pinv(J, rcond=1e-6) @ wanted.ravel()).max() < 1e-5 * np.abs(
        step).max()
    assert np.abs(J @ step + wanted.ravel()).max() < 1e-6
