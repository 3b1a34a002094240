"""Figure 12: is it the rate?"""

import numpy as np

from secondorder.studies import (LINE_STYLES, counted, diverged, finished, headline, legend_below,
                                 paired, study)

from .. import PAPER
from . import compared

HALVE = 10  # epochs
MARGIN = -np.log(0.95)  # of a log ratio: "more than 5 % below"
HEADROOM = 1.3  # the picture ends so far above the first loss; one rate would flatten all others


@study(PAPER, "figure-12", shows="Gauss-Newton at six rates, and at a falling one, CIFAR-10",
       claims={"a": "at every rate Gauss-Newton ends above Adam",
               "b": "at none does it end more than 2 % below the rate of the paper's rule",
               "c": "control, ours: that rate, halved every 10 epochs, ends more than 5 % below "
                    "itself constant: what saturates is the constant rate"},
       full=compared.FULL, quick=compared.QUICK, seconds=(4400, 6), needs=("cifar-10",),
       ours=("c",),
       deviation=compared.DEVIATION + "; the rates are not stated: 0.1, 0.2, 0.5, 1, 2, 4; Adam at "
       "the rate of rule P. Full cost with Figure 2's runs at hand: 0.7 core-hours")
class Figure12:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"), rules=("P",))
        rates = compared.rates(results, settings, "cifar", "gn")
        if rates is None:
            return wanted
        wanted += [self._run(settings, seed, rate) for rate in compared.grid(settings, "gn")
                   if rate != rates["P"] for seed in settings["seeds"]]
        return wanted + [self._run(settings, seed, rates["P"], halve=HALVE)
                         for seed in settings["seeds"]]

    def _run(self, settings, seed, rate, **more):
        return compared.one(settings, "cifar", seed, "gn", rate, **more)

    def _told(self, results, settings, **more):
        rates = ([compared.rates(results, settings, "cifar", "gn")["P"]] if more
                 else compared.grid(settings, "gn"))
        return {rate: [results.of(**self._run(settings, seed, rate, **more).arguments)[0]
                       for seed in settings["seeds"]] for rate in rates}

    def judge(self, results, settings):
        constant, falling = self._told(results, settings), self._told(results, settings,
                                                                      halve=HALVE)
        (rate, halved), = falling.items()
        adam = compared.by_rule(results, settings, methods=("adam",), rules=("P",))["P"]["adam"]
        ends = np.array([[compared.final(run) for run in runs] for runs in constant.values()])
        usual = np.array([compared.final(run) for run in constant[rate]])
        above = np.log(ends.min(axis=0) / [compared.final(run) for run in adam])
        best = ends.min(axis=0) / usual
        lost = [f"{value:g}" for value, runs in constant.items() if any(map(diverged, runs))]
        note = f"rate {rate:g} by the rule" + (f"; diverged: {', '.join(lost)}" if lost else "")
        return {"a": paired(above, "log of the least end over Adam's").with_note(note),
                "b": counted([value >= 0.98 for value in best], best, "least end over the rule's",
                             3).with_note(note),
                "c": paired(compared.logs(constant[rate], halved), "log ratio, constant over "
                            "halved", MARGIN).with_note(note)}

    def draw(self, results, figure, settings):
        panel, told = figure.subplots(), self._told(results, settings)
        top = HEADROOM * max((run["loss"][0] for runs in told.values() for run in finished(runs)),
                             default=1.0)
        for k, (rate, runs) in enumerate(told.items()):
            losses = [run["loss"] for run in finished(runs)]
            leaves = ", leaves at the top" if any(max(loss) > top for loss in losses) else ""
            compared.draw_curves(panel, losses, f"C{k}", LINE_STYLES[k % len(LINE_STYLES)],
                                 f"{rate:g}{leaves}")
        for rate, runs in self._told(results, settings, halve=HALVE).items():
            compared.draw_curves(panel, [run["loss"] for run in finished(runs)], "k",
                                 LINE_STYLES[-1], f"{rate:g}, halved every {HALVE} epochs")
        runs = compared.by_rule(results, settings, methods=("adam",), rules=("P",))["P"]["adam"]
        compared.draw_curves(panel, [run["loss"] for run in finished(runs)], "0.5", ":", "Adam")
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        panel.set_ylim(top=top)
        legend_below(figure, panel)
        headline(figure, f"Gauss-Newton's rate: {compared.title_of(settings)}", settings)
