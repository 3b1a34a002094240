"""Compiled updates and whole steps against their NumPy twins."""

import numpy as np
import pytest

from secondorder.optimizers import loops

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
        getattr(loops, name)(g, *ours, *new, *loops.scalars(dtype, *values))
        getattr(loops, f"{name}_numpy")(g, *theirs, *twin, *loops.scalars(dtype, *values))
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
        getattr(loops, f"{name}_numpy")(g, *memory, *new, direction,
                                          *loops.scalars(dtype, *values))
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
    samples, l2, rate = loops.scalars(dtype, 7, 0.3, 0.01)
    moved, expected_sums, sizes = loops.step_numpy(direction_of, total, theta, samples, l2, rate)
    start, backup = theta.copy(), np.full(size, np.nan, dtype)
    sums, peaks = np.zeros(3), np.zeros(3, np.int64)
    getattr(loops, f"{name}_step")(total, theta, backup, samples, l2, rate, sums, peaks, *old,
                                     *new,
                                     *loops.scalars(dtype, *values))
    assert (
        np.array_equal(theta, moved)
        and np.array_equal(backup, start)
        and not np.array_equal(theta, start)
    )
    assert all(map(np.array_equal, new, getattr(direction_of, "new", [])))
    here = start.copy()  # and once more with what theta was in the gradient's own place
    getattr(loops, f"{name}_step")(total, here, total, samples, l2, rate, sums * 0, peaks, *old,
                                     *new, *loops.scalars(dtype, *values))
    assert np.array_equal(here, moved) and np.array_equal(total, start)
    np.testing.assert_allclose(sums, expected_sums, rtol=1e-12)
    assert [loops.number(bits, dtype) for bits in peaks] == sizes
