"""Layers against PyTorch, where it is installed: it is no dependency, and these tests are left out
without it; `test_importing` has networks."""

import numpy as np
import pytest

from harness.cases import moved as moved_away, relative
from secondorder.nets import AvgPool2d, Conv2d, Flatten, LayerNorm, MaxPool2d, Recurrent
from test_convolution import CASES

torch = pytest.importorskip("torch")


def tensor(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


def compare(layer, function, shape, seed=0):
    """All passes that PyTorch has: `function(x, *parameters)` is the layer there."""
    rng = np.random.default_rng(seed)
    moved_away(layer, rng)
    x, x_tangent = rng.normal(size=(2, 3, *shape))
    parameters = [tensor(value) for value in layer.parameters.values()]
    y, saved = layer.forward(x)
    assert relative(y, function(tensor(x), *parameters)) < 1e-13
    y_bar, theta_tangent = rng.normal(size=y.shape), rng.normal(size=layer.size)
    tangents = [tensor(piece) for piece in layer.split(theta_tangent)]

    def bars(x, *parameters):
        _, back = torch.func.vjp(function, x, *parameters)
        return back(tensor(y_bar))

    def flat(gradients):
        return np.concatenate([np.asarray(g).ravel() for g in gradients] or [np.zeros(0)])

    point, moves = (tensor(x), *parameters), (tensor(x_tangent), *tangents)
    theirs, their_tangents = torch.func.jvp(bars, point, moves)
    x_bar, *theta_bars = layer.backward(saved, y_bar)
    assert relative(x_bar, theirs[0]) < 1e-13
    y_tangent, moved = layer.flat_tangent(saved, x_tangent, theta_tangent if layer.size else None)
    assert relative(y_tangent, torch.func.jvp(function, point, moves)[1]) < 1e-13
    found = layer.backward_tangent(saved, moved, y_bar, np.zeros_like(y_bar))
    assert np.allclose(found[0], their_tangents[0], rtol=1e-12, atol=1e-13)
    if layer.size:
        assert relative(flat(theta_bars), flat(theirs[1:])) < 1e-13
        assert np.allclose(flat(found[1:]), flat(their_tangents[1:]), rtol=1e-12, atol=1e-13)


@pytest.mark.everyday(2)
@pytest.mark.parametrize("n_in, n_out, kernel, stride, padding, height, width", CASES)
def test_convolution(n_in, n_out, kernel, stride, padding, height, width):
    def function(x, weight, bias):
        return torch.nn.functional.conv2d(x, weight, bias, stride, padding)
    compare(Conv2d(n_in, n_out, kernel, stride, padding, rng=0), function, (n_in, height, width))


@pytest.mark.parametrize("kernel, stride, height, width", [(2, None, 4, 5), (3, 2, 5, 6),
                                                           ((2, 1), None, 3, 2), (2, 3, 5, 5)])
def test_pooling(kernel, stride, height, width):
    for make, name in ((AvgPool2d, "avg_pool2d"), (MaxPool2d, "max_pool2d")):
        def function(x, name=name):
            return getattr(torch.nn.functional, name)(x, kernel, stride)
        compare(make(kernel, stride), function, (2, height, width))


@pytest.mark.parametrize("steps", [1, 10])
def test_recurrence(steps):
    def function(x, U, W, b):
        v = torch.zeros(x.shape[0], 4, dtype=x.dtype)
        for t in range(x.shape[1]):
            v = torch.tanh(x[:, t] @ U.T + v @ W.T + b)
        return v
    layer = Recurrent(3, 4, rng=0)
    compare(layer, function, (steps, 3))
    theirs = torch.nn.RNN(3, 4, batch_first=True, dtype=torch.float64)
    x = np.random.default_rng(1).normal(size=(2, steps, 3))
    with torch.no_grad():
        for name, value in (("weight_ih_l0", layer.weight_ih), ("weight_hh_l0", layer.weight_hh),
                            ("bias_ih_l0", layer.bias), ("bias_hh_l0", 0 * layer.bias)):
            getattr(theirs, name).copy_(tensor(value))
        assert relative(layer.forward(x)[0], theirs(tensor(x))[1][0]) < 1e-13

    def alone(x, W, b):
        for _ in range(steps):
            x = torch.nn.functional.softplus(x @ W.T + b)
        return x
    compare(Recurrent(4, steps=steps, activation="softplus", rng=0), alone, (4,))


@pytest.mark.parametrize("shape, input_shape", [((5,), (5,)), ((2, 3), (2, 3)), ((3,), (2, 3))])
def test_normalisation(shape, input_shape):
    def function(x, weight, bias):
        return torch.nn.functional.layer_norm(x, shape, weight, bias)
    compare(LayerNorm(shape), function, input_shape)


def test_flatten():
    compare(Flatten(), lambda x: torch.flatten(x, 1), (2, 3, 4))
