"""Figure 9: how far the weights turn from their start."""

import numpy as np

from secondorder.studies import (alike, both, diverged, finished, headline, legend_below, paired,
                                 study)

from .. import PAPER
from . import compared
from .training import NAMES

STARTS = {"1e-3": {}, "xavier": {"init": "xavier"}}


def mean_of(runs, which):
    """Mean over the half layers of |theta - theta_0| (0) or of the cosine (1), at the end."""
    return np.array([np.nan if diverged(run) or not run["looks"] else
                     np.mean([pair[which] for pair in run["looks"][-1]["weights"]])
                     for run in runs])


@study(PAPER, "figure-9",
       shows="Cosine of the weights with their start, and their distance, CIFAR-10",
       claims={f"{letter}-{start}": f"{text} (start {start})" for start in STARTS
               for letter, text in (
                   ("a", "the cosines of Gauss-Newton and Adam are alike within 0.1"),
                   ("b", "SGD's is above both by 0.2 or more"),
                   ("c", "the distances order likewise: Gauss-Newton's and Adam's above SGD's"))},
       full=compared.FULL, quick=compared.QUICK, seconds=(4000, 7), needs=("cifar-10",),
       deviation=compared.DEVIATION + "; means over the twelve half layers. At the small start any "
       "step turns the cosine to 0: Xavier's start is shown beside it, at the same rates (rule P)")
class Figure9:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, rules=("P",))
        for method in compared.METHODS:
            choice = compared.rates(results, settings, "cifar", method)
            if choice:
                wanted += [compared.one(settings, "cifar", seed, method, choice["P"], init="xavier")
                           for seed in settings["seeds"]]
        return wanted

    def _told(self, results, settings, more):
        rates = {method: compared.rates(results, settings, "cifar", method)["P"]
                 for method in compared.METHODS}
        return {method: [results.of(**compared.one(settings, "cifar", seed, method, rate, **more)
                                    .arguments)[0] for seed in settings["seeds"]]
                for method, rate in rates.items()}

    def judge(self, results, settings):
        verdicts = {}
        for start, more in STARTS.items():
            told = self._told(results, settings, more)
            cosine = {method: mean_of(runs, 1) for method, runs in told.items()}
            far = {method: np.log(mean_of(runs, 0)) for method, runs in told.items()}
            verdicts[f"a-{start}"] = alike(cosine["gn"] - cosine["adam"], 0.1,
                                           "Gauss-Newton's cosine less Adam's")
            verdicts[f"b-{start}"] = paired(
                cosine["sgd"] - np.maximum(cosine["gn"], cosine["adam"]),
                "SGD's cosine less the larger of the other two", 0.2)
            verdicts[f"c-{start}"] = both(*(paired(far[method] - far["sgd"], "log ratio of "
                                                   f"distances, {NAMES[method]} over SGD")
                                            for method in ("gn", "adam")))
        return {letter: one.with_note(compared.P_ALONE) for letter, one in verdicts.items()}

    def draw(self, results, figure, settings):
        panels = figure.subplots(2, 2, sharex=True)
        for column, (start, more) in zip(panels.T, STARTS.items()):
            told = self._told(results, settings, more)
            for method, runs in told.items():
                colour, style = compared.STYLES[method]
                for panel, which in zip(column, (1, 0)):
                    rows = [[np.mean([pair[which] for pair in look["weights"]])
                             for look in run["looks"]] for run in finished(runs)]
                    compared.draw_curves(panel, rows, colour, style, NAMES[method],
                                         settings["cifar"]["looks"], 0)
            column[0].set_title(f"start: {start}", fontsize=9)
            column[1].set_xlabel("epoch")
        panels[0, 0].set_ylabel("cosine with the start")
        panels[1, 0].set_ylabel("|θ - θ_0|")
        legend_below(figure, panels[0, 0])
        headline(figure, f"Weights against their start: {compared.title_of(settings)}", settings)
