"""Compiled loops against their NumPy twins."""

import subprocess
import sys

import numpy as np
import pytest

from secondorder import kernels

DTYPES = (np.dtype("float64"), np.dtype("float32"))
# name, number of arrays of memory, scalars
UPDATES = {
    "adagrad": (1, (1e-10,)),
    "adadelta": (2, (0.9, 1 - 0.9, 1e-6)),
    "adam": (2, (0.9, 1 - 0.9, 0.999, 1 - 0.999, 1 / (1 - 0.9**3), 1 / np.sqrt(1 - 0.999**3), 1e-8)),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 7, 1003])
@pytest.mark.parametrize("name", UPDATES)
def test_update_loops_equal_their_twins_bit_for_bit(name, size, dtype):
    memories, values = UPDATES[name]
    rng = np.random.default_rng(size)
    ours = [np.zeros(size, dtype) for _ in range(memories)]
    theirs = [array.copy() for array in ours]
    for scale in (1.0, 1e-12, 1e6, 0.0):
        g = (scale * rng.normal(size=size)).astype(dtype)
        g[3::5] = 0
        kept = g.copy()
        old = [array.copy() for array in ours]
        new, twin = ([np.full(size, np.nan, dtype) for _ in range(memories + 1)] for _ in range(2))
        getattr(kernels, name)(g, *ours, *new, *kernels.scalars(dtype, *values))
        getattr(kernels, f"{name}_numpy")(g, *theirs, *twin, *kernels.scalars(dtype, *values))
        assert np.array_equal(g, kept) and all(map(np.array_equal, ours, old))
        for a, b in zip(new, twin):
            assert a.dtype == dtype and np.isfinite(a).all()
            np.testing.assert_array_equal(a, b)
        ours, theirs = new[:-1], twin[:-1]
    assert ours[0].any()


def test_scalars_take_the_dtype():
    for dtype in DTYPES:
        assert [value.dtype for value in kernels.scalars(dtype, 0.1, 2)] == [dtype, dtype]


def test_numba_is_loaded_only_when_needed():
    code = ("import sys, secondorder as so, secondorder.training; net = so.mlp([2, 2], rng=0); "
            "so.SGD(net, so.SquaredError()).step([[1.0, 2.0]], [[0.0, 1.0]]); print('numba' in sys.modules); "
            "so.Adam(net, so.SquaredError()).step([[1.0, 2.0]], [[0.0, 1.0]]); print('numba' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
