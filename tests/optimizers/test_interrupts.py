"""A step that is interrupted has been or has not been: parameters, memory and count together."""

import threading
import time

import numpy as np
import pytest

import secondorder as so
from harness.interrupts import Interrupter, timer
from secondorder.optimizers import Wrapper


class OneWeightFixed(so.Adam):
    """An author's `direction` around the method's own."""

    def direction(self, evaluation):
        direction = super().direction(evaluation)
        direction[2] = 0
        return direction


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


def cubic(base, **options):
    return lambda net, loss: so.CubicRegularization(base(net, loss, learning_rate=0.1), **options)


METHODS = {
    "sgd": lambda net, loss: so.SGD(net, loss, 0.1),
    "momentum": lambda net, loss: so.Momentum(net, loss, 0.1),
    "adagrad": lambda net, loss: so.Adagrad(net, loss, 0.1),
    "adadelta": so.Adadelta,
    "adam": lambda net, loss: so.Adam(net, loss, 0.1, l2=0.01),
    "truncated newton": so.TruncatedNewton,
    # too long: halved, or given up
    "halved": lambda net, loss: so.TruncatedNewton(net, loss, learning_rate=40.0, max_halvings=2),
    "residual partitioning": so.ResidualPartitioning,
    "cubic, adaptive": cubic(so.SGD, sigma=1.0, adaptive=True),
    "cubic over adam": cubic(so.Adam, sigma=1.0, rates="layer"),
    "cubic over truncated newton": cubic(so.TruncatedNewton, sigma=1.0),
    "cubic over residual partitioning": cubic(so.ResidualPartitioning, sigma=1.0),
    "ea-cg": lambda net, loss: so.EACG(net, loss, momentum=0.9, curvature="fisher-sampled", rng=0),
    "gauss-newton": lambda net, loss: so.GaussNewton(net, loss, inverse="moore-penrose"),
    "an author's direction": OneWeightFixed,
    "an author's search": lambda net, loss: Searching(so.Momentum(net, loss, 0.1)),
}


class Case:
    """An optimizer in the middle of a run, its next batch, and its state before and after it."""

    def __init__(self, name, rows=4):
        rng = np.random.default_rng(0)
        self.optimizer = METHODS[name](so.mlp([2, 3, 2], rng=1), so.SoftmaxCrossEntropy())
        self.batch = rng.normal(size=(rows, 2)), np.arange(rows) % 2
        self.longer = rng.normal(size=(7, 2)), np.arange(7) % 2
        for _ in range(2):
            self.optimizer.step(*self.batch)
        self.before = self.state()
        self.step()
        self.after = self.state()
        self.back()

    def step(self):
        self.optimizer.step(*self.batch)

    def seconds(self):
        """Of a step, which is taken back."""
        started = time.perf_counter()
        self.step()
        seconds = time.perf_counter() - started
        self.back()
        return seconds

    def state(self):
        return self.optimizer.network.theta.copy(), self.optimizer.state_dict()

    def back(self):
        theta, state = self.before
        self.optimizer.network.theta = theta
        self.optimizer.load_state_dict(state)

    def resized(self):
        """The arrays of the steps hold a longer batch; otherwise as before."""
        self.optimizer.step(*self.longer)
        self.back()

    def is_at(self, point):
        theta, state = self.state()
        return np.array_equal(theta, point[0]) and same(state, point[1])

    def check(self, where):
        """Either point, to the last bit, and the step works as if nothing had been."""
        whole = self.is_at(self.before) or self.is_at(self.after)
        assert whole, f"a half step after an interrupt {where}"
        self.back()


def same(one, other):
    return one.keys() == other.keys() and all(
        same(one[key], other[key]) if isinstance(one[key], dict)
        else np.array_equal(one[key], other[key]) for key in one)


def settling(file):
    """Where a step is put together, and the code of authors."""
    return "/secondorder/optimizers/" in file or file == __file__ or (
        "/secondorder/papers/" in file and file.endswith("/optimizer.py"))


def interruptions(work, every=1):
    """Interrupt some work at every so many operations, until it comes to its end; yields where."""
    for at in range(0, 10**5, every):
        if not Interrupter(settling, at)(work):
            break
        yield at
    assert at > 100


@pytest.mark.everyday(2)
@pytest.mark.parametrize("name", METHODS)
def test_an_interrupt_at_any_operation_leaves_no_half_step(name):
    """At every seventh, from another one for every method."""
    case, first = Case(name), len(name) % 7
    for at in range(first, 10**6, 7):
        if not Interrupter(settling, at)(case.step):
            break
        case.check(f"at operation {at}")
        if at % 100 == first:
            case.step()
            assert case.is_at(case.after), f"the step after an interrupt at {at} is another one"
            case.back()
    assert at > 200 and case.is_at(case.after)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_an_interrupt_anywhere_in_the_package(name):
    """Also in the passes, while arrays are made for batches of another length; at every 13th
    operation, from another one for every method."""
    case = Case(name)
    for at in range(len(name) % 13, 10**6, 13):
        case.resized()
        if not Interrupter(lambda file: "/secondorder/" in file, at)(case.step):
            break
        case.check(f"at operation {at}")
        case.step()
        assert case.is_at(case.after), f"the step after an interrupt at {at} is another one"
        case.back()
    assert at > 1000


@pytest.mark.parametrize("name", METHODS)
def test_an_interrupt_by_a_signal_leaves_no_half_step(name):
    case = Case(name)
    seconds = min(case.seconds() for _ in range(5))  # on a machine that others use as well
    rng, interrupts = np.random.default_rng(0), 0
    for delay in rng.uniform(1e-6, 1.2 * seconds, size=60):
        try:
            with timer(delay):
                case.step()
        except KeyboardInterrupt:
            interrupts += 1
        case.check(f"after {delay:.6f} s")
    assert interrupts > 10


def fail(self, evaluation, direction, rate):
    self.network.theta += direction
    raise FloatingPointError("no room")


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", ["adam", "cubic over truncated newton"])
def test_a_failed_step_that_is_interrupted_leaves_everything_alone(name):
    """The interrupt comes while parameters and memory are put back, too."""
    case = Case(name)
    optimizer = case.optimizer
    optimizer.__class__ = type("Failing", (type(optimizer),), {"change": fail})
    before = case.state()

    def step():
        with pytest.raises(FloatingPointError, match="no room"):
            case.step()

    for at in interruptions(step, 3):
        assert case.is_at(before), f"half a step after an interrupt at operation {at}"
    assert case.is_at(before)


@pytest.mark.parametrize("name", ["adam", "cubic over adam", "an author's direction"])
def test_what_a_handler_saves_in_the_middle_of_a_step_is_whole(name):
    """The state of the last step that was settled, with the parameters of that step."""
    case = Case(name)
    for at in range(0, 10**5, 11):
        seen = []
        Interrupter(settling, at, lambda: seen.append(case.state()))(case.step)
        assert case.is_at(case.after)
        if not seen:
            break
        (theta, state), = seen
        assert any(np.array_equal(theta, one) and same(state, other)
                   for one, other in (case.before, case.after)), f"at operation {at}"
        case.back()
    assert at > 100


def test_another_thread_may_step_after_an_interrupt():
    case = Case("adam")
    for at in interruptions(case.step, 7):
        case.back()
        thread = threading.Thread(target=case.step)
        thread.start()
        thread.join()
        assert case.is_at(case.after), f"after an interrupt at operation {at}"
        case.back()


def within_a_minute(work):
    """Some work in a thread of its own, as what waits for a lock would wait for ever."""
    ended = []
    thread = threading.Thread(target=lambda: ended.append(work()), daemon=True)
    thread.start()
    thread.join(60)
    assert ended, "it waits, or raised what the thread printed"


def compiled_batches(file):
    return file.endswith("/compiled/arrays.py")


def test_what_is_made_once_a_batch_is_made_again_after_an_interrupt():
    """Whoever was interrupted asks the same batch again; then another thread steps."""
    case = Case("sgd")
    v, product = case.before[0], so.exact.curvature.hessian_vector_product_at
    expected = product(case.optimizer.evaluate(*case.batch), v)
    seen = []

    def ask():
        for at in range(10**5):
            evaluation = case.optimizer.evaluate(*case.batch)
            interrupted = Interrupter(compiled_batches, at)(lambda: product(evaluation, v))
            assert np.array_equal(product(evaluation, v), expected)
            if not interrupted:
                break
            seen.append(at)

    within_a_minute(ask)
    assert len(seen) > 50
    for at in range(10**5):
        interrupted = Interrupter(compiled_batches, at)(case.step)
        case.back()
        within_a_minute(case.step)
        assert case.is_at(case.after), f"after an interrupt at operation {at}"
        case.back()
        if not interrupted:
            break
    assert at > 50


def test_a_direction_that_is_interrupted_leaves_memory_alone():
    """For those who move the parameters themselves."""
    case = Case("adam")
    optimizer = case.optimizer
    evaluation = optimizer.evaluate(*case.batch)
    optimizer.direction(evaluation)
    advanced = case.state()
    case.back()
    for _ in interruptions(lambda: optimizer.direction(evaluation)):
        assert case.is_at(case.before) or case.is_at(advanced)
        case.back()
    assert case.is_at(advanced)


def test_loading_a_state_that_is_interrupted_takes_all_or_nothing():
    case = Case("cubic over adam")
    optimizer = case.optimizer
    theta = optimizer.network.theta.copy()
    here, there = (theta, case.before[1]), (theta, case.after[1])
    for at in interruptions(lambda: optimizer.load_state_dict(there[1])):
        assert case.is_at(here) or case.is_at(there), f"half a state after operation {at}"
        optimizer.load_state_dict(here[1])
    assert case.is_at(there)


def test_the_rates_of_a_cubic_step_are_counted_with_it():
    case = Case("cubic over adam")
    optimizer = case.optimizer
    more = len(optimizer.rates_taken) - optimizer.steps
    for _ in interruptions(case.step, 11):
        assert len(optimizer.rates_taken) - optimizer.steps == more
        case.back()  # which leaves the rates
        more = len(optimizer.rates_taken) - optimizer.steps
