"""An interrupt ends a run after the running step, a second one at once."""

import signal

import numpy as np
import pytest

import secondorder as so

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(8, 3)), RNG.integers(0, 2, 8)


class Interrupted(so.Adam):
    """Adam that sends this process a signal in its third step, as often as `times` says."""

    times, number, ended = 1, signal.SIGINT, False

    def direction(self, evaluation, **step):
        if self.steps == 2:
            for _ in range(self.times):
                signal.raise_signal(self.number)
            self.ended = True
        return super().direction(evaluation, **step)


def run(kind=so.Adam, epochs=3, **options):
    method = kind(so.mlp([3, 4, 2], rng=1), so.SoftmaxCrossEntropy(), 0.1)
    so.train(method, X, Y, epochs=epochs, batch_size=4, rng=0, progress=False, **options)
    return method


def interrupted(**options):
    method = Interrupted(so.mlp([3, 4, 2], rng=1), so.SoftmaxCrossEntropy(), 0.1)
    method.times = options.pop("times", 1)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as caught:
        so.train(method, X, Y, epochs=3, batch_size=4, rng=0, progress=False, **options)
    assert signal.getsignal(signal.SIGINT) is before
    return method, caught.value.history


def test_the_running_step_comes_to_its_end_and_the_run_goes_on_bit_for_bit(tmp_path):
    method, history = interrupted(checkpoint=tmp_path / "c")
    assert method.ended and method.steps == 3 and history.stopped == "interrupt"
    assert history.column("step").tolist() == [0, 2]
    resumed, whole = run(checkpoint=tmp_path / "new", epochs=1), run()
    resumed = run(checkpoint=tmp_path / "new", resume=True)
    assert np.array_equal(resumed.network.theta, whole.network.theta)
    three = so.Adam(so.mlp([3, 4, 2], rng=1), so.SoftmaxCrossEntropy(), 0.1)
    order = np.random.default_rng(0)
    first, second = order.permutation(8), order.permutation(8)
    for rows in (first[:4], first[4:], second[:4]):
        three.step(X[rows], Y[rows])
    assert np.array_equal(method.network.theta, three.network.theta)


def test_a_second_one_ends_it_at_once():
    method, _ = interrupted(times=2)
    assert not method.ended and method.steps == 2


def test_a_handler_of_the_callers_own_hears_it_after_the_step():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(method.steps))
    method = Interrupted(so.mlp([3, 4, 2], rng=1), so.SoftmaxCrossEntropy(), 0.1)
    method.number = signal.SIGTERM
    try:
        so.train(method, X, Y, epochs=3, batch_size=4, rng=0)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [3] and method.steps == 6
