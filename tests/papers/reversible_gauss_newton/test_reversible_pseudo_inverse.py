"""E S^+ from a Gram matrix or a decomposition, against matrices that were built from their singular
values; and steps of networks whose singular values are small.
"""

from functools import partial

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import jacobian
from secondorder.papers.reversible_gauss_newton import RankWarning, RevMLP, direction, method
from secondorder.papers.reversible_gauss_newton.equations.reference import weighed
from secondorder.papers.reversible_gauss_newton.section_5_pseudo_inverse import (
    FORMS, exact, times_pseudo_inverse)

SQUARED, SOFTMAX = so.SquaredError(), so.SoftmaxCrossEntropy()


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def spectrum(rng, shape, least):
    """U, s, V^T of a matrix with singular values from 3 down to 3 `least`."""
    k = min(shape)
    U, V = (np.linalg.qr(rng.normal(size=(n, k)))[0] for n in shape)
    return U, 3 * np.logspace(0, np.log10(least), k), V.T


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("form, strength", [
    ("exact", 0), ("truncate", 0.0123), ("truncate", 3e-7), ("damp", 1e-2), ("damp", 3e-4),
    ("tikhonov", 1e-4), ("tikhonov", 1e-11)])
@pytest.mark.parametrize("shape", [(9, 5), (5, 9), (100, 80), (80, 100)])
@pytest.mark.parametrize("least", [1e-1, 1e-4, 1e-6])
def test_no_form_loses_more_digits_than_its_condition_costs(form, strength, shape, least, rng):
    """A Gram matrix is used only where f does not need what its squares have lost."""
    U, s, Vt = spectrum(rng, shape, least)
    S, E = U * s @ Vt, rng.normal(size=(3, shape[1]))
    f = weighed(s, form, max(strength, 1e-5 / s[0]) if form == "truncate" else strength)
    fit = times_pseudo_inverse(E, S, partial(FORMS[form], strength=strength) if strength else exact)
    assert relative(fit.product, (E @ Vt.T) * f @ U.T) < 1e-8
    np.testing.assert_allclose(fit.reached, (E @ Vt.T) * (f * s) @ Vt, atol=1e-8)
    assert fit.rank == np.count_nonzero(f)


@pytest.mark.parametrize("dtype, off", [("float64", 1e-9), ("float32", 1e-4)])
def test_samples_that_are_equal_lower_the_rank(dtype, off, rng):
    S, E = rng.normal(size=(12, 6)).astype(dtype), rng.normal(size=(2, 6)).astype(dtype)
    S[:, 4] = S[:, 1]
    fit = times_pseudo_inverse(E, S)
    assert fit.rank == 5 and fit.product.dtype == dtype
    assert relative(fit.product, E @ np.linalg.pinv(S.astype(float), rcond=1e-5)) < off
    dead = times_pseudo_inverse(E, 0 * S)
    assert dead.rank == 0 and not dead.product.any()


@pytest.mark.slow
def test_rounding_never_hides_a_rank(rng):
    """2000 matrices without full rank: a Cholesky factor often exists all the same."""
    for _ in range(2000):
        n, rank, width = rng.integers(2, 9), rng.integers(1, 8), rng.integers(1, 70)
        rank = min(rank, n - 1, width)
        S = rng.normal(size=(width, rank)) @ rng.normal(size=(rank, n))
        assert times_pseudo_inverse(np.ones((1, n)), S).rank == rank


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("samples, condition", [(4, 1e5), (5, 1e6), (7, 1e7)])
def test_a_kernel_does_where_a_jacobian_is_too_large(form, samples, condition, monkeypatch):
    """J J^T squares the condition number: beyond 1e7 the exact inverse tells that it lost some."""
    rng, net = np.random.default_rng(4), RevMLP(2, 2, 64, outputs=2, activation="tanh", rng=1)
    x, y = rng.normal(size=(samples, 2)), rng.normal(size=(samples, 2))
    assert np.linalg.cond(jacobian(net, x)) > condition
    options = {"inverse": "moore-penrose", "pseudo_inverse": form}
    expected = direction(net, SQUARED, x, y, **options)
    monkeypatch.setattr(method, "LARGEST_JACOBIAN", 0)
    if samples == 7 and form == "exact":
        with pytest.warns(RankWarning, match="of 14: samples are not independent"):
            direction(net, SQUARED, x, y, **options)
    elif samples < 7 or form != "damp":
        off = 1e-3 if form in ("exact", "damp") else 1e-9
        assert relative(direction(net, SQUARED, x, y, **options), expected) < off


@pytest.mark.parametrize("form", ("truncate", "tikhonov"))
@pytest.mark.parametrize("inverse", ("right", "moore-penrose"))
def test_float32_on_digits(inverse, form):
    digits = so.datasets.scale(so.datasets.load_digits(), (-1, 1))
    x, y = digits.inputs[:96].astype(np.float32), digits.targets[:96]
    net = RevMLP(64, 2, 120, outputs=10, rng=0, dtype="float32")
    found, expected = (direction(one, SOFTMAX, x, y, inverse=inverse, pseudo_inverse=form)
                       for one in (net, net.astype("float64")))
    assert found.dtype == np.float32 and relative(found, expected) < 2e-3
