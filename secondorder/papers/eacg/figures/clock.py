"""Seconds: what an update of every method takes, timed side by side, and who is the faster.

Training tells losses by epoch; an update's seconds are measured apart, in turns and five times
over, so that no method is timed beside other work than its rivals. A claim about seconds stands if
it comes out alike in all repeats. It is judged by the paper's solvers: EA-CG on arrays as large as
the weights, KFI with the matrices of Eq. (12).
"""

import time

import numpy as np

from secondorder.studies import Run, both, crossing, diverged, repeated

from . import networks, training

#: Losses at which both methods are timed, in equal steps from the start (2.303 and 0.622) down.
LEVELS = {"cross-entropy": (2.0, 1.6, 1.2), "bounded": (0.56, 0.5, 0.44)}
REPEATS = 5
#: What the recorded seconds are of; with all figures that tell seconds.
TIMED_WITH = ("; seconds are CPU time of this implementation, recorded with compiled conjugate "
              "gradients: 7 ms an update of EA-CG with PCH-1 at batch 100 on 16 x 16 pixels, 34 ms "
              "of KFI. In the plain NumPy form of today these are 49 and 29 ms, by one repeat on a "
              "busy machine: there EA-CG would not be the faster")


def update_seconds(repeat, case, criterion, methods, batch, rounds, steps):
    """Median CPU seconds of an update of every method, in turns, on random images.

    `methods` are pairs of method and curvature; each makes `steps` updates in a round, by
    :func:`.training.as_printed`. Returns a dict, ``"ea-cg pch-1"`` and so on -> seconds.
    """
    rng = np.random.default_rng(repeat)
    x = rng.random((batch, networks.WIDTHS[case][0])).astype("float32")
    y = rng.integers(0, 10, batch)
    updates = {}
    for method, curvature in methods:
        network, loss = networks.network_of(case, repeat), networks.CRITERIA[criterion]()
        updates[f"{method} {curvature}"] = training.as_printed(network, loss, method, curvature,
                                                               1e-3, 0.02).step
    seconds = {name: [] for name in updates}
    for name, update in rounds * list(updates.items()):
        update(x, y)  # the caches hold the other methods' arrays
        began = time.process_time()
        for _ in range(steps):
            update(x, y)
        seconds[name].append((time.process_time() - began) / steps)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def timings(methods, criterion, settings):
    """The runs that time the methods of a figure, at every batch size of its grid."""
    return [Run(update_seconds, {"repeat": repeat, "case": settings["case"],
                                 "criterion": criterion, "methods": [list(one) for one in methods],
                                 "batch": batch, "rounds": 3, "steps": 4})
            for repeat in range(REPEATS) for batch in settings["batches"]]


class Timed(training.Chosen):
    """The runs of one selection; their seconds are those of one repeat of the timing."""

    def __init__(self, selection, criterion, settings, results, repeat=0):
        super().__init__(selection, criterion, settings, results)
        self.repeat = repeat

    def epochs(self, method):
        return training.trained_on(method, self.criterion, self.settings)

    def runs(self, method, curvature):
        point = self.point(method, curvature)
        if point is None:
            return {}
        name = f"{method} {curvature}"
        timings = self.results.of(repeat=self.repeat, case=self.settings["case"],
                                  criterion=self.criterion, batch=point[2])
        # where two figures share a case, as in the quick setting, both time the method
        update = next(told[name] for told in timings if name in told)
        return {seed: run | {"seconds": (update * run["updates"]
                                         * np.arange(len(run["loss"]))).tolist()}
                for seed, run in super().runs(method, curvature).items()}


def timed(judge, criterion, settings, results):
    """A verdict that both selections share in every repeat of the timing; ``judge`` takes a
    :class:`Timed`.
    """
    return repeated(*(training.by_selection(
        judge, criterion, settings, results,
        lambda *given, repeat=repeat: Timed(*given, repeat)) for repeat in range(REPEATS)))


def faster(chosen, ours, other, factor=1.0):
    """Whether a method (name, curvature) is at three fixed losses before `factor` times another's
    seconds and, where the quicker one of them ends, has the lower loss (not asked with a factor
    above 1).
    """
    seconds = "log of " + ("" if factor == 1.0 else f"{factor:g} times ") + (
        "the seconds of {other} over those of {ours}, to loss ")
    parts = [chosen.compared(ours, other, lambda a, b, level=level: np.log(factor) + ahead(
        a, b, level), f"{seconds}{level:g}") for level in LEVELS[chosen.criterion]]
    if factor == 1.0:
        parts.append(chosen.compared(ours, other, at_equal_seconds, EQUAL_SECONDS))
    return both(*parts)


def ahead(ours, other, level):
    """log of the other's seconds to a loss over ours.

    A run that never comes so far counts with its last second if that decides the sign, and else
    with NaN.
    """
    (a, end), (b, other_end) = reached(ours, level), reached(other, level)
    if not np.isfinite(a) and not b <= end or not np.isfinite(b) and not a <= other_end:
        return np.nan
    return float(np.log(min(b, other_end) / min(a, end)))


def reached(run, level):
    """Seconds until a loss, between two looks by the logarithm of the loss, and of the whole run.
    """
    place, seconds = crossing(run["loss"], level), np.array(run["seconds"])
    at = float(np.interp(place, range(len(seconds)), seconds)) if np.isfinite(place) else np.inf
    return at, float(seconds[len(run["loss"]) - 1])


EQUAL_SECONDS = "log of the loss of {other} over that of {ours}, at equal seconds"


def at_equal_seconds(ours, other):
    """log of the other's training loss over ours, where the quicker one of the two ends."""
    log_of_ours, log_of_other = where_the_quicker_ends(ours, other, lambda run: np.log(run["loss"]))
    return log_of_other - log_of_ours


def accuracy_at_equal_seconds(ours, other):
    """Our accuracy less the other's, there."""
    left, right = where_the_quicker_ends(ours, other, lambda run: run["accuracy"])
    return left - right


def where_the_quicker_ends(ours, other, column):
    """A number of both, between two looks; NaN where one of them diverged."""
    if diverged(ours) or diverged(other):
        return np.nan, np.nan
    last = min(run["seconds"][-1] for run in (ours, other))
    return [float(np.interp(last, run["seconds"], column(run))) for run in (ours, other)]
