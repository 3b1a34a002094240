"""Claim: Gauss-Newton overfits each mini-batch."""

import numpy as np

from secondorder.studies import diverged, legend_below, paired, study

from .. import PAPER
from . import compared
from .training import NAMES

METHODS = ("gn", "adam")
EPOCHS = 20


def changes(run):
    """Mean change of the own batch, and of another over it: what carries over."""
    own, other = np.mean(run["change"]), np.mean(run["carried"])
    return float(-own), float(other / own)


def carried_over(runs, own):
    """What a method carries over at a given change of the own batch, between its rates; nearest
    where none of them comes so far.
    """
    pairs = sorted(changes(run) for run in runs if not diverged(run) and np.mean(run["change"]) < 0)
    if not pairs:
        return float("nan")
    return float(np.interp(own, *zip(*pairs)))


@study(PAPER, "claim-batch-overfit",
       shows="What a step does to a batch that it has not seen, over what it does to its own, "
             "CIFAR-10",
       claims={"a": "at rates of equal change of the own batch less carries over with Gauss-Newton "
                    "than with Adam (epochs 1 to 20)"},
       full=compared.FULL | {"first": EPOCHS}, quick=compared.QUICK | {"first": 3},
       seconds=(1800, 3), needs=("cifar-10",),
       deviation=compared.DEVIATION + "; the other batch is of test images, not cropped; all rates "
       "of both methods, compared at the change of Gauss-Newton at rule P's")
class BatchOverfit:
    def runs(self, settings, results):
        wanted = compared.choosing(settings, "cifar", ("gn",))
        return wanted + [compared.one(settings, "cifar", seed, method, rate, looks=0,
                                      epochs=settings["first"])
                         for method in METHODS for rate in compared.grid(settings, method)
                         for seed in settings["seeds"]]

    def judge(self, results, settings):
        usual = compared.rates(results, settings, "cifar", "gn")["P"]
        gaps = []
        for seed in settings["seeds"]:
            told = {method: [results.of(method=method, rate=rate, seed=seed)[0]
                             for rate in compared.grid(settings, method)] for method in METHODS}
            one = results.of(method="gn", rate=usual, seed=seed)[0]
            own, carried = (np.nan, np.nan) if diverged(one) else changes(one)
            gaps.append(carried_over(told["adam"], own) - carried)
        return {"a": paired(gaps, "Adam's share less Gauss-Newton's").with_note(
            f"Gauss-Newton's rate {usual:g}")}

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        for method in METHODS:
            colour, style = compared.STYLES[method]
            for number, seed in enumerate(settings["seeds"]):
                told = [run for run in results.of(method=method, seed=seed) if not diverged(run)]
                pairs = sorted(changes(run) for run in told if np.mean(run["change"]) < 0)
                if pairs:
                    panel.plot(*zip(*pairs), style, marker="os"[method == "adam"], color=colour,
                               label=NAMES[method] if number == 0 else None)
        panel.set(xlabel="fall of the own batch's loss by a step, per cent",
                  ylabel="share that carries over to another batch")
        legend_below(figure, panel)
        figure.suptitle(f"Mark a rate, line a seed: {compared.title_of(settings)}", fontsize=10)
