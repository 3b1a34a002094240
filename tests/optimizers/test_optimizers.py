"""Optimizers: every first-order method against its steps written out by hand, and the contract."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import secondorder as so
from secondorder.optimizers import Constant, ExponentialDecay, Optimizer

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


def test_gradient_and_objective_bear_the_penalty():
    network, ((x, y),) = linear(), batches(1)
    optimizer = so.SGD(network, so.SquaredError(), learning_rate=0.1, l2=0.3)
    evaluation, theta = optimizer.evaluate(x, y), network.theta
    expected = gradient_by_hand(theta.tolist(), x, y, 0.3)
    assert np.allclose(optimizer.gradient(evaluation), expected, rtol=1e-13, atol=1e-15)
    weights, bias = theta[:6].reshape(2, 3), theta[6:]
    losses = [sum((weights[i] @ row + bias[i] - t[i]) ** 2 for i in range(2)) / 2
              for row, t in zip(x, y)]
    assert optimizer.objective(evaluation) == pytest.approx(
        sum(losses) / len(x) + 0.15 * sum(t**2 for t in theta.tolist()), rel=1e-13)


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


def test_info(method):
    net = so.mlp([3, 4, 2], rng=0)
    optimizer = method(net, so.SquaredError(), l2=0.2)
    (x, y), before = batches(1)[0], net.theta.copy()
    expected = net.evaluate(so.SquaredError(), x, y)
    gradient = so.exact.gradient(net, so.SquaredError(), x, y, l2=0.2)
    info = optimizer.step(x, y)
    assert info["loss"] == expected.loss
    assert info["objective"] == pytest.approx(expected.loss + 0.1 * before @ before, rel=1e-14)
    assert info["gradient_norm"] == pytest.approx(np.linalg.norm(gradient), rel=1e-13)
    assert info["step_norm"] == pytest.approx(np.linalg.norm(net.theta - before),
                                              rel=1e-10) and info["step_norm"] > 0
    assert info["learning_rate"] == optimizer.learning_rate and optimizer.steps == 1
    if info.get("halvings", 0) == 0:
        assert info["step_norm"] == pytest.approx(info["learning_rate"] * info["direction_norm"],
                                                  rel=1e-13)
    assert all(type(value) in (bool, int, float) for value in info.values())


def trained(kind):
    """An optimizer after two steps, and a state of another one after five."""
    optimizer, other = (kind(linear(rng), so.SquaredError(), learning_rate=0.1) for rng in (0, 1))
    for x, y in batches(2):
        optimizer.step(x, y)
    for x, y in batches(5, seed=6):
        other.step(x, y)
    return optimizer, other.state_dict()


@pytest.mark.parametrize("kind, change, error, words", [
    (so.Adam, {"steps": "x"}, TypeError, "state: steps"),
    (so.Adam, {"steps": -5}, ValueError, "state: steps"),
    (so.Adam, {"updates": -1}, ValueError, "state: updates"),
    (so.Adam, {"updates": np.zeros(3)}, ValueError, "state: updates"),
    (so.Adam, {"second": None}, ValueError, "state: second"),
    (so.Adam, {"second": np.zeros(3)}, ValueError, "state: second has shape"),
    (so.Adam, {"second": np.zeros(8, "float32")}, ValueError, "state: second has .*float32"),
    (so.Adam, {"method": "Adagrad"}, ValueError, "state: belongs to Adagrad"),
    (so.Adam, {"more": 1}, ValueError, "state: expected the entries"),
    (so.Momentum, {"buffer": "b"}, ValueError, "state: buffer"),
    (so.TruncatedNewton, {"damping": -1.0}, ValueError, "state: damping")])
def test_refused_state_leaves_every_entry_alone(kind, change, error, words):
    optimizer, state = trained(kind)
    before = optimizer.state_dict()
    with pytest.raises(error, match=words):
        optimizer.load_state_dict(state | change)
    after = optimizer.state_dict()
    assert before.keys() == after.keys() and all(np.array_equal(before[name], after[name])
                                                 for name in before)
    optimizer.load_state_dict(state)
    assert optimizer.steps == 5


@pytest.mark.parametrize("wrong", [None, [1]])
def test_what_is_no_state(wrong):
    with pytest.raises(TypeError, match="state must be"):
        so.SGD(linear(), so.SquaredError()).load_state_dict(wrong)


def test_state_through_a_file_of_arrays(method, tmp_path):
    """numpy.savez makes arrays without axes of the numbers."""
    optimizer, (x, y) = method(linear(), so.SquaredError()), batches(1)[0]
    optimizer.step(x, y)
    np.savez(tmp_path / "state.npz", **optimizer.state_dict())
    again = method(optimizer.network.copy(), so.SquaredError())
    with np.load(tmp_path / "state.npz") as state:
        again.load_state_dict(state)
    assert optimizer.step(x, y) == again.step(x, y)


def test_evaluation_of_another_point_or_network(method):
    net = linear()
    optimizer = method(net, so.SquaredError())
    x, y = batches(1)[0]
    with pytest.raises(ValueError, match="another network"):
        optimizer.direction(net.copy().evaluate(so.SquaredError(), x, y))
    with pytest.raises(ValueError, match=r"another loss, BoundedCriterion.*SquaredError\(\)"):
        optimizer.direction(net.evaluate(so.BoundedCriterion(), x, np.zeros(7, int)))
    tukey = method(net, so.TukeyBiweight(c=2.0))
    with pytest.raises(ValueError, match="another loss"):
        tukey.step_from(net.evaluate(so.TukeyBiweight(c=3.0), x, y))
    # made apart, but alike
    for own, same in ((optimizer, so.SquaredError()), (tukey, so.TukeyBiweight(c=2.0))):
        assert np.isfinite(own.direction(net.evaluate(same, x, y))).all()
    for wrong in (None, x, optimizer):
        for call in (optimizer.direction, optimizer.gradient, optimizer.objective,
                     optimizer.step_from):
            with pytest.raises(
                TypeError, match="evaluation must be an Evaluation of this optimizer's network"
            ):
                call(wrong)
    evaluation = optimizer.evaluate(x, y)
    assert evaluation.gradient.any() and optimizer.steps == 0
    net.theta = net.theta + 1
    with pytest.raises(RuntimeError, match="changed"):
        optimizer.direction(evaluation)


@pytest.mark.parametrize("kind, settings", [(so.SGD, {}), (so.Momentum, {}),
                                            (so.TruncatedNewton, {"max_halvings": 0})])
def test_not_finite_step_leaves_parameters(kind, settings):
    net = linear()
    optimizer = kind(net, so.SquaredError(), learning_rate=1e308, **settings)
    theta = net.theta.copy()
    x, y = batches(1)[0]
    with pytest.raises(FloatingPointError,
                       match=rf"{kind.__name__}, step 1: the new parameters of layer 0"):
        optimizer.step(x, 1e3 * y)
    assert np.array_equal(net.theta, theta) and optimizer.steps == 0
    with pytest.raises(FloatingPointError, match="Wrong, step 1: the direction of layer 0"):
        Wrong(net, so.SquaredError(), np.full(8, np.nan)).step(x, y)
    assert np.array_equal(net.theta, theta)


@pytest.mark.parametrize("place", ["direction", "schedule"])
def test_overflow_of_plain_numbers_is_named(place):
    class Overflowing(so.SGD):
        def direction(self, evaluation):
            self.details["square"] = 1e200 ** (2 if place == "direction" else 1)
            return super().direction(evaluation)

    net = linear()
    optimizer = Overflowing(net, so.SquaredError(), lambda step: 1e200**step)
    theta, optimizer.steps = net.theta.copy(), 2 if place == "schedule" else 0
    with pytest.raises(FloatingPointError, match=r"Overflowing, step \d: overflow") as info:
        optimizer.step(*batches(1)[0])
    assert isinstance(info.value.__cause__, OverflowError) and np.array_equal(net.theta, theta)


def test_overflow_of_a_trial_counts_as_worse():
    """Truncated Newton shortens a step at whose end a loss in plain numbers overflows."""
    class Cliff(so.SquaredError):
        def value(self, p, target):
            return super().value(p, target) * math.exp(1e3 if np.abs(p).max() > 100 else 0)

    optimizer = so.TruncatedNewton(linear(), Cliff(), learning_rate=1e6, max_halvings=60)
    info = optimizer.step(*batches(1)[0])
    assert info["accepted"] and info["halvings"] > 10


def test_huge_parameters_have_no_penalty_without_l2():
    net = linear()
    net.theta = np.zeros(8)
    net.layers[0].bias = [1e150, -1e160]
    x, y = np.zeros((1, 3)), np.array([[1e150, -1e160]])
    assert so.SGD(net, so.SquaredError()).step(x, y)["objective"] == 0
    assert so.SGD(net, so.SquaredError(), l2=1.0).step(x, y)["objective"] == np.inf


@pytest.mark.parametrize("kind", [so.Adagrad, so.Adadelta, so.Adam])
def test_overflowing_squares_are_named(kind):
    net = linear(dtype="float32")
    net.theta = np.zeros(8)
    theta = net.theta.copy()
    x = batches(1)[0][0]
    with pytest.raises(FloatingPointError, match=f"{kind.__name__}, step 1.*float32"):
        # the gradient is finite, its square is not
        kind(net, so.SoftmaxCrossEntropy()).step(1e25 * x, np.arange(7) % 2)
    assert np.array_equal(net.theta, theta)


def test_zero_gradient_stays(method):
    """No 0/0 where the gradient is exactly zero."""
    net = linear()
    optimizer = method(net, so.SquaredError())
    x = batches(1)[0][0]
    y, theta = net(x), net.theta.copy()
    for _ in range(3):
        info = optimizer.step(x, y)
    assert np.array_equal(net.theta, theta) and info["gradient_norm"] == 0


@pytest.mark.parametrize("size", [1e-100, 1e-160, 1e-300])
def test_tiny_gradients(method, size):
    """Gradients whose squares underflow move nothing far and become no NaN."""
    net = linear()
    net.theta = np.zeros(8)
    info = method(net, so.SquaredError()).step(batches(1)[0][0], np.full((7, 2), size))
    assert np.all(np.abs(net.theta) <= 1e9 * size) and np.isfinite(list(info.values())).all()


class Wrong(Optimizer):
    def __init__(self, network, loss, result):
        super().__init__(network, loss, 0.1)
        self.result = result

    def direction(self, evaluation):
        self.details["answer"] = 42
        return self.result


def test_own_method():
    net, (x, y) = linear(), batches(1)[0]
    optimizer = Wrong(net, so.SquaredError(), np.ones(8))
    before = net.theta.copy()
    assert optimizer.step(x, y)["answer"] == 42
    np.testing.assert_allclose(net.theta, before + 0.1, rtol=1e-14)
    for wrong in (np.ones(7), np.ones(8, np.float32), [1.0] * 8, None):
        with pytest.raises(TypeError, match=r"direction of Wrong must be a float64 array \(8,\)"):
            Wrong(linear(), so.SquaredError(), wrong).step(x, y)
    with pytest.raises(TypeError, match="does not define direction"):
        Optimizer(linear(), so.SquaredError(), 0.1).step(x, y)


def test_bad_networks_and_losses(method):
    with pytest.raises(ValueError, match="no trainable parameters"):
        method(so.Network([so.Linear(3, 2, trainable=False)]), so.SquaredError())
    with pytest.raises(ValueError, match="real"):
        method(linear().astype("complex128"), so.SquaredError())
    with pytest.raises(TypeError, match="network"):
        method(so.SquaredError(), linear())
    for wrong in ("squared", so.SquaredError, None):
        with pytest.raises(TypeError,
                           match="loss must be a Loss instance such as SquaredError") as info:
            method(linear(), wrong)
        assert "lacks" not in str(info.value)


PASSES = ("value", "gradient", "hessian", "hessian_product", "hessian_diagonal", "prepare_target")


def test_a_loss_of_another_family_is_told_what_it_lacks(method):
    loss = SimpleNamespace(**{name: getattr(so.SquaredError(), name) for name in PASSES})
    assert method(linear(), loss).step(*batches(1)[0])["step_norm"] > 0
    loss.gradient = loss.hessian_product = None
    with pytest.raises(TypeError, match="loss must be .*, which lacks gradient, hessian_product$"):
        method(linear(), loss)


# -- schedules -------------------------------------------------------------------------------------


def test_schedules():
    smooth = ExponentialDecay(0.2, 0.25, every=10)
    stairs = ExponentialDecay(0.2, 0.25, every=10, staircase=True)
    np.testing.assert_allclose([smooth(0), smooth(5), smooth(10), smooth(20)],
                               [0.2, 0.1, 0.05, 0.0125], rtol=1e-14)
    np.testing.assert_allclose([stairs(0), stairs(9), stairs(10), stairs(20)],
                               [0.2, 0.2, 0.05, 0.0125], rtol=1e-14)
    assert Constant(0.3)(0) == Constant(0.3)(10**6) == 0.3


@pytest.mark.parametrize("staircase", [False, True])
def test_a_schedule_stays_within_what_a_float_holds(staircase):
    """It neither ends a run when it underflows, nor overflows."""
    falling = ExponentialDecay(0.1, 0.5, every=1, staircase=staircase)
    rising = ExponentialDecay(0.1, 2.0, every=1, staircase=staircase)
    for step in (1000, 1100, 10**6):
        assert 0 < falling(step) < 1e-300 and 1e299 < rising(step) < math.inf
    net, ((x, y),) = linear(), batches(1)
    optimizer = so.SGD(net, so.SquaredError(), falling)
    optimizer.steps, theta = 5000, net.theta.copy()
    optimizer.step(x, y)
    assert np.array_equal(net.theta, theta) and optimizer.steps == 5001


def test_rate_follows_steps_and_assignment():
    net, data = linear(), batches(4)
    optimizer = so.SGD(net, so.SquaredError(), learning_rate=lambda step: 0.1 / (1 + step))
    rates = [optimizer.step(x, y)["learning_rate"] for x, y in data[:3]]
    np.testing.assert_allclose(rates, [0.1, 0.05, 0.1 / 3], rtol=1e-14)
    optimizer.learning_rate = 0.7
    assert optimizer.step(*data[3])["learning_rate"] == 0.7
    optimizer.learning_rate = lambda step: 1.0 - step / 4
    with pytest.raises(ValueError, match="learning_rate at step 4"):
        optimizer.step(*data[0])
    with pytest.raises(ValueError, match="learning_rate"):
        optimizer.learning_rate = -1


@pytest.mark.parametrize("dtype, sizes", [("float64", (1e-320, 1e-200, 1.0, 1e155, 1e200, 1e306)),
                                          ("float32", (1e-44, 1e-30, 1.0, 1e30, 3e37))])
def test_norm_is_finite_wherever_float64_can_hold_it(dtype, sizes):
    from secondorder.optimizers.norms import norm

    for size in sizes:
        v = (size * np.array([3.0, -4.0, 0.0])).astype(dtype)
        assert norm(v) == pytest.approx(math.hypot(*v.astype(float)), rel=1e-12), size
    assert norm(np.zeros(3, dtype)) == 0.0 == norm(np.zeros(0, dtype))
    assert norm(np.array([1.0, np.inf], dtype)) == np.inf
    assert math.isnan(norm(np.array([1.0, np.nan], dtype)))
    # one large entry among many that are lost beside it, and the other way round
    many = np.full(10_000, 1e-170) if dtype == "float64" else np.full(10_000, 1e-20, dtype)
    assert norm(many) == pytest.approx(100 * float(many[0]), rel=1e-12)


@pytest.mark.parametrize("made, name, value, bad", [
    (so.Momentum, "momentum", 0.5, 1.5), (so.Adam, "betas", (0.5, 0.5), (2, 0)),
    (so.Adadelta, "rho", 0.5, 2), (so.TruncatedNewton, "curvature", "gauss-newton", "printed"),
    (so.SGD, "l2", 0.5, -1), (so.EACG, "momentum", 0.5, 1.5),
    (so.ResidualPartitioning, "negative_curvature", "max", "min"),
    (so.ResidualPartitioning, "output", "jensen", "printed")])
def test_a_setting_that_is_set_is_checked_and_used(made, name, value, bad):
    def optimizer(**given):
        return made(so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy(), learning_rate=0.1, **given)

    x = np.random.default_rng(0).normal(size=(6, 3))
    changed, other = optimizer(), optimizer(**{name: value})
    setattr(changed, name, value)
    with pytest.raises((TypeError, ValueError), match=name):
        setattr(changed, name, bad)
    for _ in range(3):
        changed.step(x, np.arange(6) % 2)
        other.step(x, np.arange(6) % 2)
    assert np.array_equal(changed.network.theta, other.network.theta)
