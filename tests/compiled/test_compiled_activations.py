"""Compiled activations against mpmath, where it is installed, and against the literal functions."""

import numpy as np
import pytest

from secondorder.compiled.layers import activations as compiled
from secondorder.nets import ACTIVATIONS, activation_function, programs

ULP = 4
SMOOTH = ("tanh", "sigmoid", "softplus")


def jet(name, x):
    """Value, slope and curvature by the compiled functions, which start from NaN."""
    function = activation_function(name)
    kind, below = programs.functions.find(function)(function)
    y, slope, curvature = (np.full_like(x, np.nan) for _ in range(3))
    compiled.activate(kind, x.dtype.type(below), x, y, slope)
    compiled.bend(kind, x, y, curvature)
    return y, slope, curvature


def exact(mp, name, x):
    x = mp.mpf(float(x))
    if name == "tanh":
        value, slope = mp.tanh(x), mp.sech(x) ** 2
        return value, slope, -2 * value * slope
    s, rest = 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x))
    if name == "sigmoid":
        return s, s * rest, s * rest * (rest - s)
    return mp.log1p(mp.exp(x)), s, s * rest


def points(dtype):
    """The whole line, both tails, the neighbourhood of 0, and where the reduction of exp jumps."""
    rng, end = np.random.default_rng(0), {"float32": 110, "float64": 760}[dtype]
    jumps = np.log(2) * (np.arange(-30, 31) + 0.5) / 2
    return np.concatenate([3 * rng.normal(size=300), rng.uniform(-end, end, 300),
                           10.0 ** rng.uniform(-30, 1, 200) * rng.choice([-1, 1], 200),
                           jumps * (1 + 1e-6 * rng.normal(size=61))]).astype(dtype)


@pytest.mark.everyday(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SMOOTH)
def test_within_four_units_in_the_last_place_of_mpmath(name, dtype):
    mp = pytest.importorskip("mpmath").mp
    x = points(dtype)
    with mp.workprec(200):
        wanted = [exact(mp, name, one) for one in x]
        for which, found in enumerate(jet(name, x)):
            for one, value, row in zip(x, found, wanted):
                unit = float(np.spacing(x.dtype.type(abs(row[which]))))
                error = abs(float((mp.mpf(float(value)) - row[which]) / unit))
                assert error <= ULP, (float(one), ("value", "slope", "curvature")[which], error)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_as_the_literal_functions(name, dtype):
    function, x = activation_function(name), points(dtype)
    found, scale = jet(name, x), np.finfo(dtype).tiny
    wanted = function.value(x), function.slope(x), function.curvature(x)
    for one, other in zip(found, wanted):
        assert one.dtype == x.dtype
        # near the root of the logistic function's curvature the literal form cancels
        size = np.abs(other) + scale + (np.abs(wanted[1]) if name == "sigmoid" else 0)
        assert (np.abs(one - other) <= 12 * np.finfo(dtype).eps * size).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*SMOOTH, "identity"])
def test_infinite_arguments_and_nan(name, dtype):
    x = np.array([np.inf, -np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        literal = activation_function(name)
        wanted = literal.value(x), literal.slope(x), literal.curvature(x)
    for found, expected in zip(jet(name, x), wanted):
        if name == "identity":
            expected = np.where(np.isnan(x), found, expected)  # its slope is 1 everywhere
        np.testing.assert_allclose(found, expected)
