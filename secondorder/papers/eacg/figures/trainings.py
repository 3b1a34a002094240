"""Trainings over a grid of rates, alpha and batch sizes, and the questions that figures ask them.

The grid is the paper's, thinned: rates 0.1 and 0.2, alpha 0.01, 0.02 and 0.1. Every point is tried
on a seed of its own, with test images taken from the training part; (L) the point with the least
final training loss and (A) the one with the best held-out accuracy are then trained on the seeds
that vote. Where the corner is chosen, the largest rate with the smallest alpha, one step beyond it
is tried as well.
"""

import functools

import numpy as np

from secondorder.studies import (Run, alike, both, diverged, least, paired, readings, repeated,
                                 undecided)

from . import clock
from .networks import STARTED
from .training import NAMES, train

TRIAL_SEED = 100
SELECTIONS = ("L", "A")
REPEATS = 5  # of a timing
#: Losses at which both methods are timed, in equal steps from the start (2.303 and 0.622) down.
LEVELS = {"cross-entropy": (2.0, 1.6, 1.2), "bounded": (0.56, 0.5, 0.44)}
LOWER_LOSS = "log of the final loss of {other} over that of {ours}"
EQUAL_SECONDS = "log of the loss of {other} over that of {ours}, at equal seconds"
BETTER_ACCURACY = "accuracy of {ours} less that of {other}"


class Trainings:
    """The trainings of a figure; a method is (name, curvature), a point (rate, alpha, batch).

    Questions are answered by both selections. `at`, where it is asked for, is a selection, "L" or
    "A", and the number of a repeat of the timing where seconds are compared, else None.
    """

    def __init__(self, criterion, settings, results):
        self.criterion, self.settings, self.results = criterion, settings, results
        self.runs = functools.cache(self.runs)  # judges ask for the same ones often

    # -- which runs --------------------------------------------------------------------------------

    def one(self, seed, method, point, epochs, trial=False):
        """A training at one point of the grid."""
        name, curvature = method
        rate, alpha, batch = point
        return Run(train, {"seed": seed, "case": self.settings["case"],
                           "criterion": self.criterion, "method": name, "curvature": curvature,
                           "rate": rate, "alpha": alpha, "batch": batch, "epochs": epochs,
                           "samples": self.settings["samples"], "hold_out": trial})

    def trial(self, method, point):
        return self.one(TRIAL_SEED, method, point, self.settings["trial"], trial=True)

    def epochs(self, method, repeat=None):
        """Of a training. Where seconds are compared, one that is quick is trained on, until its
        rivals have come as far.
        """
        usual, longer = self.settings["epochs"], self.settings.get("longer", {})
        return usual if repeat is None else longer.get(self.criterion, {}).get(method[0], usual)

    def points(self, method):
        """The grid of a method."""
        alphas = (0.0,) if method[0] == "sgd" else self.settings["alphas"]
        return [(rate, alpha, batch) for rate in self.settings["rates"] for alpha in alphas
                for batch in self.settings["batches"]]

    def tried(self, method):
        """The grid and, where a selection takes its corner, one step beyond it: twice the rate, or
        half the alpha.
        """
        grid = self.points(method)
        corner = max(self.settings["rates"]), min(self.settings["alphas"])
        for rate, alpha, batch in self.best(grid, method).values():
            if (rate, alpha) == corner and len(grid) > 1:
                grid += [point for point in ((2 * rate, alpha, batch), (rate, alpha / 2, batch))
                         if point not in grid]
        return grid

    def best(self, grid, method):
        """Selection -> the point of some that it takes, or nothing while a trial is missing; one
        point alone is not tried.
        """
        if len(grid) == 1:
            return dict.fromkeys(SELECTIONS, grid[0])
        trials = [self.trial(method, point) for point in grid]
        if any(trial not in self.results for trial in trials):
            return {}
        tried = [self.results.returned(trial) for trial in trials]
        losses = [np.inf if diverged(one) else one["loss"][-1] for one in tried]
        accuracies = [-1 if diverged(one) else one["accuracy"][-1] for one in tried]
        equal = [loss if accuracy == max(accuracies) else np.inf  # of equal ones the lower loss
                 for accuracy, loss in zip(accuracies, losses)]
        return {"L": grid[least(losses, "point")], "A": grid[least(equal, "point")]}

    def chosen(self, method):
        """Selection -> point, or nothing while a trial is missing."""
        return self.best(self.tried(method), method)

    def stages(self, methods):
        """Trials of every point and, once these are known, the runs of the two chosen ones."""
        runs = []
        for method in methods:
            grid = self.tried(method)
            runs += [self.trial(method, point) for point in grid if len(grid) > 1]
            runs += [self.one(seed, method, point, epochs)
                     for point in self.best(grid, method).values()
                     for epochs in (self.epochs(method), self.epochs(method, 0))
                     for seed in self.settings["seeds"]]
        return runs

    def timings(self, methods):
        """The runs that time the methods of a figure, at every batch size of its grid."""
        return [Run(clock.update_seconds, {
            "repeat": repeat, "case": self.settings["case"], "criterion": self.criterion,
            "methods": [list(one) for one in methods], "batch": batch, "rounds": 3, "steps": 4})
            for repeat in range(REPEATS) for batch in self.settings["batches"]]

    def runs(self, at, method):
        """Seed -> result, of the seeds that vote; seconds are those of the repeat of the timing."""
        selection, repeat = at
        point = self.chosen(method).get(selection)
        runs = {} if point is None else {
            seed: self.one(seed, method, point, self.epochs(method, repeat))
            for seed in self.settings["seeds"]}
        told = {seed: self.results.returned(run) for seed, run in runs.items()
                if run in self.results}
        if repeat is None or not told:
            return told
        name = " ".join(method)
        # where two figures share a case, as in the quick setting, both time the method
        update = next(timed[name] for timed in self.results.of(
            repeat=repeat, case=self.settings["case"], criterion=self.criterion, batch=point[2])
            if name in timed)
        return {seed: run | {"seconds": (update * run["updates"]
                                         * np.arange(len(run["loss"]))).tolist()}
                for seed, run in told.items()}

    # -- how they are compared ---------------------------------------------------------------------

    def compared(self, at, ours, other, number, measure, margin=0.0, within=None, against=None):
        """Whether ``number(run of ours, run of other)``, paired by seed, is above the margin; or,
        with `within`, whether it is smaller than that in size, where runs that diverged are left
        out.

        `measure` may name both methods, ``{ours}`` and ``{other}``. A run that never left the
        plateau leaves the comparison open. `against`, where given, are the other's trainings, of
        another grid.
        """
        left, right = self.runs(at, ours), (against or self).runs(at, other)
        both = [seed for seed in left if seed in right]
        going = [seed for seed in both if all(
            run["loss"] and min(run["loss"]) < STARTED[self.criterion]
            for run in (left[seed], right[seed]))]
        if len(going) < len(both):
            return undecided(f"{len(both) - len(going)} of {len(both)} runs stay on the plateau",
                             len(both))
        measure = measure.format(ours=named(*ours), other=named(*other))
        numbers = [number(left[seed], right[seed]) for seed in going]
        if within is None:
            return paired(numbers, measure, margin)
        return alike([value for value in numbers if not np.isnan(value)], within, measure)

    def shared(self, judge, repeat=None):
        """The verdict of ``judge(at)`` that both selections share.

        Of two that agree the number nearer to the margin is told. The paper does not say how it
        selected; where the selections differ the claim is undecided.
        """
        L, A = (judge((selection, repeat)) for selection in SELECTIONS)
        if L.verdict == A.verdict:
            return max(L, A, key=lambda verdict: verdict.p or 0.0)
        return readings({"rates by least loss": L, "by best accuracy": A},
                        because="the paper does not say how it chose its rates")

    def timed(self, judge):
        """The verdict that they share in every repeat of the timing."""
        return repeated(*(self.shared(judge, repeat) for repeat in range(REPEATS)))

    def all(self, pairs, *asked, **options):
        """See `compared`: held where it holds for all pairs."""
        return self.shared(lambda at: both(*(self.compared(at, *pair, *asked, **options)
                                             for pair in pairs), of="pairs of methods"))

    def lower(self, pairs):
        """Whether the first of every pair ends with the lower training loss."""
        return self.all(pairs, lower_loss, LOWER_LOSS)

    def tests_better(self, pairs, margin=0.0):
        """Whether it ends with the better accuracy, by more than a margin."""
        return self.all(pairs, better_accuracy, BETTER_ACCURACY, margin)

    def losses_alike(self, pairs):
        """Whether the final losses of every pair are within 10 % of each other."""
        return self.all(pairs, lower_loss, LOWER_LOSS, within=0.1)

    def accuracies_alike(self, pairs):
        """Whether the final accuracies are within 2 points."""
        return self.all(pairs, better_accuracy, BETTER_ACCURACY, within=0.02)

    def same_time(self, pairs):
        """Whether all epochs take the same seconds, within 10 %."""
        return self.timed(lambda at: both(*(self.compared(
            at, *pair, lambda a, b: np.log(b["seconds"][-1] / a["seconds"][-1]),
            "log of the seconds of {other} over those of {ours}", within=np.log(1.1))
            for pair in pairs), of="pairs of methods"))

    def faster(self, pairs, factor=1.0):
        """Whether the first of every pair is at three fixed losses before `factor` times the
        other's seconds and, where the quicker one of them ends, has the lower loss (not asked with
        a factor above 1).
        """
        asked = [(lambda a, b, level=level: clock.ahead(a, b, level),
                  f"log of the seconds of {{other}} over those of {{ours}}, to loss {level:g}",
                  -np.log(factor)) for level in LEVELS[self.criterion]]
        if factor == 1.0:
            asked.append((clock.at_equal_seconds, EQUAL_SECONDS))
        return self.timed(lambda at: both(*(
            both(*(self.compared(at, *pair, *one) for one in asked), of="comparisons of these two")
            for pair in pairs), of="pairs of methods"))


def named(method, curvature):
    """A method as a reader calls it: "SGD", "EA-CG (Fisher)"."""
    return NAMES[method] + ("" if curvature == "none" else f" ({NAMES[curvature]})")


def final(result, name="loss"):
    return np.nan if diverged(result) else result[name][-1]


def lower_loss(ours, other):
    """log of the other's final training loss over ours: positive where ours is lower."""
    return np.log(final(other) / final(ours))


def better_accuracy(ours, other):
    return final(ours, "accuracy") - final(other, "accuracy")
