"""Figure 9: how far the weights turn from their start."""

import numpy as np

from secondorder.studies import alike, both, diverged, headline, legend_below, paired, study

from .. import PAPER
from . import compared
from .training import NAMES

STARTS = {"1e-3": {}, "xavier": {"init": "xavier"}}
TRAININGS = {"1e-3": compared.FIGURE_2, "xavier": compared.OWN_RULE}


def mean_of(runs, which):
    """Mean over the half layers of |theta - theta_0| (0) or of the cosine (1), at the end."""
    return np.array([np.nan if diverged(run) or not run["looks"] else
                     np.mean([pair[which] for pair in run["looks"][-1]["weights"]])
                     for run in runs])


@study(PAPER, "figure-9", **compared.ON_CIFAR, seconds=(4000, 7),
       shows="Cosine of the weights with their start, and their distance, CIFAR-10",
       claims={f"{letter}-{start}": f"{text} (start {start})" for start in STARTS
               for letter, text in (
                   ("a", "Gauss-Newton's and Adam's weights turn alike: their cosines with the "
                    "start are within 0.1"),
                   ("b", "SGD's weights turn less: one less its cosine is at most half of "
                    "Gauss-Newton's and of Adam's"),
                   ("c", "Gauss-Newton's and Adam's weights move farther than SGD's"))},
       deviation=compared.AT_AUTHORS + "; means over the twelve half layers. At the small start "
       "any step turns the cosine to 0: Xavier's start is shown beside it, at rates of its own, "
       "by the paper's rule")
class Figure9(compared.OfFigure2):
    def runs(self, settings, results):
        return [run for start, more in STARTS.items()
                for run in TRAININGS[start].wanted(settings, results, **more)]

    def judge(self, results, settings):
        def alike_cosines(told):
            return alike(mean_of(told["gn"], 1) - mean_of(told["adam"], 1), 0.1,
                         "Gauss-Newton's cosine less Adam's")

        def sgd_turns_less(told):
            turned = {method: np.log(1 - mean_of(runs, 1)) for method, runs in told.items()}
            return both(*(paired(turned[method] - turned["sgd"], "log of one less the cosine, "
                                 f"{NAMES[method]} over SGD", np.log(2))
                          for method in ("gn", "adam")))

        def farther(told):
            far = {method: np.log(mean_of(runs, 0)) for method, runs in told.items()}
            return both(*(paired(far[method] - far["sgd"], "log ratio of distances, "
                                 f"{NAMES[method]} over SGD") for method in ("gn", "adam")))

        judges = {"a": alike_cosines, "b": sgd_turns_less, "c": farther}
        return {f"{letter}-{start}": TRAININGS[start].under_rules(results, settings, "cifar", judge,
                                                                    **more)
                for start, more in STARTS.items() for letter, judge in judges.items()}

    def draw(self, results, figure, settings):
        panels = figure.subplots(2, 2, sharex=True)
        for column, (start, more) in zip(panels.T, STARTS.items()):
            told = TRAININGS[start].by_rule(results, settings, **more)
            for panel, which in zip(column, (1, 0)):
                compared.draw_looks(panel, told, lambda look: np.mean(
                    [pair[which] for pair in look["weights"]]) or np.nan,  # no logarithm of 0
                    settings["cifar"]["looks"])
            column[0].set_title(f"start: {start}, {compared.thick_and_thin(told)}", fontsize=8)
            column[1].set(xlabel="epoch", yscale="log")
        panels[0, 0].set_ylabel("cosine with the start")
        panels[1, 0].set_ylabel("|θ - θ_0|")
        legend_below(figure, panels[0, 0])
        headline(figure, f"Weights against their start: {compared.title_of(settings)}", settings)
