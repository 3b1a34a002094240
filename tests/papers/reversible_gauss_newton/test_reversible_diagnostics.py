"""Diagnostics against brute force."""

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import network
from secondorder import reversible_gauss_newton as room
from secondorder.papers.reversible_gauss_newton import section_5_kernel_and_cka as section_5


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_a_kernel_that_is_too_large_is_refused(rng):
    with pytest.raises(MemoryError, match="tangent kernel"):
        room.ntk(network(rng, outputs=3), rng.normal(size=(4, 6)), max_bytes=100)


def test_a_kernel_that_overflows_is_refused(rng):
    net = network(rng, activation="relu")
    x = rng.normal(size=(4, 6))
    with pytest.raises(FloatingPointError, match="tangent kernel .* not finite"):
        room.ntk(net, 1e200 * x)
    with pytest.raises(FloatingPointError, match="not finite"):
        room.direction(net, so.SoftmaxCrossEntropy(), 1e160 * x, [0, 1, 2, 3], "moore-penrose")


def test_similarity():
    K = np.array([[2.0, 0], [0, 1]])
    for other, cosine in ((3 * K, 1), ([[1, 5], [0, -2]], 0), (-3 * K, -1),
                          (np.eye(2), 3 / np.sqrt(10))):
        assert np.isclose(section_5.kernel_similarity(K, other), cosine)


def test_linear_cka(rng):
    a, b = rng.normal(size=(7, 4)), rng.normal(size=(7, 5))
    a[:, 0] += b[:, 1]
    C = np.eye(7) - np.ones((7, 7)) / 7
    K, L = C @ a @ a.T @ C, C @ b @ b.T @ C
    assert np.isclose(room.linear_cka(a, b), np.sum(K * L) / np.sqrt(np.sum(K * K) * np.sum(L * L)))
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert np.isclose(room.linear_cka(a, 3 * a @ Q + 1), 1)
    for wrong in (a[:3], a[0], np.ones((7, 2))):
        with pytest.raises(ValueError, match="a and b|the same for all samples"):
            room.linear_cka(wrong, b)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_measures_of_any_size(rng, size):
    """Cosines: what is measured does not depend on the size, although squares would overflow."""
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    for measure in (room.linear_cka, section_5.kernel_similarity):
        assert np.isclose(measure(a * size, b), measure(a, b), rtol=1e-12)


def test_weight_change(rng):
    net = network(rng, d=4, blocks=2, bottleneck=5, outputs=2)
    start = net.theta.copy()
    net.blocks[0].W2[...] *= 2
    net.blocks[1].W1[...] *= -1
    found = np.array(section_5.weight_change(net, start))
    np.testing.assert_allclose(found[:, 1], [1, 1, -1, 1])
    np.testing.assert_allclose(found[:, 0], [0, np.linalg.norm(start[10:20]),
                                             2 * np.linalg.norm(start[20:30]), 0], atol=1e-12)
