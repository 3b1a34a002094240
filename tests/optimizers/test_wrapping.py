"""A method that wraps another, here "half the step" around every method: counts, reports, memory.
"""

import itertools

import numpy as np
import pytest

import secondorder as so
from secondorder.optimizers import ExponentialDecay, Wrapper
from test_interrupts import same
from test_optimizers import METHODS, batches

ALL = METHODS | {
    "partitioning": (so.ResidualPartitioning, {"learning_rate": 0.5, "damping": 0.1})}
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
    return lambda **more: kind(so.mlp([3, 4, 2], rng=0), so.SquaredError(), **(settings | more))


def test_half_the_step(method):
    """Against a twin whose direction is taken and whose parameters are moved by hand, its schedule
    advanced by hand."""
    twin = method(learning_rate=STEEP, l2=0.1)
    wrapped = Halved(method(learning_rate=STEEP, l2=0.1))
    for x, y in batches(6):
        evaluation, rate, twin.details = twin.evaluate(x, y), twin.learning_rate, {}
        direction = twin.direction(evaluation)
        change = 0.5 * rate * direction
        twin.observe(evaluation, change)
        twin.network.theta = twin.network.theta + change
        twin.steps += 1
        info = wrapped.step(x, y)
        np.testing.assert_allclose(wrapped.network.theta, twin.network.theta, rtol=1e-13,
                                   atol=1e-15)
        assert info["part"] == 0.5 and info["learning_rate"] == rate
        assert info["direction_norm"] == pytest.approx(np.linalg.norm(direction), rel=1e-12)
        assert info["step_norm"] == pytest.approx(0.5 * rate * np.linalg.norm(direction), rel=1e-12)
        assert info[type(twin).__name__].keys() == twin.details.keys()
    assert wrapped.steps == wrapped.base.steps == 6


def test_network_loss_penalty_and_rate_are_the_bases():
    base = so.SGD(so.mlp([3, 2], rng=0), so.SquaredError(), STEEP, l2=0.3)
    wrapped = Halved(base)
    assert wrapped.network is base.network and wrapped.loss is base.loss and wrapped.l2 == 0.3
    assert wrapped.schedule is STEEP
    wrapped.learning_rate, wrapped.l2 = 0.125, 0.5
    assert base.learning_rate == 0.125 and base.l2 == 0.5
    with pytest.raises(TypeError, match="^base"):
        Halved(base.network)


def test_a_direction_that_depends_on_the_rate_uses_the_scheduled_one():
    def direction(rate, steps):
        base = so.ResidualPartitioning(so.mlp([3, 4, 2], rng=0), so.SquaredError(), rate, l2=0.5)
        base.steps = steps
        assert Halved(base).depends_on_rate
        return Halved(base).direction(base.evaluate(*batches(1)[0]))

    assert np.array_equal(direction(ExponentialDecay(8.0, 0.5, every=1), 2), direction(2.0, 0))
    assert not np.allclose(direction(8.0, 0), direction(2.0, 0), rtol=1e-3)


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
    assert info["Halved"][type(inner).__name__].keys() <= inner.details.keys()
    assert [m.steps for m in (twice, twice.base, twice.base.base)] == [3, 3, 3]
    # the outer one decides; the inner one's change is not called
    assert np.array_equal(once.network.theta, twice.network.theta)
    assert twice.base.distance == 0 < twice.distance


def test_states_nest_and_are_refused_as_a_whole(method):
    wrapped = Halved(method())
    wrapped.step(*batches(1)[0])
    state = wrapped.state_dict()
    assert state["method"] == "Halved" and same(state["base"], wrapped.base.state_dict())
    wrapped.step(*batches(2)[1])
    before = wrapped.state_dict()
    for wrong in (state | {"base": state["base"] | {"steps": -1}}, state | {"base": None},
                  state["base"]):
        with pytest.raises((ValueError, TypeError), match="state"):
            wrapped.load_state_dict(wrong)
        assert same(wrapped.state_dict(), before)
    wrapped.load_state_dict(state)
    assert same(wrapped.state_dict(), state)
