"""One run: marks, records, limits."""

import numpy as np
import pytest

import secondorder as so
from secondorder.race import course
from secondorder.race.entrants import ENTRANTS
from secondorder.race.problems import PROBLEMS

RUN = {"seed": 1, "problem": "digits", "method": "momentum", "first": 0.1, "second": None}


def test_a_run_goes_on_until_both_limits_are_passed():
    by_work = course.run(**RUN, seconds=0.0, work=30.0)
    assert by_work["steps"][-1] == 30 and by_work["work"][-1] == 30
    by_time = course.run(**RUN, seconds=0.02, work=3.0)
    assert by_time["seconds"][-1] >= 0.0199 and by_time["work"][-1] >= 3


def test_losses_depend_on_the_seed_alone():
    one, again = (course.run(**RUN, seconds=0.0, work=16.0) for _ in range(2))
    assert one["steps"][-1] == 16 and one["loss"][-1] == again["loss"][-1]
    other = course.run(**RUN | {"seed": 2}, seconds=0.0, work=16.0)
    assert other["loss"][-1] != one["loss"][-1]


def test_the_steps_are_those_of_the_optimizer():
    record = course.run(**RUN, seconds=0.0, work=8.0)
    track = course.Track(PROBLEMS["digits"], 1)
    optimizer = so.Momentum(track.network, so.SoftmaxCrossEntropy(), learning_rate=0.1,
                            momentum=0.9)
    for (x, y), _ in zip(track.batches(), range(8)):
        optimizer.step(x, y)
    expected = course.mean_loss(track.network, optimizer.loss, track.x, track.y)
    assert record["loss"][-1] == pytest.approx(expected, rel=1e-6)


def test_a_run_that_diverges_keeps_what_came_before():
    record = course.run(**RUN | {"first": 1e6}, seconds=0.0, work=100.0)
    assert "diverged" in record and record["loss"][0] < 3 and record["steps"][-1] < 100


def test_marks_are_passed_once():
    marks = course.Marks(1.0, 100.0, 2)
    assert not marks.passed(1, 0.1, 1) and marks.passed(2, 0.8, 2) and not marks.passed(3, 0.9, 3)
    assert marks.passed(4, 1.1, 4) and marks.passed(5, 1.2, 80) and not marks.passed(6, 1.3, 90)


def test_noise_is_new_for_every_batch_and_fixed_for_the_loss():
    tracks = [course.Track(PROBLEMS["reversible"], 1) for _ in range(2)]
    assert np.array_equal(tracks[0].evaluated, tracks[1].evaluated)
    (first, _), (second, _) = next(tracks[0].batches()), next(tracks[1].batches())
    assert np.array_equal(first, second)
    assert abs((tracks[0].evaluated - tracks[0].x).std() - 1) < 0.01


def test_the_measure_ends_at_the_level():
    told = course.measure(100, "digits", [0.03162], 2.0)
    assert told["reached"] and 0 < told["seconds"] < 2 and told["work"] % 14 == 0
    never = course.measure(100, "digits", [1e-6], 0.01)
    assert not never["reached"] and never["seconds"] == 0.01 and never["work"] > 0


@pytest.mark.parametrize("method", ["square-root", "unit"])
def test_controls_have_the_length_that_they_should(method):
    problem = PROBLEMS["digits"]
    (x, y), _ = problem.parts(1)
    network = problem.network(1)
    g = so.exact.gradient(network, problem.loss, x[:50], y[:50])
    before = network.theta.copy()
    ENTRANTS[method].make(network, problem.loss, 50.0, None).step(x[:50], y[:50])
    size = np.linalg.norm(g)
    length = np.sqrt(2 / (50.0 * size)) * size if method == "square-root" else 50.0
    moved = network.theta - before
    assert moved == pytest.approx(-length * g / size, rel=1e-3, abs=1e-5 * float(length))


def test_the_control_is_the_cubic_step_without_curvature():
    """low_rank's step length with h = 0, along minus the gradient."""
    s = so.low_rank.step_length(-4.0, 0.0, 2.0, 50.0)
    assert s * 2.0 == pytest.approx(np.sqrt(2 / (50.0 * 2.0)) * 2.0)
