"""A small race for a class: the same search in small, one seed, a minute or two."""

import inspect

from secondorder.optimizers import Optimizer

from .full import SECONDS, add_judged, entry, tuned
from .methods import Method, Point
from .outcome import outcome
from .run import run

BEGIN, MOST = [Point(place) for place in range(-2, 3)], 9
SHARE = 4  # a trial takes this part of the time
TRIES = MOST / SHARE + 1.25  # in T: trials, the run, and what is compiled before


def seconds_of(minutes, methods):
    """T, so that all of it takes about so many minutes; no more than in the recorded race."""
    return min(SECONDS, 60 * minutes / methods / TRIES)


def race(problem, methods, seconds, seed=1, say=lambda line: None):
    """Race; a generator of key and entry of one method after the other, as they come.

    An entry is that of a recorded race with one seed. Both rules tell the same run: over work it
    ends where the time has ended it.
    """
    def run_of(method, point, *rest):
        return run(problem, method, method.numbers(point), *rest)

    for method in methods:
        say(f"{method.title}: 5 to {MOST} trials, then {seconds:.2g} s")
        scores, winners = tuned(method, run_of, seconds / SHARE, 0.0, (seed,), BEGIN, MOST)
        told = entry(method, scores, winners)
        add_judged(told, method, winners, run_of, seed, seconds, 0.0)
        yield method.key, told


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
    default = getattr(given, "default", None)
    return float(default) if isinstance(default, (int, float)) and default > 0 else 0.01


def table(record):
    """Lines of a table of what came out."""
    lines = [f"{'method':<26}{'tuned':<30}{'steps':>7}{'work':>9}{'loss':>10}{'held out':>10}"]
    for row in outcome(record, "seconds"):
        start = f"{row['method']:<26}{row['numbers'] or '':<30}"
        lines.append(f"{start}diverges" if row["diverged"] or not row["numbers"] else
                     f"{start}{row['steps']:>7.0f}{row['work']:>9.0f}{row['loss']:>10.4g}"
                     f"{row['held_out']:>10.4g}")
    return [*lines, "", f"Training loss after {record['seconds']:.2g} CPU seconds of steps, the "
            "lowest first; work is in gradients of the batch."]
