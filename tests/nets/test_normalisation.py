"""`LayerNorm`: mean and variance of every block, the three channels, invariances, refusals."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import moved, relative
from secondorder.nets import LayerNorm, Network

CASES = [((5,), (5,), {}), ((2, 3), (2, 3), {}), ((3,), (2, 3), {}), ((2,), (2, 2, 2), {}),
         ((4,), (4,), {"epsilon": 0.3}), ((4,), (4,), {"trainable": False}), ((1,), (3, 1), {})]


@pytest.mark.parametrize("shape, input_shape, options", CASES)
def test_forward_block_by_block(shape, input_shape, options):
    layer, rng = LayerNorm(shape, **options), np.random.default_rng(0)
    moved(layer, rng)
    x = rng.normal(size=(3, *input_shape))
    y, saved = layer.forward(x)
    for block in np.ndindex(*x.shape[:x.ndim - len(shape)]):
        entries = x[block].ravel().tolist()
        mean = sum(entries) / len(entries)
        variance = sum((a - mean) ** 2 for a in entries) / len(entries)
        z = np.reshape([(a - mean) / (variance + layer.epsilon) ** 0.5 for a in entries], shape)
        assert np.allclose(y[block], layer.weight * z + layer.bias, rtol=1e-13, atol=1e-14)
    assert saved.input is x and saved.output is y
    assert layer.output_shape(input_shape) == input_shape


def test_a_shift_changes_nothing_and_the_gradient_knows():
    """x_bar is orthogonal to a shift of the block, and without epsilon to a change of scale."""
    layer, rng = moved(LayerNorm(6, epsilon=1e-30), np.random.default_rng(1)), \
        np.random.default_rng(0)
    x, y_bar = rng.normal(size=(2, 4, 6))
    y, saved = layer.forward(x)
    assert relative(layer.forward(x + 2.5)[0], y) < 1e-14
    assert relative(layer.forward(3 * x)[0], y) < 1e-14
    x_bar = layer.backward(saved, y_bar)[0]
    assert np.abs(x_bar.sum(axis=1)).max() < 1e-14
    assert np.abs((x_bar * x).sum(axis=1)).max() < 1e-13


@pytest.mark.parametrize("shape", [(5,), (3, 2), (4,)])
def test_inputs_that_do_not_fit(shape):
    layer = LayerNorm((2, 3))
    with pytest.raises(ValueError, match=r"LayerNorm\(\(2, 3\)\) takes inputs whose shape ends "
                                         r"with \(2, 3\), got"):
        layer.output_shape(shape)
    assert layer.output_shape((4, 2, 3)) == (4, 2, 3)


def test_a_constant_block_is_no_division_by_zero():
    layer = LayerNorm(3)
    y, saved = layer.forward(np.full((1, 3), 7.0))
    assert not y.any() and np.isfinite(layer.backward(saved, np.ones((1, 3)))[0]).all()


@pytest.mark.parametrize("dtype, size", [("float64", 1e155), ("float64", 1e300), ("float32", 1e19),
                                         ("float32", 1e37)])
def test_a_network_sees_inputs_of_any_size(dtype, size):
    """Outputs and derivatives are those of the input without its size, where epsilon is small."""
    rng = np.random.default_rng(0)
    net = Network([LayerNorm(4, epsilon=1e-20), so.Linear(4, 3, rng=0), so.Activation("tanh"),
                   LayerNorm(3), so.Linear(3, 2, rng=1)], dtype=dtype, input_shape=(4,))
    x, y = rng.normal(size=(6, 4)).astype(dtype), rng.normal(size=(6, 2)).astype(dtype)
    large = x * np.dtype(dtype).type(size)
    tolerance = 200 * np.finfo(dtype).eps
    assert relative(net(large), net(x)) < tolerance
    for derivative in (so.exact.gradient, so.exact.hessian):
        found, expected = (derivative(net, so.SquaredError(), some, y) for some in (large, x))
        assert relative(found, expected) < tolerance


def test_tiny_deviations_against_epsilon():
    """They give z = (x - m) / sqrt(epsilon)."""
    x = 1e-200 * np.random.default_rng(0).normal(size=(2, 4))
    y, _ = LayerNorm(4, epsilon=1e-6).forward(x)
    assert relative(y, (x - x.mean(axis=1, keepdims=True)) * 1e3) < 1e-14


def test_what_is_too_large_for_its_mean_is_refused():
    net = Network([LayerNorm(4), so.Linear(4, 1, rng=0)], input_shape=(4,))
    with pytest.raises(FloatingPointError, match="layer 0, LayerNorm"):
        net(np.array([[1.7e308, 1.7e308, 1.7e308, -1.7e308]]))
