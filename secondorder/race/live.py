"""A small race for a class: the same search in small, one seed, a minute or two."""

import inspect

import numpy as np

from secondorder.optimizers import Optimizer

from .full import MARKS, RULES, SECONDS, brief, told
from .methods import Method, Point, obstacle
from .run import loss_at, run
from .tuning import search

BEGIN, MOST = [Point(place) for place in range(-2, 3)], 9
SHARE = 4  # a trial takes this part of the time
TRIES = MOST / SHARE + 1.25  # in T: trials, the run, and what is compiled before


def seconds_of(minutes, methods):
    """T, so that all of it takes about so many minutes; no more than in the recorded race."""
    return min(SECONDS, 60 * minutes / methods / TRIES)


def race(problem, methods, seconds, seed=1, say=lambda line: None):
    """Race; a generator of key and entry of one method after the other, as they come.

    An entry is that of a recorded race with one seed. Both rules tell the same run: over work it
    ends where the time has ended it. Of a method that cannot run, ``why`` says why.
    """
    for method in methods:
        why = obstacle(method, problem)
        say(f"{method.title}: {why or f'5 to {MOST} trials, then {seconds:.2g} s'}")
        yield method.key, told(method, {}, [None, None]) | {"why": why} if why else entered(
            problem, method, seconds, seed)


def entered(problem, method, seconds, seed):
    """Search, each trial for a part of the time, and the run with the best point."""
    def scores_of(point):
        trial = run(problem, method, method.numbers(point), seed, seconds / SHARE, 0.0)
        return (loss_at(trial, "seconds", seconds / SHARE),)

    scores, (best,) = search(method, scores_of, BEGIN, MOST)
    entry = told(method, {point: score * 2 for point, score in scores.items()}, [best, best])
    if best is None:
        return entry | {"why": "diverges with every number that was tried"}
    record = run(problem, method, method.numbers(best), seed, seconds, 0.0, MARKS)
    for rule, limit in zip(RULES, (seconds, record["work"][-1])):
        entry[rule]["limit"] = limit
        entry[rule]["runs"].append({"seed": seed, "work": record["work"][-1]} | brief(record, rule,
                                                                                      limit))
    return entry


def own_methods(module):
    """The optimizers that a user's module defines, as methods; ValueError if there is none.

    Each is made as ``Method(network, loss, learning_rate=rate)``; the middle of its rates is its
    own default, or 0.01.
    """
    found = [value for value in vars(module).values() if isinstance(value, type)
             and issubclass(value, Optimizer) and value.__module__ == module.__name__]
    if not found:
        raise ValueError(f"{module.__name__} defines no class that derives from "
                         "so.optimizers.Optimizer")
    return [Method(one.__name__, one.__name__, lambda network, loss, rate, _, one=one: one(
        network, loss, learning_rate=rate), default_rate(one)) for one in found]


def default_rate(method):
    """The default of a class's learning rate, 0.01 where it has none that is a number."""
    given = inspect.signature(method).parameters.get("learning_rate")
    default = given.default if given is not None else None
    return float(default) if isinstance(default, (int, float)) and default > 0 else 0.01


def rows(record):
    """One dict a method, the lowest training loss first; what did not run stands below."""
    told = []
    for entry in record["methods"].values():
        row = {"method": entry["title"]}
        if entry.get("why"):
            row["why"] = entry["why"]
        else:
            own = entry["seconds"]
            row |= {"numbers": own["numbers"]} | {
                name: own["runs"][0][name] for name in
                ("steps", "work", "loss", "held_out", "diverged") if name in own["runs"][0]}
        told.append(row)
    return sorted(told, key=lambda row: row.get("loss", np.inf))


def table(record):
    """Lines of a table of `rows`."""
    lines = [f"{'method':<26}{'tuned':<30}{'steps':>7}{'work':>9}{'loss':>10}{'held out':>10}"]
    for row in rows(record):
        if "loss" in row:
            lines.append(f"{row['method']:<26}{row['numbers']:<30}{row['steps']:>7}"
                         f"{row['work']:>9.0f}{row['loss']:>10.4g}{row['held_out']:>10.4g}")
        else:
            lines.append(f"{row['method']:<26}" + (row.get("why") or f"{row['numbers']}: diverged"))
    return [*lines, "", f"Training loss after {record['seconds']:.2g} CPU seconds of steps, the "
            "lowest first; work is in gradients of the batch."]
