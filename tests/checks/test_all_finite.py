"""Whether all entries of an array are finite."""

import numpy as np
import pytest

from secondorder.checks import all_finite


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_an_array_is_looked_through_to_its_last_entry(dtype, wrong):
    """Also where the squares of entries overflow, of any layout."""
    largest = np.full(5000, np.finfo(dtype).max, dtype)
    for place in (0, 2500, -1):
        array = largest.copy()
        for view in (array, -array, array.reshape(50, 100).T, array[::-3]):
            assert all_finite(view)
        array[place] = wrong
        assert not all_finite(array) and not all_finite(array.reshape(50, 100).T)
