"""Figure 7: one method takes over from the other half-way."""

import numpy as np

from secondorder.studies import headline, legend_below, paired, study

from .. import PAPER
from . import compared


def switched(settings, results, rule, seed, first, second):
    """Half of the epochs by one method, the others by another, at their rates by a rule."""
    rate = {method: compared.rates(results, settings, "cifar", method)[rule]
            for method in (first, second)}
    half = settings["cifar"]["epochs"] // 2
    return compared.one(settings, "cifar", seed, first, rate[first], looks=0,
                        then=[half, second, rate[second]])


PAIRS = (("adam", "gn"), ("gn", "adam"))


@study(PAPER, "figure-7", **compared.ON_CIFAR, seconds=(2500, 4),
       shows="Adam, then Gauss-Newton, and the reverse, CIFAR-10",
       claims={"a": "Adam and then Gauss-Newton ends above Adam alone",
               "b": "Adam and then Gauss-Newton ends below Gauss-Newton alone",
               "c": "Gauss-Newton and then Adam ends below the least loss of Gauss-Newton alone"},
       deviation=compared.BY_RULE + "; 50 and 50 epochs, the second method's memory fresh")
class Figure7(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"))
        if all(run in results for run in compared.choosing(settings, "cifar", ("gn", "adam"))):
            wanted += [switched(settings, results, rule, seed, *pair)
                       for rule in compared.OWN_RULE.rules for pair in PAIRS
                       for seed in settings["seeds"]]
        return wanted

    def _told(self, results, settings):
        """Rule -> method, or pair of them -> runs."""
        alone = compared.by_rule(results, settings, methods=("gn", "adam"))
        return {rule: runs | {pair: [
            results.returned(switched(settings, results, rule, seed, *pair))
            for seed in settings["seeds"]] for pair in PAIRS} for rule, runs in alone.items()}

    def judge(self, results, settings):
        return compared.by_letter({rule: self._judged(told) for rule, told
                                          in self._told(results, settings).items()})

    def _judged(self, told):
        """The verdicts on the runs by one rule: method, or pair of them -> runs."""
        mixed, back = (told[pair] for pair in PAIRS)
        least = [compared.lowest(run) for run in told["gn"]]
        last = [compared.final(run) for run in back]
        return {"a": paired(compared.logs(mixed, told["adam"]), "log ratio"),
                "b": paired(compared.logs(told["gn"], mixed), "log ratio"),
                "c": paired(np.log(least) - np.log(last), "log ratio")}

    def draw(self, results, figure, settings):
        looks = {"gn": ("C3", "-", "Gauss-Newton"), "adam": ("C0", "--", "Adam"),
                 PAIRS[0]: ("C1", "-.", "Adam, then Gauss-Newton"),
                 PAIRS[1]: ("C2", ":", "Gauss-Newton, then Adam")}
        told = self._told(results, settings)
        for rule, (panel,) in compared.panels_by_rule(figure, told).items():
            for name, (colour, style, label) in looks.items():
                compared.draw_curves(panel, told[rule][name], "loss", colour, style, label)
        legend_below(figure, panel)
        headline(figure, f"Taking over half-way: {compared.title_of(settings)}", settings)
