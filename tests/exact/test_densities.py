"""The spectral density: within its stated error of the exact spectrum, and its parts literally."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import secondorder as so
from harness.cases import relative
from secondorder.exact.spectra import densities


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    problem = (so.mlp([3, 6, 5, 3], rng=1), so.SoftmaxCrossEntropy(), rng.normal(size=(10, 3)),
               rng.integers(0, 3, 10))
    return problem, np.linalg.eigvalsh(so.exact.hessian(*problem))


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("kind", ["gauss-newton", "fisher-sampled"])
def test_other_matrices(case, kind):
    problem, _ = case
    density = so.exact.spectral_density(*problem, kind=kind, probes=20, steps=60, rng=3)
    matrix = (so.exact.gauss_newton(*problem) if kind == "gauss-newton"
              else so.exact.fisher(*problem, kind="sampled", rng=3))
    assert density.distance(np.linalg.eigvalsh(matrix)) <= density.total_error < 0.5


def test_a_density_is_one(case):
    problem, _ = case
    density = so.exact.spectral_density(*problem, rng=0, steps=40)
    assert np.trapezoid(density.density, density.points) == pytest.approx(1, abs=1e-4)
    assert density.weights.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (density.density >= 0).all() and (density.error >= 0).all() and density.size == 77
    assert density.nodes.shape == density.weights.shape == (10, 40)
    mean = (density.nodes * density.weights).sum() / 10  # the quadrature of f(t) = t: tr A / P
    trace = so.exact.trace(*problem, method="hutchinson", products=10, rng=0)
    assert mean == pytest.approx(trace / 77, rel=0.5)


def test_lanczos_is_a_krylov_basis():
    """T by the QR factorisation of the Krylov vectors, up to signs."""
    A, start = symmetric(9), np.random.default_rng(1).normal(size=9)
    a, b = densities.lanczos(aslinearoperator(A), start, 4)
    K = np.stack([np.linalg.matrix_power(A, k) @ start for k in range(4)], axis=1)
    Q = np.linalg.qr(K)[0]
    T = Q.T @ A @ Q
    assert relative(a, T.diagonal()) < 1e-9 and relative(b, np.abs(T.diagonal(1))) < 1e-9


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_quadrature_is_exact_for_polynomials(steps):
    """sum_k weight_k node_k^m = q^T A^m q up to m = 2 steps - 1, and no further."""
    A, start = symmetric(12), np.random.default_rng(1).normal(size=12)
    q = start / np.linalg.norm(start)
    nodes, weights = densities.quadrature(*densities.lanczos(aslinearoperator(A), start, steps))
    for m in range(2 * steps + 1):
        moment = q @ np.linalg.matrix_power(A, m) @ q
        size = q @ np.linalg.matrix_power(A @ A, m) @ q
        off = abs((weights * nodes**m).sum() - moment) / np.sqrt(size)
        assert off < 1e-12 if m < 2 * steps else off > 1e-6


def test_lanczos_keeps_its_basis_orthogonal():
    """A spectrum over ten orders of magnitude: no eigenvalue comes back, all weights are right."""
    values = np.logspace(-10, 0, 40)
    nodes, weights = densities.quadrature(*densities.lanczos(
        aslinearoperator(np.diag(values)), np.ones(40), 40))
    np.testing.assert_allclose(nodes, values, atol=1e-14)
    np.testing.assert_allclose(weights, 1 / 40, atol=1e-6)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_lanczos_ends_where_the_space_does(rank):
    A = np.zeros((20, 20))
    A[range(rank), range(rank)] = np.arange(1, rank + 1)
    a, b = densities.lanczos(aslinearoperator(A), np.ones(20), 15)
    assert len(a) == rank + 1 and len(b) == rank
    nodes, weights = densities.quadrature(a, b)
    np.testing.assert_allclose(nodes, np.arange(rank + 1), atol=1e-13)
    np.testing.assert_allclose(weights, [1 - rank / 20, *rank * [1 / 20]], atol=1e-13)


def test_lanczos_ends_by_the_rounding_of_what_stands_beside_the_diagonal():
    """1, -1, 1e-9 and -1e-9, in pairs that leave the diagonal zero."""
    A, rng = np.zeros((12, 12)), np.random.default_rng(0)
    A[0, 1] = A[1, 0] = 1
    A[2, 3] = A[3, 2] = 1e-9
    Q, start = np.linalg.qr(rng.normal(size=(12, 12)))[0], np.array([1, 0, 1e-6] + 9 * [0.0])
    a, b = densities.lanczos(aslinearoperator(Q @ A @ Q.T), Q @ start, 12)
    np.testing.assert_allclose(a, np.zeros(4), atol=1e-9)
    np.testing.assert_allclose(b, [1, 1e-6, 1e-9], rtol=1e-3)


def test_a_matrix_that_is_one_number():
    net = so.mlp([1, 1], bias=False, rng=0)
    for l2 in (0.0, 3.0):
        density = so.exact.spectral_density(net, so.SquaredError(), np.zeros((2, 1)),
                                            np.zeros((2, 1)), rng=0, l2=l2)
        assert density.distance([l2]) < 1e-12 and density.total_error < 1e-12
        assert density.width == pytest.approx(max(l2, 1) / densities.RESOLUTION)


def test_smoothing_literally():
    points = np.array([-1.0, 0.5])
    found = densities._smoothed(points, np.array([0.0, 2.0]), np.array([0.25, 0.75]), 0.5)
    expected = [0.25 * np.exp(-(p**2) / 0.5) + 0.75 * np.exp(-((p - 2) ** 2) / 0.5) for p in points]
    np.testing.assert_allclose(found, np.array(expected) / (0.5 * np.sqrt(2 * np.pi)), rtol=1e-14)


def test_points_and_width_of_ones_own(case):
    problem, eigenvalues = case
    points = np.linspace(-1, 2, 50)
    density = so.exact.spectral_density(*problem, points=points, width=0.3, steps=30, rng=0)
    assert np.array_equal(density.points, points) and density.width == 0.3
    assert np.abs(density.density - density.smoothed(eigenvalues)).max() < density.error.max()


def test_what_rounding_leaves_open_of_a_density():
    """Five times the identity: the probes agree, and the slope tells what a move of 5 changes."""
    A, points = aslinearoperator(5.0 * np.eye(3)), np.linspace(3, 7, 9)
    rules = [densities.lanczos(A, np.array(start), 3) for start in ([1.0, 1, 1], [1.0, -1, 1])]
    found = densities._density(A, rules, 3, 0.5, points)
    slope = abs(points - 5) / 0.25 * np.exp(-(points - 5) ** 2 / 0.5) / (0.5 * np.sqrt(2 * np.pi))
    known = np.sqrt(3) * np.finfo(float).eps * 5
    np.testing.assert_allclose(found.error, slope * known, rtol=1e-9, atol=1e-25)
