"""EA-CG's counts by hand, and formulas that stand as printed although the print is wrong."""

import numpy as np
import pytest

from secondorder.papers.eacg import complexity, curvatures, pos_eig

WIDTHS = (2, 3, 5)
COUNTS = {
    "parameters": 3 * (2 + 1) + 5 * (3 + 1),
    "parameters_as_printed": 2 * (3 + 1) + 3 * (5 + 1),
    "propagation": 3 * 5 * (3 + 5),
    "propagation_in_text": 2 * 3 * (2 + 3) + 3 * 5 * (3 + 5),
    "propagation_in_table": 3 * 3 * 5,
    "propagation_in_table_of_gauss_newton": 3 * 5,
    "kfi": (27 + 8 + 2 * 2 * 3 + 2 * 3 * 3) + (125 + 27 + 3 * 3 * 5 + 3 * 5 * 5),
    "storage_of_bias_curvature": 9 + 25,
    "storage_of_kfi": (4 + 9) + (9 + 25),
    "storage_of_ea_cg": (2 + 9) + (3 + 25),
    "storage_of_blocks": (6**2 + 9) + (15**2 + 25),
}
COUNTS_WITH = {
    "slopes": 7 * 3 * 3,
    "fisher": 7 * (9 + 25),
    "ea_cg": 7 * (3 * (2 * 2 + 3) + 5 * (2 * 3 + 5)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    assert getattr(complexity, name)(WIDTHS) == COUNTS[name]


@pytest.mark.parametrize("name", COUNTS_WITH)
def test_counts_with_samples_or_iterations(name):
    assert getattr(complexity, name)(WIDTHS, 7) == COUNTS_WITH[name]


@pytest.mark.parametrize("S", (1, 5, 11))
@pytest.mark.parametrize("gamma", (-1.0, 0.0))
def test_8b_as_printed(gamma, S):
    rng = np.random.default_rng(0)
    n, m = 2, 3
    W, g = rng.normal(size=(n, m)), rng.normal(size=(S, n))
    B, (slope, bent) = np.array([[2.0, 0.5], [0.5, 1.0]]), rng.normal(size=(2, S, m))
    wanted = np.empty((m, m))
    for u, v in np.ndindex(m, m):
        carried = sum(W[r, u] * B[r, s] * W[s, v] for r in range(n) for s in range(n))
        wanted[u, v] = carried * sum(slope[i, u] * slope[i, v] for i in range(S)) / S
    for u in range(m):
        mean_g = [sum(g[:, r]) / S for r in range(n)]
        entry = sum(bent[:, u]) / S * sum(W[r, u] * mean_g[r] for r in range(n))
        wanted[u, u] += entry if entry > 0 else gamma * entry
    found = curvatures.pch_step_as_printed(W, B, g, slope, bent, gamma)
    np.testing.assert_allclose(found, wanted, atol=1e-13)


@pytest.mark.parametrize("gamma", (-1.0, -0.5, 0.0))
def test_pos_eig_as_printed_has_the_eigenvectors_in_rows(gamma):
    A, eigenvalues = np.array([[1.0, 2.0], [2.0, -2.0]]), np.array([-3.0, 2.0])
    down, up = np.array([1.0, -2.0]) / np.sqrt(5), np.array([2.0, 1.0]) / np.sqrt(5)
    np.testing.assert_allclose(A, -3 * np.outer(down, down) + 2 * np.outer(up, up), atol=1e-15)
    found = pos_eig.pos_eig_as_printed(np.array([down, up]), eigenvalues, gamma)
    wanted = -3 * gamma * np.outer(down, down) + 2 * np.outer(up, up)
    np.testing.assert_allclose(found, wanted, atol=1e-14)
