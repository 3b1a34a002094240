"""What Figures 1 to 12 have in common: the methods of a figure and the picture."""

import numpy as np

from secondorder.studies import diverged, legend_below, over_seeds

from .networks import title_of
from .training import CURVATURES, NAMES
from .trainings import Trainings, named


class Curves:
    """SGD, and every curvature with EA-CG and with a second solver; `judges` has by letter a
    function of the figure and its `Trainings`.
    """

    criterion, curvatures, second, over = "cross-entropy", CURVATURES, "kfi", "epochs"
    judges = {}

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
        trainings = Trainings(self.criterion, settings, results)
        return trainings.stages(self.methods()) + (trainings.timings(self.counted())
                                                   if self.over == "seconds" else [])

    def judge(self, results, settings):
        trainings = Trainings(self.criterion, settings, results)
        return {letter: judge(self, trainings) for letter, judge in self.judges.items()}

    def draw(self, results, figure, settings):
        draw_curves(self.counted(), Trainings(self.criterion, settings, results), figure, self.over)


STYLES = {"sgd": ":", "ea-cg": "-", "kfi": "--", "kfi-rank-one": "--", "cg": "--"}
LOOKS = {"none": ("0.2", ""), "fisher": ("C0", "o"), "gauss-newton": ("C2", "^"),
         "pch-1": ("C3", "s"), "pch-2": ("C4", "D")}


def draw_curves(methods, trainings, figure, over):
    """Training loss and test accuracy over epochs or seconds, of the runs that the least loss of
    the trials chose; of several seeds the mean.

    Seconds end where the quickest method has ended: there the others are still under way. The
    accuracies of the first epochs are cut off where the ends would not be told apart.
    """
    panels, settings = figure.subplots(1, 2), trainings.settings
    at = "L", None if over == "epochs" else 0
    lines = {method: [run for run in trainings.runs(at, method).values() if not diverged(run)]
             for method in methods}
    last = np.inf if over == "epochs" else 1.5 * np.median(
        [run["seconds"][-1] for runs in lines.values() for run in runs])
    ends, highest = [], 0.0
    for method, runs in ((method, runs) for method, runs in lines.items() if runs):
        shortest = min(len(run["loss"]) for run in runs)
        x = (np.arange(shortest) if over == "epochs" else
             np.mean([run["seconds"][:shortest] for run in runs], axis=0))
        x, (colour, marker) = x[x <= last], LOOKS[method[1]]
        for axes, name in zip(panels, ("loss", "accuracy")):
            mean = np.mean([run[name][:len(x)] for run in runs], axis=0)
            axes.plot(x, mean, STYLES[method[0]], color=colour, marker=marker, markersize=4,
                      markerfacecolor=colour if method[0] == "ea-cg" else "white",
                      markevery=max(1, len(x) // 8), label=named(*method))
        ends.append(mean[-1])
        highest = max(highest, mean.max())
    spread = max(2 * (highest - min(ends)), 0.15 * highest)
    panels[1].set_ylim(bottom=max(0.0, min(ends) - spread))
    for panel in panels:
        panel.locator_params(axis="x", nbins=6)
        panel.set_xlabel("epoch" if over == "epochs" else "CPU seconds of the steps")
    panels[0].set(ylabel=f"training loss, {NAMES[trainings.criterion]}", yscale="log")
    panels[1].set_ylabel("accuracy on images held out")
    legend_below(figure, panels[1], rows=2)
    figure.suptitle(f"Training over {over}: {title_of(settings['case'])}\nrate, alpha and batch of "
                    f"least loss in the trials; {over_seeds(settings['seeds'], 'mean')}",
                    fontsize=9)
