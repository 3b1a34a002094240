"""Trials, the rule at the edge of a grid, and what is run next; no training here."""

import numpy as np
import pytest

from secondorder.race import tuning
from secondorder.race.entrants import ENTRANTS
from secondorder.race.tuning import Budget, Point

LIMITS = Budget(4.0, 400.0)


def record(loss, start=2.0):
    """A trial that comes down to a loss at T/4 and at the work of T/4."""
    return {"seconds": [0.0, 1.0], "work": [0.0, 100.0], "steps": [0, 100], "loss": [start, loss],
            "held_out": [start, loss]}


def trials(losses, first=0):
    return {Point(first + k, None): record(loss) for k, loss in enumerate(losses)}


def test_the_least_loss_wins_by_both_rules():
    assert tuning.winner_by_rule(trials([1.0, 0.5, 0.7]), LIMITS) == {"S": Point(1, None),
                                                                      "G": Point(1, None)}


def test_rules_read_at_their_own_limit():
    quick = record(0.5) | {"work": [0.0, 1000.0]}  # half a thousandth of the way by work
    both = {Point(0, None): quick, Point(1, None): record(0.7)}
    assert tuning.winner_by_rule(both, LIMITS) == {"S": Point(0, None), "G": Point(1, None)}


def test_what_diverges_does_not_move_or_ties_has_no_say():
    early = record(0.1) | {"seconds": [0.0, 0.5], "work": [0.0, 50.0]}
    still = record(1.99)
    told = {Point(0, None): early, Point(1, None): still, Point(2, None): record(0.3),
            Point(3, None): record(0.3), Point(4, None): record(0.9)}
    assert set(tuning.winner_by_rule(told, LIMITS).values()) == {Point(4, None)}
    assert tuning.winner_by_rule({Point(1, None): still}, LIMITS) == {}


@pytest.mark.parametrize("losses, expected", [
    ([0.1, 0.5, 0.7], [-2, -1]), ([0.5, 0.1, 0.7], []), ([0.7, 0.5, 0.1], [3, 4])])
def test_a_winner_at_the_edge_moves_the_grid_by_two_points(losses, expected):
    assert tuning.beyond(trials(losses), range(3), LIMITS) == expected


def test_rates_are_half_decades_around_the_default():
    adam = ENTRANTS["adam"]
    assert adam.first(0) == 0.001
    assert np.diff(np.log10([adam.first(k) for k in adam.places])) == pytest.approx(0.5, abs=1e-3)


def test_one_run_serves_both_rules_where_they_agree():
    adam = ENTRANTS["adam"]
    same = {"S": Point(1, None), "G": Point(1, None)}
    two = {"S": Point(1, None), "G": Point(2, None)}
    one = [tuning.judged("digits", adam, rule, 1, same, LIMITS) for rule in "SG"]
    assert one[0].name == one[1].name and one[0].arguments["work"] == 400
    apart = [tuning.judged("digits", adam, rule, 1, two, LIMITS).arguments for rule in "SG"]
    assert [(run["seconds"], run["work"]) for run in apart] == [(4.0, 0.0), (0.0, 400.0)]


@pytest.mark.parametrize("problem, method, word", [
    ("reversible", "partitioning", "Coupling"), ("convolution", "ea-cg", "Conv2d"),
    ("digits-all", "gauss-newton", "14000 rows")])
def test_what_cannot_run_says_why(problem, method, word):
    assert word in tuning.left_out(problem)[method]
    assert not tuning.left_out(problem)["adam"]
