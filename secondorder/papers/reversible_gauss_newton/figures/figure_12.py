"""Figure 12: is it the rate?"""

import numpy as np

from secondorder.studies import (LINE_STYLES, counted, diverged, finished, headline, legend_below,
                                 paired, saturation, study, undecided)

from .. import PAPER
from . import compared

HALVE = 10  # epochs
MARGIN = -np.log(0.95)  # of a log ratio: "more than 5 % below"
HEADROOM = 1.3  # the picture ends so far above the first loss; one rate would flatten all others


@study(PAPER, "figure-12", shows="Gauss-Newton at six rates, and at a falling one, CIFAR-10",
       claims={"a": "at every rate Gauss-Newton ends above Adam",
               "b": "at none does it end more than 2 % below the rate of the paper's rule",
               "c": "control, ours: the rate, halved every 10 epochs, ends more than 5 % below "
                    "itself constant",
               "d": "at every rate slower than by the paper's rule it saturates"},
       full=compared.FULL, quick=compared.QUICK, seconds=(4400, 6), needs=("cifar-10",),
       ours=("c",),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; the rates are not stated: 0.1, 0.2, 0.5, 1, 2, 4. Full "
       "cost with Figure 2's runs at hand: 0.7 core-hours")
class Figure12(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"))
        rates = compared.rates(results, settings, "cifar", "gn")
        if rates is None:
            return wanted
        wanted += [self._run(settings, seed, rate) for rate in compared.grid(settings, "gn")
                   for seed in settings["seeds"]]
        return wanted + [self._run(settings, seed, rate, halve=HALVE) for rate in rates.values()
                         for seed in settings["seeds"]]

    def _run(self, settings, seed, rate, **more):
        return compared.one(settings, "cifar", seed, "gn", rate, **more)

    def _told(self, results, settings, rates, **more):
        """Rate -> Gauss-Newton's runs."""
        return {rate: [results.returned(self._run(settings, seed, rate, **more))
                       for seed in settings["seeds"]] for rate in rates}

    def _halved(self, results, settings):
        """Rule -> rate, and rate -> the runs that halve it."""
        rates = compared.rates(results, settings, "cifar", "gn")
        return rates, self._told(results, settings, dict.fromkeys(rates.values()), halve=HALVE)

    def judge(self, results, settings):
        constant = self._told(results, settings, compared.grid(settings, "gn"))
        rates, halved = self._halved(results, settings)
        ends = np.array([[compared.final(run) for run in runs] for runs in constant.values()])
        usual = np.array([compared.final(run) for run in constant[rates["P"]]])
        best = ends.min(axis=0) / usual
        adam = compared.by_rule(results, settings, methods=("adam",))
        above = {rule: paired(np.log(ends.min(axis=0) / [compared.final(run) for run in
                                                         runs["adam"]]),
                              "log of the least end over Adam's") for rule, runs in adam.items()}
        lower = {rule: paired(compared.logs(constant[rate], halved[rate]),
                              "log ratio, constant over halved", MARGIN)
                 for rule, rate in rates.items()}
        lost = [f"{value:g}" for value, runs in constant.items() if any(map(diverged, runs))]
        note = f"rate {rates['P']:g} by the paper's rule, {rates['B']:g} the best" + (
            f"; diverged: {', '.join(lost)}" if lost else "")
        return {"a": compared.decided(above).with_note(note),
                "b": counted([value >= 0.98 for value in best], best, "least end over the rule's",
                             3).with_note(note),
                "c": compared.decided(lower).with_note(note),
                "d": self._slower(constant, rates["P"]).with_note(note)}

    def _slower(self, constant, usual):
        """(d), of rate -> runs and the rate of the paper's rule."""
        slower = [runs for rate, runs in constant.items() if rate < usual]
        lost = compared.cut_off(run for runs in slower for run in runs)
        if lost or not slower:
            return lost or undecided("the paper's rule takes the least rate of the grid")
        gains = [max(saturation(run["loss"]) for run in of_seed) for of_seed in zip(*slower)]
        return counted([gain < 1.02 for gain in gains], gains,
                       "loss half-way over the least after, largest of these rates", 3)

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        told = self._told(results, settings, compared.grid(settings, "gn"))
        top = HEADROOM * max((run["loss"][0] for runs in told.values() for run in finished(runs)),
                             default=1.0)
        for k, (rate, runs) in enumerate(told.items()):
            leaves = any(max(run["loss"]) > top for run in finished(runs))
            compared.draw_curves(panel, runs, "loss", f"C{k}", LINE_STYLES[k % len(LINE_STYLES)],
                                 f"{rate:g}" + ", leaves at the top" * leaves)
        rates, halved = self._halved(results, settings)
        for grey, (rate, runs) in zip(("k", "0.35"), halved.items()):
            compared.draw_curves(panel, runs, "loss", grey, LINE_STYLES[-1],
                                 f"{rate:g}, halved every {HALVE} epochs")
        adam = compared.by_rule(results, settings, methods=("adam",))
        for (rule, runs), style in zip(adam.items(), (":", "-.")):
            compared.draw_curves(panel, runs["adam"], "loss", "0.5", style,
                                 f"Adam, {compared.RULES[rule]}")
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        panel.set_ylim(top=top)
        legend_below(figure, panel, rows=3)
        headline(figure, f"Gauss-Newton's rate: {compared.title_of(settings)}", settings)
