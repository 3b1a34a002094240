"""The objective as SciPy's optimizers see it."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

import secondorder as so
from harness import slow
from harness.cases import relative

L2 = 0.05


@pytest.fixture
def case():
    """A small net; this start lies in one and the same valley for all methods."""
    rng = np.random.default_rng(0)
    net = so.mlp([2, 3, 2], init=1.0, rng=4)
    x = rng.normal(size=(12, 2))
    return net, so.SquaredError(), x, np.tanh(x @ rng.normal(size=(2, 2)))


WAYS = {
    "Newton-CG": ("hessp", "hess"),
    "trust-ncg": ("hessp", "hess"),
    "trust-krylov": ("hessp", "hess"),
    "trust-exact": ("hess",),
    "trust-constr": ("hessp", "hess", "operator"),
    "BFGS": ("jac",),
    "L-BFGS-B": ("jac",),
}


def minimum(f):
    """By Newton's method without a line search, from a point close to it."""
    theta = minimize(f.fun, f.start, jac=f.jac, method="BFGS").x
    for _ in range(4):
        theta = theta - np.linalg.solve(f.hess(theta), f.jac(theta))
    assert np.abs(f.jac(theta)).max() < 1e-14
    return theta


@pytest.mark.parametrize("method, way", [
    (method, ways[0]) for method, ways in WAYS.items()] + slow(
        (method, way) for method, ways in WAYS.items() for way in ways[1:]))
def test_every_method_to_the_same_minimum(case, method, way):
    f = so.exact.objective(*case, l2=L2)
    start = f.start
    best = minimum(f)
    second = {} if way == "jac" else {"hessp": f.hessp} if way == "hessp" else {
        "hess": getattr(f, way)}
    options = {"Newton-CG": {"xtol": 1e-12}, "trust-constr": {"gtol": 1e-9, "maxiter": 3000},
               "trust-krylov": {"gtol": 1e-6},
               "L-BFGS-B": {"gtol": 1e-9, "ftol": 1e-16, "maxiter": 5000}}
    found = minimize(f.fun, start, jac=f.jac, method=method, **second,
                     options=options.get(method, {"gtol": 1e-8}))
    assert np.abs(found.x - best).max() < 1e-4
    assert found.fun == pytest.approx(f.fun(best), rel=1e-9)
    assert found.fun < 0.9 * f.fun(start)
    assert np.array_equal(case[0].theta, start), "the network stays where it was"


@pytest.mark.parametrize("batch_size", [None, 5])
def test_functions_at_any_points_in_any_order(case, batch_size):
    """Against differences of the value alone; an operator stays what it was."""
    net, loss, x, y = case
    f = so.exact.objective(*case, l2=L2, batch_size=batch_size)
    rng = np.random.default_rng(4)
    points = rng.normal(size=(3, net.size))
    operators = [f.operator(point) for point in points]
    for point, operator in zip(points[::-1], operators[::-1]):
        there = net.copy()
        there.theta = point
        value = there.evaluate(loss, x, y).losses.mean() + L2 / 2 * point @ point
        assert f.fun(point) == pytest.approx(value, rel=1e-14)
        assert relative(f.jac(point), approx_fprime(point, f.fun, 1e-7)) < 1e-5
        H = f.hess(point)
        assert relative(H, so.exact.finite_differences.central(f.jac, point).value) < 1e-6
        v = rng.normal(size=net.size)
        assert relative(f.hessp(point, v), H @ v) < 1e-12
        f.fun(point + 1)
        assert relative(operator @ v, H @ v) < 1e-12
        assert type(f.fun(point)) is float


def test_what_changes_outside_changes_nothing(case):
    net, loss, x, y = case
    for batch_size in (None, 4):
        f = so.exact.objective(net, loss, x, y, batch_size=batch_size)
        value, gradient = f.fun(f.start), f.jac(f.start)
        kept = x.copy(), y.copy(), net.theta.copy()
        x[...], y[...] = 7, 8
        net.theta += 1
        assert f.fun(f.start) == value and np.array_equal(f.jac(f.start), gradient)
        x[...], y[...], net.theta = kept


def test_single_precision_is_optimised_in_double(case):
    net, *data = case
    small = net.astype("float32")
    f = so.exact.objective(small, *data)
    assert f.start.dtype == f.jac(f.start).dtype == np.float64
    wide = small.astype("float64")
    assert f.fun(f.start) == wide.evaluate(*data).loss


def test_overflow_is_as_bad_as_can_be():
    """fun says inf, the derivatives NaN, and an optimizer turns back."""
    net, x = so.mlp([2, 3, 1], activation="softplus", rng=0), np.ones((2, 2))
    for batch_size in (None, 1):
        f = so.exact.objective(net, so.SquaredError(), x, x[:, :1], batch_size=batch_size)
        far = np.full(net.size, 1e155)
        assert f.fun(far) == np.inf
        for derivative, dimensions in ((f.jac(far), 1), (f.hessp(far, far), 1), (f.hess(far), 2)):
            assert derivative.shape == dimensions * (net.size,) and np.isnan(derivative).all()
        assert f.fun(f.start) < 10
