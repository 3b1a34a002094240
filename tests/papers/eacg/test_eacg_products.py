"""EA-CG's large products and passes: products by half against whole ones, loops against NumPy."""

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.eacg import compiled, products
from secondorder.papers.eacg.solvers import systems
from secondorder.papers.eacg.solvers.conjugate_gradients import damped

WIDTHS = (1, 5, products.WIDTH, products.WIDTH + 1, 3 * products.WIDTH - 7)


@pytest.mark.parametrize("m", WIDTHS)
@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_products_by_half_are_the_whole_products(m, dtype):
    rng, accuracy = np.random.default_rng(m), 20 * np.finfo(dtype).eps
    W, root, rows = (rng.normal(size=shape).astype(dtype) for shape in ((9, m), (9, 9), (13, m)))
    B = root + root.T  # indefinite
    for found, wanted in ((products.congruence(W, B), W.T @ B @ W),
                          (products.second_moment(rows),
                           np.mean(rows[:, :, None] * rows[:, None, :], axis=0))):
        assert found.dtype == dtype and found.shape == (m, m)
        np.testing.assert_allclose(found, wanted, atol=accuracy * np.abs(wanted).max())


def test_the_half_above_the_diagonal_is_not_computed(monkeypatch):
    """Less than two thirds of the whole product's additions at four panels, counted."""
    entries, matmul = [], np.matmul

    def counted(P, Q, out):
        entries.append(out.size)
        return matmul(P, Q, out=out)

    monkeypatch.setattr(products.np, "matmul", counted)
    P = np.random.default_rng(0).normal(size=(3, 4 * products.WIDTH))
    products.symmetric_product(P, P)
    assert sum(entries) == 10 * products.WIDTH**2


@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_combined_in_one_pass(dtype):
    rng = np.random.default_rng(0)
    G, w, mean = (rng.normal(size=shape).astype(dtype) for shape in ((5, 8), 5, 8))
    out, s = np.empty((5, 9), dtype)[:, :-1], np.dtype(dtype).type(-0.3)
    compiled.combined(s, G, w, mean, out)
    np.testing.assert_allclose(out, systems.combined(s, G, w, mean),
                               rtol=1e-5 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("B, right, words", [(1e300, 1e10, "product 1 is not finite"),
                                             (1.0, np.inf, "right side is not finite")])
@pytest.mark.parametrize("literal", [False, True])
def test_what_is_not_finite_in_conjugate_gradients_is_told(literal, B, right, words):
    with (np.errstate(over="ignore"), so.literal(literal),
          pytest.raises(FloatingPointError, match=words)):
        damped(np.array([[B]]), 1.0, 0.0, np.array([right]), 5, 1e-10)


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize("literal", [False, True])
def test_conjugate_gradients_solve_the_damped_system(literal, k):
    rng = np.random.default_rng(k)
    B = rng.normal(size=(4, 4))
    B, right, L = B @ B.T, rng.normal(size=k + 4), np.zeros((k + 4, k + 4))
    L[k:, k:] = 0.7 * B
    L += 0.1 * np.eye(k + 4)
    with so.literal(literal):
        found = damped(B, 0.7, 0.1, right, 50, 1e-12)[0]
    assert np.abs(found - np.linalg.solve(L, right)).max() < 1e-9 * np.abs(found).max()
