"""Compiled sums against NumPy's."""

import numpy as np
import pytest

from secondorder.checks import LARGE, all_finite, loops

DTYPES = (np.dtype("float64"), np.dtype("float32"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_and_extremes(dtype):
    rng = np.random.default_rng(0)
    for size in (1, 3, 1000):
        a, b = (rng.normal(size=size).astype(dtype) for _ in range(2))
        wide, other = a.astype(np.float64), b.astype(np.float64)
        np.testing.assert_allclose(loops.squares(a), wide @ wide, rtol=1e-13)
        np.testing.assert_allclose(loops.dot(a, b), wide @ other, rtol=1e-11)
    assert np.isfinite(loops.squares(np.full(100, 1e30, np.float32)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_a_large_array_is_looked_through_to_its_last_entry(dtype, wrong):
    largest = np.full(LARGE + 3, np.finfo(dtype).max)
    for place in (0, LARGE // 2, -1):
        array = largest.copy()
        assert all_finite(array) and all_finite(-array)
        array[place] = wrong
        assert not all_finite(array)
