"""Tuning: twelve trials a method and problem on a seed of their own, the same rules for all.

Rule S takes the trial with the least training loss at T/4 CPU seconds, rule G the one at as much
work as Adam makes in T/4. A winner at the edge of the rates moves the grid by two points, once.
Diverged, stalled and tied trials are ignored.
"""

import functools
from typing import NamedTuple

import numpy as np

from secondorder.studies import Run, least

from . import course
from .entrants import ENTRANTS, obstacle
from .problems import PROBLEMS

TRIAL_SEED = 100
RULES = {"S": "seconds", "G": "work"}
SHARE = 4  # trials take this part of T, and of Adam's work in T
MOVED = 0.99  # of the loss at the start: a trial above has not moved
SHIFT = 2  # points by which a grid moves


class Point(NamedTuple):
    """A place of a method's grid: half decades of the first number, the second number."""

    place: int
    second: float | None


class Budget(NamedTuple):
    """T in CPU seconds, and Adam's work in it."""

    seconds: float
    work: float


# -- how far a run goes ----------------------------------------------------------------------------


def clock(problem, settings):
    """The run that measures T."""
    adam = ENTRANTS["adam"]
    outwards = sorted(grid(adam, settings), key=abs)  # the default first: later ones end sooner
    firsts = [adam.first(place) for place in outwards]
    if PROBLEMS[problem].level is None:
        firsts = [adam.default]
    return Run(course.measure, {"seed": TRIAL_SEED, "problem": problem, "firsts": firsts,
                                "most": settings["most"][problem]})


def budget(problem, settings, results):
    """The `Budget` of a problem; None as long as it is not measured."""
    run = clock(problem, settings)
    if run not in results:
        return None
    told = results.returned(run)
    return Budget(float(f"{told['seconds']:.4g}"), float(told["work"]))


# -- trials ----------------------------------------------------------------------------------------


def grid(entrant, settings):
    """The places that are tried first; the quick setting takes the first few around the default."""
    return entrant.places if settings["trials"] is None else range(settings["trials"])


def points(entrant, settings, places=None):
    """All points of a grid."""
    seconds = entrant.second or (None,)
    if settings["trials"] is not None:
        seconds = seconds[len(seconds) // 2:][:1]
    return [Point(place, second) for place in (grid(entrant, settings) if places is None else
                                               places) for second in seconds]


def run_of(seed, problem, entrant, point, seconds, work, looks=course.LOOKS):
    """A `Run` of a method at a point of its grid."""
    return Run(course.run, {"seed": seed, "problem": problem, "method": entrant.key,
                            "first": entrant.first(point.place), "second": point.second,
                            "seconds": seconds, "work": work, "looks": looks})


def trial(problem, entrant, point, limits):
    return run_of(TRIAL_SEED, problem, entrant, point, float(f"{limits.seconds / SHARE:.4g}"),
                  limits.work / SHARE, looks=2)


def tried(problem, entrant, settings, results):
    """Point -> what its trial returned, of all trials so far; and the trials that are missing.

    The second round, two points further, is asked for once the first one is there.
    """
    limits = budget(problem, settings, results)
    wanted = points(entrant, settings)
    trials, missing = _look_up(problem, entrant, wanted, limits, results)
    if missing or settings["trials"] is not None:
        return trials, missing
    further = beyond(trials, grid(entrant, settings), limits)
    more, missing = _look_up(problem, entrant, points(entrant, settings, further), limits, results)
    return trials | more, missing


def _look_up(problem, entrant, wanted, limits, results):
    runs = {point: trial(problem, entrant, point, limits) for point in wanted}
    return ({point: results.returned(run) for point, run in runs.items() if run in results},
            [run for run in runs.values() if run not in results])


def beyond(trials, places, limits):
    """The places by which the grid moves: two beyond each edge that a rule's winner stands on."""
    winners = {point.place for point in winner_by_rule(trials, limits).values()}
    below = range(places[0] - SHIFT, places[0]) if places[0] in winners else ()
    above = range(places[-1] + 1, places[-1] + 1 + SHIFT) if places[-1] in winners else ()
    return [*below, *above]


def winner_by_rule(trials, limits):
    """Rule -> the point that it takes; without those rules by which no trial moved."""
    winners = {}
    for rule, name in RULES.items():
        numbers = [moved(record, name, getattr(limits, name) / SHARE) for record in trials.values()]
        numbers = untied(numbers)
        if np.isfinite(numbers).any():
            winners[rule] = list(trials)[least(numbers, "trial")]
    return winners


def untied(numbers):
    """Losses, with infinity for those that several trials share: tied trials are ignored."""
    return [number if numbers.count(number) == 1 else np.inf for number in numbers]


def moved(record, name, value):
    """The loss at so many seconds or so much work; infinite where it diverged or did not move."""
    loss = at(record, name, value)
    return loss if loss <= MOVED * record["loss"][0] else np.inf


def at(record, name, value, read="loss"):
    """A record's loss where it had taken so many seconds, or so much work, or so many steps.

    Between two looks its logarithm is interpolated. Infinite where the run did not come so far.
    """
    have = record[name]
    if not have or have[-1] < value * (1 - 1e-3):
        return np.inf
    return float(np.exp(np.interp(value, have, np.log(np.maximum(record[read], 1e-30)))))


# -- what is judged --------------------------------------------------------------------------------


def selected(problem, entrant, settings, results):
    """Rule -> Point; {} where no trial moved, None as long as trials are missing."""
    trials, missing = tried(problem, entrant, settings, results)
    return None if missing else winner_by_rule(trials, budget(problem, settings, results))


def judged(problem, entrant, rule, seed, choice, limits):
    """The run that is judged by a rule: one for both where they chose one point."""
    point = choice[rule]
    if len(set(choice.values())) == 1:
        return run_of(seed, problem, entrant, point, limits.seconds, limits.work)
    limits = Budget(limits.seconds, 0.0) if rule == "S" else Budget(0.0, limits.work)
    return run_of(seed, problem, entrant, point, limits.seconds, limits.work)


def stages(problem, settings, results, judge=True):
    """All runs of a problem that can be named by now; without `judge` the trials alone."""
    limits = budget(problem, settings, results)
    runs = [clock(problem, settings)]
    for entrant in running(problem, settings) if limits is not None else ():
        trials, missing = tried(problem, entrant, settings, results)
        runs += [trial(problem, entrant, point, limits) for point in trials] + missing
        if missing or not judge:
            continue
        choice = winner_by_rule(trials, limits)
        runs += [judged(problem, entrant, rule, seed, choice, limits)
                 for rule in choice for seed in settings["seeds"]]
    return runs


def running(problem, settings):
    """The methods that can run on a problem, in order."""
    return [ENTRANTS[key] for key in settings["methods"] if not left_out(problem)[key]]


@functools.cache
def left_out(problem):
    """Method -> why it cannot run on a problem, "" if it can."""
    about = PROBLEMS[problem]
    network, (training, _) = about.network(TRIAL_SEED), about.parts(TRIAL_SEED)
    samples = about.rows(len(training[0]))
    return {key: obstacle(entrant, about, network, samples) for key, entrant in ENTRANTS.items()}


# -- the width of the valley -----------------------------------------------------------------------

AROUND = 4  # half decades on either side of the selected point


def valley(problem, entrant, settings, results):
    """Places around the point that rule S selected, and their runs to T; None where there is no
    such point yet.
    """
    choice = selected(problem, entrant, settings, results)
    if not choice or "S" not in choice:
        return None
    point, limits = choice["S"], budget(problem, settings, results)
    return {place: run_of(TRIAL_SEED, problem, entrant, Point(place, point.second), limits.seconds,
                          0.0, looks=2)
            for place in range(point.place - AROUND, point.place + AROUND + 1)}
