"""A step that fails or is interrupted has been or has not been: parameters, memory and count."""

import sys
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from secondorder.optimizers import Wrapper


class Searching(Wrapper):
    """An author's search along the line: it moves the parameters itself, and counts its trials."""

    state_names = ("trials",)
    trials = 0

    def change(self, evaluation, direction, rate):
        theta, kept, best = self.network.theta, self.network.theta.copy(), (np.inf, 0.0)
        for length in (0.5 * rate, rate):
            theta += length * direction
            self.trials = self.trials + 1
            loss = float(self.loss.value(self.network(evaluation.x), evaluation.y).mean())
            theta[...] = kept
            best = min(best, (loss, length))
        return best[1] * direction


def cubic(base):
    return lambda net, loss: so.CubicRegularization(base(net, loss, learning_rate=0.1), sigma=1.0)


METHODS = {
    "momentum": lambda net, loss: so.Momentum(net, loss, 0.1),
    "adam": lambda net, loss: so.Adam(net, loss, 0.1, l2=0.01),
    "truncated newton": so.TruncatedNewton,
    "residual partitioning": so.ResidualPartitioning,
    "cubic over truncated newton": cubic(so.TruncatedNewton),
    "ea-cg": lambda net, loss: so.EACG(net, loss, momentum=0.9, curvature="fisher-sampled", rng=0),
    "an author's search": lambda net, loss: Searching(so.Momentum(net, loss, 0.1)),
}
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(6, 2)), np.arange(6) % 2


def same(one, other):
    return one.keys() == other.keys() and all(
        same(one[key], other[key]) if isinstance(one[key], dict)
        else np.array_equal(one[key], other[key]) for key in one)


def failing(method, error):
    """The method's class, whose steps fail when all but the end of them is done."""
    def change(self, evaluation, direction, rate):
        self.network.theta += super(kind, self).change(evaluation, direction, rate)
        self.more = self.details["more"] = 1
        raise error

    kind = type(type(method).__name__, (type(method),), {"change": change})
    return kind


@pytest.mark.parametrize("name", METHODS)
def test_a_step_that_does_not_come_to_its_end_leaves_everything(name):
    method = METHODS[name](so.mlp([2, 3, 2], rng=1), so.SoftmaxCrossEntropy())
    method.step(X, Y)
    kind, theta, state = type(method), method.network.theta.copy(), method.state_dict()
    details, twin = dict(method.details), METHODS[name](method.network.copy(), method.loss)
    twin.load_state_dict(state)
    method.__class__ = failing(method, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        method.step(X, Y)
    method.__class__ = kind
    assert np.array_equal(method.network.theta, theta) and same(method.state_dict(), state)
    assert method.details == details and not hasattr(method, "more")
    method.step(X, Y), twin.step(X, Y)
    assert np.array_equal(method.network.theta, twin.network.theta)
    assert same(method.state_dict(), twin.state_dict())


@pytest.mark.parametrize("name", METHODS)
def test_what_runs_in_a_warm_step(name):
    """A breakpoint in a formula fires; no Python runs inside a loop, where a signal would be lost.
    """
    method, heard = METHODS[name](so.mlp([2, 3, 2], rng=1), so.SoftmaxCrossEntropy()), set()
    for _ in range(2):
        method.step(X, Y)
    sys.setprofile(lambda frame, event, _: event == "call" and heard.add(
        (Path(frame.f_code.co_filename), frame.f_code.co_name)))
    method.step(X, Y)
    sys.setprofile(None)
    assert not [file for file, _ in heard if "numba" in file.parts]
    names = {(file.name, function) for file, function in heard}
    assert ("linear.py", "forward") in names and "direction" in {name for _, name in names}
