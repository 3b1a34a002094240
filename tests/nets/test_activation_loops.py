"""Loops of the activation functions against 120-digit arithmetic, on the whole line."""

import decimal
from decimal import Decimal

import numpy as np
import pytest

from secondorder.nets import activation_function

ULP = 4
SMOOTH = ("tanh", "sigmoid", "softplus")


def jet(name, x):
    """Value, slope and curvature by the loops."""
    function = activation_function(name)
    return *function.value_and_slope(x), function.curvature(x)


def exact(name, x):
    x = Decimal(float(x)) * (2 if name == "tanh" else 1)
    s, rest = 1 / (1 + (-x).exp()), 1 / (1 + x.exp())
    if name == "tanh":
        return s - rest, 4 * s * rest, 8 * s * rest * (rest - s)
    if name == "sigmoid":
        return s, s * rest, s * rest * (rest - s)
    return (1 + x.exp()).ln() if x > -100 else x.exp(), s, s * rest


def points(dtype):
    """The whole line, both tails, the neighbourhood of 0, and where the reduction of exp jumps."""
    rng, end = np.random.default_rng(0), {"float32": 110, "float64": 760}[dtype]
    jumps = np.log(2) * (np.arange(-30, 31) + 0.5) / 2
    return np.concatenate([3 * rng.normal(size=60), rng.uniform(-end, end, 60),
                           10.0 ** rng.uniform(-30, 1, 60) * rng.choice([-1, 1], 60),
                           jumps * (1 + 1e-6 * rng.normal(size=61))]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SMOOTH)
def test_within_four_units_in_the_last_place(name, dtype):
    x = points(dtype)
    with decimal.localcontext(prec=120):
        wanted = [exact(name, one) for one in x]
        for which, found in enumerate(jet(name, x)):
            for one, value, row in zip(x, found, wanted):
                unit = float(np.spacing(x.dtype.type(abs(row[which]))))
                error = abs(float((Decimal(float(value)) - row[which]) / Decimal(unit)))
                assert error <= ULP, (float(one), ("value", "slope", "curvature")[which], error)


@pytest.mark.parametrize("name", [*SMOOTH, "relu", "identity"])
def test_infinite_arguments_and_nan(name):
    value, slope, curvature = jet(name, np.array([np.inf, -np.inf, np.nan]))
    assert np.isnan(value[2]) and value[0] == {"tanh": 1, "sigmoid": 1}.get(name, np.inf)
    assert slope[0] == {"tanh": 0, "sigmoid": 0}.get(name, 1) and curvature[0] == 0
    if name in SMOOTH:
        assert value[1] == (-1 if name == "tanh" else 0) and slope[1] == curvature[1] == 0
        assert np.isnan(slope[2]) and np.isnan(curvature[2])
