"""Compiled steps against the formula that each method has in NumPy."""

import math

import numpy as np
import pytest

import secondorder as so
from secondorder.compiled import updates
from secondorder.optimizers import stepping

DTYPES = (np.dtype("float64"), np.dtype("float32"))
# class, settings, the memory whose size a whole step looks at
UPDATES = {
    "sgd": (so.SGD, {}, []),
    "momentum": (so.Momentum, {"momentum": 0.9}, ["buffer"]),
    "momentum-nesterov": (so.Momentum, {"momentum": 0.9, "nesterov": True}, ["buffer"]),
    "adagrad": (so.Adagrad, {"epsilon": 1e-6}, ["total"]),
    "adadelta": (so.Adadelta, {"rho": 0.9}, ["mean_square", "mean_square_change"]),
    "adam": (so.Adam, {"betas": (0.9, 0.999)}, ["second"]),
}


def made(name, size, dtype, **more):
    """A method for a network with `size` parameters that was trained for a while."""
    cls, settings, _ = UPDATES[name]
    net = so.Network([so.Linear(size, 1, bias=False, rng=size)], dtype=dtype)
    method = cls(net, so.SquaredError(), **{"learning_rate": 0.01, **settings, **more})
    rng = np.random.default_rng(size)
    for attribute in method.state_names:
        value = np.abs(rng.normal(size=size)).astype(dtype)
        setattr(method, attribute, 3 if attribute == "updates" else value)
    return method


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 7, 1023, 1024, 2500])
@pytest.mark.parametrize("name", UPDATES)
def test_an_update_is_the_formula(name, size, dtype):
    """Within 4 ulp of the largest term; sums to the dtype's rounding."""
    method, by_formula = made(name, size, dtype), made(name, size, dtype)
    rng = np.random.default_rng(size)
    total, theta = (rng.normal(size=size).astype(dtype) for _ in range(2))
    samples, l2, rate, one = map(dtype.type, (7, 0.3, 0.01, 1))
    g = total * (1 / samples) + l2 * theta
    by_formula.gradient = lambda evaluation: g
    direction = stepping.by_formula(by_formula, None)
    expected = theta + rate * direction
    memory = [getattr(by_formula, attribute) for attribute in UPDATES[name][2]]

    fused, start, moved = method.fused, theta.copy(), np.full(size, np.nan, dtype)
    old = [getattr(method, attribute) for attribute in fused.memory]
    kept, new = [a.copy() for a in old], [np.empty_like(a) for a in old]
    numbers = fused.numbers(method) if fused.numbers else ()
    arguments = (*old, *new, *map(dtype.type, numbers))
    sums, update = np.zeros(5), getattr(updates, fused.name)
    update(total, theta, moved, samples, l2, one, rate, sums, *arguments)
    eps = float(np.finfo(dtype).eps)
    largest = np.abs(theta) + rate * np.abs(direction)
    np.testing.assert_array_less(np.abs(moved - expected), 4 * eps * largest)
    assert np.array_equal(theta, start) and all(map(np.array_equal, old, kept))
    for mine, attribute in zip(new, fused.memory):
        np.testing.assert_allclose(mine, getattr(by_formula, attribute), rtol=4 * eps,
                                   atol=4 * eps, err_msg=attribute)
    wide = [np.sum(a.astype(np.float64) ** 2) for a in (g, theta, direction, expected)]
    size_of_memory = sum(np.abs(a).sum(dtype=np.float64) for a in memory)
    np.testing.assert_allclose(sums, [*wide, size_of_memory], rtol=40 * eps)
    # and once more, the direction alone, and the new parameters in the gradient's own place
    update(total, theta, alone := moved * 0, samples, l2, one * 0, one, np.zeros(5), *arguments)
    np.testing.assert_allclose(alone, direction, rtol=4 * eps,
                               atol=4 * eps * np.abs(direction).max())
    update(total, theta, total, samples, l2, one, rate, np.zeros(5), *arguments)
    assert np.array_equal(total, moved) and np.array_equal(theta, start)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("name", UPDATES)
def test_a_step_is_the_literal_step(name, own):
    """Of the optimizer's own evaluation, or of one that somebody else holds."""
    one, other = (made(name, 1500, "float64", l2=0.1) for _ in range(2))
    rng = np.random.default_rng(0)
    for _ in range(3):
        x, y = rng.normal(size=(7, 1500)), rng.normal(size=(7, 1))
        evaluation = one.evaluate(x, y)
        info = one.step(x, y) if own else one.step_from(evaluation)
        with so.literal():
            expected = other.step(x, y)
        assert info.keys() == expected.keys()
        assert info == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(one.network.theta, other.network.theta, rtol=1e-13, atol=1e-15)
        state = one.state_dict()
        for attribute, value in other.state_dict().items():
            if attribute != "method":
                np.testing.assert_allclose(state[attribute], value, rtol=1e-12, err_msg=attribute)
        other.load_state_dict(state)
        other.network.theta = one.network.theta


@pytest.mark.parametrize("name, scale, refused", [
    ("sgd", 1e-18, False), ("sgd", 1e-25, False), ("sgd", 3e19, False), ("sgd", 1e22, False),
    ("adam", 1e-21, False), ("adam", 1e24, True)])
def test_where_a_sum_of_squares_says_nothing_the_formula_decides(name, scale, refused):
    """Squares of float32 numbers vanish, or overflow, long before the numbers do."""
    method = made(name, 30, "float32", learning_rate=1e-3)
    method.loss, before = Scaled(scale), method.network.theta.copy()
    x, y = np.full((1, 30), 1e-3, "float32"), np.zeros((1, 1))
    if refused:
        with pytest.raises(FloatingPointError, match="second would overflow"):
            method.step(x, y)
        assert np.array_equal(method.network.theta, before) and method.steps == 0
        return
    info = method.step(x, y)
    assert info["gradient_norm"] == pytest.approx(math.sqrt(30) * scale * 1e-3, rel=1e-5, abs=0)
    assert info["direction_norm"] > 0 and np.isfinite(method.network.theta).all()


class Scaled(so.Loss):
    """scale p: the gradient in the outputs is the scale."""

    def __init__(self, scale):
        self.scale = scale

    def value(self, p, target):
        return self.scale * p[:, 0] * 0

    def gradient(self, p, target):
        return np.full_like(p, self.scale)


@pytest.mark.parametrize("size", [4, 8, 26])
@pytest.mark.parametrize("name", list(UPDATES))
def test_sums_do_not_depend_on_where_the_arrays_lie(name, size):
    """Neighbours in memory, in any order: a loop may not take its sums in another one."""
    fused = made(name, size, DTYPES[0]).fused
    update, memory = getattr(updates, fused.name), 2 * len(fused.memory)
    numbers = fused.numbers(made(name, size, DTYPES[0])) if fused.numbers else ()
    rng, found, count = np.random.default_rng(0), set(), 3 + memory
    values = rng.uniform(0.1, 1, size=(count, size))
    for _ in range(60):
        at = np.empty((count, size))
        total, theta, moved, *own = (at[i] for i in rng.permutation(count))
        for array, value in zip((total, theta, moved, *own), values):
            array[:] = value
        sums, more = np.zeros(5), [np.copy(number) if np.ndim(number) else number
                                   for number in numbers]
        update(total, theta, moved, 7.0, 0.1, 1.0, 0.1, sums, *own, *more)
        found.add(np.concatenate([sums, moved, *own, *map(np.atleast_1d, more)]).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("size", (3, updates.BLOCK, 2 * updates.BLOCK + 5))
def test_a_step_along_a_direction(size):
    gradient, direction, theta = np.random.default_rng(size).normal(size=(3, size))
    kept, sums, moved, none = theta.copy(), np.zeros(5), np.empty(size), np.empty(0)
    updates.along(none, theta, moved, 7.0, 0.0, 1.0, 0.25, sums, gradient, direction)
    np.testing.assert_allclose(moved, theta + 0.25 * direction, rtol=1e-14)
    np.testing.assert_array_equal(theta, kept)
    np.testing.assert_allclose(sums, [gradient @ gradient, theta @ theta, direction @ direction,
                                      moved @ moved, 0], rtol=1e-12)
