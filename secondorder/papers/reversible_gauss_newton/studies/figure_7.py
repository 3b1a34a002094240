"""Figure 7: one method takes over from the other half-way."""

import numpy as np

from secondorder.studies import finished, headline, legend_below, paired, study

from .. import PAPER
from . import compared


def switched(settings, results, seed, first, second):
    """Half of the epochs by one method, the others by another, both at the paper's rates."""
    rate = {method: compared.rates(results, settings, "cifar", method)["P"]
            for method in (first, second)}
    half = settings["cifar"]["epochs"] // 2
    return compared.one(settings, "cifar", seed, first, rate[first], looks=0,
                        then=[half, second, rate[second]])


PAIRS = (("adam", "gn"), ("gn", "adam"))


@study(PAPER, "figure-7", shows="Adam, then Gauss-Newton, and the reverse, CIFAR-10",
       claims={"a": "Adam and then Gauss-Newton ends above Adam alone",
               "b": "it ends below Gauss-Newton alone",
               "c": "Gauss-Newton and then Adam ends below the least loss of Gauss-Newton alone"},
       full=compared.FULL, quick=compared.QUICK, seconds=(2500, 4), needs=("cifar-10",),
       deviation=compared.DEVIATION + "; 50 and 50 epochs, the second method's memory fresh; the "
       "paper's rule for rates alone")
class Figure7:
    packed = staticmethod(compared.packed)

    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=("gn", "adam"), rules=("P",))
        if all(run in results for run in compared.choosing(settings, "cifar", ("gn", "adam"))):
            wanted += [switched(settings, results, seed, *pair) for pair in PAIRS
                       for seed in settings["seeds"]]
        return wanted

    def _told(self, results, settings):
        alone = compared.by_rule(results, settings, methods=("gn", "adam"), rules=("P",))["P"]
        return alone | {pair: [results.of(**switched(settings, results, seed, *pair).arguments)[0]
                               for seed in settings["seeds"]] for pair in PAIRS}

    def judge(self, results, settings):
        told = self._told(results, settings)
        mixed, back = (told[pair] for pair in PAIRS)
        least = [compared.lowest(run) for run in told["gn"]]
        last = [compared.final(run) for run in back]
        return {"a": paired(compared.logs(mixed, told["adam"]), "log ratio"),
                "b": paired(compared.logs(told["gn"], mixed), "log ratio"),
                "c": paired(np.log(least) - np.log(last), "log ratio")}

    def draw(self, results, figure, settings):
        told = self._told(results, settings)
        panel = figure.subplots()
        looks = {"gn": ("C3", "-", "Gauss-Newton"), "adam": ("C0", "--", "Adam"),
                 PAIRS[0]: ("C1", "-.", "Adam, then Gauss-Newton"),
                 PAIRS[1]: ("C2", ":", "Gauss-Newton, then Adam")}
        for name, (colour, style, label) in looks.items():
            compared.draw_curves(panel, [run["loss"] for run in finished(told[name])], colour,
                                 style, label)
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        legend_below(figure, panel)
        headline(figure, f"Taking over half-way: {compared.title_of(settings)}", settings)
