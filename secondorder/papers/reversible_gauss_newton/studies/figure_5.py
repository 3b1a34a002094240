"""Figure 5: without the bottleneck, where the assumptions of the theorem do not hold."""

from secondorder.studies import Run, diverged, exactly, legend_below, over_seeds, study, undecided

from .. import PAPER
from . import compared, figure_1
from .figure_2 import saturation_of
from .training import train

PLAIN = {"width": None, "looks": 0}


def one_batch(settings, seed, method, rate):
    about = settings["cifar"]
    return Run(train, {"seed": seed, "method": method, "rate": rate, "task": about["task"],
                       "samples": about["batch"], "batch": about["batch"], "width": None,
                       "epochs": settings["steps"]})


@study(PAPER, "figure-5",
       shows="CIFAR-10 without bottleneck: one batch, and mini-batches",
       claims={"a": "one batch: Gauss-Newton reaches loss .1 within half the steps of the better "
                    "of Adam and SGD",
               "b": "mini-batches: Gauss-Newton saturates, Adam and SGD do not",
               "c": "the assumptions do not hold: the features of a half layer have a rank "
                    "below n"},
       full=compared.FULL | {"steps": 61}, quick=compared.QUICK | {"steps": 10},
       seconds=(1300, 6), needs=("cifar-10",),
       deviation=compared.DEVIATION + "; here half of the units, 96, are fewer than the n = 102 of "
       "a batch; in print 1536 are more than 1024. 'Removed' is read as W on sigma(x)")
class Figure5:
    def runs(self, settings, results):
        wanted = compared.wanted(settings, results, **PLAIN)
        for method in compared.METHODS:
            choice = compared.rates(results, settings, "cifar", method, **PLAIN)
            if choice:
                wanted += [one_batch(settings, seed, method, rate)
                           for rate in dict.fromkeys(choice.values())
                           for seed in settings["seeds"]]
        return wanted

    def _one_batch(self, results, settings):
        told = {}
        for rule in compared.RULES:
            told[rule] = {}
            for method in compared.METHODS:
                rate = compared.rates(results, settings, "cifar", method, **PLAIN)[rule]
                told[rule][method] = [
                    results.of(**one_batch(settings, seed, method, rate).arguments)[0]
                    for seed in settings["seeds"]]
        return told

    def judge(self, results, settings):
        full = self._one_batch(results, settings)
        runs = [run for run in full["P"]["gn"] if not diverged(run)]
        samples = settings["cifar"]["batch"]
        ranks = [max(run["rank"]) for run in runs]
        count = (exactly(max(ranks) < samples, max(ranks), "largest of the least ranks of a step",
                         f"n = {samples}", len(ranks)) if ranks
                 else undecided("every run diverged"))
        return {"a": compared.agreed({rule: figure_1.faster(told) for rule, told in full.items()}),
                "b": compared.under_rules(results, settings, "cifar", lambda runs: saturation_of(
                    runs, ("gn",), ("adam", "sgd")), **PLAIN),
                "c": count}

    def draw(self, results, figure, settings):
        steps = max(one["epochs"] for one in results.arguments(samples=settings["cifar"]["batch"]))
        settings |= {"steps": steps}
        panels = figure.subplots(1, 3)
        compared.draw_by_rule(panels[0], self._one_batch(results, settings), "loss")
        told = compared.by_rule(results, settings, **PLAIN)
        compared.draw_by_rule(panels[1], told, "loss")
        compared.draw_by_rule(panels[2], told, "test")
        for panel, label in zip(panels, ("one batch: training loss", "mini-batches: training loss",
                                         "mini-batches: test loss")):
            panel.set(ylabel=label)
        panels[0].set_xlabel("step")
        legend_below(figure, panels[0])
        figure.suptitle("Without bottleneck (thick: rate by epoch 1, thin: best later): "
                        f"{settings['cifar']['samples']} images of CIFAR-10 at 8 x 8; "
                        + over_seeds(settings["seeds"]), fontsize=10)
