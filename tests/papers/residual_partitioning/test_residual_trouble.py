"""Residual partitioning where numbers are awkward, and what it refuses."""

import numpy as np
import pytest
from test_residual_optimizer import (classifier, no_warning_is_tolerated, rng,  # noqa: F401
                                     squared_case)

import secondorder as so
from secondorder.nets import Activation, Layer, Linear, Network, Skip
from secondorder.papers.residual_partitioning import ResidualPartitioning, bound, bounded_hessian
from secondorder.papers.residual_partitioning.method import bound_at

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
    assert np.array_equal(net.theta[first],
                          before[first]) and info["idle_parameters"] == net.size - 2
    # the biases' own quadratic is met exactly
    assert np.allclose(net(x).mean(axis=0), y.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("output", ["diagonal", "jensen", "pairwise"])
def test_zero_inputs(rng, dtype, output):
    net, loss, x, y = squared_case(rng, dtype=dtype)
    b = bound(net, loss, 0 * x, y, output=output)
    weights, bias = net.layers[0].split(b.curvature[net.slices[0]])
    assert finite(b) and not weights.any() and (bias > 0).all()
    info = ResidualPartitioning(net, loss, 1.0, output=output).step(0 * x, y)
    assert info["idle_parameters"] == weights.size


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [30, 90, 1e3])
def test_softmax_that_is_confidently_wrong(rng, dtype, size):
    net = Network([Linear(2, 3, rng=rng), Activation("tanh"), Linear(3, 3, init=0.1, rng=rng)],
                  dtype=dtype)
    net.layers[2].bias = np.array([size, 0, 0], dtype=dtype)
    x, y, loss = rng.normal(size=(4, 2)), np.array([1, 2, 1, 2]), so.SoftmaxCrossEntropy()
    for output in ("jensen", "pairwise"):
        b = bound(net, loss, x, y, output=output)
        assert finite(b) and np.abs(b.gradient).max() > 0.4
        damped = ResidualPartitioning(net.copy(), loss, 1.0, output=output, damping=0.1)
        before = damped.network.evaluate(loss, x, y).loss
        info = damped.step(x, y)
        assert info["idle_parameters"] == 0
        assert damped.network.evaluate(loss, x, y).loss < before


def test_without_curvature_nothing_moves_and_the_step_says_so(rng):
    """Logits so far apart that every second derivative of the softmax is 0 although the gradient is
    not."""
    net = Network([Linear(2, 3, init=0.1, rng=rng)])
    net.layers[0].bias = np.array([1e3, 0, -1e3])
    x, loss = rng.normal(size=(4, 2)), so.SoftmaxCrossEntropy()
    b = bound(net, loss, x, np.full(4, 1))
    assert np.abs(b.gradient).max() > 0.4 and not b.curvature.any()
    info = ResidualPartitioning(net, loss, 30.0, l2=0.1).step(x, np.full(4, 1))
    assert info["idle_parameters"] == net.size and info["step_norm"] == 0


def test_where_all_negative_numbers_become_zero_damping_moves_again(rng):
    """Softplus far below its target: below it the bound with "max" is flat although the gradient is
    not."""
    net = Network([Linear(1, 1), Activation("softplus"), Linear(1, 1)])
    net.theta = np.array([0.5, 0.25, 1.0, 0.0])
    x, y, loss, first = np.ones((1, 1)), np.full((1, 1), 20.0), so.SquaredError(), net.slices[0]
    b = bound(net, loss, x, y, negative_curvature="max")
    assert not b.curvature[first].any() and (b.gradient[first] < -1).all()
    assert (bound(net, loss, x, y).curvature[first] > 0).all()
    evaluation = net.evaluate(loss, x, y)
    options = {"learning_rate": 1.0, "negative_curvature": "max"}
    left_alone = ResidualPartitioning(net, loss, **options)
    assert (
        not left_alone.direction(evaluation)[first].any()
        and left_alone.details["idle_parameters"] == 2
    )
    assert (ResidualPartitioning(net, loss, damping=1.0, **options).direction(evaluation)[first]
            > 1).all()


def test_a_step_beyond_all_numbers_is_refused_and_undone(rng):
    net = Network([Linear(2, 3, init=0.1, rng=rng)], dtype="float32")
    net.layers[0].bias = np.array([88, 0, 0], dtype="float32")
    x, y, before = rng.normal(size=(4, 2)), np.full(4, 1), net.theta.copy()
    method = ResidualPartitioning(net, so.SoftmaxCrossEntropy(), 1e3)
    with pytest.raises(FloatingPointError,
                       match=r"ResidualPartitioning, step 1: .* layer 0, Linear\(2, 3\)"):
        method.step(x, y)
    assert np.array_equal(net.theta, before) and method.steps == 0


def test_sizes_beyond_float32_name_the_layer(rng):
    """A perfect fit of huge numbers: loss and gradient are 0, but squares of the inputs
    overflow."""
    net, loss, x, _ = squared_case(rng, "relu", dtype="float32")
    x = 1e25 * x
    with pytest.raises(FloatingPointError,
                       match=r"curvature in the parameters of layer 0, Linear\(3, 4\), is not "
                             r"finite"):
        bound(net, loss, x, net(x))


def test_an_infinite_curvature_is_refused_although_its_step_would_be_zero():
    """Large weights above: the curvature of the first layer overflows; -gradient / inf is 0."""
    net = so.mlp([4, 3, 2], activation="tanh", rng=0)
    net.layers[0].bias, net.layers[2].weight = np.zeros(3), np.full((2, 3), 1e155)
    x, y, before = np.zeros((2, 4)), np.array([0, 1]), net.theta.copy()
    for call in (lambda: ResidualPartitioning(net, so.SoftmaxCrossEntropy()).step(x, y),
                 lambda: bound(net, so.SoftmaxCrossEntropy(), x, y)):
        with pytest.raises(FloatingPointError, match=r"curvature in the parameters of layer 0"):
            call()
    assert np.array_equal(net.theta, before)


def test_a_deep_network_in_float32_names_float64_as_the_remedy():
    def step(dtype):
        net = so.mlp([64] * 33 + [10], "relu", init=np.sqrt(6 / 64), rng=0, dtype=dtype)
        x = np.random.default_rng(0).normal(size=(8, 64))
        return ResidualPartitioning(net, so.SoftmaxCrossEntropy(), 1.0).step(x, np.arange(8))

    with pytest.raises(FloatingPointError, match="layer 0, .*dtype='float64'"):
        step("float32")
    assert step("float64")["bound_decrease"] > 0


# -- refusals --------------------------------------------------------------------------------------

def test_no_trained_layer(rng):
    net = Network([Linear(2, 3, trainable=False, rng=rng), Activation("tanh")])
    x, y = np.ones((2, 2)), np.zeros((2, 3))
    for refused in (lambda: bound(net, so.SquaredError(), x, y),
                    lambda: bounded_hessian(net, so.SquaredError(), x, y),
                    lambda: ResidualPartitioning(net, so.SquaredError())):
        with pytest.raises(ValueError, match="no trainable parameters"):
            refused()


def test_a_subclass_that_changes_a_pass_is_not_given_its_parents_rule(rng):
    class Doubled(Linear):
        def forward(self, x):
            y, saved = super().forward(x)
            return 2 * y, saved._replace(output=2 * y)

    class Renamed(Linear):
        """Changes no pass."""

    x, y = np.ones((2, 2)), np.zeros((2, 3))
    with pytest.raises(TypeError, match="residual partitioning.*Doubled overrides its forward"):
        bound(Network([Doubled(2, 3, rng=rng)]), so.SquaredError(), x, y)
    with pytest.raises(TypeError, match="Doubled overrides"):
        bound(Network([Skip([Doubled(2, 2, rng=rng)]), Linear(2, 3, rng=rng)]), so.SquaredError(),
              x, y)
    assert finite(bound(Network([Renamed(2, 3, rng=rng)]), so.SquaredError(), x, y))


class Shift(Layer):
    """Unknown to residual partitioning."""

    def forward(self, x):
        return x + 1, (x, x + 1)


def test_unknown_layer(rng):
    net, words = Network([Linear(2, 3, rng=rng), Skip([Shift()])]), "does not support the layer"
    with pytest.raises(TypeError, match=f"residual partitioning {words} .*Shift.*Linear.*Skip"):
        bound(net, so.SquaredError(), np.ones((2, 2)), np.zeros((2, 3)))
    with pytest.raises(TypeError, match=f"{words} Shift"):
        ResidualPartitioning(net, so.SquaredError())


def test_complex_networks_are_refused(rng):
    with pytest.raises(ValueError, match="needs real numbers, got complex128"):
        bound(so.mlp([2, 3], rng=rng, dtype="complex128"), so.SquaredError(), np.ones((2, 2)),
              np.zeros((2, 3)))


def test_rules_that_would_not_bound_are_refused(rng):
    net, loss, x, y = classifier(rng)
    with pytest.raises(ValueError,
                       match="output='diagonal' needs a loss whose Hessian .*diagonal.*'jensen' or "
                             "'pairwise'"):
        bound(net, loss, x, y, output="diagonal")
    with pytest.raises(ValueError, match="output='jensen' needs a loss that is convex.*'pairwise'"):
        ResidualPartitioning(net, so.BoundedCriterion(), output="jensen")
    for criterion, output in ((loss, "jensen"), (so.BoundedCriterion(), "pairwise"),
                              (so.TukeyBiweight(), "diagonal")):
        assert ResidualPartitioning(net, criterion).output == output


def test_matrices_that_are_too_large_are_refused(rng):
    net, loss, x, y = squared_case(rng, samples=12)
    with pytest.raises(MemoryError, match=r"\(26, 26\) needs 5,408 bytes"):
        bounded_hessian(net, loss, x, y, max_bytes=5000)
    assert bounded_hessian(net, loss, x, y, max_bytes=5408).nbytes == 5408


@pytest.mark.parametrize("layer", [Shift(), Skip([Shift()])])
def test_bounded_hessian_does_not_leave_out_the_curvature_of_a_layer_it_does_not_know(layer):
    net = so.Network([so.Linear(3, 2, rng=0), layer, so.Linear(2, 1, rng=1)])
    with pytest.raises(TypeError, match="bounded_hessian does not support the layer Shift"):
        so.residual_partitioning.bounded_hessian(net, so.SquaredError(), np.ones((4, 3)),
                                                 np.zeros((4, 1)))


def test_a_bound_is_refused_once_the_parameters_have_changed():
    at = so.mlp([3, 2], rng=0).evaluate(so.SquaredError(), np.ones((4, 3)), np.zeros((4, 2)))
    at.network.theta = at.network.theta + 1
    with pytest.raises(RuntimeError, match="parameters have changed"):
        bound_at(at)
