"""Tuning: the same search for every method.

It begins with twelve points, half decades apart: twelve of the first number, or four of it with
three of the second. A point on which a winner stands at an end of either grid lets that grid grow
by two points beyond, with the other number as it is, until all winners stand inside or sixteen
points are spent. Where every point diverges the grid grows at its tamest corner, that of the
smallest first number and the largest second one.
"""

from itertools import product

import numpy as np

from .methods import Point

ALONE = range(-5, 7)
PAIRS = range(-2, 2), range(-1, 2)
GROWTH, MOST = 2, 16


def start(method):
    """The points of the first grid."""
    return [Point(*places) for places in product(*(PAIRS if method.second else (ALONE, [0])))]


def beyond(method, points, winner):
    """The points by which the grids grow at whose ends a winner stands; [] where it stands inside.

    A grid also ends where the method takes no further number.
    """
    more = []
    for axis in range(2 if method.second else 1):
        places = [point[axis] for point in points]
        for end, side in ((min(places), -1), (max(places), 1)):
            if winner[axis] == end:
                more += [Point(*(end + side * k if a == axis else winner[a] for a in range(2)))
                         for k in range(1, GROWTH + 1)]
    return [point for point in more if method.allows(point)]


def tamest(points):
    """The corner of the smallest first and the largest second number."""
    first, second = zip(*points)
    return Point(min(first), max(second))


def search(method, scores_of, begin=None, most=MOST):
    """Find the best point by each of several rules, in a first grid (by default `start`) and
    beyond its ends, with as many points as `most` allows.

    ``scores_of(point)`` are the scores by every rule, the less the better. Returns point -> scores
    of all that were tried, and the best one by every rule, None where no score is finite.
    """
    scores = {point: scores_of(point) for point in begin or start(method)}
    while True:
        best = [list(scores)[np.argmin(column)] if np.isfinite(column).any() else None
                for column in zip(*scores.values())]
        more = dict.fromkeys(point for winner in best
                             for point in beyond(method, scores, winner or tamest(scores)))
        more = list(more)[:max(most - len(scores), 0)]
        if not more:
            return scores, best
        scores.update((point, scores_of(point)) for point in more)
