"""Activation functions against 200-digit arithmetic, at their kinks, in their tails, in every
dtype."""

import math

import numpy as np
import pytest

from harness import derivations
from harness.cases import ACTIVATION_NAMES, SMOOTH
from secondorder.nets import (Activation, ActivationFunction, LeakyReLU, ReLU, Sigmoid,
                              Softplus, Tanh, activation_function)

EPS = np.finfo(np.float64).eps
POINTS = np.array([-30.0, -7.5, -2.0, -0.7, -1e-3, 1e-3, 0.4, 1.3, 3.0, 9.0, 30.0])


@pytest.fixture(params=ACTIVATION_NAMES)
def function(request):
    return activation_function(request.param)


def jet(function, x):
    """Value, slope and curvature as a network makes them."""
    return *function.value_and_slope(x), function.curvature(x)


def reference(name, points):
    """(3, n): values, slopes and curvatures."""
    return np.array([[float(d) for d in derivations.scalar_jet(name, x)] for x in points]).T


def test_value_slope_curvature(function):
    value, slope, curvature = reference(function.name, POINTS)
    np.testing.assert_allclose(function.value(POINTS), value, rtol=2 * EPS, atol=EPS / 2)
    # 1 - tanh^2 subtracts from 1
    np.testing.assert_allclose(function.slope(POINTS), slope, rtol=8 * EPS, atol=2 * EPS)
    np.testing.assert_allclose(function.curvature(POINTS), curvature, rtol=16 * EPS, atol=4 * EPS)


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "tanh"])
def test_the_tails_keep_their_relative_accuracy(name):
    """At +-30 the slopes are near 1e-13 (tanh: 1e-26); formulas such as s (1 - s) and 1 - s^2 lose
    all their digits there."""
    function = activation_function(name)
    points = np.array([-36.0, -30.0, -20.0, 15.0, 20.0, 30.0])
    together, exact = jet(function, points), reference(name, points)
    for i, ours in enumerate((function.value, function.slope, function.curvature)):
        np.testing.assert_allclose(ours(points), exact[i], rtol=3e-15)
        np.testing.assert_allclose(together[i], exact[i], rtol=3e-15)
    single = points.astype(np.float32)
    for ours, right in zip(jet(function, single), exact):
        np.testing.assert_allclose(ours, right, rtol=8 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_overflow_and_no_warning_far_out(function, dtype):
    x = np.array([-1e30, -1000, -100, 0, 100, 1000, 1e30]).astype(dtype)
    with np.errstate(all="raise", under="ignore"):
        value, slope, curvature = jet(function, x)
    assert np.isfinite(value).all() and np.isfinite(slope).all() and np.isfinite(curvature).all()


def test_conventions_at_the_kinks():
    zero = np.zeros(1)
    assert [v[0] for v in jet(ReLU(), zero)] == [0, 0, 0]
    assert [v[0] for v in jet(LeakyReLU(0.2), zero)] == [0, 0.2, 0]
    assert [v[0] for v in jet(LeakyReLU(0.2), np.array([-3.0]))] == pytest.approx([-0.6, 0.2, 0])
    assert [v[0] for v in jet(LeakyReLU(0.2), np.array([3.0]))] == [3, 1, 0]
    assert [f.slope(zero)[0] for f in (ReLU(), LeakyReLU(0.2))] == [0, 0.2]
    assert LeakyReLU().negative_slope == 0.01


def test_kinks_are_where_the_slope_jumps(function):
    eps = 1e-9
    for kink in function.kinks:
        left, right = function.slope(np.array([kink - eps, kink + eps]))
        assert abs(right - left) > 0.5
    grid = np.linspace(-3, 3, 1001) + 1e-4
    jumps = np.abs(np.diff(function.slope(grid))) > 0.1
    assert jumps.sum() == len(function.kinks)


def test_piecewise_linear_says_that_there_is_no_curvature(function):
    assert function.piecewise_linear == (not np.any(function.curvature(POINTS)))
    assert function.piecewise_linear == (function.name in ("identity", "relu", "leaky_relu"))


@pytest.mark.parametrize("name", SMOOTH)
def test_complex_step(name):
    """Analytic near the real axis: the imaginary part after a tiny complex step is the next
    derivative."""
    function, h = activation_function(name), 1e-30
    points = POINTS[np.abs(POINTS) < 10]
    for lower, upper in (("value", "slope"), ("slope", "curvature")):
        step = getattr(function, lower)(points + 1j * h).imag / h
        np.testing.assert_allclose(step, getattr(function, upper)(points), rtol=1e-13, atol=4 * EPS)


class Cube:
    """No subclass of `ActivationFunction`, with its three functions alone."""

    def value(self, x):
        return x**3

    def slope(self, x):
        return 3 * x**2

    def curvature(self, x):
        return 6 * x


def test_an_object_with_three_functions_will_do():
    _, saved = Activation(Cube()).forward(np.array([[2.0]]))
    assert (saved.output.item(), saved.slope.item(), saved.curvature.item()) == (8, 12, 12)


@pytest.mark.parametrize("parent", [Tanh, Sigmoid, Softplus])
@pytest.mark.parametrize("method", ["value", "slope", "curvature"])
def test_a_subclass_does_not_inherit_a_loop_that_bypasses_it(parent, method):
    changed = type("Changed", (parent,), {method: lambda self, x: np.full_like(x, 7.0)})()
    found = dict(zip(("value", "slope", "curvature"), jet(changed, POINTS)))
    assert (found[method] == 7).all()
    for other in set(found) - {method}:
        np.testing.assert_allclose(found[other], getattr(parent(), other)(POINTS), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_loops_compute_the_formulas_of_complex_networks(function, dtype):
    """On a grid: the loop for real numbers, and the formula that complex ones go through."""
    x = np.linspace(-20, 20, 1601).astype(dtype)
    eps = np.finfo(dtype).eps
    formulas = type(function)().value(x.astype(complex)), function.slope(x), function.curvature(
        x.astype(complex))
    for loop, formula in zip(jet(function, x), formulas):
        assert loop.dtype == dtype
        np.testing.assert_allclose(loop, formula.real, rtol=8 * eps, atol=4 * eps)


def test_the_base_class_names_what_is_missing():
    class Half(ActivationFunction):
        def value(self, x):
            return x

    with pytest.raises(TypeError, match=r"Half does not define slope\(x\)"):
        Half().slope(np.ones(1))
    with pytest.raises(TypeError, match=r"Half does not define curvature\(x\)"):
        Half().curvature(np.ones(1))
    with pytest.raises(TypeError, match=r"ActivationFunction does not define value\(x\)"):
        ActivationFunction().value(np.ones(1))


def test_softplus_is_the_integral_of_the_logistic_function():
    """A closed form: softplus(x) - softplus(-x) = x, and log 2 in the middle."""
    function = Softplus()
    np.testing.assert_allclose(function.value(POINTS) - function.value(-POINTS), POINTS, rtol=1e-15)
    assert function.value(np.zeros(1))[0] == math.log(2)
