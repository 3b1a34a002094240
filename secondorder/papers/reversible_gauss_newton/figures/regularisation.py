"""Claim: the pseudo-inverse needs its tolerance."""

from secondorder.studies import counted, diverged, headline, legend_below, study

from .. import PAPER
from . import compared
from .figure_2 import SETS


@study(PAPER, "claim-regularisation", **compared.ON_CIFAR | {
           "needs": ("mnist", "cifar-10"),
           "smaller": "CIFAR-10 at 8 x 8 pixels, MNIST with 8000 images"},
       seconds=(2600, 5),
       shows="Gauss-Newton with and without the tolerance of the pseudo-inverse",
       claims={name: f"without a tolerance of the pseudo-inverse Gauss-Newton diverges, or ends "
                     f"more than 10 % above itself with 1 % ({told})"
               for name, told in SETS.items()},
       deviation=compared.BY_RULE + "; both at the rates for 1 %. MNIST: 8000 images, d' = 1064, "
       "n = 136, 60 epochs")
class Regularisation(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, SETS, ("gn",))
        for name in SETS:
            choice = compared.rates(results, settings, name, "gn") or {}
            wanted += [self._exact(settings, name, seed, rate) for rate in choice.values()
                       for seed in settings["seeds"]]
        return wanted

    def _exact(self, settings, name, seed, rate):
        return compared.one(settings, name, seed, "exact", rate, looks=0)

    def _told(self, results, settings, name):
        """Rule -> method -> runs, "exact" without the tolerance."""
        told = compared.by_rule(results, settings, name, ("gn",))
        return {rule: told[rule] | {"exact": [
            results.returned(self._exact(settings, name, seed, rate))
            for seed in settings["seeds"]]}
            for rule, rate in compared.rates(results, settings, name, "gn").items()}

    def judge(self, results, settings):
        def worse_without(told):
            ratios = [compared.final(one) / compared.final(other)
                      for one, other in zip(told["exact"], told["gn"])]
            met = [diverged(one) or ratio > 1.1 for one, ratio in zip(told["exact"], ratios)]
            return counted(met, ratios, "end without over end with 1 %", 3)

        return {name: compared.decided({rule: worse_without(told) for rule, told in
                                       self._told(results, settings, name).items()})
                for name in SETS}

    def draw(self, results, figure, settings):
        looks = {"gn": ("C3", "-", "1 %"), "exact": ("k", "--", "no tolerance")}
        for panel, name in zip(figure.subplots(1, 2), SETS):
            told = self._told(results, settings, name)
            for number, runs_of in enumerate(told.values()):
                for method, runs in runs_of.items():
                    colour, style, label = looks[method]
                    compared.draw_curves(panel, runs, "loss", colour, style,
                                         None if number else label,
                                         linewidth=0.8 if number else 1.6)
            panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
            panel.set_title(compared.title_of(settings, (name,)), fontsize=8)
        legend_below(figure, panel)
        headline(figure, "Gauss-Newton's pseudo-inverse with and without a tolerance\n"
                 f"{compared.thick_and_thin(told)}", settings)
