"""Claims: the pseudo-inverse needs its tolerance, and how large it is does not matter."""

from secondorder.studies import (UNDECIDED, counted, diverged, exactly, finished, headline,
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
       deviation=compared.DEVIATION + "; both at the rate of rule P for 1 %")
class Regularisation:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, SETS, ("gn",), ("P",))
        for name in SETS:
            choice = compared.rates(results, settings, name, "gn")
            if choice:
                wanted += [compared.one(settings, name, seed, "exact", choice["P"], looks=0)
                           for seed in settings["seeds"]]
        return wanted

    def _told(self, results, settings, name):
        told = compared.by_rule(results, settings, name, ("gn",), ("P",))["P"]
        exact = results.by_seed(method="exact", task=settings[name]["task"])
        return told | {"exact": [exact[seed] for seed in settings["seeds"]]}

    def judge(self, results, settings):
        verdicts = {}
        for name in SETS:
            told = self._told(results, settings, name)
            ratios = [compared.final(one) / compared.final(other)
                      for one, other in zip(told["exact"], told["gn"])]
            met = [diverged(one) or ratio > 1.1 for one, ratio in zip(told["exact"], ratios)]
            verdicts[name] = counted(met, ratios, "end without over end with 1 %", 3)
        return verdicts

    def draw(self, results, figure, settings):
        for panel, name in zip(figure.subplots(1, 2), SETS):
            for method, runs in self._told(results, settings, name).items():
                colour, style = ("C3", "-") if method == "gn" else ("k", "--")
                label = "1 %" if method == "gn" else "no tolerance"
                compared.draw_curves(panel, [run["loss"] for run in finished(runs)], colour, style,
                                     label)
            panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
            panel.set_title(compared.title_of(settings, (name,)), fontsize=8)
        legend_below(figure, panel)
        headline(figure, "Gauss-Newton's pseudo-inverse with and without a tolerance", settings)


@study(PAPER, "claim-tolerance",
       shows="Figure 2 on CIFAR-10 with the tolerance at 0.1, 1 and 10 %",
       claims={"a": "whether Adam ends below is the same at all three",
               "b": "whether Gauss-Newton saturates, and Adam does not, is the same at all three"},
       full=compared.FULL, quick=compared.QUICK, seconds=(3200, 5), needs=("cifar-10",),
       deviation=compared.DEVIATION + "; all at the rate of rule P for 1 %")
class Tolerance:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"), rules=("P",))
        rates = compared.rates(results, settings, "cifar", "gn")
        if rates:
            wanted += [regularised(settings, seed, rates["P"], "truncate", strength)
                       for strength in STRENGTHS if strength != 0.01
                       for seed in settings["seeds"]]
        return wanted

    def _told(self, results, settings):
        rate = compared.rates(results, settings, "cifar", "gn")["P"]
        adam = compared.by_rule(results, settings, methods=("adam",), rules=("P",))["P"]["adam"]
        return {strength: {"adam": adam, "gn": [
            results.of(**regularised(settings, seed, rate, "truncate", strength).arguments)[0]
            for seed in settings["seeds"]]} for strength in STRENGTHS}

    def judge(self, results, settings):
        told, verdicts = self._told(results, settings), {}
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
        panel = figure.subplots()
        told = self._told(results, settings)
        for k, (strength, runs) in enumerate(told.items()):
            compared.draw_curves(panel, [run["loss"] for run in finished(runs["gn"])], f"C{k}",
                                 ("-", "--", "-.")[k], f"Gauss-Newton, {100 * strength:g} %")
        compared.draw_curves(panel, [run["loss"] for run in finished(told[0.01]["adam"])], "k", ":",
                             "Adam")
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        legend_below(figure, panel)
        headline(figure, f"Tolerances: {compared.title_of(settings)}", settings)
