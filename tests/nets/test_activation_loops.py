"""Loops of the activation functions against mpmath, where it is installed, and in Python."""

import os
import subprocess
import sys

import numpy as np
import pytest

from secondorder.nets import activation_function

ULP = 4
SMOOTH = ("tanh", "sigmoid", "softplus")


def jet(name, x):
    """Value, slope and curvature by the loops."""
    function = activation_function(name)
    return *function.value_and_slope(x), function.curvature(x)


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
@pytest.mark.parametrize("name", [*SMOOTH, "relu", "identity"])
def test_infinite_arguments_and_nan(name, dtype):
    x = np.array([np.inf, -np.inf, np.nan], dtype)
    value, slope, curvature = jet(name, x)
    assert np.isnan(value[2]) and value[0] == {"tanh": 1, "sigmoid": 1}.get(name, np.inf)
    assert slope[0] == {"tanh": 0, "sigmoid": 0}.get(name, 1) and curvature[0] == 0
    if name in SMOOTH:
        assert value[1] == (-1 if name == "tanh" else 0) and slope[1] == curvature[1] == 0
        assert np.isnan(slope[2]) and np.isnan(curvature[2])


CODE = """
import numpy as np
from secondorder.nets import *
rng = np.random.default_rng(0)
net = Network([Conv2d(1, 2, 2, stride=(1, 2), padding=1, rng=0), Activation("tanh"), AvgPool2d(2),
               Activation("softplus"), LayerNorm(1), Activation("sigmoid"), MaxPool2d((2, 1)),
               Flatten(), Activation("leaky_relu"), Linear(2, 2, rng=1)], input_shape=(1, 4, 4))
x, y = rng.normal(size=(3, 1, 4, 4)), rng.normal(size=(3, 2))
e, v = net.evaluate(SquaredError(), x, y), rng.normal(size=(2, net.size))
t, moved = net.chain.tangents(e.saved, None, v)
for found in (e.gradient, net.chain.backward_tangent_from(e.saved, moved, e.deltas, t)[1],
              net.chain.parameter_gradients_from(e.saved, e.deltas)):
    print(*found.ravel().tolist())
"""


def test_all_loops_of_layers_in_python():
    """As NUMBA_DISABLE_JIT=1 runs them, for a debugger."""
    printed = [subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True,
                              check=True, env=os.environ | {"NUMBA_DISABLE_JIT": disabled}).stdout
               for disabled in ("0", "1")]
    for compiled, python in zip(*(text.splitlines() for text in printed), strict=True):
        compiled, python = (np.array(line.split(), float) for line in (compiled, python))
        np.testing.assert_allclose(compiled, python, rtol=1e-13, atol=1e-14)
