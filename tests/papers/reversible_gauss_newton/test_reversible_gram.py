"""What counts as zero in a Gram matrix or a decomposition, and the precision that this takes."""

import numpy as np
import pytest

from secondorder.papers.reversible_gauss_newton import features, gram


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("form, strength, size, kept", (
    ("exact", None, 4, False), ("truncate", 1e-2, 500, True), ("truncate", 1e-2, 5000, False),
    ("damp", 1e-2, 500, True), ("tikhonov", 1e-4, 500, True), ("tikhonov", 1e-4, 5000, False)))
def test_float32_serves_where_regularisation_hides_what_it_loses(form, strength, size, kept):
    """Relative singular values below sqrt(n eps), .0077 and .024; tikhonov hides those below
    sqrt(strength)."""
    assert gram.gram_dtype(np.float32, form, strength, size) == ("float32" if kept else "float64")
    assert gram.gram_dtype(np.float64, form, strength, size) == "float64"


def test_a_well_conditioned_gram_matrix_needs_no_eigenvalues(rng, monkeypatch):
    G = np.diag([1.0, 2.0, 4.0]) + 0.1
    monkeypatch.setattr(gram, "eigh", None)  # it would be called
    found = gram.gram_inverse(G.copy(), floor=1e-3)
    np.testing.assert_allclose(found.solve(G), np.eye(3), atol=1e-14)
    assert found.rank == 3
    assert gram.gram_inverse(np.diag([1.0, 1e-5]), floor=1e-3).rank == 2  # singular values count


def test_what_counts_as_zero_in_a_gram_matrix():
    """The 1-norm is its largest column; pivots are compared like eigenvalues, with floor^2."""
    assert gram.gram_inverse(np.diag([1e-20, 1.0]), floor=1e-7).rank == 1
    for smallest, rank in ((1e-5, 3), (1e-9, 2)):
        assert gram._pivoted(np.diag([1.0, smallest, 0.5]), floor=1e-4).rank == rank
    values = np.array([0.9e-5, 1.1e-5, 1e-4]) ** 2
    np.testing.assert_allclose(gram.filtered(values, "truncate", 1e-2, 0.0) * values, [0, 1, 1])


def test_rounding_of_a_decomposition_counts_as_zero(rng):
    """Singular values that are zero come out as some eps times the size of the matrix."""
    low = rng.normal(size=(64, 30)) @ rng.normal(size=(30, 60))
    assert (np.linalg.svd(low)[1] > np.finfo(float).eps * np.linalg.norm(low, 2)).sum() > 30
    assert features._by_svd(low, rng.normal(size=(64, 2)), "exact", None, False).rank == 30
