"""Whole Hessians from the eta factors, and a sample's factored Hessian, against exact products."""

import numpy as np
import pytest
from harness.cases import ACTIVATION_NAMES, LOSSES, relative, targets

import secondorder as so
from secondorder.nets import Activation, Linear, Network
from secondorder.papers.low_rank import SampleHessian

SIZES = ([3, 2], [3, 4, 2], [2, 5, 3, 3], [3, 5, 2, 4, 3], [2, 3, 4, 2, 3, 3])


def case(sizes, activation, loss, seed, samples=3, **options):
    rng = np.random.default_rng(seed)
    net = so.mlp(sizes, activation=activation, init=0.9, rng=rng, **options)
    loss = LOSSES[loss]()
    return net, loss, rng.normal(size=(samples, sizes[0])), targets(loss, rng, samples, sizes[-1])


@pytest.mark.parametrize("bias", (True, False))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sizes", SIZES[1:], ids=len)
def test_hessian_from_factors(sizes, loss, bias):
    for seed, activation in enumerate(ACTIVATION_NAMES):
        args = case(sizes, activation, loss, seed, bias=bias)
        expected = so.exact.hessian(*args, method="products", l2=0.3)
        assert relative(so.low_rank.hessian(*args, l2=0.3), expected) < 1e-12, activation


def largest(H, count):
    """The largest eigenvalues in size, ascending."""
    values = np.linalg.eigvalsh(H) if H.ndim == 2 else H
    return np.sort(values[np.argsort(-np.abs(values))][:count])


@pytest.mark.parametrize("bias", (True, False))
@pytest.mark.parametrize("activation", ("relu", "tanh", "softplus"))
def test_factored_object(activation, bias):
    for seed, sizes in enumerate(SIZES):
        args = case(sizes, activation, "softmax", seed, samples=1, bias=bias)
        H, made = so.exact.hessian(*args, method="products"), SampleHessian(*args)
        v = np.random.default_rng(seed).normal(size=len(H))
        assert relative(made.dense(), H) < 1e-13 and relative(made @ v, H @ v) < 1e-13
        assert relative(made.diagonal(), np.diag(H)) < 1e-13
        found = made.eigenvalues()
        count = min(len(H), len(found))
        assert relative(largest(found, count), largest(H, count)) < 1e-12
        assert made.rank(1e-10) == np.linalg.matrix_rank(H, tol=1e-10 * np.abs(found).max())


def test_a_layer_whose_input_is_zero():
    """Its own weights move nothing, but together with those below they do."""
    net, *args = case([3, 4, 2], "tanh", "softmax", 0, samples=1, bias=False)
    net.layers[0].weight = np.zeros((4, 3))
    H, factored = so.exact.hessian(net, *args, method="products"), SampleHessian(net, *args)
    assert np.abs(factored.v[1]).max() == 0 and relative(factored.dense(), H) < 1e-13
    assert relative(largest(H, 9), largest(factored.eigenvalues(), 9)) < 1e-12


def test_a_chain_that_is_no_mlp():
    """An activation first, two in a row and one last; a frozen layer in the middle."""
    rng = np.random.default_rng(2)
    net = Network([Activation("sin"), Linear(3, 4, rng=rng), Activation("tanh"),
                   Activation("softplus"), Linear(4, 3, trainable=False, rng=rng),
                   Activation("tanh"), Linear(3, 2, rng=rng), Activation("sigmoid")],
                  input_shape=(3,))
    args = net, so.SquaredError(), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    assert relative(so.low_rank.hessian(*args), so.exact.hessian(*args, method="products")) < 1e-13


def test_bytes_and_refusals():
    net, x, y = so.mlp([3, 4, 2], rng=0), np.ones((2, 3)), np.ones((2, 2))
    one = SampleHessian(net, so.SquaredError(), x[:1], y[:1])
    # M of all pairs; eta with a row for the bias; v with its 1; f_z
    assert one.nbytes == 8 * (4 * 4 + 2 * 2 + 2 * 4 + 5 * 4 + 4 + 5 + 4 + 2)
    assert f"{one.nbytes} bytes of factors, dense {8 * net.size**2:,}" in repr(one)
    for call in (lambda: one.dense(max_bytes=100),
                 lambda: so.low_rank.hessian(net, so.SquaredError(), x, y, max_bytes=100)):
        with pytest.raises(MemoryError, match="max_bytes"):
            call()
    with pytest.raises(ValueError, match="x holds 2 samples, expected one"):
        SampleHessian(net, so.SquaredError(), x, y)
    with pytest.raises(ValueError, match="v has shape"):
        one @ np.ones(3)
