"""What `seconds` of a history counts: steps, and nothing that numba compiles on first use."""

import threading
import time

import numba
import numpy as np
import pytest

import secondorder as so
from secondorder.training.clock import StepClock

rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)


def freshly_compiled():
    """A loop that numba has not seen: several loops inside, so that compiling takes long."""
    @numba.njit
    def loop(v):
        total = 0.0
        for i in range(v.size):
            for j in range(v.size):
                total += np.sin(v[i]) * np.cos(v[j]) + np.sort(v)[0] + v.std()
        return total

    return loop


class Compiling(so.SGD):
    """The first step calls a loop that has to be compiled; every step sleeps a little."""

    def direction(self, evaluation):
        if self.steps == 0:
            started = time.perf_counter()
            freshly_compiled()(np.ones(2))
            self.compiling = time.perf_counter() - started
        time.sleep(0.01)
        return super().direction(evaluation)


@pytest.mark.slow
def test_history_seconds_leave_compilation_out():
    optimizer = Compiling(so.mlp([3, 2], rng=0), so.SoftmaxCrossEntropy())
    history = so.train(optimizer, x, y, epochs=2, batch_size=20, rng=0)
    first, second = np.diff(history.column("seconds"))
    assert optimizer.compiling > 0.1, "the loop compiled at once: nothing was tested"
    assert 0.01 <= first < optimizer.compiling / 2 and 0.01 <= second < optimizer.compiling / 2


def test_clock_counts_work_and_is_quiet_after_an_error():
    from numba.core import event

    before = list(event._registered["numba:compiler_lock"])
    try:
        with StepClock() as clock:
            time.sleep(0.02)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert 0.02 <= clock.seconds < 1
    assert event._registered["numba:compiler_lock"] == before


def test_clock_counts_what_another_thread_compiles_as_work():
    with StepClock() as clock:  # which loads numba first
        started = time.perf_counter()
        thread = threading.Thread(target=lambda: freshly_compiled()(np.ones(2)))
        thread.start()
        thread.join()
        lasted = time.perf_counter() - started
    assert clock.seconds >= lasted
