"""The measuring instruments themselves, on functions whose derivatives are known."""

import numpy as np
import pytest

import secondorder as so
from secondorder.exact import finite_differences as fd

A = np.array([[2.0, -1, 0.5], [-1, 3, 0], [0.5, 0, 1]])
THETA = np.array([0.3, -1.2, 40.0])


def scalar(theta):
    """exp(t0) sin(t1) + t2^3 / 1000."""
    return np.exp(theta[0]) * np.sin(theta[1]) + theta[2] ** 3 / 1000


def scalar_gradient(theta):
    e = np.exp(theta[0])
    return np.array([e * np.sin(theta[1]), e * np.cos(theta[1]), 3 * theta[2] ** 2 / 1000])


def test_central_of_a_vector_is_its_jacobian():
    def f(theta):
        return np.array([[theta @ A @ theta, theta[0] * theta[1]], [np.tanh(theta[0]), 7.0]])

    expected = np.zeros((2, 2, 3))
    expected[0, 0] = 2 * A @ THETA
    expected[0, 1] = THETA[1], THETA[0], 0
    expected[1, 0, 0] = 1 / np.cosh(THETA[0]) ** 2
    difference = fd.central(f, THETA)
    assert difference.value.shape == (2, 2, 3)
    assert difference.excess(expected) <= 1


@pytest.mark.parametrize("step", [1e-1, 1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("function, derivative", [(np.exp, np.exp), (np.sin, np.cos),
                                                  (np.arctan, lambda t: 1 / (1 + t * t)),
                                                  (lambda t: 1e6 + np.sin(t), np.cos)])
def test_the_predicted_error_covers_the_real_one_and_not_much_more(function, derivative, step):
    """For steps on either side of the best one; far too large a prediction would excuse wrong
    derivatives."""
    point = np.array([0.37])
    difference = fd.central(lambda t: function(t[0]), point, step=step)
    real = abs(difference.value[0] - derivative(point[0]))
    assert real <= difference.error[0]
    typical = step**2 + 5 * np.finfo(float).eps * abs(function(point[0])) / step
    assert difference.error[0] < 30 * typical


def test_the_predicted_truncation_is_three_times_the_real_one():
    """f = t^3: near - f' = h^2, far - f' = 4 h^2."""
    difference = fd.central(lambda t: t[0] ** 3, np.array([0.5]), step=1e-2)
    assert difference.value[0] - 0.75 == pytest.approx(1e-4, rel=1e-9)
    assert difference.error[0] == pytest.approx(3e-4, rel=1e-6)


def test_the_step_grows_with_the_parameter():
    """Relative to max(1, |theta|): at 1e8 an absolute step of 6e-6 would drown in rounding."""
    difference = fd.central(lambda t: t[0] ** 2, np.array([1e8]))
    assert difference.value[0] == pytest.approx(2e8, rel=1e-9) and difference.excess([2e8]) <= 1
    visited = []
    fd.central(lambda t: visited.append(t[0]) or 0.0, np.array([0.0]), step=1e-3)
    assert sorted(visited) == pytest.approx([-2e-3, -1e-3, 1e-3, 2e-3])


@pytest.mark.parametrize("wrong", [lambda g: -g, lambda g: 2 * g,
                                   lambda g: g + [0, 1e-6, 0], lambda g: g - [0, 1e-6, 0],
                                   lambda g: g[::-1]])
def test_excess_finds_what_is_wrong(wrong):
    assert fd.central(scalar, THETA).excess(wrong(scalar_gradient(THETA))) > 10


def test_excess_is_not_small_where_something_is_not_finite():
    with np.errstate(invalid="ignore"):
        difference = fd.central(lambda t: np.log(t[0]), np.array([1e-12]))
    assert not difference.excess(np.array([1e12])) <= 1


def test_complex_step_is_exact():
    np.testing.assert_allclose(fd.complex_step(scalar, THETA), scalar_gradient(THETA), rtol=1e-15)
    jacobian = fd.complex_step(lambda t: A @ t * t[0], THETA)
    np.testing.assert_allclose(jacobian, A * THETA[0] + np.outer(A @ THETA, [1, 0, 0]), rtol=1e-14)
    assert fd.complex_step(lambda t: 1j * 0 + t[:2] ** 2, THETA).shape == (2, 3)
    assert fd.complex_step(lambda t: t[0] ** 2, [3.0]).tolist() == [6.0]


def test_the_rounding_of_a_difference_is_that_of_the_largest_value():
    """x at zero: exact, from -2 h, -h, h and 2 h; five eps of 2 h, over h."""
    found = fd.central(lambda theta: theta[0], [0.0])
    assert found.value.tolist() == [1.0]
    assert found.error[0] / np.finfo(float).eps == pytest.approx(10, rel=1e-12)


def objective_case():
    net, rng = so.mlp([2, 3, 2], rng=1), np.random.default_rng(0)
    return net, so.SquaredError(), rng.normal(size=(4, 2)), rng.normal(size=(4, 2))


def test_objective_by_hand():
    net, loss, x, y = objective_case()
    f = fd.objective(net, loss, x, y, l2=0.3)
    expected = np.mean([0.5 * sum((net(x)[s] - y[s]) ** 2)
                        for s in range(4)]) + 0.15 * sum(t * t for t in net.theta)
    assert f(net.theta) == pytest.approx(expected, rel=1e-14)
    assert f(net.theta + 0j) == pytest.approx(expected,
                                              rel=1e-14) and isinstance(f(net.theta + 0j), complex)


def test_gradient_of_objective_has_the_penalty_once():
    net, loss, x, y = objective_case()
    g = fd.gradient_of_objective(net, loss, x, y, l2=0.3)
    np.testing.assert_allclose(g(net.theta), fd.complex_step(fd.objective(net, loss, x, y, 0.3),
                                                             net.theta), rtol=1e-13)
    plain = fd.gradient_of_objective(net, loss, x, y)
    np.testing.assert_allclose(g(net.theta) - plain(net.theta), 0.3 * net.theta, rtol=1e-12)
