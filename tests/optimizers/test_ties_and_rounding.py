"""Ties, points where branches meet, and rounding: where a wrong sign or factor would otherwise show
nowhere."""

import numpy as np
import pytest

import secondorder as so


@pytest.mark.parametrize("outputs, epsilon", [(5, 0.2), (4, 0.25), (2, 0.5)])
def test_bounded_criterion_where_its_argument_is_zero(outputs, epsilon):
    """Equal outputs: both branches of the stable form meet at z = 0; the complex step sees a mixed
    pair."""
    loss, target = so.BoundedCriterion(epsilon=epsilon), np.array([1])
    p, step = np.zeros((1, outputs)), 1e-30
    assert loss.value(p, target).tolist() == [0.5]
    moves = 1j * step * np.eye(outputs)
    slopes = [loss.value(p + move, target)[0].imag / step for move in moves]
    np.testing.assert_allclose(slopes, loss.gradient(p, target)[0], rtol=1e-14, atol=1e-16)
    assert loss.gradient(p, target)[0, 1] < 0, "more of the right class lowers it"
    columns = [loss.gradient(p + move, target)[0].imag / step for move in moves]
    np.testing.assert_allclose(np.transpose(columns), loss.hessian(p, target)[0], rtol=1e-13,
                               atol=1e-15)


class Shifted(so.SquaredError):
    """scale * |p - target|^2 / 2 + offset: the same minimum, with other rounding."""

    def __init__(self, scale, offset):
        self.scale, self.offset = scale, offset

    def value(self, p, target):
        return self.scale * super().value(p, target) + self.offset

    def gradient(self, p, target):
        return self.scale * super().gradient(p, target)

    def hessian_diagonal(self, p, target):
        return self.scale * super().hessian_diagonal(p, target)


@pytest.mark.parametrize("scale, offset", [(1.0, 0.0), (1.0, -1.0), (1e-6, 1e3), (1e6, -1e3)])
def test_truncated_newton_takes_steps_that_are_lost_in_rounding(scale, offset):
    """Near the minimum the objective rounds; the step is still right and must neither be halved nor
    refused."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    y = x @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(40, 2))
    net = so.Network([so.Linear(3, 2, rng=0)])
    optimizer = so.TruncatedNewton(net, Shifted(scale, offset), damping=0.0, tolerance=1e-8,
                                   smallest_damping=1e-12 * scale, max_cg=100)
    infos = [optimizer.step(x, y) for _ in range(12)]
    assert all(info["accepted"] and info["halvings"] == 0
               for info in infos), [info["halvings"] for info in infos]
    assert infos[-1]["gradient_norm"] < 1e-13 * scale and optimizer.damping <= 1e-10 * scale


def test_truncated_newton_does_not_take_steps_that_rise_beyond_rounding():
    """The other side of the same line: a rise far above rounding is halved, also for losses below
    zero."""
    x, y = np.ones((4, 1)), np.zeros((4, 1))

    class Cusp(Shifted):
        def value(self, p, target):
            return np.sum(np.sqrt(1e-4 + p**2), axis=1) + self.offset

        def gradient(self, p, target):
            return p / np.sqrt(1e-4 + p**2)

        def hessian_diagonal(self, p, target):
            return 1e-4 / (1e-4 + p**2) ** 1.5

    for offset in (0.0, -10.0, 10.0):
        net = so.Network([so.Linear(1, 1, bias=False)])
        net.theta = np.array([1.0])
        optimizer = so.TruncatedNewton(net, Cusp(1.0, offset), damping=0.0)
        before = np.sqrt(1e-4 + 1.0) + offset
        info = optimizer.step(x, y)
        after = np.sqrt(1e-4 + net.theta[0] ** 2) + offset
        assert info["halvings"] > 0 and after <= before


def test_truncated_newton_at_the_ends_of_its_rules():
    """At ratios of exactly 1/4 and 3/4 the damping stays; without a gradient the residual is 0."""
    net = so.Network([so.Linear(2, 1, bias=False, rng=0)])
    optimizer = so.TruncatedNewton(net, so.SquaredError(), damping=2.0)
    for ratio in (0.25, 0.75):
        optimizer._adapt(ratio)
        assert optimizer.damping == 2.0
    info = optimizer.step(np.zeros((3, 2)), np.zeros((3, 1)))
    assert info["residual"] == 0 and info["cg_iterations"] == 0
