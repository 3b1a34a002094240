"""Ours: do Adam and SGD gain as Gauss-Newton does when their rates fall?"""

from secondorder.studies import legend_below, over_seeds, paired, study

from .. import PAPER
from . import compared
from .figure_12 import HALVE, MARGIN

METHODS = {"adam": "Adam", "sgd": "SGD"}


@study(PAPER, "claim-schedules",
       shows="Adam and SGD at a constant rate, and halved every 10 epochs, CIFAR-10",
       claims={method: f"{name} halved every {HALVE} epochs ends more than 5 % below itself "
                       "constant, as Gauss-Newton does in Figure 12"
               for method, name in METHODS.items()},
       full=compared.FULL, quick=compared.QUICK, seconds=(1500, 4), needs=("cifar-10",),
       ours=tuple(METHODS),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; a control of ours, at the rates of rule B")
class Schedules(compared.OfFigure2):
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, methods=tuple(METHODS), rules=("B",))
        for method in METHODS:
            rates = compared.rates(results, settings, "cifar", method)
            if rates is not None:
                wanted += self._falling(settings, method, rates["B"])
        return wanted

    def _falling(self, settings, method, rate):
        return [compared.one(settings, "cifar", seed, method, rate, halve=HALVE)
                for seed in settings["seeds"]]

    def _told(self, results, settings, method):
        """The rate, the runs at it, and those in which it falls."""
        rate = compared.rates(results, settings, "cifar", method)["B"]
        constant = compared.by_rule(results, settings, methods=(method,), rules=("B",))["B"][method]
        falling = [results.returned(run)
                   for run in self._falling(settings, method, rate)]
        return rate, constant, falling

    def judge(self, results, settings):
        verdicts = {}
        for method in METHODS:
            rate, constant, falling = self._told(results, settings, method)
            verdicts[method] = paired(compared.logs(constant, falling), "log ratio, constant over "
                                      "halved", MARGIN).with_note(f"rate {rate:g} by rule B")
        return verdicts

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        for method, name in METHODS.items():
            rate, *both = self._told(results, settings, method)
            for runs, style, how in zip(both, ("-", "--"), ("constant", f"halved every {HALVE} "
                                                            "epochs")):
                compared.draw_curves(panel, runs, "loss", compared.STYLES[method][0], style,
                                     f"{name}, {rate:g} {how}")
        panel.set(xlabel="epoch", ylabel="training loss", yscale="log")
        legend_below(figure, panel)
        figure.suptitle(f"Falling rates: {compared.title_of(settings)}; "
                        + over_seeds(settings["seeds"]), fontsize=10)
