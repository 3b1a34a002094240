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


@pytest.mark.parametrize("products", [32, 33, 97])
def test_every_probe_has_a_say_whatever_their_number(products):
    """Worked through some at a time; the literal mean of z^T A z over all of them."""
    A = np.random.default_rng(0).normal(size=(7, 7))
    A = A + A.T
    Z = np.random.default_rng(5).choice([-1.0, 1.0], size=(7, products))
    found = traces.hutchinson(plain(A), products, np.random.default_rng(5))
    assert float(found) == pytest.approx(np.mean([z @ A @ z for z in Z.T]), rel=1e-12)


def test_single_precision_sums_in_double():
    """x is zero: the curvature of 200,000 parameters is l2 I, in float32, and its trace P l2."""
    net = so.Network([so.Linear(1000, 200, bias=False, rng=0)]).astype("float32")
    problem = net, so.SquaredError(), np.zeros((1, 1000)), np.zeros((1, 200))
    expected = net.size * float(np.float32(0.1))
    found = so.exact.trace(*problem, method="hutchinson", products=2, rng=0, l2=0.1)
    assert float(found) == pytest.approx(expected, rel=1e-7)
    assert float(so.exact.trace(*problem, l2=0.1)) == pytest.approx(expected, rel=1e-7)


def test_hutchinson_is_exact_for_a_diagonal_matrix():
    found = traces.hutchinson(plain(np.diag([3.0, -1.0, 0.5])), 5, np.random.default_rng(0))
    assert float(found) == pytest.approx(2.5, rel=1e-15) and found.standard_error == 0


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


def test_hutch_plus_plus_is_better_where_few_eigenvalues_are_large():
    values = 1.0 / np.arange(1, 101) ** 2
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(100, 100)))[0]
    A = plain(Q @ np.diag(values) @ Q.T)
    errors = {name: np.mean([getattr(traces, name)(A, 30, np.random.default_rng(seed)).margin
                             for seed in range(10)])
              for name in ("hutchinson", "hutch_plus_plus")}
    assert errors["hutch_plus_plus"] < 0.2 * errors["hutchinson"]


def test_products_that_are_taken(case, monkeypatch):
    """As many as were allowed, also where probes are worked through some at a time."""
    problem, _ = case
    seen, embedded = [], so.exact.HessianOperator._embedded
    monkeypatch.setattr(so.exact.HessianOperator, "_embedded",
                        lambda self, rows: seen.append(len(rows)) or embedded(self, rows))
    for method in ("hutchinson", "hutch++"):
        for products in (4, 5, 32, 33, 98):
            seen.clear()
            so.exact.trace(*problem, method=method, products=products, rng=0)
            assert sum(seen) == products


def test_estimates_of_a_block_in_chunks(case):
    problem, _ = case
    options = {"method": "hutchinson", "products": 10, "rng": 4, "layer": 2, "l2": 0.1}
    whole = so.exact.trace(*problem, **options)
    assert so.exact.trace(*problem, batch_size=7, **options) == pytest.approx(whole, rel=1e-12)
    exact = so.exact.trace(*problem, layer=2, l2=0.1)
    assert abs(whole - exact) < whole.margin
