"""The checker for an optimizer of one's own: all of ours are right, planted faults are found."""

import functools

import numpy as np
import pytest

import secondorder as so
from secondorder import verify
from secondorder.optimizers import ExponentialDecay

from test_verify_derivatives import text_of, wrong_passes


def revmlp(**options):
    return so.reversible_gauss_newton.RevMLP(4, 2, 24, outputs=2, rng=0, **options)


def around(base, **options):
    return lambda network, loss: so.CubicRegularization(base(network, loss), **options)


def of(method, **options):
    return functools.partial(method, **options)


SMOOTH = {"network": so.mlp([5, 4, 3], activation="softplus", rng=1)}
RIGHT = {
    "sgd": (so.SGD, {}),
    "sgd with a schedule and a penalty": (of(so.SGD, learning_rate=ExponentialDecay(0.1, 0.5, 3),
                                             l2=0.1), {}),
    "momentum": (of(so.Momentum, learning_rate=0.1), {}),
    "nesterov": (of(so.Momentum, learning_rate=0.1, nesterov=True), {}),
    "adagrad": (so.Adagrad, {}), "adadelta": (so.Adadelta, {}), "adam": (so.Adam, {}),
    "truncated newton": (so.TruncatedNewton, {}),
    "residual partitioning": (so.ResidualPartitioning, SMOOTH),
    "a penalty": (of(so.ResidualPartitioning, l2=0.1), SMOOTH),
    "ea-cg": (so.EACG, {}), "ea-closed with momentum": (of(so.EACG, solver="ea-closed",
                                                            momentum=0.9), {}),
    "kfac": (of(so.EACG, curvature="fisher-empirical", solver="kfi", alpha=0.1), {}),
    "sampled": (of(so.EACG, curvature="fisher-sampled", rng=3), {}),
    "cubic": (around(so.SGD, sigma=10.0), {}),
    "cubic by layer around adam": (around(so.Adam, rates="layer"), {}),
    "cubic around truncated newton": (around(so.TruncatedNewton), {}),
    "cubic by parameter": (around(so.SGD, rates="variable"), {}),
    "right inverse": (of(so.GaussNewton, learning_rate=0.05),
                      {"network": revmlp(), "loss": so.SquaredError()}),
    "noise": (of(so.GaussNewton, pseudo_inverse="noise", rng=0),
              {"network": revmlp(), "loss": so.SquaredError()}),
    "moore-penrose": (of(so.GaussNewton, inverse="moore-penrose", pseudo_inverse="tikhonov",
                         learning_rate=0.5), {"loss": so.SquaredError()}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_our_optimizers_are_ok(name):
    make, options = RIGHT[name]
    report = verify.optimizer(make, **options)
    assert report, str(report)


class Average(so.SGD):
    """A right method with memory, the ground of the planted faults: a mean of gradients."""

    state_names = ("mean",)

    def __init__(self, network, loss, learning_rate=0.1, l2=0.0):
        super().__init__(network, loss, learning_rate, l2)
        self.mean = np.zeros_like(network.theta)

    def direction(self, evaluation):
        self.mean = 0.9 * self.mean - 0.1 * self.gradient(evaluation)
        return self.mean.copy()


FAULTS = {}


def fault(passes, said, base=Average, made=None, alone=True, **changes):
    """Plant a fault: attributes of a subclass; `direction(self, evaluation, right)` and
    `step(self, x, y, right)` get what the base does, `made(self)` runs after its constructor.
    Unless it is `alone`, other checks compare what it changes, too.
    """
    def planted(name, change):
        right = getattr(base, name)
        return lambda self, *args: change(self, *args, lambda *given: right(self, *(given or args)))

    methods = {name: planted(name, change) if callable(change) and name in (
        "direction", "step", "state_dict", "load_state_dict") else change
        for name, change in changes.items()}
    if made is not None:
        def init(self, *args, **options):
            base.__init__(self, *args, **options)
            made(self)
        methods["__init__"] = init
    cls = type("Planted", (base,), methods)
    FAULTS[said] = cls, passes, alone
    return cls


def named(name, value):
    """A function that sets an attribute; it returns None."""
    return lambda self: setattr(self, name, value(self))


def with_generator(self, evaluation, right):
    return right() * float(self.rng.uniform(0.5, 1))


def forgets_a_count(self, evaluation, right):
    self.count += 1
    return right() * (2 if self.count == 6 else 1)


def in_place(self, evaluation, right):
    self.mean *= 0.9
    self.mean -= 0.1 * self.gradient(evaluation)
    return self.mean.copy()


def moves_theta(self, evaluation, right):
    direction = right()
    self.network.theta = self.network.theta + self.network.dtype.type(0.1) * direction
    return direction


def keeps_a_list(self, evaluation, right):
    self.recent = [*self.recent, self.gradient(evaluation).copy()][-3:]
    return -sum(self.recent) / len(self.recent)


def counts_in_step(self, x, y, right):
    info = right()
    self.warm = self.warm + 1
    return info


def of_the_class(self, evaluation, right):
    total = self.shared.get("total", 0) - self.gradient(evaluation)
    self.shared["total"] = 0.9 * total
    return total


def from_own_parameters(self, evaluation, direction, rate):
    self.theta = self.theta + rate * direction
    return self.theta - self.network.theta


def keeps_its_first_batch(self, x, y, right):
    x = np.asarray(x)
    if not hasattr(self, "first"):
        self.first = x
    return right(x - 0.1 * self.first.mean(axis=0), y)


def changes_its_batch(self, x, y, right):
    x -= x.mean(axis=0)
    return right(x, y)


def adds_more(self, x, y, right):
    info = right()
    self.network.theta = self.network.theta + 0.01 * self.mean
    return info


def wide_memory(self, evaluation, right):
    self.mean = 0.9 * self.mean - 0.1 * self.gradient(evaluation).astype(float)
    return self.mean.astype(self.network.dtype)


def generator_of_its_own(self):
    self.rng = np.random.default_rng(0)


fault({"resume"}, "mean changes from step to step: list it in state_names", state_names=())
fault({"resume"}, "np.random.default_rng([self.seed, self.steps])", made=generator_of_its_own,
      direction=with_generator)
fault({"resume"}, "rng must be like", made=generator_of_its_own,
      state_names=("mean", "rng"), direction=with_generator)
fault({"resume"}, "count changes from step to step", count=0, direction=forgets_a_count)
fault({"failure"}, "changed the memory: mean", direction=in_place)
fault({"direction"}, "goes uphill", direction=lambda self, evaluation, right: -right())
fault({"direction"}, "return the change; step adds it", direction=moves_theta)
fault({"penalty"}, "use self.gradient(evaluation)", base=so.SGD,
      direction=lambda self, evaluation, right: -evaluation.gradient)
fault({"penalty"}, "does not shrink", base=so.SGD, direction=lambda self, evaluation, right:
      -evaluation.gradient + self.l2 * self.network.theta)
fault({"resume"}, "memory is an array, a number or None",
      state_names=("recent",), recent=[], direction=keeps_a_list)
fault({"wrapper"}, "direction and observe, not step", alone=False, state_names=("mean", "warm"),
      warm=0, step=counts_in_step,
      direction=lambda self, evaluation, right: right() * min(1.0, 0.1 + 0.2 * self.warm))
fault({"deterministic"}, "take different steps", shared={}, direction=of_the_class)
fault({"deterministic"}, "draw from a generator", direction=lambda self, evaluation, right:
      right() * np.random.default_rng().uniform(0.5, 1))
fault({"parameters"}, "keep no copy of it", change=from_own_parameters,
      made=named("theta", lambda self: self.network.theta.copy()))
fault({"aliasing"}, "arrays of an earlier batch", alone=False, step=keeps_its_first_batch)
fault({"aliasing"}, "a step changes its batch", alone=False, step=changes_its_batch)
fault({"direction"}, "learning_rate * direction", alone=False, step=adds_more)
fault({"info"}, "ratio 2", step=lambda self, x, y, right: (
    info := right()) | {"step_norm": 2 * info["step_norm"]})
fault({"float32"}, "a float32 network",
      direction=lambda self, evaluation, right: right().astype(np.float64))
fault({"float32"}, "memory in float64: mean", direction=wide_memory,
      made=named("mean", lambda self: self.mean.astype(float)))
fault({"step"}, "no step has moved",
      direction=lambda self, evaluation, right: 0 * self.network.theta)
fault({"step"}, "raised IndexError", direction=lambda self, evaluation, right: [][0])


@pytest.mark.parametrize("said", FAULTS)
def test_planted_faults_are_named(said):
    planted, passes, alone = FAULTS[said]
    report = verify.optimizer(planted)
    found = wrong_passes(report)
    assert found == passes if alone else found & passes, str(report)
    assert any(said in text_of(report, name) for name in found), str(report)


def test_the_ground_of_the_faults_is_ok():
    assert verify.optimizer(Average), str(verify.optimizer(Average))


def hands_out_memory(self, evaluation, right):
    right()
    return self.mean


def draws_as_told(self, evaluation, right):
    rng = np.random.default_rng([self.seed, self.steps])
    return right() * float(rng.uniform(0.5, 1))


def uphill_on_one_batch(self, evaluation, right):
    step = right()
    return -step if evaluation.samples == 9 else step  # of 12, 12 and 9 samples


@pytest.mark.parametrize("direction", [hands_out_memory, draws_as_told, uphill_on_one_batch])
def test_what_is_no_fault(direction):
    method = fault(set(), "nothing", direction=direction, seed=3)
    del FAULTS["nothing"]
    assert verify.optimizer(method), str(verify.optimizer(method))


def test_an_init_that_was_not_called_is_named():
    class Bare(so.optimizers.Optimizer):
        def __init__(self, network, loss):
            self.rate = 0.1

    for ask in (lambda: verify.optimizer(Bare), lambda: Bare(None, None).network):
        with pytest.raises(AttributeError, match="Optimizer.__init__ was not called. Begin Bare"):
            ask()


def test_a_state_shares_no_memory_with_the_method():
    optimizer = Average(so.mlp([3, 2], rng=0), so.SquaredError())
    state, kept = optimizer.state_dict(), optimizer.mean.copy()
    optimizer.load_state_dict(state)
    for given in (state, optimizer.state_dict()):
        given["mean"][...] = 7.0
    assert np.array_equal(optimizer.mean, kept)


def test_the_data_of_the_user_are_used_and_the_network_is_not_changed():
    digits, network = so.datasets.load_digits(), so.mlp([64, 10], rng=0)
    before = network.theta.copy()
    report = verify.optimizer(so.Adam, network=network, x=digits.inputs[:40] / 16,
                              y=digits.targets[:40], steps=4)
    assert report, str(report)
    assert np.array_equal(network.theta, before)


@pytest.mark.parametrize("make, error, said", [
    (3, TypeError, "make"), (lambda network: None, TypeError, "make"),
    (lambda network, loss: None, TypeError, "must return an Optimizer"),
    (lambda network, loss: so.SGD(so.mlp([5, 4, 3]), loss), ValueError, "of others")])
def test_makers_that_make_no_optimizer(make, error, said):
    with pytest.raises(error, match=said):
        verify.optimizer(make)


@pytest.mark.parametrize("off, right", [(1e-12, True), (1e-6, False)])
def test_a_tiny_step_is_compared_to_its_own_rounding(off, right):
    """Parameters of size 1 hide nothing of a step of a millionth but their own last digits."""
    class Wrong(so.SGD):
        def step(self, x, y):
            before = self.network.theta.copy()
            info = super().step(x, y)
            self.network.theta = before + (self.network.theta - before) * (
                1 + off * (np.abs(before) > 0.1))
            return info

    report = verify.optimizer(lambda network, loss: Wrong(network, loss, learning_rate=1e-5))
    assert ("direction" not in wrong_passes(report)) == right, report
