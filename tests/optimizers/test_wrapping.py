"""A method that wraps another, here "half the step" around every method: counts, reports, memory,
failures, resuming."""

import itertools

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Evaluation
from secondorder.optimizers import ExponentialDecay, Wrapper
from test_interrupts import same
from test_optimizers import METHODS, batches

ALL = METHODS | {
    "partitioning": (so.ResidualPartitioning, {"learning_rate": 0.5}),
    "partitioning-damped": (so.ResidualPartitioning,
                           {"learning_rate": 0.5, "damping": 0.1}),
}
#: Method -> how often its step calls what each method calls once, beyond that.
MORE = {so.TruncatedNewton: {"evaluation": 1, "forward": 1, "batch": 1}}
STEEP = ExponentialDecay(0.4, 0.5, every=2)


class Halved(Wrapper):
    """Half the step that rate times direction is, with a memory of its own: how far it went in
    all."""

    state_names = ("distance",)

    def __init__(self, base):
        super().__init__(base)
        self.distance = 0.0

    def change(self, evaluation, direction, rate):
        change = 0.5 * super().change(evaluation, direction, rate)
        self.distance += float(np.abs(change).sum())
        self.details["part"] = 0.5
        return change


@pytest.fixture(params=ALL)
def method(request):
    kind, settings = ALL[request.param]
    return lambda network=None, loss=so.SquaredError(), **more: kind(
        so.mlp([3, 4, 2], rng=0) if network is None else network, loss, **(settings | more))


# -- what a wrapper does ---------------------------------------------------------------------------


def test_half_the_step(method):
    """Against a twin whose direction is taken and whose parameters are moved by hand, its schedule
    advanced by hand."""
    twin = method(learning_rate=STEEP, l2=0.1)
    wrapped = Halved(method(learning_rate=STEEP, l2=0.1))
    for x, y in batches(6):
        evaluation, rate = twin.evaluate(x, y), twin.learning_rate
        direction = twin.direction(evaluation)
        change = 0.5 * rate * direction
        twin.details = {}
        twin.observe(evaluation, change)
        twin.network.theta = twin.network.theta + change
        twin.steps += 1
        info = wrapped.step(x, y)
        np.testing.assert_allclose(wrapped.network.theta, twin.network.theta, rtol=1e-13,
                                   atol=1e-15)
        assert info["part"] == 0.5 and info["learning_rate"] == rate
        assert info["direction_norm"] == pytest.approx(np.linalg.norm(direction), rel=1e-12)
        assert info["step_norm"] == pytest.approx(0.5 * rate * np.linalg.norm(direction), rel=1e-12)
    assert wrapped.steps == wrapped.base.steps == 6


def test_reports_of_the_base_stand_under_its_name(method):
    wrapped, alone = Halved(method(l2=0.1)), method(l2=0.1)
    x, y = batches(1)[0]
    info, own = wrapped.step(x, y), alone.step(x, y)
    name = type(alone).__name__
    shared = {"loss", "objective", "gradient_norm", "direction_norm"}
    assert all(info[key] == pytest.approx(own[key], rel=1e-12) for key in shared)
    made = set(info[name])
    assert made <= set(own) - shared and "part" not in made
    assert made >= {"cg_iterations", "damping"} if name == "TruncatedNewton" else True
    assert made >= {"bound_decrease"} if name == "ResidualPartitioning" else True
    for key in made - {"reduction_ratio"}:
        assert info[name][key] == pytest.approx(own[key], rel=1e-12)


def test_network_loss_penalty_and_rate_are_the_bases(method):
    base = method(l2=0.3, learning_rate=STEEP)
    wrapped = Halved(base)
    assert wrapped.network is base.network and wrapped.loss is base.loss and wrapped.l2 == 0.3
    assert wrapped.schedule is STEEP and wrapped.depends_on_rate == base.depends_on_rate
    x, y = batches(1)[0]
    evaluation = wrapped.evaluate(x, y)
    assert wrapped.objective(evaluation) == base.objective(evaluation) > evaluation.loss
    assert np.array_equal(wrapped.gradient(evaluation), base.gradient(evaluation))
    wrapped.learning_rate = 0.125
    wrapped.l2 = 0.5
    assert base.learning_rate == wrapped.step(x, y)["learning_rate"] == 0.125 and base.l2 == 0.5
    assert repr(wrapped).startswith(f"Halved({type(base).__name__}(")


def test_a_direction_that_depends_on_the_rate_uses_the_scheduled_one():
    def direction(rate, steps):
        base = so.ResidualPartitioning(so.mlp([3, 4, 2], rng=0), so.SquaredError(), rate, l2=0.5)
        base.steps = steps
        assert base.depends_on_rate
        return Halved(base).direction(base.evaluate(*batches(1)[0]))

    assert np.array_equal(direction(ExponentialDecay(8.0, 0.5, every=1), 2), direction(2.0, 0))
    assert not np.allclose(direction(8.0, 0), direction(2.0, 0), rtol=1e-3)
    net, loss = so.mlp([3, 4, 2], rng=0), so.SquaredError()
    assert not so.ResidualPartitioning(net, loss).depends_on_rate
    assert not so.Adam(net, loss, l2=0.5).depends_on_rate


class Far(Wrapper):
    part = 1.0

    def change(self, evaluation, direction, rate):
        return self.part * direction


def test_truncated_newton_learns_from_the_change_that_is_made():
    """Where the model still promises a decrease, the objective's own tells whether the damping
    grows or shrinks."""
    (x, y), seen = batches(1)[0], set()
    for part, seed in itertools.product((1e-3, 3.0, 10.0, 15.0, 20.0, 30.0, 1e3), range(4)):
        net, loss = so.mlp([3, 4, 2], init=1.0, rng=seed), so.SquaredError()
        wrapped = Far(so.TruncatedNewton(net, loss, damping=6.0))
        wrapped.part, theta, H = part, net.theta.copy(), so.exact.hessian(net, loss, x, y)
        before, g = net.evaluate(loss, x, y).loss, so.exact.gradient(net, loss, x, y)
        told = wrapped.step(x, y)["TruncatedNewton"]
        s = net.theta - theta
        promised = -(g @ s + s @ H @ s / 2)
        growth, ratio = 1, (before - net.evaluate(loss, x, y).loss) / promised
        if promised > 0:
            assert told["reduction_ratio"] == pytest.approx(max(ratio, -1), rel=1e-6)
            growth = 1.5 if ratio < 0.25 else 2 / 3 if ratio > 0.75 else 1
        else:
            assert "reduction_ratio" not in told
        assert wrapped.base.damping == pytest.approx(6.0 * growth) and told["damping"] == 6.0
        seen.add((bool(promised > 0), growth))
    assert seen >= {(True, 1.5), (True, 2 / 3), (False, 1)}


def test_a_wrapper_of_a_wrapper(method):
    inner, once, twice = method(), Halved(method()), Halved(Halved(method()))
    for x, y in batches(3):
        inner.step(x, y), once.step(x, y)
        info = twice.step(x, y)
    name = type(inner).__name__
    assert info["Halved"][name].keys() <= inner.details.keys()
    assert [m.steps for m in (twice, twice.base, twice.base.base)] == [3, 3, 3]
    # the outer one decides; the inner one's change is not called
    assert np.array_equal(once.network.theta,
                          twice.network.theta) and twice.base.distance == 0 < twice.distance


def test_only_optimizers_are_wrapped():
    with pytest.raises(TypeError, match="base must be an Optimizer, got"):
        Halved(so.mlp([3, 2], rng=0))


def test_a_history_holds_the_bases_numbers():
    rng = np.random.default_rng(0)
    base = so.TruncatedNewton(so.mlp([3, 4, 2], rng=0), so.SquaredError(), damping=0.5)
    history = so.train(Halved(base), rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), epochs=2,
                       batch_size=20, rng=0)
    assert history.method == "Halved" and history.records[-1]["part"] == 0.5
    assert history.column("TruncatedNewton.damping")[1:].max() <= 0.5
    assert history.column("TruncatedNewton.cg_iterations")[1:].min() >= 1


# -- evaluations, overridden directions ------------------------------------------------------------


def test_one_evaluation_a_step(method, monkeypatch):
    """The wrapper makes it, the base shares it; TruncatedNewton looks once more, at the end of the
    step."""
    wrapped, calls = Halved(method()), []
    made, forward = Evaluation.__init__, wrapped.network.chain.forward
    monkeypatch.setattr(Evaluation, "__init__", lambda *a, **named: calls.append("evaluation")
                        or made(*a, **named))
    monkeypatch.setattr(wrapped.network.chain, "forward", lambda x: calls.append("forward")
                        or forward(x))
    wrapped.step(*batches(1)[0])
    more = MORE.get(type(wrapped.base), {})
    assert {name: calls.count(name) for name in set(calls)} == {
        name: 1 + more.get(name, 0) for name in ("evaluation", "forward")}


def test_nothing_is_compared_in_a_step(method, monkeypatch):
    """Neither by a method nor by its wrapper; x is checked once an evaluation."""
    from secondorder import checks

    counted = []
    for module, name in ((np, "array_equal"), (checks, "batch")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, real=real, name=name: counted.append(name)
                            or real(*a))
    x, y = batches(1)[0]
    for optimizer in (method(), Halved(method())):
        counted.clear()
        optimizer.step(x, y)
        more = MORE.get(type(getattr(optimizer, "base", None) or optimizer), {})
        assert counted == ["batch"] * (1 + more.get("batch", 0))


# -- memory ----------------------------------------------------------------------------------------


def test_states_nest_and_are_refused_as_a_whole(method):
    wrapped = Halved(method())
    wrapped.step(*batches(1)[0])
    state = wrapped.state_dict()
    assert state["method"] == "Halved" and state["base"]["method"] == type(wrapped.base).__name__
    assert same(state["base"], wrapped.base.state_dict())
    wrapped.step(*batches(2)[1])
    before = wrapped.state_dict()
    for wrong in (state | {"base": state["base"] | {"steps": -1}}, state | {"base": None},
                  state["base"],
                  {name: state[name] for name in state if name != "base"},
                  state | {"base": state["base"] | {"method": "Halved"}}):
        with pytest.raises((ValueError, TypeError), match="state"):
            wrapped.load_state_dict(wrong)
        assert same(wrapped.state_dict(), before)
    wrapped.load_state_dict(state)
    assert same(wrapped.state_dict(), state)


def test_a_public_direction_advances_memory_and_a_wrappers_is_a_copy(method):
    optimizer, wrapped = method(), Halved(method())
    for x, y in batches(3):
        directions = [m.direction(m.evaluate(x, y)) for m in (optimizer, wrapped)]
        assert np.array_equal(*directions)
        assert optimizer.steps == wrapped.steps == wrapped.base.steps == 0
        directions[1][...] = np.nan
    assert same(optimizer.state_dict(), wrapped.base.state_dict())
    assert np.isfinite(optimizer.direction(optimizer.evaluate(x, y))).all()
