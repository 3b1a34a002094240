"""What Figures 1 to 12 have in common: the methods of a figure, the questions, the picture."""

import numpy as np

from secondorder.studies import both, diverged, legend_below, over_seeds

from . import clock, training
from .networks import title_of
from .training import (BETTER_ACCURACY, CURVATURES, LOWER_LOSS, NAMES, better_accuracy,
                       by_selection, lower_loss)


class Curves:
    """SGD, and every curvature with EA-CG and with a second solver."""

    criterion, curvatures, second, over = "cross-entropy", CURVATURES, "kfi", "epochs"

    def methods(self):
        return [("sgd", "none")] + [(solver, curvature) for curvature in self.curvatures
                                    for solver in ("ea-cg", self.second)]

    def counted(self):
        """The methods that claims are about: PCH-2 is left out but for Figures 9 to 12."""
        return [one for one in self.methods() if one[1] != "pch-2"]

    def solvers(self):
        """EA-CG and its rival with every curvature but PCH-2, as pairs."""
        return [(("ea-cg", curvature), (self.second, curvature)) for curvature in self.curvatures
                if curvature != "pch-2"]

    def runs(self, settings, results):
        trainings = training.stages(self.methods(), self.criterion, settings, results)
        return trainings + (clock.timings(self.counted(), self.criterion, settings)
                            if self.over == "seconds" else [])

    def draw(self, results, figure, settings):
        kind = clock.Timed if self.over == "seconds" else training.Chosen
        draw_curves(self.counted(), self.criterion, results, figure, self.over, settings, kind)


class Asked:
    """Questions to the runs of a figure; both selections answer, for every pair of methods."""

    def __init__(self, figure, results, settings):
        self.told = figure.criterion, settings, results

    def all(self, pairs, number, measure, margin=0.0, within=None):
        """See :meth:`.training.Chosen.compared`: held where it holds for all pairs."""
        return by_selection(lambda chosen: both(*(chosen.compared(
            *pair, number, measure, margin, within) for pair in pairs)), *self.told)

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

    def faster(self, pairs, factor=1.0):
        """See :func:`.clock.faster`."""
        return clock.timed(lambda chosen: both(*(clock.faster(chosen, *pair, factor)
                                                 for pair in pairs)), *self.told)

    def same_time(self, pairs):
        """Whether all epochs take the same seconds, within 10 %."""
        return clock.timed(lambda chosen: both(*(chosen.compared(
            *pair, lambda a, b: np.log(b["seconds"][-1] / a["seconds"][-1]),
            "log of the seconds of {other} over those of {ours}", within=np.log(1.1))
            for pair in pairs)), *self.told)


STYLES = {"sgd": ":", "ea-cg": "-", "kfi": "--", "kfi-rank-one": "--", "cg": "--"}
MARKERS = {"none": "", "fisher": "o", "gauss-newton": "^", "pch-1": "s", "pch-2": "D"}
COLOURS = {"none": "0.2", "fisher": "C0", "gauss-newton": "C2", "pch-1": "C3", "pch-2": "C4"}


def draw_curves(methods, criterion, results, figure, over, settings, kind=training.Chosen):
    """Training loss and test accuracy over epochs or seconds, of the runs that the least loss of
    the trials chose; of several seeds the mean.

    Seconds end where the quickest method has ended: there the others are still under way. The
    accuracies of the first epochs are cut off where the ends would not be told apart.
    """
    panels = figure.subplots(1, 2)
    lines = []
    for method, curvature in methods:
        runs = {seed: run for seed, run in kind("L", criterion, settings, results).runs(
            method, curvature).items() if not diverged(run)}
        if runs:
            lines.append((method, curvature, list(runs.values())))
    last = np.inf if over == "epochs" else 1.5 * np.median(
        [run["seconds"][-1] for *_, runs in lines for run in runs])
    ends, highest = [], 0.0
    for method, curvature, runs in lines:
        shortest = min(len(run["loss"]) for run in runs)
        x = (np.arange(shortest) if over == "epochs" else
             np.mean([run["seconds"][:shortest] for run in runs], axis=0))
        x = x[x <= last]
        for axes, name in zip(panels, ("loss", "accuracy")):
            mean = np.mean([run[name][:len(x)] for run in runs], axis=0)
            axes.plot(x, mean, STYLES[method], color=COLOURS[curvature], marker=MARKERS[curvature],
                      markerfacecolor=COLOURS[curvature] if method == "ea-cg" else "white",
                      markersize=4, markevery=max(1, len(x) // 8),
                      label=training.named(method, curvature))
        ends.append(mean[-1])
        highest = max(highest, mean.max())
    spread = max(2 * (highest - min(ends)), 0.15 * highest)
    panels[1].set_ylim(bottom=max(0.0, min(ends) - spread))
    unit = "epoch" if over == "epochs" else "CPU seconds of the steps"
    for panel in panels:
        panel.locator_params(axis="x", nbins=6)
    panels[0].set(xlabel=unit, ylabel=f"training loss, {NAMES[criterion]}", yscale="log")
    panels[1].set(xlabel=unit, ylabel="accuracy on images held out")
    legend_below(figure, panels[1], rows=2)
    figure.suptitle(f"Training over {over}: {title_of(settings['case'])}\nrate, alpha and batch of "
                    f"least loss in the trials; {over_seeds(settings['seeds'], 'mean')}",
                    fontsize=9)
