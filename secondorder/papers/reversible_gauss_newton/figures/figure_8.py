"""Figure 8: the size of the initial weights."""

import numpy as np

from secondorder.studies import (LINE_STYLES, counted, diverged, headline, legend_below,
                                 study)

from .. import PAPER
from . import compared

SIGMAS = (1e-4, 1e-3, 1e-2, 0.03, "xavier")  # rising: Xavier's is about 0.05 here


@study(PAPER, "figure-8", **compared.ON_CIFAR, seconds=(3500, 5),
       shows="Gauss-Newton from weights of five sizes, CIFAR-10",
       claims={"a": "the larger the initial weights, the lower Gauss-Newton's last loss",
               "b": "from initial weights of all five sizes Gauss-Newton ends above Adam",
               "c": "from initial weights of all five sizes Gauss-Newton saturates"},
       deviation=compared.BY_RULE + "; the sizes, 1e-4, 1e-3, 1e-2, 0.03 and Xavier, are not in "
       "the paper's text; all at the rates that are chosen from 1e-3; Adam from 1e-3")
class Figure8(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"))
        rates = compared.rates(results, settings, "cifar", "gn") or {}
        return wanted + [self._run(settings, seed, rate, sigma) for rate in rates.values()
                         for sigma in SIGMAS if sigma != 1e-3 for seed in settings["seeds"]]

    def _run(self, settings, seed, rate, sigma):
        more = {} if sigma == 1e-3 else {"init": sigma, "looks": 0}
        return compared.one(settings, "cifar", seed, "gn", rate, **more)

    def _told(self, results, settings):
        """Rule -> deviation -> Gauss-Newton's runs; rule -> Adam's."""
        rates = compared.rates(results, settings, "cifar", "gn")
        adam = compared.by_rule(results, settings, methods=("adam",))
        return {rule: {sigma: [results.returned(self._run(settings, seed, rate, sigma))
                               for seed in settings["seeds"]] for sigma in SIGMAS}
                for rule, rate in rates.items()}, {rule: adam[rule]["adam"] for rule in rates}

    def judge(self, results, settings):
        told, adam = self._told(results, settings)
        return compared.by_letter({rule: self._judged(told[rule], adam[rule])
                                          for rule in told})

    def _judged(self, told, adam):
        """The verdicts on the runs by one rule: deviation -> Gauss-Newton's, and Adam's."""
        ends = np.array([[compared.final(run) for run in runs] for runs in told.values()])
        orders = [correlation(column) for column in ends.T]
        gaps = [float(np.log(column.min() / compared.final(run)))
                for column, run in zip(ends.T, adam)]
        cut_off = compared.cut_off(run for runs in told.values() for run in runs)
        every = [] if cut_off else [all(compared.saturates(runs[k]) for runs in told.values())
                                    for k in range(len(adam))]
        lost = sum(diverged(run) for runs in told.values() for run in runs)
        note = f"{lost} runs diverged and count as the highest ends" if lost else ""
        return {"a": counted([value < 0 for value in orders], orders, "rank correlation",
                             3).with_note(note),
                "b": counted([gap > 0 for gap in gaps], gaps, "log of the least end over Adam's",
                             3).with_note(note),
                "c": cut_off or counted(every, measure="seeds in which it is so", least=3)}

    def draw(self, results, figure, settings):
        told, adam = self._told(results, settings)
        for rule, row in compared.panels_by_rule(figure, told, compared.LOSSES).items():
            for panel, name in zip(row, ("loss", "test")):
                for k, (sigma, runs) in enumerate(told[rule].items()):
                    compared.draw_curves(panel, runs, name, f"C{k}", LINE_STYLES[k],
                                         f"deviation {str(sigma).capitalize()}")
                compared.draw_curves(panel, adam[rule], name, "0.5", LINE_STYLES[-1], "Adam")
        legend_below(figure, figure.axes[0], rows=2)
        headline(figure, f"Initial weights: {compared.title_of(settings)}", settings)


def correlation(values):
    """Spearman's, of values with their order; infinite ones are the largest."""
    ranks = np.argsort(np.argsort(values))
    return float(np.corrcoef(np.arange(len(ranks)), ranks)[0, 1])
