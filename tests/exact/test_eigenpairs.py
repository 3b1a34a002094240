"""Eigenpairs at the ends of the spectrum: those of the dense matrix, with true residuals."""

import importlib

import numpy as np
import pytest

import secondorder as so

KINDS = {"hessian": so.exact.hessian, "gauss-newton": so.exact.gauss_newton,
         "fisher": so.exact.fisher,
         "fisher-empirical": lambda *a, **o: so.exact.fisher(*a, kind="empirical", **o)}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(2)
    net = so.mlp([4, 7, 5, 3], rng=1)  # 35 + 40 + 18 = 93 parameters
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(30, 4)), rng.integers(0, 3, 30)


def chosen(values, k, which):
    """Of all eigenvalues, falling: those that are asked for."""
    falling = np.sort(values)[::-1]
    order = {"LA": -falling, "SA": falling, "LM": -np.abs(falling)}[which]
    return np.sort(falling[np.argsort(order)[:k]])[::-1]


@pytest.fixture
def by_products(monkeypatch):
    monkeypatch.setattr(importlib.import_module("secondorder.exact.spectra.eigenpairs"), "SMALL", 1)


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 5, 60])
def test_from_the_matrix(problem, kind, which, k):
    compare(problem, kind, which, k)


@pytest.mark.parametrize("kind, which", [("hessian", "SA"), *((kind, which) for kind in KINDS
                                                              for which in ("LA", "LM"))])
@pytest.mark.parametrize("k", [1, 5])
def test_by_products(problem, by_products, kind, which, k):
    compare(problem, kind, which, k)


def compare(problem, kind, which, k):
    """With the pairs of the dense matrix."""
    C = KINDS[kind](*problem, l2=0.1)
    found = so.exact.eigenpairs(*problem, k, which, kind, l2=0.1)
    assert np.allclose(found.values, chosen(np.linalg.eigvalsh(C), k, which), rtol=0, atol=1e-10)
    off = np.linalg.norm(C @ found.vectors - found.vectors * found.values, axis=0)
    assert np.allclose(found.residuals, off, atol=1e-13) and off.max() < 1e-9
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-12)
    assert found.products >= k


def test_a_block_in_chunks(problem, by_products):
    C = so.exact.hessian(*problem)[35:75, 35:75]
    for options in ({}, {"batch_size": 7}):
        found = so.exact.eigenpairs(*problem, 3, layer=2, **options)
        assert np.allclose(found.values, np.linalg.eigvalsh(C)[:-4:-1], atol=1e-11)
        found = so.exact.eigenpairs(*problem, 2, "SA", layer=slice(2, None), **options)
        whole = np.linalg.eigvalsh(so.exact.hessian(*problem)[35:, 35:])
        assert np.allclose(found.values, whole[1::-1], atol=1e-11)


@pytest.mark.parametrize("dtype, exact", [("float64", 1e-10), ("float32", 1e-5)])
@pytest.mark.parametrize("inputs, outputs", [(40, 9), (20, 5)])
def test_every_copy_of_a_multiple_eigenvalue(inputs, outputs, dtype, exact, monkeypatch):
    """Of a linear layer the Hessian is E[h h^T] (x) I: as many copies as there are outputs; above
    and below the size up to which the matrix is made.
    """
    rng = np.random.default_rng(0)
    net, x = so.mlp([inputs, outputs], rng=0, dtype=dtype), rng.normal(size=(50, inputs))
    features = np.hstack([x, np.ones((50, 1))])
    values = np.repeat(np.linalg.eigvalsh(features.T @ features / 50), outputs) + 0.1
    module = importlib.import_module("secondorder.exact.spectra.eigenpairs")
    for small in {module.SMALL, 1}:
        monkeypatch.setattr(module, "SMALL", small)
        for which in ("LA", "SA", "LM"):
            found = so.exact.eigenpairs(net, so.SquaredError(), x, np.zeros((50, outputs)),
                                        outputs + 2, which, l2=0.1)
            wanted = chosen(values, outputs + 2, which)
            assert np.abs(found.values - wanted).max() < exact * values[-1]
            assert np.allclose(found.vectors.T @ found.vectors, np.eye(outputs + 2),
                               atol=10 * exact)


def test_a_matrix_of_zeros(by_products):
    net = so.Network([so.Linear(8, 8, rng=0), so.Activation("relu"), so.Linear(8, 2, bias=False)])
    net.theta = -np.ones(net.size)  # all units dead, but for the output's weights of dead inputs
    problem = net, so.SquaredError(), np.ones((3, 8)), np.zeros((3, 2))
    found = so.exact.eigenpairs(*problem, 2)
    assert not found.values.any() and not found.residuals.any()


def test_pairs_that_do_not_converge(problem, by_products):
    with pytest.raises(RuntimeError, match="of 5 converged in .* products"):
        so.exact.eigenpairs(*problem, 5, "SA", max_iterations=1)
