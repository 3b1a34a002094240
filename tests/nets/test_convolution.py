"""`Conv2d`: index by index, through the three channels, and what it refuses."""

import itertools

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from secondorder.nets import Conv2d, Network

# in, out, kernel, stride, padding, height, width: odd sizes, strides 2 and 3 that leave rows over,
# padding, one channel and many, kernels as large as the image and as one pixel, pairs
CASES = [(1, 1, 3, 1, 0, 3, 3), (2, 3, 3, 1, 1, 5, 4), (3, 2, 2, 2, 0, 5, 6), (1, 2, 3, 3, 2, 7, 5),
         (2, 1, (2, 3), (2, 1), (0, 1), 4, 3), (2, 2, 1, 1, 0, 2, 3), (1, 2, (5, 4), 1, 0, 5, 4),
         (1, 2, 4, 2, (1, 0), 3, 4), (3, 1, 2, (1, 3), (1, 2), 2, 5)]


def case(number, samples=3, **options):
    """A layer with its two-sized kernel, stride and padding, and random inputs."""
    n_in, n_out, kernel, stride, padding, height, width = CASES[number]
    rng = np.random.default_rng(number)
    layer = Conv2d(n_in, n_out, kernel, stride, padding, rng=rng, **options)
    pairs = [(a, a) if isinstance(a, int) else a for a in (kernel, stride, padding)]
    return layer, rng.normal(size=(samples, n_in, height, width)), pairs


def meetings(x_shape, y_shape, kernel, stride, padding):
    """All (o, p, q, c, l, k, i, j) at which output (o, p, q) sees input (c, i, j) through the
    kernel's (l, k)."""
    for o, p, q, c, l, k in itertools.product(*map(range, (*y_shape[1:], x_shape[1], *kernel))):
        i, j = stride[0] * p + l - padding[0], stride[1] * q + k - padding[1]
        if 0 <= i < x_shape[2] and 0 <= j < x_shape[3]:
            yield o, p, q, c, l, k, i, j


@pytest.mark.parametrize("number", range(len(CASES)))
def test_forward_and_backward_index_by_index(number):
    layer, x, pairs = case(number)
    kernel, stride, padding = pairs
    places = [(n + 2 * p - k) // s + 1
              for n, k, s, p in zip(x.shape[2:], kernel, stride, padding)]
    y = np.zeros((len(x), layer.out_channels, *places)) + layer.bias[:, None, None]
    y_bar = np.random.default_rng(9).normal(size=y.shape)
    x_bar, weight_bars = np.zeros_like(x), np.zeros((len(x), *layer.weight.shape))
    for o, p, q, c, l, k, i, j in meetings(x.shape, y.shape, kernel, stride, padding):
        y[:, o, p, q] += layer.weight[o, c, l, k] * x[:, c, i, j]
        x_bar[:, c, i, j] += layer.weight[o, c, l, k] * y_bar[:, o, p, q]
        weight_bars[:, o, c, l, k] += y_bar[:, o, p, q] * x[:, c, i, j]
    ours, saved = layer.forward(x)
    assert layer.output_shape(x.shape[1:]) == y.shape[1:] and relative(ours, y) < 1e-14
    assert saved.input is x and saved.output is ours
    ours = layer.backward(saved, y_bar)
    assert relative(ours[0], x_bar) < 1e-14
    bias_bars = sum(y_bar[:, :, p, q] for p in range(places[0]) for q in range(places[1]))
    rows = np.concatenate([weight_bars.reshape(len(x), -1), bias_bars], axis=1)
    assert relative(layer.flat_parameter_gradients(saved, y_bar), rows) < 1e-14
    assert relative(layer.parameter_gradient(saved, y_bar), rows.sum(axis=0)) < 1e-14


def test_input_hessian_index_by_index():
    """J^T H J with J a column at a time, and H_y that is not symmetric."""
    layer, x, _ = case(1, samples=2, bias=False)
    y, saved = layer.forward(x)
    J = np.stack([layer.forward(np.tile(e.reshape(1, *x.shape[1:]), (1, 1, 1, 1)))[0].ravel()
                  for e in np.eye(x[0].size)], axis=1)
    H_y = np.random.default_rng(2).normal(size=(2, y[0].size, y[0].size))
    ours = layer.input_hessian(saved, np.ones_like(y), H_y)
    assert relative(ours, J.T @ H_y @ J) < 1e-13


def test_input_hessian_takes_all_rows_at_once(monkeypatch):
    """Twice times the Jacobian: one `convolve_back` a row takes three times as long."""
    calls, layer = [], Conv2d(1, 2, 3, padding=1, rng=0)
    monkeypatch.setattr(Conv2d, "convolve_back",
                        lambda *given, own=Conv2d.convolve_back: calls.append(0) or own(*given))
    y, saved = layer.forward(np.ones((3, 1, 4, 4)))
    layer.input_hessian(saved, y, np.ones((3, 32, 32)))
    assert len(calls) == 2


def test_parameters_begin_as_those_of_a_linear_layer_of_the_same_fan_in():
    layer = Conv2d(3, 200, (2, 5), rng=0)
    for values in (layer.weight, layer.bias):
        assert 0.98 / np.sqrt(30) < np.abs(values).max() <= 1 / np.sqrt(30)
    even = Conv2d(3, 200, 2, init="xavier", rng=0)
    assert not even.bias.any()
    assert 0.98 < np.abs(even.weight).max() / np.sqrt(6 / (12 + 800)) <= 1


def test_a_one_by_one_kernel_is_a_linear_layer_at_every_pixel():
    layer, x, _ = case(5)
    linear = so.Linear(2, 2, rng=0)
    linear.weight, linear.bias = layer.weight[:, :, 0, 0], layer.bias
    pixels = linear.forward(x.transpose(0, 2, 3, 1).reshape(-1, 2))[0]
    expected = pixels.reshape(3, 2, 3, 2).transpose(0, 3, 1, 2)
    assert relative(layer.forward(x)[0], expected) < 1e-15


@pytest.mark.parametrize("shape, words", [
    ((2, 8), r"takes images, one sample of shape \(2, H, W\), got \(2, 8\)"),
    ((1, 8, 8), r"takes images, one sample of shape \(2, H, W\), got \(1, 8, 8\)"),
    ((2, 2, 8), r"the kernel \(4, 3\) is larger than the image \(2, 10\), padding included"),
])
def test_images_that_do_not_fit(shape, words):
    layer = Conv2d(2, 3, (4, 3), padding=(0, 1))
    with pytest.raises(ValueError, match=r"Conv2d\(2, 3, \(4, 3\), padding=\(0, 1\)\).*" + words):
        layer.output_shape(shape)


def test_bad_input_at_the_door_of_a_network():
    with pytest.raises(ValueError, match="input_shape must be given.*Conv2d"):
        Network([Conv2d(1, 2, 3)])
    net = Network([Conv2d(1, 2, 3, rng=0), so.Flatten(), so.Linear(8, 2, rng=0)],
                  input_shape=(1, 4, 4))
    for wrong in (np.ones((5, 4, 4)), np.ones((5, 2, 4, 4))):
        with pytest.raises(ValueError, match=r"x has shape .*expected \(S, 1, 4, 4\)"):
            net(wrong)
    assert net(np.ones((5, 1, 4, 4))).shape == (5, 2)
    with pytest.raises(ValueError, match="losses act on outputs of shape"):
        Network([Conv2d(1, 2, 3)], input_shape=(1, 4, 4)).evaluate(so.SquaredError(),
                                                                   np.ones((1, 1, 4, 4)), [[1]])
