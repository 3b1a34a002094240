"""`exact.sample_gradients`: one row a sample, written straight to its place."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import MIDDLE, network, off_kinks, relative


def draw(middle, samples=4):
    rng = np.random.default_rng(3)
    net, x = off_kinks(lambda r: network(middle, r), samples, rng)
    return net, so.SoftmaxCrossEntropy(), x, rng.integers(0, 3, samples)


@pytest.mark.parametrize("middle", sorted(MIDDLE))
def test_every_row_is_the_gradient_of_one_sample_alone(middle):
    net, loss, x, y = draw(middle)
    rows = so.exact.sample_gradients(net, loss, x, y, l2=0.3)
    assert rows.shape == (4, net.size)
    one_by_one = [so.exact.gradient(net, loss, x[s:s + 1], y[s:s + 1], l2=0.3) for s in range(4)]
    assert relative(rows, one_by_one) < 1e-13
    assert relative(rows.mean(axis=0), so.exact.gradient(net, loss, x, y, l2=0.3)) < 1e-13
