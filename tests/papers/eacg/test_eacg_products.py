"""EA-CG's large products by half against whole ones."""

import numpy as np
import pytest

from secondorder.papers.eacg import products

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
