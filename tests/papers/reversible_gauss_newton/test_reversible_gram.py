"""What counts as zero in a Gram matrix or a decomposition, and the precision that this takes."""

from types import SimpleNamespace

import numpy as np
import pytest

from secondorder.papers.reversible_gauss_newton import features, gram


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.slow
def test_eigenvalues_that_are_zero_stay_below_the_floor(rng):
    """5000 small matrices without full rank: none seems to have it, by either decomposition."""
    for _ in range(5000):
        n, rank, width = rng.integers(2, 9), rng.integers(1, 8), rng.integers(1, 70)
        rank = min(rank, n - 1, width)
        F = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, width))
        found = gram.gram_inverse(gram.gram_matrix(F), floor=gram.gram_floor(np.float64, n))
        assert found.independent == found.rank <= rank
        s = np.linalg.svd(F, compute_uv=False)
        assert (s > gram.decomposition_floor(np.float64, F.shape) * s[0]).sum() <= rank


def test_floors():
    """sqrt(2 (n + 32) eps) of a Gram matrix, 2 (n + 32) eps of a matrix itself, and 32 eps of data
    in float32."""
    eps = np.finfo(float).eps
    assert gram.gram_floor(np.float64, 8) == pytest.approx(np.sqrt(80 * eps), rel=1e-14)
    for shape in ((8, 3), (3, 8)):
        assert gram.decomposition_floor(np.float64, shape) / eps == pytest.approx(80, rel=1e-14)
    for floor in (gram.gram_floor(np.float32, 8), gram.decomposition_floor(np.float32, (8, 3))):
        assert floor == pytest.approx(2.0**-18, rel=1e-14)


@pytest.mark.parametrize("form", ("truncate", "damp", "tikhonov"))
def test_what_is_kept_and_how_far_it_reaches(form):
    """Eigenvalues 1, 0.04, 1e-4 and 0: singular values 1, 0.2, 0.01, 0."""
    found = gram.gram_inverse(np.diag([0.04, 1.0, 0.0, 1e-4]), form, 0.1, 1e-7)
    f = {"truncate": [1, 25], "damp": [1 / 1.1, 1 / 0.06, 1 / 0.0011], "tikhonov": [1 / 1.1, 10]}
    assert (found.rank, found.independent, found.rcond) == ({"truncate": 2}.get(form, 3), 3, 0)
    np.testing.assert_allclose(found.applied, 1 / max(f[form]) if form != "tikhonov" else 0.1001,
                               rtol=1e-12)
    exact = gram.gram_inverse(np.diag([0.04, 1.0, 0.01]), floor=1e-7)
    assert exact.rcond == exact.applied == pytest.approx(0.01)
    damped = gram.gram_inverse(np.diag([0.04, 1.0, 0.01]), form, 0.05, 1e-7)
    assert damped.rcond == pytest.approx(0.01, rel=1e-12)
    assert gram.gram_inverse(np.diag([0.04, 1.0, -1e-20]), form, 0.1, 1e-7).rcond == 0


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
        found = gram.pivoted_inverse(np.diag([1.0, smallest, 0.5]), floor=1e-4)
        assert (found.rank, found.independent, found.applied) == (rank, rank, 1e-8)
    values = np.array([2.0**-4, np.nextafter(2.0**-4, 0), 1.0]) ** 2
    assert (gram.filtered(values, "truncate", 2.0**-4, 0.0) > 0).tolist() == [True, False, True]
    assert (gram.filtered(values, "exact", None, 2.0**-4) > 0).tolist() == [False, False, True]
    values = np.array([0.9e-5, 1.1e-5, 1e-4]) ** 2
    np.testing.assert_allclose(gram.filtered(values, "truncate", 1e-2, 0.0) * values, [0, 1, 1])


@pytest.mark.parametrize("form", ("truncate", "tikhonov"))
def test_what_an_inverse_loses_is_how_far_its_terms_move_with_the_eigenvalues(rng, form):
    """Every eigenvalue off by eps of the largest one: the terms s f(lambda) q^T E move by a
    difference of f, which is taken by a part in 1e7. Of S E, the terms are f(lambda) q^T S E."""
    Q, values = np.linalg.qr(rng.normal(size=(4, 4)))[0], np.array([0.09, 0.3, 1.0, 2.0])
    E = rng.normal(size=(4, 3))
    inverse = gram.gram_inverse((Q * values) @ Q.T, form, 0.02, 1e-7)

    def f(eigenvalues):
        return 1 / (eigenvalues + (0.02 * 2.0 if form == "tikhonov" else 0))

    for options, s in (({}, np.sqrt(values)), ({"scaled": True}, 1.0)):
        terms, moved = (np.linalg.norm((s * change) * (Q.T @ E).T)
                        for change in (f(values), f(values + 2e-7) - f(values)))
        found = inverse.lost(E, **options) / np.finfo(float).eps
        assert found == pytest.approx(moved / terms / 1e-7, rel=1e-4)


def test_rounding_of_a_decomposition_counts_as_zero(rng):
    """Singular values that are zero come out as some eps times the size of the matrix."""
    low = rng.normal(size=(64, 30)) @ rng.normal(size=(30, 60))
    assert (np.linalg.svd(low)[1] > np.finfo(float).eps * np.linalg.norm(low, 2)).sum() > 30
    assert features._by_svd(low, rng.normal(size=(64, 2)), "exact", None, False).rank == 30


@pytest.mark.parametrize("shape, ones, complete", [((4, 4), False, True), ((5, 4), True, True),
                                                   ((5, 4), False, False), ((6, 4), True, False)])
def test_as_many_features_as_samples_reach_every_target(shape, ones, complete, rng):
    F, E = rng.normal(size=shape), rng.normal(size=(shape[0], 2))
    found = features.fit(F, E, ones=ones)
    assert found.complete == complete == (found.reached is E)
    reached = F @ found.weight.T + (found.bias if ones else 0)
    assert np.allclose(reached, E, atol=1e-9) == complete
    np.testing.assert_allclose(found.reached, reached, atol=1e-9)


@pytest.mark.parametrize("shape, decomposed", [((64, 70), True), ((70, 64), True), ((5, 200), True),
                                               ((65, 70), False), ((70, 65), False)])
@pytest.mark.parametrize("smallest", [1e-9, 0.5])
def test_small_features_that_lost_their_digits_are_decomposed(shape, decomposed, smallest, rng,
                                                              monkeypatch):
    """Small by either of their sides; a Gram matrix squares the condition number."""
    calls, by_svd = [], features._by_svd
    monkeypatch.setattr(features, "_by_svd", lambda *args: (calls.append(1), by_svd(*args))[1])
    F = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))[0]
    F[:, 0] *= smallest
    features.fit(F if shape[0] >= shape[1] else F.T.copy(), rng.normal(size=(shape[0], 1)))
    assert len(calls) == (decomposed and smallest < 1e-8)


@pytest.mark.parametrize("independent, undecided", [(2, 0), (1, 1), (0, 2), (3, 0)])
def test_rows_that_are_zero_are_decided(independent, undecided):
    made = SimpleNamespace(independent=independent)
    assert features._undecided(np.diag([1.0, 0.0, 1e-20]), made) == undecided


@pytest.mark.parametrize("shape", [(5, 200), (200, 5), (64, 70), (70, 64)])
def test_independent_features_of_a_small_side_are_counted_to_the_last_digits(shape, rng):
    """A singular value of 1e-10, which is lost in a Gram matrix."""
    F = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))[0]
    F[:, 0] *= 1e-10
    F = F if shape[0] >= shape[1] else F.T.copy()
    assert features._independent(F, False) == min(shape)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (70, 80)])
def test_features_that_are_all_zero_are_dependent(shape):
    assert features._independent(np.zeros(shape), False) == 0
    assert features._independent(np.zeros(shape), True) == 1  # the ones of a bias


def test_targets_of_zero_are_missed_by_nothing(rng):
    found = features.fit(rng.normal(size=(4, 6)), np.zeros((4, 2)))
    assert found.missed == 0 and not found.weight.any()
