"""Figure 6: does a long run help Gauss-Newton?"""

import numpy as np

from secondorder.studies import (counted, diverged, headline, legend_below, paired, smoothed,
                                 study, undecided)

from .. import PAPER
from . import compared

METHODS = ("gn", "sgd")


@study(PAPER, "figure-6", **compared.ON_CIFAR | {"full": compared.FULL | {"long": 400},
                                                 "quick": compared.QUICK | {"long": 8}},
       seconds=(3600, 5),
       shows="Four hundred epochs of Gauss-Newton and SGD on CIFAR-10",
       claims={"a": "in a long run Gauss-Newton gains less than 2 % of training loss after epoch "
                    "50",
               "b": "in a long run Gauss-Newton's loss rises again: it ends more than 2 % above "
                    "epoch 150",
               "c": "in a long run SGD ends below the least loss of Gauss-Newton"},
       deviation=compared.BY_RULE + "; 400 epochs instead of 1000")
class Figure6(compared.OfFigure2):
    def _long(self, settings):
        return settings | {"cifar": settings["cifar"] | {"epochs": settings["long"], "looks": 0}}

    def runs(self, settings, results):
        return compared.wanted(self._long(settings), results, methods=METHODS)

    def _told(self, results, settings):
        """Rule -> method -> runs."""
        return compared.by_rule(results, self._long(settings), methods=METHODS)

    def judge(self, results, settings):
        return compared.by_letter({
            rule: self._judged(told, settings)
            for rule, told in self._told(results, settings).items()})

    def _judged(self, told, settings):
        """The verdicts on the runs by one rule, method -> runs."""
        early, middle = settings["long"] // 8, 3 * settings["long"] // 8  # 50 and 150 of 400
        # A run that diverged is read as far as it went, if that is twice the mark.
        short = sum(len(run["loss"]) < 2 * early for run in told["gn"])
        gains, rises = [], []
        for run in told["gn"]:
            T = smoothed(run["loss"])
            gains.append(np.nan if short else T[early:].min() / T[early - 1])
            rises.append(np.inf if diverged(run) else T[-1] / T[middle - 1])
        lost = sum(map(diverged, told["gn"]))
        note = f"{lost} of {len(told['gn'])} runs of Gauss-Newton diverged" if lost else ""
        last = [compared.final(run) for run in told["sgd"]]
        best = [smoothed(run["loss"]).min() for run in told["gn"]]
        return {"a": undecided(f"{short} of {len(told['gn'])} runs diverged before epoch "
                               f"{2 * early}") if short else counted(
                    [gain >= 0.98 for gain in gains], gains, "least later over T(50)", 3
                    ).with_note(note),
                "b": counted([rise > 1.02 for rise in rises], rises, "end over T(150)",
                             3).with_note(note),
                "c": paired(np.log(best) - np.log(last), "log ratio")}

    def draw(self, results, figure, settings):
        told = self._told(results, settings)
        for panel, name, label in zip(figure.subplots(1, 2), ("loss", "size"), (
                "training loss", "|θ|")):
            compared.draw_by_rule(panel, told, name)
            panel.set(ylabel=label)
        legend_below(figure, figure.axes[0])
        headline(figure, f"Long runs ({compared.thick_and_thin(told)})\n"
                 f"{compared.title_of(settings)}", settings)
