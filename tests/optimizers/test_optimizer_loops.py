"""Compiled updates and whole steps against the formula that each method has in NumPy."""

import itertools

import numpy as np
import pytest

import secondorder as so
from harness.one_pass import step_along
from secondorder.optimizers import loops

DTYPES = (np.dtype("float64"), np.dtype("float32"))
# class, settings, the memory whose largest entry a whole step looks at
UPDATES = {
    "sgd": (so.SGD, {}, None),
    "momentum": (so.Momentum, {"momentum": 0.9}, "buffer"),
    "momentum-nesterov": (so.Momentum, {"momentum": 0.9, "nesterov": True}, "buffer"),
    "adagrad": (so.Adagrad, {"epsilon": 1e-6}, "total"),
    "adadelta": (so.Adadelta, {"rho": 0.9}, "mean_square"),
    "adam": (so.Adam, {"betas": (0.9, 0.999)}, "second"),
}


def made(name, size, dtype, cls=None, **more):
    """A method for a network with `size` parameters that was trained for a while."""
    kind, settings, _ = UPDATES[name]
    net = so.Network([so.Linear(size, 1, bias=False, rng=size)], dtype=dtype)
    method = (cls or kind)(net, so.SquaredError(), learning_rate=0.01, **settings, **more)
    rng = np.random.default_rng(size)
    for attribute in method.state_names:
        value = np.abs(rng.normal(size=size)).astype(dtype)
        setattr(method, attribute, 3 if attribute == "updates" else value)
    return method


def memory(method):
    return [getattr(method, attribute) for attribute in method.state_names]


def assert_same_direction(name, found, expected):
    """Bit for bit; Adam's loop multiplies where the formula divides, twice."""
    if name == "adam":
        np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(found.dtype).eps, atol=0)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 7, 1003])
@pytest.mark.parametrize("name", UPDATES)
def test_update_loops_equal_the_formula_bit_for_bit(name, size, dtype):
    by_loop, by_formula = made(name, size, dtype), made(name, size, dtype)
    rng = np.random.default_rng(size)
    for scale in (1.0, 1e-12, 1e6, 0.0):
        g = (scale * rng.normal(size=size)).astype(dtype)
        g[3::5] = 0
        g.flags.writeable = False
        by_loop._gradient = by_formula._gradient = lambda evaluation: g
        old = memory(by_loop)
        kept = [np.copy(value) for value in old]
        found = by_loop.fused.direction(by_loop, None)
        assert_same_direction(name, found, by_formula._direction(None))
        assert found.dtype == dtype and np.isfinite(found).all()
        assert all(map(np.array_equal, old, kept)), "memory was written into"
        for mine, theirs in zip(memory(by_loop), memory(by_formula)):
            assert np.asarray(mine).dtype == np.asarray(theirs).dtype
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1023, 1024, 2500])
@pytest.mark.parametrize("name", UPDATES)
def test_loops_of_whole_steps_move_and_report(name, size, dtype):
    """Memory bit for bit, and parameters too where the direction is; sums, which may be taken in
    any order, to rounding in float64."""
    by_loop, by_formula = made(name, size, dtype), made(name, size, dtype)
    watched = UPDATES[name][2]

    def direction_of(g):
        by_formula._gradient = lambda evaluation: g
        direction = by_formula._direction(None)
        return direction, direction if watched is None else getattr(by_formula, watched)

    rng = np.random.default_rng(size)
    total, theta = (rng.normal(size=size).astype(dtype) for _ in range(2))
    samples, l2, rate = loops.scalars(dtype, 7, 0.3, 0.01)
    moved, expected_sums, sizes = step_along(direction_of, total, theta, samples, l2, rate)
    fused, start, found = by_loop.fused, theta.copy(), np.full(size, np.nan, dtype)
    loop, (old, new) = getattr(loops, f"{fused.name}_step"), fused._memory(by_loop)
    numbers, sums, peaks = fused._numbers(by_loop), np.zeros(3), np.zeros(3, np.int64)
    loop(total, theta, found, samples, l2, rate, sums, peaks, *old, *new, *numbers)
    eps = np.finfo(dtype).eps * (name == "adam")
    np.testing.assert_allclose(found, moved, rtol=eps, atol=8 * eps * rate * sizes[0])
    assert np.array_equal(theta, start) and not np.array_equal(found, start)
    assert all(map(np.array_equal, new, memory(by_formula)))
    # and once more with the new parameters in the gradient's own place
    loop(total, theta, total, samples, l2, rate, sums * 0, peaks, *old, *new, *numbers)
    assert np.array_equal(total, found) and np.array_equal(theta, start)
    np.testing.assert_allclose(sums, expected_sums, rtol=max(1e-12, 8 * eps))
    np.testing.assert_allclose([loops.number(bits, dtype) for bits in peaks], sizes, rtol=4 * eps)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("name", UPDATES)
def test_a_step_in_one_pass_is_the_step_by_the_formula(name, own):
    """Of the optimizer's own evaluation, or of one that somebody else holds."""
    kind = UPDATES[name][0]
    by_formula = type(kind.__name__, (kind,), {"_direction": lambda self, evaluation:
                                               kind._direction(self, evaluation)})
    one, other = (made(name, 1500, "float64", cls, l2=0.1) for cls in (kind, by_formula))
    rng = np.random.default_rng(0)
    for _ in range(3):
        x, y = rng.normal(size=(7, 1500)), rng.normal(size=(7, 1))
        evaluation = one.evaluate(x, y)
        info = one.step(x, y) if own else one.step_from(evaluation)
        expected = other.step(x, y)
        assert info.keys() == expected.keys()
        assert info == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(one.network.theta, other.network.theta, rtol=1e-14, atol=1e-16)
        state = one.state_dict()
        for attribute, value in other.state_dict().items():
            np.testing.assert_array_equal(state[attribute], value, err_msg=attribute)
        other.network.theta = one.network.theta


def test_sums_of_a_step_do_not_depend_on_where_its_arrays_lie():
    """Neighbours in memory, in any order: the loop may not take its sums in another one."""
    rng, size, found = np.random.default_rng(0), 26, set()
    theta, gradient = rng.normal(size=(2, size))
    for order in itertools.permutations(range(4)):
        at = np.zeros((4, size))
        rows = [at[i] for i in order]
        rows[0][:], rows[2][:], rows[3][:] = theta, gradient, -0.5 * gradient
        sums, peaks = np.zeros(3), np.zeros(3, np.int64)
        loops.move(*rows, rows[3], 0.1, sums, peaks)
        found.add(tuple(sums))
    assert len(found) == 1
