"""Residual partitioning as an optimizer: its step against the formula, penalty, damping, rates, and
its reports."""

import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.residual_partitioning import ResidualPartitioning, bound
from secondorder.papers.residual_partitioning.method import LEARNING_RATES


@pytest.fixture(autouse=True)
def no_warning_is_tolerated():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def squared_case(rng, activation="tanh", samples=6, **options):
    net = so.mlp([3, 4, 2], activation=activation, rng=rng, **options)
    return net, so.SquaredError(), rng.normal(size=(samples, 3)), rng.normal(size=(samples, 2))


def classifier(rng, dtype="float64"):
    net = so.mlp([3, 4, 3], activation="softplus", rng=rng, dtype=dtype)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(6, 3)), np.arange(6) % 3


# -- the step --------------------------------------------------------------------------------------

@pytest.mark.parametrize("output", ["diagonal", "jensen", "pairwise"])
@pytest.mark.parametrize("correction", ["abs", "max"])
def test_step_is_gradient_over_curvature(rng, output, correction):
    net, loss, x, y = squared_case(rng)
    b = bound(net, loss, x, y, output=output, negative_curvature=correction, cross=True)
    before = net.theta.copy()
    method = ResidualPartitioning(net, loss, 0.5, output=output, negative_curvature=correction,
                                  cross=True)
    direction = method.direction(net.evaluate(loss, x, y))
    assert np.allclose(direction, -b.gradient / b.curvature, rtol=1e-13)
    assert direction @ so.exact.gradient(net, loss, x, y) < 0
    info = method.step(x, y)
    assert np.allclose(net.theta, before + 0.5 * direction, rtol=1e-13)
    assert np.isclose(info["bound_decrease"], 0.375 * np.sum(b.gradient**2 / b.curvature),
                      rtol=1e-12)
    step = net.theta - before
    assert np.isclose(info["bound_decrease"], b.loss - b.value(step), rtol=1e-10)
    assert np.isclose(info["loss"], b.loss) and info["learning_rate"] == 0.5
    assert info["idle_parameters"] == 0


def test_report_with_penalty_and_damping(rng):
    """The promised decrease is that of the bound with the penalty in it, and no damping."""
    net, loss, x, y = squared_case(rng)
    method = ResidualPartitioning(net, loss, 0.7, l2=0.5, damping=0.3)
    whole = bound(net, loss, x, y, l2=0.5)
    before = net.theta.copy()
    info = method.step(x, y)
    assert np.isclose(info["bound_decrease"], whole.loss - whole.value(net.theta - before),
                      rtol=1e-10)


def test_default_rates_depend_on_the_output_rule(rng):
    net, loss, _, _ = squared_case(rng)
    for output, rate in LEARNING_RATES.items():
        assert ResidualPartitioning(net, loss, output=output).learning_rate == rate
    assert LEARNING_RATES["jensen"] > LEARNING_RATES["diagonal"]
    for criterion, output in ((loss, "diagonal"), (so.SoftmaxCrossEntropy(), "jensen"),
                              (so.BoundedCriterion(), "pairwise")):
        assert ResidualPartitioning(net, criterion).learning_rate == LEARNING_RATES[output]


def test_a_schedule_reaches_the_penalty(rng):
    net, loss, x, y = squared_case(rng)
    method = ResidualPartitioning(net, loss, lambda step: 10.0 / (1 + step), l2=0.5)
    method.step(x, y)
    b, before = bound(net, loss, x, y), net.theta.copy()
    method.step(x, y)
    assert np.allclose(net.theta - before, -(b.gradient + 0.5 * before) / (b.curvature / 5.0 + 0.5),
                       rtol=1e-12)


# -- penalty and damping ---------------------------------------------------------------------------


def test_damping_is_added_to_the_curvature(rng):
    net, loss, x, y = squared_case(rng)
    b = bound(net, loss, x, y)
    rate, l2, damping = 3.0, 0.2, 0.7
    gradient = b.gradient + l2 * net.theta
    evaluation = net.evaluate(loss, x, y)
    method = ResidualPartitioning(net, loss, rate, l2=l2, damping=damping)
    assert np.allclose(rate * method.direction(evaluation),
                       -gradient / ((b.curvature + damping) / rate + l2),
                       rtol=1e-13)
