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


def by_change(runs):
    """(change of the own batch, what carries over) of the runs that lower it, by the former."""
    return sorted(changes(run) for run in runs if not diverged(run) and np.mean(run["change"]) < 0)


def gap(told):
    """Adam's share that carries over less Gauss-Newton's, at a change of the own batch that both
    reach: the middle of the common range, between neighbouring rates. NaN if there is none.
    """
    pairs = {method: by_change(runs) for method, runs in told.items()}
    if not all(pairs.values()):
        return float("nan")
    low, high = (take(pairs[method][end][0] for method in METHODS)
                 for take, end in ((max, 0), (min, -1)))
    if low > high:
        return float("nan")
    gauss_newton, adam = (np.interp((low + high) / 2, *zip(*pairs[method])) for method in METHODS)
    return float(adam - gauss_newton)


@study(PAPER, "claim-batch-overfit", **compared.ON_CIFAR | {
           "full": compared.FULL | {"first": EPOCHS}, "quick": compared.QUICK | {"first": 3}},
       shows="What a step does to a batch that it has not seen, over what it does to its own, "
             "CIFAR-10",
       claims={"a": "Gauss-Newton overfits each mini-batch: at equal change of the own batch's "
                    "loss less carries over to another batch than with Adam, epochs 1 to 20"},
       seconds=(1800, 3),
       deviation=compared.SIZES + "; the other batch is of test images, not cropped; all rates "
       "of both methods, compared at the middle of the changes that both reach")
class BatchOverfit:
    def runs(self, settings, results):
        return [compared.one(settings, "cifar", seed, method, rate, looks=0,
                             epochs=settings["first"])
                for method in METHODS for rate in compared.grid(settings, method)
                for seed in settings["seeds"]]

    def judge(self, results, settings):
        gaps = [gap({method: [results.of(method=method, rate=rate, seed=seed)[0]
                              for rate in compared.grid(settings, method)] for method in METHODS})
                for seed in settings["seeds"]]
        return {"a": paired(gaps, "Adam's share less Gauss-Newton's, at a change both reach")}

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        for method in METHODS:
            colour, style = compared.STYLES[method]
            for number, seed in enumerate(settings["seeds"]):
                pairs = by_change(results.of(method=method, seed=seed))
                if pairs:
                    panel.plot(*zip(*pairs), style, marker="os"[method == "adam"], color=colour,
                               label=NAMES[method] if number == 0 else None)
        panel.axhline(0, color="0.7", linewidth=0.8)
        panel.set(xlabel="fall of the own batch's loss by a step, per cent",
                  ylabel="share that carries over to another batch")
        # at one rate another batch loses ten times what the own one gains
        panel.set_yscale("symlog", linthresh=0.2)
        panel.yaxis.set_major_formatter("{x:g}")
        legend_below(figure, panel)
        figure.suptitle(f"Mark a rate, line a seed: {compared.title_of(settings)}", fontsize=10)
