"""Compiled lines of activation functions, and the NumPy lines that stand in for them, against the
literal jets."""

import numpy as np
import pytest

from secondorder.nets import ACTIVATIONS, Activation
from secondorder.nets.in_place import activations, in_place

ROWS, WIDTH = 40, 400  # large enough for the loops


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_both_kinds_of_lines_equal_the_literal_jet_bit_for_bit(name, dtype, loops, monkeypatch):
    layer = Activation(name)
    x = np.random.default_rng(0).normal(size=(ROWS, WIDTH), scale=3).astype(dtype)
    x[0, :8] = 0, -0.0, 1e-30, -1e-30, 80, -80, 700, -700
    assert activations._suits_loops(x) == (dtype != "complex128")
    if not loops:
        monkeypatch.setattr(activations, "_suits_loops", lambda x: False)
    twin = in_place(layer, (WIDTH,), x.dtype)
    twin.resize(ROWS)
    for found, expected in zip(twin.forward(x)[1], layer.forward(x)[1], strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_scattered_arrays_are_not_for_the_loops(name):
    layer, x = Activation(name), np.random.default_rng(0).normal(size=(WIDTH, ROWS)).T
    assert not activations._suits_loops(x)
    twin = in_place(layer, (WIDTH,), x.dtype)
    twin.resize(ROWS)
    for found, expected in zip(twin.forward(x)[1], layer.forward(x)[1], strict=True):
        np.testing.assert_array_equal(found, expected)
