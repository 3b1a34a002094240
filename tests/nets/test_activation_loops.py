"""Compiled lines of activation functions against their NumPy twins."""

import numpy as np
import pytest

from secondorder.nets import ACTIVATIONS, activation_function

DTYPES = (np.dtype("float64"), np.dtype("float32"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_lines_equal_their_twins_bit_for_bit(name, dtype, monkeypatch):
    """The same numbers in one large array, where loops run, and in small ones, where NumPy's lines
    do."""
    function = activation_function(name)
    x = np.random.default_rng(0).normal(size=(40, 400), scale=3).astype(dtype)
    x[0, :8] = 0, -0.0, 1e-30, -1e-30, 80, -80, 700, -700
    whole = function.jet(x)
    monkeypatch.setattr("secondorder.nets.activations._suits_loops", lambda x: False)
    for found, expected in zip(whole, function.jet(x)):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
