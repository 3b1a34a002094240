"""How the race is judged, on numbers made by hand."""

import numpy as np
import pytest

from secondorder.race import claims
from secondorder.race.entrants import ENTRANTS
from secondorder.race.studies import together

RUN = {"steps": [0, 10, 20], "seconds": [0.0, 1.0, 2.0], "work": [0.0, 10.0, 40.0],
       "loss": [1.0, 0.1, 0.01], "held_out": [1.0, 0.5, 0.4]}
SLOW = RUN | {"loss": [1.0, 0.5, 0.1], "held_out": [1.0, 0.8, 0.6]}


@pytest.mark.parametrize("differences, expected", [
    ([0.01, 0.02, -0.01, 0.0, 0.01], "alike"), ([0.5, 0.6, 0.7, 0.5, 0.6], "held"),
    ([-0.5, -0.6, -0.7, -0.5, -0.6], "did not hold"), ([0.5, -0.4, 0.3, -0.2, 0.1], "taken out"),
    ([0.3, -0.1, 0.3, -0.1, 0.3], "undecided"), ([0.15, -0.1, 0.1, -0.12, -0.1], "undecided"),
    ([0.06, 0.07, 0.06, 0.07, 0.06], "alike"), ([0.12, 0.13, 0.12, 0.13, 0.12], "held"),
    ([0.5, 0.6], "undecided")])
def test_outcomes_alike_first(differences, expected):
    assert claims.outcome(differences, "a log ratio").verdict == expected


def test_an_open_outcome_tells_how_many_seeds_would_close_it():
    """Mean 0.14 and deviation 0.2191: t s / sqrt(n) is below 0.14 from 12 seeds on."""
    assert claims.outcome([0.3, -0.1, 0.3, -0.1, 0.3], "", because="x").because == (
        "x; 12 seeds at this spread")
    wide = claims.outcome([0.03, -0.5, 0.5, 0.02, -0.02], "")
    assert wide.verdict == "taken out" and wide.because == "more than 50 seeds at this spread"


def test_an_outcome_has_the_interval_of_the_mean():
    one = claims.outcome([0.4, 0.5, 0.6], "a log ratio")
    assert one.effect == pytest.approx(0.5)
    assert one.spread[1] - one.effect == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-6)


def test_holm_stops_at_the_first_that_fails():
    assert claims.holm({"a": 0.01, "b": 0.04, "c": 0.0001}) == {"a", "b", "c"}
    assert claims.holm({"a": 0.03, "b": 0.04, "c": 0.0001}) == {"c"}
    assert claims.holm({"a": 0.02}) == {"a"} and claims.holm({}) == set()


def test_a_loss_between_two_looks_is_interpolated_in_its_logarithm():
    assert claims.loss_at(RUN, "seconds", 1.5) == pytest.approx(10**-1.5)
    assert claims.loss_at(RUN, "work", 25) == pytest.approx(10**-1.5)


def test_a_run_that_did_not_come_so_far_counts_with_its_first_loss():
    assert claims.loss_at(RUN, "seconds", 3.0) == 1.0


def test_losses_have_a_floor():
    assert claims.loss_at(RUN | {"loss": [1.0, 0.1, 1e-9]}, "seconds", 2.0) == claims.FLOOR


def test_ratios_are_positive_where_ours_is_lower():
    assert claims.log_ratio(SLOW, RUN, "seconds", 2.0) == pytest.approx(np.log(10))
    assert claims.at_equal_steps(SLOW, RUN | {"steps": [0, 5, 10]}) == pytest.approx(np.log(50))
    # both reach 0.1: ours with a held-out loss of 0.5, the other with 0.6
    assert claims.held_out_ratio(SLOW, RUN) == pytest.approx(np.log(0.6 / 0.5))


def test_work_until_a_loss():
    assert claims.work_until(RUN, 10**-0.25) == pytest.approx(2.5)
    assert claims.work_until(RUN, 2.0) == 0 and claims.work_until(RUN, 1e-3) == 40


def test_ranks():
    one = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert claims.tau(one, {"a": 5, "b": 6, "c": 7}) == pytest.approx(1)
    assert claims.tau(one, {"c": 1, "b": 6, "a": 7}) == pytest.approx(-1)


@pytest.mark.parametrize("losses, expected", [
    ([1, 1, 1], 1.0), ([4, 1, 4], 0.5), ([16, 1, 1, 16], 0.75),
    ([1, 1e4, 1e4], 0.5 * np.log(2) / np.log(1e4))])
def test_the_width_of_a_valley(losses, expected):
    assert claims.width(losses) == pytest.approx(expected)


def test_a_valley_to_twice_the_least_loss_of_all_methods(monkeypatch):
    told = {"adam": [1, 1, 16], "cubic-sgd": [1.9, 1.9, 1.9], "kfac": [3, 3, 3]}
    monkeypatch.setattr(together.tuning, "running", lambda problem, settings: [
        ENTRANTS[key] for key in told])
    width = together.Width()
    width.losses = lambda problem, entrant, *rest: dict(enumerate(told[entrant.key]))
    own, common = (width.widths(None, {"problems": ["digits"]}, one) for one in (False, True))
    assert {key: of["digits"] for key, of in own.items()} == pytest.approx(
        {"adam": 0.625, "cubic-sgd": 1.0, "kfac": 1.0})
    assert {key: of["digits"] for key, of in common.items()} == pytest.approx(
        {"adam": 0.625, "cubic-sgd": 0.5, "kfac": 0.0})


def test_the_worst_gap_to_the_best():
    gaps = claims.worst_gaps({"one": {"a": 0.0, "b": 1.0}, "two": {"a": 3.0, "b": 0.0}})
    assert gaps == {"a": (3.0, 2), "b": (1.0, 2)}
