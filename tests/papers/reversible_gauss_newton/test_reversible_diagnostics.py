"""Diagnostics against brute force."""

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import jacobian, network
from secondorder import reversible_gauss_newton as room
from secondorder.papers.reversible_gauss_newton import section_5_kernel_and_cka as section_5


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_tangent_kernel(rng):
    net = network(rng, d=5, outputs=3, bias=True, activation="tanh")
    x = rng.normal(size=(4, 5))
    J = jacobian(net, x)
    K = room.ntk(net, x)
    assert K.shape == (4, 3, 4, 3)
    np.testing.assert_allclose(K.reshape(12, 12), J @ J.T, atol=1e-12 * np.abs(K).max())
    v = rng.normal(size=(4, 3))
    np.testing.assert_allclose(room.ntk_product(net, x, v).ravel(), J @ (J.T @ v.ravel()),
                               rtol=1e-10)
    with pytest.raises(MemoryError, match="tangent kernel"):
        room.ntk(net, x, max_bytes=100)


def test_a_kernel_that_overflows_is_refused(rng):
    net = network(rng, activation="relu")
    x = rng.normal(size=(4, 6))
    with pytest.raises(FloatingPointError, match="tangent kernel .* not finite"):
        room.ntk(net, 1e200 * x)
    for form in ("exact", "truncate", "damp", "tikhonov"):
        with pytest.raises(FloatingPointError, match="not finite"):
            room.direction(net, so.SoftmaxCrossEntropy(), 1e160 * x, [0, 1, 2, 3], "moore-penrose",
                           form)


def test_similarity_and_change():
    K = np.array([[2.0, 0], [0, 1]])
    assert np.isclose(section_5.kernel_similarity(K, 3 * K), 1)
    assert np.isclose(section_5.kernel_similarity(K, [[1, 5], [0, -2]]), 0)  # at a right angle
    assert np.isclose(section_5.kernel_similarity(K, -3 * K), -1), "the cosine has a sign"
    assert np.isclose(section_5.kernel_similarity(K, np.eye(2)), 3 / np.sqrt(10))
    with pytest.raises(ValueError, match=r"expected \(2, 2\)"):
        section_5.kernel_similarity(K, np.eye(3))


def hsic_by_sums(K, L):
    """The unbiased estimator as averages over different samples, by brute force."""
    n, total, count = len(K), np.zeros(3), np.zeros(3)
    for i in range(n):
        for j in range(n):
            for q in range(n):
                for r in range(n):
                    if len({i, j, q, r}) == 4:
                        total += K[i, j] * np.array([L[i, j], L[q, r], L[i, q]])
                        count += 1
    return total[0] / count[0] + total[1] / count[1] - 2 * total[2] / count[2]


def test_linear_cka(rng):
    a, b = rng.normal(size=(7, 4)), rng.normal(size=(7, 5))
    a[:, 0] += b[:, 1]
    C = np.eye(7) - np.ones((7, 7)) / 7
    K, L = C @ a @ a.T @ C, C @ b @ b.T @ C
    assert np.isclose(room.linear_cka(a, b), np.sum(K * L) / np.sqrt(np.sum(K * K) * np.sum(L * L)))
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    for debiased in (False, True):
        assert np.isclose(room.linear_cka(a, 3 * a @ Q + 1, debiased=debiased), 1)
    expected = hsic_by_sums(K, L) / np.sqrt(hsic_by_sums(K, K) * hsic_by_sums(L, L))
    assert np.isclose(room.linear_cka(a, b, debiased=True), expected)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_measures_of_any_size(rng, size):
    """Cosines: what is measured does not depend on the size, although squares would overflow."""
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(6, 4))
    for debiased in (False, True):
        assert np.isclose(room.linear_cka(a * size, b, debiased), room.linear_cka(a, b, debiased),
                          rtol=1e-12)
        wide = np.hstack([a * size, np.full((6, 1), 1e-250)])  # a column that says nothing
        assert np.isclose(room.linear_cka(wide, b, debiased), room.linear_cka(a, b, debiased),
                          rtol=1e-12)
    K, other = a @ a.T, b @ b.T
    assert np.isclose(section_5.kernel_similarity(K, other * size),
                      section_5.kernel_similarity(K, other), rtol=1e-12)


def test_debiased_cka_of_independent_representations_is_small(rng):
    found = [[room.linear_cka(rng.normal(size=(20, 100)), rng.normal(size=(20, 100)),
                              debiased=d) for d in (False, True)] for _ in range(20)]
    biased, debiased = np.mean(found, axis=0)
    assert biased > 0.7 and abs(debiased) < 0.05


def test_a_debiased_alignment_needs_four_samples(rng):
    a, b = rng.normal(size=(4, 5)), rng.normal(size=(4, 3))
    assert np.isfinite(room.linear_cka(a, b, debiased=True))
    with pytest.raises(ValueError, match="at least 4 samples"):
        room.linear_cka(a[:3], b[:3], debiased=True)


def test_weight_change(rng):
    net = network(rng, d=4, blocks=2, bottleneck=5, outputs=2)
    start = net.theta.copy()
    net.blocks[0].W2[...] *= 2
    net.blocks[1].W1[...] *= -1
    found = np.array(section_5.weight_change(net, start))
    np.testing.assert_allclose(found[:, 1], [1, 1, -1, 1])
    np.testing.assert_allclose(found[:, 0], [0, np.linalg.norm(start[10:20]),
                                             2 * np.linalg.norm(start[20:30]), 0], atol=1e-12)
