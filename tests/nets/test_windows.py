"""Windows of images against loops, and the way back as their adjoint."""

import itertools

import numpy as np
import pytest

from secondorder.nets.layers.windows import padded, windows, windows_back

CASES = [((2, 3), (1, 1), (0, 0)), ((2, 2), (3, 2), (1, 0)), ((1, 4), (2, 3), (0, 2)),
         ((5, 4), (1, 1), (0, 0))]


@pytest.mark.parametrize("kernel, stride, padding", CASES)
def test_windows_index_by_index(kernel, stride, padding):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 4))
    z = windows(x, kernel, stride, padding)
    places = [(n + 2 * p - k) // s + 1
              for n, k, s, p in zip((5, 4), kernel, stride, padding)]
    assert z.shape == (2, 3, *places, *kernel)
    for p, q, l, k in itertools.product(*map(range, z.shape[2:])):
        i, j = stride[0] * p + l - padding[0], stride[1] * q + k - padding[1]
        inside = 0 <= i < 5 and 0 <= j < 4
        assert np.array_equal(z[:, :, p, q, l, k], x[:, :, i, j] if inside else np.zeros((2, 3)))


@pytest.mark.parametrize("kernel, stride, padding", CASES)
def test_the_way_back_is_the_adjoint(kernel, stride, padding):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 3, 5, 4))
    z = windows(x, kernel, stride, padding)
    z_bar = rng.normal(size=z.shape)
    x_bar = windows_back(z_bar, x.shape, stride, padding)
    assert x_bar.shape == x.shape
    assert np.vdot(z_bar, z) == pytest.approx(np.vdot(x_bar, x), rel=1e-13)


def test_pixels_that_no_window_sees_get_nothing():
    x_bar = windows_back(np.ones((1, 1, 2, 1, 1, 2)), (1, 1, 5, 4), (3, 3))
    assert np.array_equal(x_bar[0, 0], [[1, 1, 0, 0], [0] * 4, [0] * 4, [1, 1, 0, 0], [0] * 4])


def test_images_without_padding_are_not_copied():
    x = np.ones((1, 1, 3, 3))
    assert padded(x, (0, 0)) is x and padded(x, (0, 1)).shape == (1, 1, 3, 5)
