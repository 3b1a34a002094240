"""Exact curvature through convolutions, pooling, recurrences and normalisation, against differences
of the gradient and sums over samples."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness import slow
from harness.shaped_networks import NETWORKS, problem
from secondorder.exact import finite_differences as fd


def along(net, loss, x, y, theta, directions):
    """The gradient at theta + t . directions, as a function of t."""
    def function(t):
        net.theta = theta + t @ directions
        return so.exact.gradient(net, loss, x, y)
    return function


@pytest.mark.parametrize("name", NETWORKS)
def test_hessian(name):
    net, loss, x, y = problem(name)
    H = so.exact.hessian(net, loss, x, y, method="products")
    assert relative(H, H.T) < 1e-13
    theta, directions = net.theta.copy(), np.random.default_rng(5).normal(size=(3, net.size))
    gradient = along(net.copy(), loss, x, y, theta, directions)
    assert fd.central(gradient, np.zeros(3)).excess(H @ directions.T) <= 1


@pytest.mark.parametrize("name", NETWORKS)
def test_gauss_newton_and_samples(name):
    net, loss, x, y = problem(name)
    J = so.exact.jacobian(net, x)
    H_p = loss.hessian(net(x), loss.prepare_target(y, (4, 3), net.dtype))
    expected = np.einsum("sip,sij,sjq->pq", J, H_p, J) / 4
    assert relative(so.exact.gauss_newton(net, loss, x, y), expected) < 1e-13
    rows = so.exact.sample_gradients(net, loss, x, y)
    for s in range(4):
        assert relative(rows[s], so.exact.gradient(net, loss, x[s:s + 1], y[s:s + 1])) < 1e-13


@pytest.mark.parametrize("name", ["normalised", *slow(["convolutional", "recurrent"])])
def test_float32_stays(name):
    net, loss, x, y = problem(name)
    small = net.astype("float32")
    v = np.random.default_rng(1).normal(size=net.size)
    product = so.exact.hessian_vector_product(small, loss, x, y, v.astype("float32"))
    assert product.dtype == np.float32
    assert relative(product, so.exact.hessian_vector_product(net, loss, x, y, v)) < 1e-4
