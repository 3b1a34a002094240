"""Convolutions of batches and images that are too large for one turn: every derivative is the mean
of those of single samples.

Samples are worked through some at a time, and the last turn may be shorter than the others: what an
earlier turn, or an earlier and longer batch, has left behind must not count again.
"""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative

LOSS = so.SquaredError()


def two_convolutions(rng=0):
    return so.Network([so.Conv2d(2, 3, 3, padding=1, rng=rng), so.Activation("tanh"),
                       so.Conv2d(3, 2, 3, stride=2, rng=rng), so.Flatten(),
                       so.Linear(2 * 7 * 7, 2, rng=rng)], input_shape=(2, 16, 16))


def batch(samples, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples, 2, 16, 16)), rng.normal(size=(samples, 2))


def one_by_one(function, x, y):
    return np.mean([function(x[k:k + 1], y[k:k + 1]) for k in range(len(x))], axis=0)


@pytest.mark.parametrize("samples", [8, 17])
def test_gradient_and_products_of_a_last_turn_that_is_short(samples):
    net, v = two_convolutions(), np.random.default_rng(1).normal(size=two_convolutions().size)
    so.exact.gradient(net, LOSS, *batch(31, seed=2))  # a longer batch before it
    x, y = batch(samples)
    for function in (lambda x, y: so.exact.gradient(net, LOSS, x, y),
                     lambda x, y: so.exact.hessian_vector_product(net, LOSS, x, y, v),
                     lambda x, y: so.exact.diagonal(net, LOSS, x, y, kind="gauss-newton"),
                     lambda x, y: so.exact.sample_gradients(net, LOSS, x, y).mean(axis=0)):
        assert relative(function(x, y), one_by_one(function, x, y)) < 1e-12


def test_the_gradient_of_a_kernel_by_differences_where_the_last_turn_is_short():
    net, (x, y), h = two_convolutions(), batch(17), 1e-6
    gradient, start = so.exact.gradient(net, LOSS, x, y), net.theta.copy()
    for entry in (0, 13, 53, 56, 60, 110):
        ends = []
        for sign in (1, -1):
            net.theta[entry] = start[entry] + sign * h
            ends.append(net.evaluate(LOSS, x, y).loss)
            net.theta[entry] = start[entry]
        assert gradient[entry] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("dtype, allowed", [
    ("float64", 1e-12), pytest.param("float32", 1e-4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [(64, 160), (2, 20000), (130, 130)])
def test_the_bias_of_a_convolution_sums_over_a_wide_image(size, dtype, allowed):
    """More places than 8192: the gradient of a bias is the sum over all of them."""
    net = so.Network([so.Conv2d(1, 2, 1, rng=0), so.Flatten(),
                      so.Linear(2 * size[0] * size[1], 1, rng=0)], input_shape=(1, *size))
    net = net.astype(dtype)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 1, *size)), rng.normal(size=(3, 1))
    error = net(x) - y  # of one output: d loss / d bias_o = mean over s of error_s sum_pq W_opq
    W = net.layers[2].weight.reshape(2, -1).astype(float)
    expected = (error.astype(float) * W.sum(axis=1)).mean(axis=0)
    found = so.exact.gradient(net, LOSS, x, y)[2:4]
    rounding = allowed * np.abs(error).mean() * np.abs(W).sum()
    assert np.abs(found - expected).max() < rounding
    rows = so.exact.sample_gradients(net, LOSS, x, y)[:, 2:4]
    assert np.abs(rows.mean(axis=0) - found).max() < rounding
