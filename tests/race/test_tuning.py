"""The search: first grids, what lets them grow, the cap."""

import numpy as np
import pytest

from secondorder.race import tuning
from secondorder.race.methods import METHODS, Point

ADAM, EA_CG = METHODS["adam"], METHODS["ea-cg"]


def bowl(*bottom):
    """Scores that are least at a place."""
    return lambda point: (float(sum((a - b)**2 for a, b in zip(point, bottom))),)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_begins_with_twelve_points_around_its_default(method):
    points = tuning.start(method)
    assert len(set(points)) == 12 and Point(0) in points
    assert {point.second for point in points} == ({-1, 0, 1} if method.second else {0})
    for axis, point in ((0, Point(2)), (1, Point(0, 2))):
        if axis == 0 or method.second:
            ratio = method.numbers(point)[axis] / method.numbers(Point(0))[axis]
            assert ratio == pytest.approx(10, rel=0.01)  # two half decades


@pytest.mark.parametrize("bottom, spent", [(0, 12), (6, 14), (-5, 14), (7, 14), (9, 16), (40, 16)])
def test_a_winner_at_an_end_lets_the_grid_grow(bottom, spent):
    scores, (best,) = tuning.search(ADAM, bowl(bottom))
    assert best == Point(min(bottom, 10)) and len(scores) == spent, "sixteen are the most"


def test_the_second_number_grows_too():
    scores, (best,) = tuning.search(EA_CG, bowl(0, -2))
    assert best == Point(0, -2) and set(scores) - set(tuning.start(EA_CG)) == {
        Point(0, -2), Point(0, -3)}
    scores, (best,) = tuning.search(EA_CG, bowl(3, -2))  # a corner: both grow
    assert set(scores) - set(tuning.start(EA_CG)) == {Point(2, -1), Point(3, -1), Point(1, -2),
                                                      Point(1, -3)}


    told = tuning.search(EA_CG, bowl(0, 9))[0]
    assert max(EA_CG.numbers(point)[1] for point in told) == 0.632, "alpha stays below 1"


def test_two_rules_share_their_points_and_what_diverges_does_not_win():
    scores, best = tuning.search(ADAM, lambda point: (bowl(0)(point) + bowl(7)(point)))
    assert best == [Point(0), Point(7)] and len(scores) == 14


def test_where_every_point_diverges_the_grid_grows_at_its_tamest_corner():
    scores, best = tuning.search(EA_CG, lambda point: (0.0 if point.second > 2 else np.inf,))
    assert best == [Point(-2, 3)] and set(scores) - set(tuning.start(EA_CG)) == {
        Point(-3, 1), Point(-4, 1), Point(-2, 2), Point(-2, 3)}
    scores, best = tuning.search(ADAM, lambda point: (np.inf,))
    assert best == [None] and len(scores) == 16
