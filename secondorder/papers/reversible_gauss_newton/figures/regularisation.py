"""Claims: the pseudo-inverse needs its tolerance, and how large it is does not matter."""

from secondorder.studies import (UNDECIDED, counted, diverged, exactly, headline,
                                 legend_below, study, undecided)

from .. import PAPER
from . import compared
from .figure_2 import ends_below, saturation_of
from .figure_14 import STRENGTHS, regularised

SETS = ("cifar", "mnist")


@study(PAPER, "claim-regularisation",
       shows="Gauss-Newton with and without the tolerance of the pseudo-inverse",
       claims={name: "without a tolerance it diverges, or ends more than 10 % above itself with "
                     f"1 % ({name})" for name in SETS},
       full=compared.FULL, quick=compared.QUICK, seconds=(2600, 5), needs=("mnist", "cifar-10"),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; both at the rates of the two rules for 1 %")
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
            rates = compared.rates(results, settings, name, "gn")
            for rate in dict.fromkeys(rates.values()):
                rule = next(rule for rule in rates if rates[rule] == rate)
                for method, runs in self._told(results, settings, name)[rule].items():
                    colour, style, label = looks[method]
                    compared.draw_curves(panel, runs, "loss", colour, style,
                                         label if rule == "P" else None,
                                         linewidth=1.6 if rule == "P" else 0.8)
            panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
            panel.set_title(compared.title_of(settings, (name,)), fontsize=8)
        legend_below(figure, panel)
        headline(figure, "Gauss-Newton's pseudo-inverse with and without a tolerance\n"
                 f"{compared.THICK_AND_THIN}", settings)


@study(PAPER, "claim-tolerance",
       shows="Figure 2 on CIFAR-10 with the tolerance at 0.1, 1 and 10 %",
       claims={"a": "whether Adam ends below is the same at all three",
               "b": "whether Gauss-Newton saturates, and Adam does not, is the same at all three"},
       full=compared.FIVE_SEEDS, quick=compared.QUICK, seconds=(3200, 5), needs=("cifar-10",),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; all at the rates of the two rules for 1 %")
class Tolerance(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"))
        rates = compared.rates(results, settings, "cifar", "gn") or {}
        wanted += [regularised(settings, seed, rate, "truncate", strength)
                   for rate in rates.values() for strength in STRENGTHS if strength != 0.01
                   for seed in settings["seeds"]]
        return wanted

    def _told(self, results, settings):
        """Rule -> tolerance -> method -> runs."""
        rates = compared.rates(results, settings, "cifar", "gn")
        adam = compared.by_rule(results, settings, methods=("adam",))
        return {rule: {strength: adam[rule] | {"gn": [
            results.returned(regularised(settings, seed, rate, "truncate", strength))
            for seed in settings["seeds"]]} for strength in STRENGTHS}
            for rule, rate in rates.items()}

    def judge(self, results, settings):
        return compared.by_letter({
            rule: self._judged(told, settings)
            for rule, told in self._told(results, settings).items()})

    def _judged(self, told, settings):
        """The verdicts on the runs by one rule: tolerance -> method -> runs."""
        verdicts = {}
        for letter, judge in (("a", ends_below), ("b", saturation_of)):
            judged = {strength: judge(runs).verdict for strength, runs in told.items()}
            decided = set(judged.values()) - {UNDECIDED}
            said = ", ".join(f"{strength:g}: {verdict}" for strength, verdict in judged.items())
            seeds = len(settings["seeds"])
            verdicts[letter] = (exactly(len(decided) == 1, None, "", said, seeds)
                                if len(decided) > 1 or UNDECIDED not in judged.values()
                                else undecided(said, seeds))
        return verdicts

    def draw(self, results, figure, settings):
        panels = compared.panels_by_rule(figure)
        for rule, told in self._told(results, settings).items():
            for k, (strength, runs) in enumerate(told.items()):
                compared.draw_curves(panels[rule], runs["gn"], "loss", f"C{k}",
                                     ("-", "--", "-.")[k], f"Gauss-Newton, {100 * strength:g} %")
            compared.draw_curves(panels[rule], told[STRENGTHS[0]]["adam"], "loss", "k", ":", "Adam")
        legend_below(figure, panels["P"])
        headline(figure, f"Tolerances: {compared.title_of(settings)}", settings)
