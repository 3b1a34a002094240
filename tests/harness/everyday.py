"""Which cases of a long parametrised test run by default; the others are slow.

    @pytest.mark.everyday(6)    six cases run by default
    all_but(NAMES, "slow one")  for `parametrize`: all by default but those named
"""

import math

import pytest


def spread(count, total):
    """`count` of `range(total)`: the first, then steps that meet every value of every parameter.

    The step is near the golden section of `total` and has no factor with it in common, so that it
    does not stay at one value of a parameter.
    """
    step = next(step for step in range(max(1, round(0.618 * total)), 2 * total + 1)
                if math.gcd(step, total) == 1)
    return {k * step % total for k in range(min(count, total))}


def all_but(values, *long):
    """Values for `parametrize`, of which the long ones are slow."""
    return [pytest.param(value, marks=pytest.mark.slow) if value in long else value
            for value in values]


def choose(items):
    """Mark as slow what `everyday(count)` leaves out."""
    cases = {}
    for item in items:
        marker = item.get_closest_marker("everyday")
        if marker and not item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], (marker, []))[1].append(item)
    for marker, group in cases.values():
        kept = spread(*marker.args, len(group))
        for k, item in enumerate(group):
            if k not in kept:
                item.add_marker("slow")
