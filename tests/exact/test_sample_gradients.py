"""`exact.sample_gradients`: one row a sample, written straight to its place."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import MIDDLE, network, off_kinks, relative
from harness.chunked import peak


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


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_into_an_array_of_the_caller(dtype):
    net, loss, x, y = draw("skip-nested")
    net = net.astype(dtype)
    room = np.full((9, net.size + 2), 7, dtype)
    out = room[2:6, 1:-1]  # its rows do not follow each other in memory
    assert so.exact.sample_gradients(net, loss, x, y, l2=0.1, out=out) is out
    assert np.array_equal(out, so.exact.sample_gradients(net, loss, x, y, l2=0.1))
    out[...] = 7
    assert (room == 7).all(), "nothing is written outside"


def test_no_second_array_of_the_size_of_the_result():
    net, x, y = so.mlp([20, 30, 10], rng=0), np.ones((200, 20)), np.zeros((200, 10))
    out = np.empty((200, net.size))
    so.exact.sample_gradients(net, so.SquaredError(), x, y, out=out)  # what is compiled, is now
    own = peak(lambda: so.exact.sample_gradients(net, so.SquaredError(), x, y, out=out))
    whole = peak(lambda: so.exact.jacobian(net, x))
    assert own < out.nbytes / 2 and 10 * out.nbytes < whole < 11.5 * out.nbytes


def test_refusals():
    net, x, y = so.mlp([3, 2], rng=0), np.ones((4, 3)), np.zeros((4, 2))
    with pytest.raises(TypeError, match="out must hold float64"):
        so.exact.sample_gradients(net, so.SquaredError(), x, y, out=np.empty((4, 8), np.float32))
    with pytest.raises(MemoryError, match="of all samples of shape"):
        so.exact.sample_gradients(net, so.SquaredError(), x, y, max_bytes=100)


@pytest.mark.parametrize("operator", ["HessianOperator", "GaussNewtonOperator", "FisherOperator"])
def test_products_are_arrays_of_their_own(operator):
    """What an operator uses again on the way is never what it returned."""
    net, loss, x, y = draw("skip-nested")
    H = getattr(so.exact, operator)(net, loss, x, y)
    evaluation = H.evaluation
    deltas = [delta.copy() for delta in evaluation.deltas]
    u, v = np.random.default_rng(0).normal(size=(2, net.size))
    first = H @ u
    kept = first.copy()
    second = H @ v
    assert not np.shares_memory(first, second) and np.array_equal(first, kept)
    assert np.array_equal(H @ u, kept), "the same product again"
    assert all(map(np.array_equal, evaluation.deltas, deltas))
