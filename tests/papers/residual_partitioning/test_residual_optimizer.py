"""Residual partitioning as an optimizer: its step against the formula, penalty, damping, rates, and
its reports."""

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.residual_partitioning import ResidualPartitioning, bound
from secondorder.papers.residual_partitioning.method import LEARNING_RATES

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def squared_case(rng, activation="tanh", samples=6, **options):
    net = so.mlp([3, 4, 2], activation=activation, rng=rng, **options)
    return net, so.SquaredError(), rng.normal(size=(samples, 3)), rng.normal(size=(samples, 2))


@pytest.mark.parametrize("output", ["diagonal", "jensen", "pairwise"])
@pytest.mark.parametrize("correction", ["abs", "max"])
@pytest.mark.parametrize("l2, damping", [(0.0, 0.0), (0.2, 0.7)])
def test_step_is_gradient_over_curvature(rng, output, correction, l2, damping):
    """The promised decrease is that of the bound with the penalty in it, and no damping."""
    net, loss, x, y = squared_case(rng)
    options = {"output": output, "negative_curvature": correction, "cross": True}
    b, whole = (bound(net, loss, x, y, l2=penalty, **options) for penalty in (0.0, l2))
    before, rate = net.theta.copy(), 0.5
    method = ResidualPartitioning(net, loss, rate, l2=l2, damping=damping, **options)
    direction = method.direction(net.evaluate(loss, x, y))
    assert np.allclose(rate * direction,
                       -whole.gradient / ((b.curvature + damping) / rate + l2), rtol=1e-13)
    assert direction @ whole.gradient < 0
    info = method.step(x, y)
    assert np.allclose(net.theta, before + rate * direction, rtol=1e-13)
    assert np.isclose(info["bound_decrease"], whole.loss - whole.value(net.theta - before),
                      rtol=1e-10)
    assert np.isclose(info["loss"], b.loss) and info["learning_rate"] == rate
    assert info["idle_parameters"] == 0


def test_default_rates_depend_on_the_output_rule(rng):
    net, loss, _, _ = squared_case(rng)
    for output, rate in LEARNING_RATES.items():
        assert ResidualPartitioning(net, loss, output=output).learning_rate == rate
    for criterion, output in ((loss, "diagonal"), (so.SoftmaxCrossEntropy(), "jensen"),
                              (so.BoundedCriterion(), "pairwise"), (so.TukeyBiweight(),
                                                                    "diagonal")):
        method = ResidualPartitioning(net, criterion)
        assert (method.output, method.learning_rate) == (output, LEARNING_RATES[output])


def test_a_schedule_reaches_the_penalty(rng):
    net, loss, x, y = squared_case(rng)
    method = ResidualPartitioning(net, loss, lambda step: 10.0 / (1 + step), l2=0.5)
    method.step(x, y)
    b, before = bound(net, loss, x, y), net.theta.copy()
    method.step(x, y)
    assert np.allclose(net.theta - before, -(b.gradient + 0.5 * before) / (b.curvature / 5.0 + 0.5),
                       rtol=1e-12)
