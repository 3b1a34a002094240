"""Figure 3: by how much a step changes the loss of its own mini-batch."""

import numpy as np

from secondorder.studies import diverged, legend_below, over_seeds, paired, study

from .. import PAPER
from . import compared


def change(run, first, last):
    """|mean per cent| over epochs `first` to `last`, from 1; NaN where the run diverged."""
    told = run["change"][first - 1:last]
    return abs(float(np.mean(told))) if told and not diverged(run) else float("nan")


def ratios(runs, first, last):
    """log of Gauss-Newton's change over the larger of the others'."""
    return [float(np.log(change(one, first, last) / np.max([
        change(runs[other][seed], first, last) for other in ("adam", "sgd")])))
        for seed, one in enumerate(runs["gn"])]


@study(PAPER, "figure-3",
       shows="Per cent by which a step changes the loss of its own batch, CIFAR-10",
       claims={"a": "in epochs 1 to 5 Gauss-Newton's change is twice each of the others' or more",
               "b": "it is the largest over the epochs up to four fifths",
               "c": "its lead is smaller in the last five of these epochs than in the first five"},
       full=compared.FULL, quick=compared.QUICK, seconds=(3000, 5), needs=("cifar-10",),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; every fifth step is measured. The change is set by the "
       "rate: both rules are shown")
class Figure3(compared.OfFigure2):
    def judge(self, results, settings):
        last = 4 * settings["cifar"]["epochs"] // 5
        told = {"a": lambda runs: paired(ratios(runs, 1, 5), "log ratio of changes", np.log(2)),
                "b": lambda runs: paired(ratios(runs, 1, last), "log ratio of changes"),
                "c": lambda runs: paired(np.subtract(ratios(runs, 1, 5), ratios(
                    runs, max(1, last - 4), last)), "early log ratio less late one")}
        return {letter: compared.under_rules(results, settings, "cifar", judge)
                for letter, judge in told.items()}

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        compared.draw_by_rule(panel, compared.by_rule(results, settings), "change", log=False)
        panel.axhline(0, color="0.6", linewidth=0.8)
        panel.set_ylabel("change of the own batch's loss, per cent")
        legend_below(figure, panel)
        figure.suptitle("What a step does to its own batch (thick: rate by epoch 1, thin: best "
                        f"later)\n{compared.title_of(settings)}; {over_seeds(settings['seeds'])}",
                        fontsize=10)
