"""Optimizers: every first-order method against its steps written out by hand, and the contract."""

import math

import numpy as np
import pytest

import secondorder as so
from secondorder.optimizers import Constant, ExponentialDecay, Optimizer
from test_interrupts import same

METHODS = {
    "sgd": (so.SGD, {"learning_rate": 0.1}),
    "momentum": (so.Momentum, {"learning_rate": 0.1, "momentum": 0.8}),
    "nesterov": (so.Momentum, {"learning_rate": 0.1, "momentum": 0.8, "nesterov": True}),
    "adagrad": (so.Adagrad, {"learning_rate": 0.1, "initial_accumulator": 0.1}),
    "adadelta": (so.Adadelta, {"learning_rate": 1.0, "rho": 0.8}),
    "adam": (so.Adam, {"learning_rate": 0.1, "betas": (0.8, 0.95)}),
    "truncated-newton": (so.TruncatedNewton, {"damping": 0.5}),
    "gauss-newton": (so.TruncatedNewton, {"curvature": "gauss-newton", "learning_rate": 0.7}),
}


@pytest.fixture(params=METHODS)
def method(request):
    kind, settings = METHODS[request.param]
    return lambda network, loss, **more: kind(network, loss, **(settings | more))


def linear(rng=0, dtype="float64"):
    """One linear layer, 3 -> 2: eight parameters and a gradient known in closed form."""
    return so.mlp([3, 2], rng=rng, dtype=dtype)


def batches(count, samples=7, seed=5):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(samples, 3)), rng.normal(size=(samples, 2))) for _ in range(count)]


def gradient_by_hand(theta, x, y, l2):
    """Of mean 0.5 |W x + b - y|^2 + (l2 / 2) |theta|^2, in plain Python."""
    g = [l2 * t for t in theta]
    for row, target in zip(x.tolist(), y.tolist()):
        for i in range(2):
            error = sum(theta[3 * i + j] * row[j] for j in range(3)) + theta[6 + i] - target[i]
            for j in range(3):
                g[3 * i + j] += error * row[j] / len(x)
            g[6 + i] += error / len(x)
    return g


class Scalar:
    """One parameter's memory and update, straight from the published formulas."""

    def __init__(self, name):
        self.name, self.a, self.b, self.t = name, 0.1 if name == "adagrad" else 0.0, 0.0, 0

    def update(self, g, rate):
        self.t += 1
        if self.name == "sgd":
            return -rate * g
        if self.name in ("momentum", "nesterov"):
            self.a = 0.8 * self.a + g
            return -rate * (g + 0.8 * self.a) if self.name == "nesterov" else -rate * self.a
        if self.name == "adagrad":
            self.a += g**2
            return -rate * g / (math.sqrt(self.a) + 1e-10)
        if self.name == "adadelta":
            self.a = 0.8 * self.a + 0.2 * g**2
            change = -math.sqrt(self.b + 1e-6) / math.sqrt(self.a + 1e-6) * g
            self.b = 0.8 * self.b + 0.2 * change**2
            return rate * change
        self.a = 0.8 * self.a + 0.2 * g
        self.b = 0.95 * self.b + 0.05 * g**2
        return -rate * (self.a / (1 - 0.8**self.t)) / (math.sqrt(self.b / (1 - 0.95**self.t))
                                                       + 1e-8)


@pytest.mark.parametrize("name", ["sgd", "momentum", "nesterov", "adagrad", "adadelta", "adam"])
def test_steps_written_out(name):
    kind, settings = METHODS[name]
    rate = settings["learning_rate"]
    net = linear()
    schedule = ExponentialDecay(rate, 0.5, every=2)
    optimizer = kind(net, so.SquaredError(), **(settings | {"learning_rate": schedule, "l2": 0.3}))
    theta = net.theta.tolist()
    memory = [Scalar(name) for _ in theta]
    for step, (x, y) in enumerate(batches(7)):
        optimizer.step(x, y)
        g = gradient_by_hand(theta, x, y, 0.3)
        theta = [t + m.update(gi, rate * 0.5 ** (step / 2)) for t, m, gi in zip(theta, memory, g)]
        np.testing.assert_allclose(net.theta, theta, rtol=1e-12, atol=1e-13)


# -- the contract ----------------------------------------------------------------------------------


def test_what_a_step_reports(method):
    net = so.mlp([3, 4, 2], rng=0)
    optimizer = method(net, so.SquaredError(), l2=0.2)
    (x, y), before = batches(1)[0], net.theta.copy()
    expected = net.evaluate(so.SquaredError(), x, y)
    gradient = so.exact.gradient(net, so.SquaredError(), x, y, l2=0.2)
    info = optimizer.step(x, y)
    assert info["loss"] == expected.loss
    assert info["objective"] == pytest.approx(expected.loss + 0.1 * before @ before, rel=1e-14)
    assert info["gradient_norm"] == pytest.approx(np.linalg.norm(gradient), rel=1e-13)
    assert info["step_norm"] == pytest.approx(np.linalg.norm(net.theta - before), rel=1e-10)
    assert info["learning_rate"] == optimizer.learning_rate and optimizer.steps == 1
    if info.get("halvings", 0) == 0:
        assert info["step_norm"] == pytest.approx(info["learning_rate"] * info["direction_norm"],
                                                  rel=1e-13)
    assert all(type(value) in (bool, int, float) for value in info.values())


@pytest.mark.parametrize("change, name", [
    ({"steps": -5}, "steps"), ({"second": None}, "second"), ({"second": np.zeros(3)}, "second"),
    ({"second": np.full(8, np.nan)}, "second"), ({"updates": np.zeros(3)}, "updates"),
    ({"method": "Adagrad"}, "Adagrad"), ({"more": 1}, "more")])
def test_a_state_that_does_not_fit_changes_nothing(change, name):
    optimizer, other = (so.Adam(linear(rng), so.SquaredError()) for rng in (0, 1))
    for x, y in batches(2):
        other.step(x, y)
    before, state = optimizer.state_dict(), other.state_dict()
    with pytest.raises(ValueError, match=f"state: .*{name}"):
        optimizer.load_state_dict(state | change)
    assert same(optimizer.state_dict(), before)
    optimizer.load_state_dict(state)
    assert same(optimizer.state_dict(), state) and optimizer.steps == 2


def test_evaluations_that_are_not_the_methods_own():
    net, (x, y) = linear(), batches(1)[0]
    optimizer = so.Momentum(net, so.SquaredError())
    with pytest.raises(ValueError, match="another network"):
        optimizer.direction(net.copy().evaluate(so.SquaredError(), x, y))
    for call in (optimizer.direction, optimizer.gradient, optimizer.objective):
        with pytest.raises(TypeError, match="^evaluation"):
            call(x)
    evaluation = optimizer.evaluate(x, y)
    net.theta = net.theta + 1
    with pytest.raises(RuntimeError, match="changed"):
        optimizer.direction(evaluation)


@pytest.mark.parametrize("kind, settings", [(so.SGD, {}), (so.Momentum, {}),
                                            (so.TruncatedNewton, {"max_halvings": 0})])
def test_a_step_that_is_not_finite_leaves_parameters(kind, settings):
    net, (x, y) = linear(), batches(1)[0]
    optimizer = kind(net, so.SquaredError(), learning_rate=1e308, **settings)
    theta = net.theta.copy()
    with pytest.raises(FloatingPointError, match=f"{kind.__name__}, step 1.*layer 0"):
        optimizer.step(x, 1e3 * y)
    with pytest.raises(FloatingPointError, match="Own, step 1: the direction of layer 0"):
        Own(net, so.SquaredError(), np.full(8, np.nan)).step(x, y)
    assert np.array_equal(net.theta, theta) and optimizer.steps == 0


@pytest.mark.parametrize("kind", [so.Adagrad, so.Adadelta, so.Adam])
def test_overflowing_squares_are_named(kind):
    net = linear(dtype="float32")
    net.theta = np.zeros(8)
    with pytest.raises(FloatingPointError, match=f"{kind.__name__}, step 1.*float32"):
        # the gradient is finite, its square is not
        kind(net, so.SoftmaxCrossEntropy()).step(1e25 * batches(1)[0][0], np.arange(7) % 2)
    assert not net.theta.any()


@pytest.mark.parametrize("size", [0, 1e-160, 1e-300])
def test_gradients_that_vanish(method, size):
    """No 0/0, and where squares underflow nothing moves far."""
    net = linear()
    net.theta = np.zeros(8)
    info = method(net, so.SquaredError()).step(batches(1)[0][0], np.full((7, 2), size))
    assert np.all(np.abs(net.theta) <= 1e9 * size) and np.isfinite(list(info.values())).all()


class Own(Optimizer):
    def __init__(self, network, loss, result):
        super().__init__(network, loss, 0.1)
        self.result = result

    def direction(self, evaluation):
        self.details["answer"] = 42
        return self.result


def test_a_method_of_ones_own():
    net, (x, y) = linear(), batches(1)[0]
    before = net.theta.copy()
    assert Own(net, so.SquaredError(), np.ones(8)).step(x, y)["answer"] == 42
    np.testing.assert_allclose(net.theta, before + 0.1, rtol=1e-14)
    for wrong in (np.ones(7), np.ones(8, np.float32), None):
        with pytest.raises(TypeError, match="direction of Own"):
            Own(linear(), so.SquaredError(), wrong).step(x, y)
    for names in ({"steps": 3}, {"state_names": ("steps",)}, {"state_names": "total"}):
        with pytest.raises(TypeError, match="class Mine"):
            type("Mine", (Optimizer,), names)


@pytest.mark.parametrize("made, name, value, bad", [
    (so.Momentum, "momentum", 0.5, 1.5), (so.Adam, "betas", (0.5, 0.5), (2, 0)),
    (so.Adadelta, "rho", 0.5, 2), (so.TruncatedNewton, "curvature", "gauss-newton", "printed"),
    (so.SGD, "l2", 0.5, -1), (so.SGD, "learning_rate", 0.5, -1), (so.EACG, "momentum", 0.5, 1.5),
    (so.ResidualPartitioning, "negative_curvature", "max", "min")])
def test_a_setting_that_is_set_is_checked_and_used(made, name, value, bad):
    def optimizer(**given):
        return made(so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy(),
                    **({"learning_rate": 0.1} | given))

    x = np.random.default_rng(0).normal(size=(6, 3))
    changed, other = optimizer(), optimizer(**{name: value})
    setattr(changed, name, value)
    with pytest.raises((TypeError, ValueError), match=name):
        setattr(changed, name, bad)
    for _ in range(3):
        changed.step(x, np.arange(6) % 2)
        other.step(x, np.arange(6) % 2)
    assert np.array_equal(changed.network.theta, other.network.theta)


def test_schedules():
    smooth = ExponentialDecay(0.2, 0.25, every=10)
    stairs = ExponentialDecay(0.2, 0.25, every=10, staircase=True)
    np.testing.assert_allclose([smooth(0), smooth(5), smooth(10), smooth(20)],
                               [0.2, 0.1, 0.05, 0.0125], rtol=1e-14)
    np.testing.assert_allclose([stairs(0), stairs(9), stairs(10), stairs(20)],
                               [0.2, 0.2, 0.05, 0.0125], rtol=1e-14)
    assert Constant(0.3)(0) == Constant(0.3)(10**6) == 0.3
    optimizer = so.SGD(linear(), so.SquaredError(), lambda step: 1.0 - step / 2)
    rates = [optimizer.step(x, y)["learning_rate"] for x, y in batches(2)]
    assert rates == [1.0, 0.5]
    with pytest.raises(ValueError, match="learning_rate at step 2"):
        optimizer.step(*batches(1)[0])
