"""Compiled loops against their NumPy twins."""

import subprocess
import sys

import numpy as np
import pytest

from secondorder import kernels
from secondorder.nets import ACTIVATIONS, activation_function

DTYPES = (np.dtype("float64"), np.dtype("float32"))
# name, number of arrays of memory, scalars
UPDATES = {
    "sgd": (0, ()),
    "momentum": (1, (0.9, 0)),
    "momentum-nesterov": (1, (0.9, 1)),
    "adagrad": (1, (1e-10,)),
    "adadelta": (2, (0.9, 1 - 0.9, 1e-6)),
    "adam": (2, (0.9, 1 - 0.9, 0.999, 1 - 0.999, 1 / (1 - 0.9**3), 1 / np.sqrt(1 - 0.999**3),
                 1e-8)),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 7, 1003])
@pytest.mark.parametrize("name", UPDATES)
def test_update_loops_equal_their_twins_bit_for_bit(name, size, dtype):
    (memories, values), name = UPDATES[name], name.split("-")[0]
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
    assert all(array.any() for array in ours)


def direction_and_memory(name, memory, values, dtype):
    """The twin of a method's update as a function from the gradient to (direction, memory to look
    at)."""
    def direction_of(g):
        *new, direction = (np.empty_like(g) for _ in range(len(memory) + 1))
        getattr(kernels, f"{name}_numpy")(g, *memory, *new, direction,
                                          *kernels.scalars(dtype, *values))
        direction_of.new = new
        return direction, (new[1] if name == "adam" else new[0]) if new else direction
    return direction_of


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1023, 1024, 2500])
@pytest.mark.parametrize("name", UPDATES)
def test_whole_steps_equal_their_twin(name, size, dtype):
    """Parameters and memory bit for bit; sums, which may be taken in any order, to rounding in
    float64."""
    (memories, values), name = UPDATES[name], name.split("-")[0]
    rng = np.random.default_rng(size)
    total, theta = (rng.normal(size=size).astype(dtype) for _ in range(2))
    old = [np.abs(rng.normal(size=size)).astype(dtype) for _ in range(memories)]
    new = [np.full(size, np.nan, dtype) for _ in range(memories)]
    direction_of = direction_and_memory(name, old, values, dtype)
    samples, l2, rate = kernels.scalars(dtype, 7, 0.3, 0.01)
    moved, expected_sums, sizes = kernels.step_numpy(direction_of, total, theta, samples, l2, rate)
    start, backup = theta.copy(), np.full(size, np.nan, dtype)
    sums, peaks = np.zeros(3), np.zeros(3, np.int64)
    getattr(kernels, f"{name}_step")(total, theta, backup, samples, l2, rate, sums, peaks, *old,
                                     *new,
                                     *kernels.scalars(dtype, *values))
    assert (
        np.array_equal(theta, moved)
        and np.array_equal(backup, start)
        and not np.array_equal(theta, start)
    )
    assert all(map(np.array_equal, new, getattr(direction_of, "new", [])))
    here = start.copy()  # and once more with what theta was in the gradient's own place
    getattr(kernels, f"{name}_step")(total, here, total, samples, l2, rate, sums * 0, peaks, *old,
                                     *new, *kernels.scalars(dtype, *values))
    assert np.array_equal(here, moved) and np.array_equal(total, start)
    np.testing.assert_allclose(sums, expected_sums, rtol=1e-12)
    assert [kernels.number(bits, dtype) for bits in peaks] == sizes


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1024, 2500])
def test_partition_step_equals_its_twin(size, dtype):
    rng = np.random.default_rng(size)
    total, theta, sums_of = rng.normal(size=size), rng.normal(size=size), rng.exponential(size=size)
    sums_of[3::4] = 0
    total, theta, sums_of = (a.astype(dtype) for a in (total, theta, sums_of))
    for damping in (0.0, 0.2):
        samples, l2, rate, damping, shrink = kernels.scalars(dtype, 7, 0.3, 0.5, damping, 0.15)
        kept = {}

        def direction_of(g):
            kept["c"], kept["d"], kept["g"] = np.empty_like(g), np.empty_like(g), g
            kernels.partition_numpy(g, sums_of, kept["c"], kept["d"], samples, damping, shrink)
            return kept["d"], kept["c"]

        moved, expected_sums, sizes = kernels.step_numpy(direction_of, total, theta, samples, l2,
                                                         rate)
        here, backup = theta.copy(), np.empty_like(theta)
        sums = np.zeros(3)
        peaks = np.zeros(3, np.int64)
        reports = np.zeros(3)
        ends = kernels.NO_ENDS.copy()
        kernels.partition_step(total, here, backup, samples, l2, rate, sums, peaks, sums_of,
                               damping, shrink, reports, ends)
        assert np.array_equal(here, moved) and np.array_equal(backup, theta)
        np.testing.assert_allclose(sums, expected_sums, rtol=1e-12)
        assert [kernels.number(bits, dtype) for bits in peaks] == sizes
        g, c, d = (kept[name].astype(np.float64) for name in "gcd")
        np.testing.assert_allclose(reports, [g @ d, c @ d**2, np.count_nonzero(c + damping == 0)],
                                   rtol=1e-12)
        assert [kernels.number(bits, dtype) for bits in ends] == [c.min(), c.max()]
        assert size == 1 or bool((d == 0).any()) == (damping == 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_and_extremes(dtype):
    rng = np.random.default_rng(0)
    for size in (1, 3, 1000):
        a, b = (rng.normal(size=size).astype(dtype) for _ in range(2))
        wide, other = a.astype(np.float64), b.astype(np.float64)
        np.testing.assert_allclose(kernels.squares(a), wide @ wide, rtol=1e-13)
        np.testing.assert_allclose(kernels.dot(a, b), wide @ other, rtol=1e-11)
        assert kernels.extremes(a) == kernels.extremes_numpy(a)
    special = np.array([0.0, -1.5, 1e-40, -0.0, 3.0], dtype)
    assert kernels.extremes(special) == (0.0, 3.0)
    for wrong in (np.inf, -np.inf, np.nan, -np.nan):
        assert not np.isfinite(kernels.extremes(np.append(special, dtype.type(wrong)))[1])
    assert np.isfinite(kernels.squares(np.full(100, 1e30, np.float32)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_lines_equal_their_twins_bit_for_bit(name, dtype, monkeypatch):
    """The same numbers in one large array, where loops run, and in small ones, where NumPy's lines
    do."""
    function = activation_function(name)
    x = np.random.default_rng(0).normal(size=(40, 400), scale=3).astype(dtype)
    x[0, :8] = 0, -0.0, 1e-30, -1e-30, 80, -80, 700, -700
    whole = function.jet(x)
    monkeypatch.setattr("secondorder.nets.activations._suits_loops", lambda x: False)
    for found, expected in zip(whole, function.jet(x)):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


def test_scalars_take_the_dtype():
    for dtype in DTYPES:
        assert [value.dtype for value in kernels.scalars(dtype, 0.1, 2)] == [dtype, dtype]


def test_numba_is_loaded_only_when_needed():
    code = ("import sys, secondorder as so, secondorder.training; net = so.mlp([2, 2], rng=0); "
            "net.evaluate(so.SquaredError(), [[1.0, 2.0]], [[0.0, 1.0]]).gradient; print('numba' "
            "in sys.modules); "
            "so.SGD(net, so.SquaredError()).step([[1.0, 2.0]], [[0.0, 1.0]]); print('numba' in "
            "sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
