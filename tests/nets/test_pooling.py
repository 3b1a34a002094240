"""`AvgPool2d`, `MaxPool2d` and `Flatten`: index by index, through the three channels, ties,
refusals."""

import itertools

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from secondorder.nets import AvgPool2d, Flatten, MaxPool2d, Network

# kernel, stride, height, width
CASES = [(2, None, 4, 5), (3, 2, 5, 6), ((2, 1), None, 3, 2), (2, 1, 3, 4), (2, 3, 5, 5),
         ((3, 4), (1, 2), 3, 4)]
KINDS = {"mean": (AvgPool2d, np.mean), "largest": (MaxPool2d, np.max)}


@pytest.mark.parametrize("kernel, stride, height, width", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_forward_and_backward_index_by_index(kind, kernel, stride, height, width):
    make, pick = KINDS[kind]
    layer, rng = make(kernel, stride), np.random.default_rng(5)
    tall, wide = (kernel, kernel) if isinstance(kernel, int) else kernel
    down, across = ((tall, wide) if stride is None else
                    (stride, stride) if isinstance(stride, int) else stride)
    x = rng.normal(size=(2, 3, height, width))
    shape = (3, (height - tall) // down + 1, (width - wide) // across + 1)
    assert layer.output_shape(x.shape[1:]) == shape
    y, saved = layer.forward(x)
    y_bar, expected = rng.normal(size=y.shape), np.zeros_like(x)
    for s, c, p, q in itertools.product(range(2), *map(range, shape)):
        rows, columns = slice(down * p, down * p + tall), slice(across * q, across * q + wide)
        seen = x[s, c, rows, columns]
        assert y[s, c, p, q] == pytest.approx(pick(seen), rel=1e-14)
        share = np.full(seen.shape, 1 / seen.size) if kind == "mean" else seen == seen.max()
        expected[s, c, rows, columns] += share * y_bar[s, c, p, q]
    x_bar, = layer.backward(saved, y_bar)
    assert relative(x_bar, expected) < 1e-14
    assert layer.flat_parameter_gradients(saved, y_bar).shape == (2, 0)


@pytest.mark.everyday(2)
@pytest.mark.parametrize("kernel, stride, height, width", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_three_channels(kind, kernel, stride, height, width):
    report = so.verify.layer(KINDS[kind][0](kernel, stride), (2, height, width))
    assert report, str(report)


def test_of_equal_entries_the_first_is_the_maximum():
    layer = MaxPool2d(2)
    x = np.array([[[[1.0, 3.0], [3.0, 3.0]]], [[[0.0, 0.0], [0.0, 0.0]]]])
    y, saved = layer.forward(x)
    assert y.ravel().tolist() == [3.0, 0.0]
    x_bar = layer.backward(saved, np.ones((2, 1, 1, 1)))[0]
    assert x_bar.ravel().tolist() == [0, 1, 0, 0, 1, 0, 0, 0]
    assert saved.chosen.ravel().tolist() == [1, 0]


@pytest.mark.parametrize("size", [(2, 2, 2), (2,), "22"])
def test_a_kernel_has_one_size_or_two(size):
    with pytest.raises(TypeError, match="kernel_size must be a whole number or two of them, got"):
        AvgPool2d(size)


def test_images_that_do_not_fit():
    with pytest.raises(ValueError, match=r"MaxPool2d\(2\) takes images, one sample of shape "
                                         r"\(C, H, W\), got"):
        MaxPool2d(2).output_shape((2, 4))
    with pytest.raises(ValueError, match=r"AvgPool2d\(3\): the kernel \(3, 3\) is larger than the "
                                         r"image \(3, 2\)$"):
        Network([AvgPool2d(3)], input_shape=(1, 3, 2))


def test_flatten():
    layer = Flatten()
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    y, saved = layer.forward(x)
    assert layer.output_shape((3, 4, 5)) == (60,) and layer.output_shape((7,)) == (7,)
    assert y[1, 23] == x[1, 1, 0, 3] and y.shape == (2, 60)
    assert saved.input is x and saved.output is y
    report = so.verify.layer(layer, (2, 3))
    assert report, str(report)
    assert repr(layer) == "Flatten()" and layer.size == 0
