"""What a message shows of a value is short, whatever the value is."""

import numpy as np
import pytest

import secondorder as so
from secondorder.checks import shown

NET, LOSS = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
X, Y, BIG = np.ones((5, 3)), np.zeros(5, int), np.ones((100, 100))


@pytest.mark.parametrize("value, text", [
    (1.5, "1.5"), ([1, "two"], "[1, 'two']"), (np.zeros(2), "array([0., 0.])"),
    (BIG, "an array of shape (100, 100), float64"),
    ([BIG, 1], "[an array of shape (100, 100), float64, 1]"),
    (np.ma.array(BIG), "a MaskedArray of shape (100, 100), float64"),
    pytest.param(10**5000, "a whole number of 16610 bits", id="long"),
    (list(range(10**6)), "[0, 1, 2, 3, 4, 5, 6, 7, ...]"),
    ({"a": BIG}, "{'a': an array of shape (100, 100), float64}")])
def test_a_value_is_shown_briefly(value, text):
    assert shown(value) == text


@pytest.mark.parametrize("rows", [list, tuple, lambda rows: [list(rows)]])
def test_a_list_of_masked_rows_is_refused(rows):
    masked = rows([np.ma.array([1.0, 2, 3], mask=[0, 1, 0])] * 5)
    with pytest.raises(TypeError, match="x must be a plain array, got a masked one"):
        NET(masked)
