"""Regularised steps through a Gram matrix: right, or with a warning.

The reference is the singular value decomposition with which the Jacobian, or the features, were
built.
"""

import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.reversible_gauss_newton import PrecisionWarning, direction
from secondorder.papers.reversible_gauss_newton.features import fit
from secondorder.papers.reversible_gauss_newton.gram import allowed

LIMIT = 10 * allowed(np.float64)


def spectrum(rows, columns, condition, seed):
    """A matrix (rows, columns) by its singular value decomposition, the smaller side full."""
    rng, k = np.random.default_rng(seed), min(rows, columns)
    U = np.linalg.qr(rng.normal(size=(rows, k)))[0]
    V = np.linalg.qr(rng.normal(size=(columns, k)))[0]
    return U, 3 * np.logspace(0, -np.log10(condition), k), V, rng  # 3: none stands at 1e-5


def inverted(s, form, strength):
    """What the form makes of 1 / s."""
    if form == "truncate":
        return np.where((s >= strength * s[0]) & (s >= 1e-5), 1 / s, 0)
    return {"damp": 1 / (s + strength * s[0]),
            "tikhonov": s / (s * s + strength * s[0]**2)}[form]


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def shortest_step(rows, condition, form, strength, seed):
    """Relative error of a direction of a linear net, whose Jacobian is its input, and warnings."""
    U, s, V, rng = spectrum(rows, rows + 20, condition, seed)
    net, x = so.mlp([rows + 20, 1], bias=False, rng=rng), (U * s) @ V.T
    y = rng.normal(size=(rows, 1))
    expected = -(V * inverted(s, form, strength)) @ (U.T @ (net(x) - y)[:, 0])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = direction(net, so.SquaredError(), x, y, inverse="moore-penrose",
                          pseudo_inverse=form, strength=strength)
    return relative(found, expected), [w.category for w in seen]


FORMS = [("damp", 0.01), ("damp", 3e-4), ("tikhonov", 1e-4), ("tikhonov", 1e-11),
         ("truncate", 0.0123), ("truncate", 3e-7)]


@pytest.mark.parametrize("form, strength", FORMS)
@pytest.mark.parametrize("rows", [30, 80, 150])
def test_a_step_is_accurate_or_warns(rows, form, strength):
    """Half of the digits, as an exact step is allowed to lose; and a well-conditioned one is quiet.
    """
    for seed, condition in enumerate((1e2, 1e4, 1e5, 1e6, 3e6)):
        off, told = shortest_step(rows, condition, form, strength, seed)
        assert off <= LIMIT or told == [PrecisionWarning]
        if rows <= 64 or condition <= 1e4 or (form, strength) in (("tikhonov", 1e-4),
                                                                  ("truncate", 0.0123)):
            assert off <= LIMIT and not told


@pytest.mark.parametrize("form, strength", [("damp", 0.01), ("truncate", 3e-7),
                                            ("tikhonov", 1e-4), ("tikhonov", 1e-10)])
@pytest.mark.parametrize("samples, features", [(80, 100), (120, 90)])
def test_features_tell_what_they_lose(samples, features, form, strength):
    """The true error is below what is told, and not far below where it matters."""
    for seed, condition in enumerate((1e3, 1e5, 1e6)):
        U, s, V, rng = spectrum(samples, features, condition, seed)
        E = rng.normal(size=(samples, 3))
        expected = (V * inverted(s, form, strength)) @ (U.T @ E)
        found = fit((U * s) @ V.T, E, form, strength)
        off = relative(found.weight.T, expected)
        assert off < found.lost + 1e-12 < 1e3 * (off + 1e-10)
        assert (found.lost < LIMIT) == (condition == 1e3 or (form, strength) == ("tikhonov", 1e-4))
