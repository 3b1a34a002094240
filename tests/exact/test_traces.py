"""Estimates of traces: within the errors that they state, and exact where they must be."""


import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import secondorder as so
from harness import slow
from secondorder.exact.spectra import traces

SEEDS = 100


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    net = so.mlp([5, 8, 6, 3], rng=1)
    problem = net, so.SoftmaxCrossEntropy(), rng.normal(size=(30, 5)), rng.integers(0, 3, 30)
    return problem, {kind: so.exact.trace(*problem, kind=kind)
                     for kind in ("hessian", "gauss-newton", "fisher-empirical")}


def plain(matrix):
    return aslinearoperator(np.asarray(matrix, dtype=float))


@pytest.mark.parametrize("method", ["hutchinson", "hutch++"])
@pytest.mark.parametrize("kind", ["hessian", *slow(["gauss-newton", "fisher-empirical"])])
def test_within_the_stated_error(case, method, kind):
    """In 95 of 100 seeds at least; and the stated error is no wild exaggeration."""
    problem, exact = case
    found = [so.exact.trace(*problem, kind=kind, method=method, products=30, rng=seed)
             for seed in range(SEEDS)]
    off = np.array([abs(estimate - exact[kind]) for estimate in found])
    stated = np.array([estimate.margin for estimate in found])
    assert (off <= stated).sum() >= 95
    errors = np.array([estimate.standard_error for estimate in found])
    assert 0.7 < np.sqrt(np.mean(off**2) / np.mean(errors**2)) < 1.4
    assert all(estimate.method == method for estimate in found)


@pytest.mark.parametrize("products", [2, 7, 40])
def test_hutchinson_literally(products):
    """Mean of z^T A z, its error and Student's margin for one known draw."""
    A = np.random.default_rng(0).normal(size=(6, 6))
    A = A + A.T
    Z = np.random.default_rng(5).choice([-1.0, 1.0], size=(6, products))
    terms = np.array([z @ A @ z for z in Z.T])
    found = traces.hutchinson(plain(A), products, np.random.default_rng(5))
    assert float(found) == pytest.approx(terms.mean(), rel=1e-13)
    error = np.sqrt(((terms - terms.mean()) ** 2).sum() / (products - 1) / products)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    quantile = {2: 63.656741, 7: 3.7074280, 40: 2.7079132}[products]  # tables of Student's t
    assert found.margin == pytest.approx(quantile * error, rel=1e-7)


def test_hutch_plus_plus_is_exact_for_low_rank():
    """Rank 3 and 5 products for the subspace: nothing is left to estimate."""
    B = np.random.default_rng(1).normal(size=(40, 3))
    A = B @ np.diag([5.0, 2.0, -1.0]) @ B.T
    found = traces.hutch_plus_plus(plain(A), 15, np.random.default_rng(2))
    assert float(found) == pytest.approx(A.trace(), rel=1e-12)
    assert found.standard_error < 1e-12 * abs(A.trace())


def test_hutch_plus_plus_literally():
    """By dense projections, from the same draws."""
    A = np.random.default_rng(0).normal(size=(12, 12))
    A, rng = A + A.T, np.random.default_rng(9)
    S = rng.choice([-1.0, 1.0], size=(12, 4))
    G = rng.choice([-1.0, 1.0], size=(12, 6))
    Q = np.linalg.qr(A @ S)[0]
    P = np.eye(12) - Q @ Q.T
    terms = np.array([g @ P @ A @ P @ g for g in G.T])
    found = traces.hutch_plus_plus(plain(A), 14, np.random.default_rng(9))
    assert float(found) == pytest.approx((Q.T @ A @ Q).trace() + terms.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(terms.std(ddof=1) / np.sqrt(6), rel=1e-10)


def test_estimates_of_a_block_in_chunks(case):
    problem, _ = case
    options = {"method": "hutchinson", "products": 10, "rng": 4, "layer": 2, "l2": 0.1}
    whole = so.exact.trace(*problem, **options)
    assert so.exact.trace(*problem, batch_size=7, **options) == pytest.approx(whole, rel=1e-12)
    exact = so.exact.trace(*problem, layer=2, l2=0.1)
    assert abs(whole - exact) < whole.margin
