"""Conjugate gradients and truncated Newton: against direct solutions, on negative curvature, and
the rules of the damping."""

import numpy as np
import pytest
from scipy.sparse.linalg import cg

import secondorder as so
from secondorder.optimizers import conjugate_gradients
from test_optimizers import batches, linear


def symmetric(eigenvalues, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(eigenvalues),
                                                              len(eigenvalues))))[0]
    return Q @ np.diag(eigenvalues) @ Q.T


def test_cg_against_scipy_and_solve():
    A, b = symmetric(np.linspace(0.5, 20, 12)), np.random.default_rng(1).normal(size=12)
    for iterations in (1, 2, 5):
        ours = conjugate_gradients(lambda v: A @ v, b, 0.0, iterations)
        theirs, _ = cg(A, b, rtol=0, atol=0, maxiter=iterations)
        np.testing.assert_allclose(ours.solution, theirs, rtol=1e-11)
        np.testing.assert_allclose(ours.residual, b - A @ ours.solution, atol=1e-12)
        assert ours.iterations == iterations and not ours.negative_curvature
    full = conjugate_gradients(lambda v: A @ v, b, 1e-13, 100)
    np.testing.assert_allclose(full.solution, np.linalg.solve(A, b), rtol=1e-11)
    for tolerance in (0.5, 0.1, 1e-3):
        found = conjugate_gradients(lambda v: A @ v, b, tolerance, 100)
        before = conjugate_gradients(lambda v: A @ v, b, 0.0, found.iterations - 1)
        reached, wanted = np.linalg.norm(found.residual), tolerance * np.linalg.norm(b)
        assert reached <= wanted < np.linalg.norm(before.residual)


def test_cg_reports_negative_curvature():
    A, b = symmetric([-1.0, 1, 2, 5, 9, 14]), np.random.default_rng(4).normal(size=6)
    found = conjugate_gradients(lambda v: A @ v, b, 1e-12, 50)
    assert found.negative_curvature and 1 < found.iterations <= 6 and found.curvature <= 0
    before = conjugate_gradients(lambda v: A @ v, b, 0.0, found.iterations - 1)
    assert not before.negative_curvature and np.array_equal(found.solution, before.solution)
    first = conjugate_gradients(lambda v: -(A @ A) @ v, b, 1e-12, 50)
    assert first.negative_curvature and first.iterations == 1 and not first.solution.any()
    assert first.curvature == pytest.approx(-(b @ A @ A @ b) / (b @ b), rel=1e-13)


def test_cg_of_right_sides_whose_squares_vanish_or_overflow():
    A, b = symmetric(np.linspace(0.5, 20, 12)), np.random.default_rng(1).normal(size=12)
    plain = conjugate_gradients(lambda v: A @ v, b, 1e-10, 100)
    for unit in (2.0**-600, 2.0**-1000, 2.0**600):
        found = conjugate_gradients(lambda v: A @ v, unit * b, 1e-10, 100)
        assert np.array_equal(found.solution, unit * plain.solution)
        assert found.iterations == plain.iterations
    half = conjugate_gradients(lambda v: A @ v, b, 1e-10, 100, lambda r: np.linalg.solve(A, r))
    assert half.iterations == 1 and np.allclose(A @ half.solution, b, atol=1e-9)


def test_cg_of_zero_and_not_finite():
    found = conjugate_gradients(lambda v: v, np.zeros(3), 0.1, 10)
    assert found.iterations == 0 and not found.solution.any()
    with pytest.raises(FloatingPointError, match="iteration 1"):
        conjugate_gradients(lambda v: np.full(3, np.nan), np.ones(3), 0.1, 10)


@pytest.mark.parametrize("curvature", ["hessian", "gauss-newton"])
def test_direction_solves_the_damped_system(curvature):
    net, loss = so.mlp([3, 4, 2], rng=2), so.SquaredError()
    x, y = batches(1, samples=40)[0]
    optimizer = so.TruncatedNewton(net, loss, l2=0.1, damping=4.0, curvature=curvature,
                                   tolerance=1e-13, max_cg=500)
    dense = so.exact.hessian if curvature == "hessian" else so.exact.gauss_newton
    A = dense(net, loss, x, y, l2=0.1) + 4.0 * np.eye(net.size)
    assert np.linalg.eigvalsh(A)[0] > 0
    expected = -np.linalg.solve(A, so.exact.gradient(net, loss, x, y, l2=0.1))
    np.testing.assert_allclose(optimizer.direction(optimizer.evaluate(x, y)), expected, rtol=1e-9,
                               atol=1e-12)


class Hill(so.SquaredError):
    """Minus the squared error plus a quartic: negative curvature at small errors."""

    convex = False

    def value(self, p, target):
        return np.sum(-0.5 * (p - target) ** 2 + 0.25 * (p - target) ** 4, axis=1)

    def gradient(self, p, target):
        return -(p - target) + (p - target) ** 3

    def hessian_diagonal(self, p, target):
        return -1 + 3 * (p - target) ** 2


@pytest.mark.parametrize("error, damping, limited", [(0.1, 0.2, False), (0.577, 0.0, True)])
def test_negative_curvature_at_once(error, damping, limited):
    net, loss = linear(), Hill()
    x = batches(1)[0][0]
    y = net(x) + error
    optimizer = so.TruncatedNewton(net, loss, damping=damping, max_halvings=30)
    evaluation = optimizer.evaluate(x, y)
    g, H = evaluation.gradient, so.exact.hessian(net, loss, x, y)
    k = g @ H @ g / (g @ g)
    assert k < -damping
    direction = optimizer.direction(evaluation)
    limit = max(1, np.linalg.norm(net.theta)) / np.linalg.norm(g)
    assert (limit < 1 / -k) == limited
    np.testing.assert_allclose(direction, -min(1 / -k, limit) * g, rtol=1e-12)
    info = optimizer.step(x, y)
    assert info["negative_curvature"]
    assert info["cg_iterations"] == 1
    assert info["residual"] == pytest.approx(1)
    assert optimizer.evaluate(x, y).loss < info["loss"]


@pytest.mark.parametrize("ratio, factor", [(0.2, 1.5), (0.24, 1.5), (0.26, 1), (0.74, 1),
                                           (0.76, 2 / 3), (1.0, 2 / 3)])
def test_thresholds_of_the_ratio(ratio, factor):
    """A quadratic f whose curvature the method is told to be c times the true one: its step is 1/c
    of Newton's, so that f falls by 1/c - 1/(2 c^2) in the units in which the model falls by 1/(2
    c), and the ratio is 2
    - 1/c."""

    class Told(so.SquaredError):
        def hessian_diagonal(self, p, target):
            return np.full_like(p, 1 / (2 - ratio))

    x, y = batches(1, samples=30)[0]
    optimizer = so.TruncatedNewton(linear(), Told(), damping=1e-6, smallest_damping=1e-9,
                                   tolerance=1e-13)
    assert optimizer.step(x, y)["reduction_ratio"] == pytest.approx(ratio, abs=1e-4)
    assert optimizer.damping == pytest.approx(factor * 1e-6, rel=1e-12, abs=0)


def test_damping_bounds_and_switch():
    x, y = batches(1, samples=30)[0]
    for damping, adapt, expected in [(0.0, True, 0.0), (0.04, True, 0.03), (0.5, False, 0.5),
                                     (0.01, True, 0.01)]:
        optimizer = so.TruncatedNewton(linear(), so.SquaredError(), damping=damping,
                                       adapt_damping=adapt)
        info = optimizer.step(x, y)  # a quadratic: the ratio is 1
        assert info["reduction_ratio"] > 0.75 and optimizer.damping == pytest.approx(expected)


def test_steps_that_rise_are_halved_or_refused():
    x, y = batches(1, samples=30)[0]
    net, loss = linear(), so.SquaredError()
    start = net.evaluate(loss, x, y).loss
    optimizer = so.TruncatedNewton(net, loss, learning_rate=6.0, damping=0, tolerance=1e-12)
    theta = net.theta.copy()
    direction = optimizer.direction(optimizer.evaluate(x, y))
    info = optimizer.step(x, y)  # 6 and 3 times Newton's step rise, 1.5 times falls
    assert info["halvings"] == 2 and info["accepted"] and optimizer.evaluate(x, y).loss < start
    np.testing.assert_allclose(net.theta - theta, 1.5 * direction, rtol=1e-9)
    for adapt, after in ((True, 8.0), (False, 2.0)):
        net = linear()
        theta = net.theta.copy()
        optimizer = so.TruncatedNewton(net, loss, learning_rate=1e6, damping=2.0, max_halvings=3,
                                       adapt_damping=adapt)
        info = optimizer.step(x, y)
        assert not info["accepted"] and info["halvings"] == 3 and info["step_norm"] == 0
        assert np.array_equal(net.theta, theta) and optimizer.damping == after
    plain = so.TruncatedNewton(linear(), loss, learning_rate=6.0, damping=0, tolerance=1e-12,
                               max_halvings=0)
    plain.step(x, y)
    assert plain.evaluate(x, y).loss > start


def test_overflowing_trial_counts_as_worse():
    """A trial at which the outputs overflow is shortened, not raised."""
    x, y = batches(1)[0]
    optimizer = so.TruncatedNewton(linear(), so.SquaredError(), learning_rate=1e308,
                                   max_halvings=1100)
    info = optimizer.step(x, y)
    assert info["accepted"] and info["halvings"] > 900
    assert optimizer.evaluate(x, y).loss < info["loss"]
