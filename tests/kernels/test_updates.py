"""The kernels of the updates: the loop that one reads is the loop that runs, wherever its arrays
lie; by value they are judged in tests/optimizers."""

import numpy as np
import pytest

from secondorder.kernels import updates

#: Own numbers, and how many arrays of memory.
KERNELS = {"sgd": ((), 0), "momentum": ((0.9, 0), 1), "nesterov": ((0.9, 1), 1),
           "adagrad": ((1e-10,), 1), "adadelta": ((0.9, 0.1, 1e-6), 2),
           "adam": ((0.9, 0.1, 0.99, 0.01, 1.25, 1.5, 1e-8), 2)}


def run(name, dtype, gap=0, size=203, compiled=True, keep=1.0, rate=0.1):
    """Sums and new arrays, of arrays that lie one after the other in one block of memory."""
    own, count = KERNELS[name]
    kernel = getattr(updates, "momentum" if name == "nesterov" else name)
    rng, block = np.random.default_rng(0), np.zeros(8 * (size + gap), dtype)
    total, theta, *others = (block[i * (size + gap):][:size] for i in range(3 + 2 * count))
    memory, new = others[:count], others[count:]
    for array in (total, theta, *memory):
        array[:] = rng.normal(size=size)
    for array in memory:
        array[:] = abs(array)
    before = block[:(2 + count) * (size + gap)].copy()
    numbers = map(dtype, (1 / 7, 0.01, keep, rate, *own))
    read = getattr(kernel, "py_func", None) or kernel.function  # numba's function, after a call
    sums = (kernel if compiled else read)(total, theta, *numbers, *memory, *new)
    assert np.array_equal(before, block[:before.size]), "what comes in stays as it is"
    return sums, [array.copy() for array in new], total, theta


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_the_loop_as_one_reads_it(name, dtype):
    few = 20 * np.finfo(dtype).eps
    for compiled, read in zip(run(name, dtype)[1], run(name, dtype, compiled=False)[1]):
        np.testing.assert_allclose(compiled, read, rtol=few, atol=few)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_what_a_step_reports(name, dtype):
    (gg, dd, mm, size), (moved, *memory), total, theta = run(name, dtype)
    _, (direction, *again), _, _ = run(name, dtype, keep=0.0, rate=1.0)
    g = total.astype(float) / 7 + 0.01 * theta
    np.testing.assert_allclose(moved, theta + 0.1 * direction.astype(float), rtol=1e-5, atol=1e-6)
    assert [gg, dd, mm] == pytest.approx([float(np.sum(v.astype(float) ** 2))
                                          for v in (g, direction, moved)], rel=1e-5)
    assert all(map(np.array_equal, memory, again))
    assert size == pytest.approx(sum(float(abs(m).sum()) for m in memory), rel=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_the_same_bits_wherever_the_arrays_lie(name, dtype):
    sums, arrays, *_ = run(name, dtype)
    for gap in range(1, 40):
        other, moved, *_ = run(name, dtype, gap)
        assert other == sums and all(map(np.array_equal, moved, arrays)), gap
