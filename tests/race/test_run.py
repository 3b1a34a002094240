"""One run: what the clock counts, when it is looked at, what diverges."""


import numpy as np
import pytest

import secondorder as so
from secondorder.race import run as running
from secondorder.race.methods import METHODS, Method
from secondorder.race.run import loss_at, run


def timed(clock, seconds, key="momentum", batch=None):
    """SGD with momentum, each of whose steps takes so many seconds."""
    class Timed(so.Momentum):
        def step(self, x, y):
            clock.now += seconds
            return super().step(x, y)

    return Method(key, "", lambda network, loss, rate, _: Timed(network, loss, learning_rate=rate),
                  0.1, batch=batch)


def test_only_steps_are_on_the_clock(small, clock, monkeypatch):
    """Warming up takes steps and looks take time, and neither is counted."""
    evaluated = running.mean_loss

    def slow(*given):
        clock.now += 1000
        return evaluated(*given)

    monkeypatch.setattr(running, "mean_loss", slow)
    record = run(small, timed(clock, 2.0), (0.1, None), 1, 9.0, 0.0, clock=clock)
    assert record["seconds"][-1] == 10.0 and record["steps"][-1] == 5 and record["work"][-1] == 5.0
    assert record["steps"] == [0, 1, 4, 5]  # the start, powers of 4, the limit
    record = run(small, timed(clock, 0.25), (0.1, None), 1, 8.0, 0.0, marks=3, clock=clock)
    assert [at for at in record["seconds"] if at >= 4] == [4.0, 5.75, 8.0], "sqrt(2) apart"


def test_a_run_ends_when_both_limits_are_behind(small, clock):
    by_work = run(small, timed(clock, 1.0), (0.1, None), 1, 4.0, 9.0, clock=clock)
    assert by_work["steps"][-1] == 9 and 4 in by_work["steps"]
    began = clock.now
    slow = run(small, timed(clock, 1.0), (0.1, None), 1, 4.0, 1e9, clock=clock)
    assert clock.now - began == running.WARM + 12, "three times its seconds are the most"
    assert np.isinf(loss_at(slow, "work", 1e9)) and np.isfinite(loss_at(slow, "seconds", 4.0))
    assert run(small, timed(clock, 1.0), (0.1, None), 1, 4.0, 1e9, longest=1,
               clock=clock)["steps"][-1] == 4
    alone = run(small, timed(clock, 1.0, batch=24), (0.1, None), 1, 0.0, 6.0, clock=clock)
    assert alone["steps"][-1] == 2, "batches of 24 work three times as much as the problem's"


def test_the_steps_are_those_of_the_optimizer(small, clock):
    record = run(small, timed(clock, 1.0), (0.1, None), 3, 7.0, 0.0, clock=clock)
    (x, y), held_out = small.parts(3)
    network = small.network(3)
    optimizer = METHODS["momentum"].make(network, small.loss, 0.1, None)
    rng = np.random.default_rng([3, 2])
    order = np.concatenate([rng.permutation(40) for _ in range(2)])
    for k in range(7):
        rows = order[8 * k:8 * k + 8]
        optimizer.step(x[rows], y[rows])
    assert record["loss"][-1] == pytest.approx(network.evaluate(small.loss, x, y).loss, rel=1e-6)
    assert record["held_out"] == pytest.approx(network.evaluate(small.loss, *held_out).loss,
                                               rel=1e-6)


@pytest.mark.parametrize("rate", [1e4, 1e30])
def test_a_run_that_diverges_keeps_what_came_before(small, clock, rate):
    """Finite but a thousand times the start, or not finite any more."""
    record = run(small, timed(clock, 1.0), (rate, None), 1, 1e3, 0.0, clock=clock)
    assert record["diverged"].startswith("step ") and record["loss"][0] < 2
    assert np.isinf(loss_at(record, "seconds", 1e3)) and "held_out" not in record


def test_the_loss_is_that_of_the_first_look_behind_a_limit():
    record = {"work": [0.0, 1.0, 4.5, 9.0], "loss": [3.0, 2.0, 1.0, 0.5]}
    assert [loss_at(record, "work", limit) for limit in (1.0, 4.0, 9.0)] == [2.0, 1.0, 0.5]
    assert np.isinf(loss_at(record, "work", 9.1))
