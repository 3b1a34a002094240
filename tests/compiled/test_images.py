"""The compiled loops over images against the literal windows."""

import numpy as np
import pytest

from harness.cases import relative
from secondorder.compiled import images
from secondorder.nets.layers import windows


@pytest.mark.parametrize("kernel, stride, padding, image", [
    ((2, 3), (1, 1), (0, 0), (5, 4)), ((2, 2), (3, 2), (1, 0), (5, 4)),
    ((1, 1), (1, 1), (3, 2), (2, 1)), ((3, 2), (2, 3), (4, 5), (1, 2)), ((4, 5), (1, 1), (0, 0),
                                                                        (4, 5))])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_loops_give_what_the_windows_give(kernel, stride, padding, image, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, *image)).astype(dtype)
    expected = windows.windows(x, kernel, stride, padding)
    places = expected.shape[2:4]
    z = np.full((2, 3, *kernel, *places), np.nan, dtype)
    images.gather(x.ravel(), x.shape, kernel, stride, padding, places, z.reshape(-1))
    assert np.array_equal(z.transpose(0, 1, 4, 5, 2, 3), expected)
    back = np.full_like(x, np.nan)
    images.spread(z.ravel(), x.shape, kernel, stride, padding, places, back.reshape(-1))
    assert relative(back, windows.windows_back(expected, x.shape, stride, padding)) < 1e-6
