"""Residual partitioning where numbers are awkward, and what it refuses."""

import numpy as np
import pytest
from test_residual_optimizer import rng, squared_case  # noqa: F401

import secondorder as so
from secondorder.nets import Activation, Layer, Linear, Network, Skip
from secondorder.papers.residual_partitioning import ResidualPartitioning, bound, bounded_hessian
from secondorder.papers.residual_partitioning.method import bound_at

pytestmark = pytest.mark.filterwarnings("error")
DTYPES = ("float64", "float32")


def finite(b):
    return np.isfinite([b.curvature, b.gradient]).all() and (b.curvature >= 0).all()


# -- awkward numbers -------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cross", [False, True])
def test_a_whole_layer_of_dead_units(rng, dtype, cross):
    net, loss, x, y = squared_case(rng, "relu", dtype=dtype)
    net.layers[0].bias = np.full(4, -100.0, dtype=dtype)
    b = bound(net, loss, x, y, cross=cross)
    first, last = net.slices[0], net.slices[2]
    assert finite(b) and not b.gradient[first].any() and not b.curvature[first].any()
    weights, bias = net.layers[2].split(b.curvature[last])
    # only the output's biases can move anything: u = Z = 1
    assert not weights.any() and np.allclose(bias, 1.0)
    before, method = net.theta.copy(), ResidualPartitioning(net, loss, 1.0, cross=cross)
    info = method.step(x, y)
    assert np.array_equal(net.theta[first], before[first])
    assert info["idle_parameters"] == net.size - 2
    # the biases' own quadratic is met exactly
    assert np.allclose(net(x).mean(axis=0), y.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [30, 1e3])
@pytest.mark.parametrize("output", ["jensen", "pairwise"])
def test_softmax_that_is_confidently_wrong(rng, dtype, size, output):
    """Its second derivatives may all be 0 although the gradient is not: the last layer then stays;
    damping moves it.
    """
    net = Network([Linear(2, 3, rng=rng), Activation("tanh"), Linear(3, 3, init=0.1, rng=rng)],
                  dtype=dtype)
    net.layers[2].bias = np.array([size, 0, 0], dtype=dtype)
    x, y, loss = rng.normal(size=(4, 2)), np.array([1, 2, 1, 2]), so.SoftmaxCrossEntropy()
    b = bound(net, loss, x, y, output=output)
    assert finite(b) and np.abs(b.gradient).max() > 0.4
    if size == 1e3:
        left = ResidualPartitioning(net.copy(), loss, 30.0, l2=0.1, output=output).step(x, y)
        assert left["idle_parameters"] == net.layers[2].size
    damped, before = ResidualPartitioning(net, loss, 1.0, output=output, damping=0.1), b.loss
    assert damped.step(x, y)["idle_parameters"] == 0 and net.evaluate(loss, x, y).loss < before


def test_numbers_beyond_the_precision_name_the_layer(rng):
    """A step beyond all numbers; squares of inputs; a curvature of inf, whose step would be 0."""
    loss = so.SoftmaxCrossEntropy()
    net = Network([Linear(2, 3, init=0.1, rng=rng)], dtype="float32")
    net.layers[0].bias = np.array([88, 0, 0], dtype="float32")
    method, before = ResidualPartitioning(net, loss, 1e3), net.theta.copy()
    with pytest.raises(FloatingPointError, match=r"step 1: .* layer 0, Linear\(2, 3\)"):
        method.step(rng.normal(size=(4, 2)), np.full(4, 1))
    assert np.array_equal(net.theta, before) and method.steps == 0
    net, squared, x, _ = squared_case(rng, "relu", dtype="float32")
    with pytest.raises(FloatingPointError, match=r"curvature in the parameters of layer 0, Linear"):
        bound(net, squared, 1e25 * x, net(1e25 * x))
    net = so.mlp([4, 3, 2], activation="tanh", rng=0)
    net.layers[0].bias, net.layers[2].weight = np.zeros(3), np.full((2, 3), 1e155)
    with pytest.raises(FloatingPointError, match=r"curvature in the parameters of layer 0"):
        ResidualPartitioning(net, loss).step(np.zeros((2, 4)), np.array([0, 1]))


def test_a_deep_network_in_float32_names_float64_as_the_remedy():
    def step(dtype):
        net = so.mlp([64] * 33 + [10], "relu", init=np.sqrt(6 / 64), rng=0, dtype=dtype)
        x = np.random.default_rng(0).normal(size=(8, 64))
        return ResidualPartitioning(net, so.SoftmaxCrossEntropy(), 1.0).step(x, np.arange(8))

    with pytest.raises(FloatingPointError, match="layer 0, .*dtype='float64'"):
        step("float32")
    assert step("float64")["bound_decrease"] > 0


# -- refusals --------------------------------------------------------------------------------------

class Shift(Layer):
    """Unknown to residual partitioning."""

    def forward(self, x):
        return x + 1, (x, x + 1)


class Doubled(Linear):
    """Not given its parent's rule, as it changes a pass."""

    def forward(self, x):
        y, saved = super().forward(x)
        return 2 * y, saved._replace(output=2 * y)


class Renamed(Linear):
    """Changes no pass."""


@pytest.mark.parametrize("layers, error, words", [
    ([Linear(2, 3, trainable=False, rng=0)], ValueError, "no trainable parameters"),
    ([Linear(2, 3, rng=0), Skip([Shift()])], TypeError, "support the layer Shift.*Linear.*Skip"),
    ([Skip([Doubled(2, 2, rng=0)]), Linear(2, 3, rng=0)], TypeError,
     "Doubled overrides its forward"),
    ([Linear(2, 3, rng=0).copy()], ValueError, "needs real numbers, got complex128"),
])
def test_networks_that_are_refused(layers, error, words):
    x, y, loss = np.ones((2, 2)), np.zeros((2, 3)), so.SquaredError()
    net = Network(layers, dtype="complex128" if "complex" in words else "float64")
    calls = [lambda: bound(net, loss, x, y), lambda: ResidualPartitioning(net, loss)]
    calls += [] if "complex" in words else [lambda: bounded_hessian(net, loss, x, y)]
    for call in calls:
        with pytest.raises(error, match=words):
            call()
    assert finite(bound(Network([Renamed(2, 3, rng=0)]), loss, x, y))


def test_rules_that_would_not_bound_are_refused(rng):
    net, _, x, _ = squared_case(rng)
    with pytest.raises(ValueError, match="output='diagonal' needs a loss .*'jensen' or 'pairwise'"):
        bound(net, so.SoftmaxCrossEntropy(), x, np.arange(6) % 2, output="diagonal")
    with pytest.raises(ValueError, match="output='jensen' needs a loss that is convex.*'pairwise'"):
        ResidualPartitioning(net, so.BoundedCriterion(), output="jensen")


def test_matrices_that_are_too_large_and_old_evaluations_are_refused(rng):
    net, loss, x, y = squared_case(rng, samples=12)
    with pytest.raises(MemoryError, match=r"\(26, 26\) needs 5,408 bytes"):
        bounded_hessian(net, loss, x, y, max_bytes=5000)
    at = net.evaluate(loss, x, y)
    net.theta = net.theta + 1
    with pytest.raises(RuntimeError, match="parameters have changed"):
        bound_at(at)
