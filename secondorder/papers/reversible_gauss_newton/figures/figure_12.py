"""Figure 12: is it the rate?"""

import numpy as np

from secondorder.studies import (LINE_STYLES, counted, diverged, finished, headline, legend_below,
                                 mean_and_range, paired, saturation, study, undecided)

from .. import PAPER
from . import compared

HALVE = 10  # epochs
MARGIN = -np.log(0.95)  # of a log ratio: "more than 5 % below"
HEADROOM = 1.3  # the picture ends so far above the first loss; one rate would flatten all others


@study(PAPER, "figure-12", **compared.ON_CIFAR, seconds=(4400, 6), ours=("c",),
       shows="Gauss-Newton at seven rates, and at a falling one, CIFAR-10",
       claims={"a": "whatever its rate, Gauss-Newton ends above Adam",
               "b": "at no other rate does Gauss-Newton end more than 2 % below the authors' rate",
               "c": "Gauss-Newton with its rate halved every 10 epochs ends more than 5 % below "
                    "itself at the constant rate",
               "d": "at every rate below the authors' Gauss-Newton saturates"},
       deviation=compared.AT_AUTHORS + "; the rates of the figure are not in print: six of ours, "
       "0.1, 0.2, 0.5, 1, 2, 4, and the authors' 0.6. Halved are the rate of the paper's own rule "
       "and the best one")
class Figure12(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.FIGURE_2.wanted(settings, results, methods=("gn", "adam"))
        rates = compared.rates(results, settings, "cifar", "gn")
        if rates is None:
            return wanted
        wanted += [self._run(settings, seed, rate) for rate in compared.grid(settings, "gn")
                   for seed in settings["seeds"]]
        return wanted + [self._run(settings, seed, rate, halve=HALVE) for rate in rates.values()
                         for seed in settings["seeds"]]

    def _run(self, settings, seed, rate, **more):
        return compared.one(settings, "cifar", seed, "gn", rate, **more)

    def _told(self, results, settings):
        """Rate -> Gauss-Newton's runs on the seeds of the rate that decides; and that rate."""
        rule, rate = next(iter(compared.FIGURE_2.rates(results, settings, "cifar", "gn").items()))
        return {one: [results.returned(self._run(settings, seed, one))
                      for seed in compared.FIGURE_2.seeds(settings, "cifar", rule)]
                for one in sorted({rate, *compared.grid(settings, "gn")})}, rate

    def _halved(self, results, settings):
        """Rule -> (rate, runs at it, runs that halve it)."""
        return {rule: (rate, *([results.returned(self._run(settings, seed, rate, **more))
                                for seed in settings["seeds"]] for more in ({}, {"halve": HALVE})))
                for rule, rate in compared.rates(results, settings, "cifar", "gn").items()}

    def judge(self, results, settings):
        constant, usual = self._told(results, settings)
        ends = np.array([[compared.final(run) for run in runs] for runs in constant.values()])
        best = ends.min(axis=0) / [compared.final(run) for run in constant[usual]]
        adam = compared.FIGURE_2.by_rule(results, settings, methods=("adam",))
        above = {rule: paired([float(np.log(end / compared.final(run)))
                               for end, run in zip(ends.min(axis=0), runs["adam"])],
                              "log of the least end over Adam's") for rule, runs in adam.items()}
        lower = {rule: paired(compared.logs(same, halved), "log ratio, constant over halved",
                              MARGIN).with_note(f"rate {rate:g}")
                 for rule, (rate, same, halved) in self._halved(results, settings).items()}
        lost = [f"{value:g}" for value, runs in constant.items() if any(map(diverged, runs))]
        note = f"diverged: {', '.join(lost)}" if lost else ""
        return {"a": compared.decided(above).with_note(note),
                "b": counted([value >= 0.98 for value in best], best,
                             f"least end over that at rate {usual:g}", 3).with_note(note),
                "c": compared.decided(lower),
                "d": self._slower([runs for rate, runs in constant.items() if rate < usual])}

    def _slower(self, slower):
        """(d), of the runs at every lower rate."""
        lost = compared.cut_off(run for runs in slower for run in runs)
        if lost or not slower:
            return lost or undecided("no lower rate was tried")
        gains = [max(saturation(run["loss"]) for run in of_seed) for of_seed in zip(*slower)]
        return counted([gain < 1.02 for gain in gains], gains,
                       "loss half-way over the least after, largest of these rates", 3)

    def draw(self, results, figure, settings):
        panel, (constant, usual) = figure.subplots(), self._told(results, settings)
        top = HEADROOM * max((run["loss"][0] for runs in constant.values()
                              for run in finished(runs)), default=1.0)
        for k, (rate, runs) in enumerate(constant.items()):
            name = f"{rate:g}" + " (the rate that decides)" * (rate == usual)
            name += (", diverges" if any(map(diverged, runs)) else ", leaves at the top"
                     if any(max(run["loss"]) > top for run in runs) else "")
            mean_and_range(panel, [run["loss"] for run in runs], f"C{k}", 1, label=name,
                           linestyle=LINE_STYLES[k % len(LINE_STYLES)], markevery=100,
                           marker="x" if any(map(diverged, runs)) else None)
        for colour, style, (rate, _, runs) in zip(("k", "C8"), ("-", (0, (1, 2))), self._halved(
                results, settings).values()):
            compared.draw_curves(panel, runs, "loss", colour, style,
                                 f"{rate:g}, halved every {HALVE} epochs", linewidth=2.2)
        adam = compared.FIGURE_2.by_rule(results, settings, methods=("adam",))
        for (rule, runs), style in zip(adam.items(), (":", "-.")):
            compared.draw_curves(panel, runs["adam"], "loss", "0.3", style,
                                 f"Adam, {compared.WORDS[rule]}")
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        panel.set_ylim(top=top)
        legend_below(figure, panel, rows=3)
        headline(figure, f"Gauss-Newton's rate: {compared.title_of(settings)}", settings)
