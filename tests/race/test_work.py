"""Work by formula, against sums written out."""

import pytest

import secondorder as so
from secondorder.race import work
from secondorder.race.problems import PROBLEMS


def test_kfac_where_inputs_are_wider_than_the_batch():
    """5 samples, 50 inputs: the Gram matrix of the batch, or the mean input alone."""
    layers = work.passes(so.mlp([50, 4, 3], rng=0), 5)
    of_B = 5 * 4**2 + 2 * 4**3 / 3 + 4**2 + 5 * 3**2 + 2 * 3**3 / 3 + 3**2
    second = layers[1].down + 5 * 4**2 + 4**3 / 3 + 3**2 * 4 + 3 * 4**2
    gram = 5**2 * 50 + 5**3 / 3 + 4**2 * 5 + 4 * 5**2 + 5 * 4 * 50
    assert work.kfac(layers, 5, 3, {}) == pytest.approx(of_B + second + gram, rel=1e-12)
    alone = 4**2 * 5 + 5 * 4 * 50 + 4 * 50
    assert work.kfac(layers, 5, 3, {}, True) == pytest.approx(of_B + second + alone, rel=1e-12)


@pytest.mark.parametrize("problem, expected", [
    ("digits", 3 * 100 * (60 * 30 + 30 * 10) + 2 * 100 * 64 * 60),
    ("convolution", 2 * 100 * 64 * 8 * 9 + 3 * 100 * (16 * 16 * 72 + 10 * 64))])
def test_a_gradient(problem, expected):
    network = PROBLEMS[problem].network(1)
    assert work.gradient(work.passes(network, 100)) == expected


def test_a_method_of_ones_own_counts_as_a_gradient():
    network = PROBLEMS["digits"].network(1)
    assert work.step_work("Signs", network, 100)({}) == 1
