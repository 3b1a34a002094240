"""Whether all entries of an array are finite."""

import numpy as np
import pytest

from secondorder.checks import LARGE, all_finite

DTYPES = (np.dtype("float64"), np.dtype("float32"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_a_large_array_is_looked_through_to_its_last_entry(dtype, wrong):
    largest = np.full(LARGE + 3, np.finfo(dtype).max)
    for place in (0, LARGE // 2, -1):
        array = largest.copy()
        assert all_finite(array) and all_finite(-array)
        array[place] = wrong
        assert not all_finite(array)
