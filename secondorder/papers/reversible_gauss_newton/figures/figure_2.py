"""Figure 2: mini-batches. Gauss-Newton saturates, Adam goes on, gradient descent overtakes."""

import numpy as np

from secondorder.studies import (both, counted, diverged, headline, legend_below, paired, smoothed,
                                 study)

from .. import PAPER
from . import compared

def ends_below(runs):
    """(a): Adam ends below Gauss-Newton in training and in test loss."""
    return both(paired(compared.logs(runs["gn"], runs["adam"]), "log ratio of training losses"),
                paired(compared.logs(runs["gn"], runs["adam"],
                                     lambda run: compared.final(run, "test")),
                       "log ratio of test losses"))


def saturation_of(runs, yes=("gn",), no=("adam",)):
    """(b): some methods saturate, others do not.

    A seed of which a run diverged may be so or not: undecided if that could change the verdict.
    """
    lost = compared.cut_off(run for method in (*yes, *no) for run in runs[method])
    seeds = range(len(runs[yes[0]]))
    met = [None if any(diverged(runs[method][seed]) for method in (*yes, *no)) else
           all(compared.saturates(runs[method][seed]) for method in yes)
           and not any(compared.saturates(runs[method][seed]) for method in no) for seed in seeds]
    if not lost:
        return counted(met, measure="seeds in which it is so", least=3)
    either = [counted([other if one is None else one for one in met],
                      measure="seeds in which it is so", least=3) for other in (False, True)]
    return (either[0].with_note(f"{met.count(None)} more may be so: a run diverged")
            if len({one.verdict for one in either}) == 1 else lost)


def leads(runs, epoch=5):
    """(c): Gauss-Newton has the least T(5)."""
    def at(run):
        return smoothed(run["loss"])[epoch - 1] if len(run["loss"]) >= epoch else np.inf
    logs = [min(np.log(at(runs[other][seed]) / at(runs["gn"][seed])) for other in ("adam", "sgd"))
            for seed in range(len(runs["gn"]))]
    return paired(logs, "log ratio of the better of Adam and SGD to it, epoch 5")


def at_equal_loss(runs):
    """(f): Gauss-Newton's test loss above Adam's at the lowest training loss that both reach."""
    logs = [np.nan if diverged(one) or diverged(other) else
            compared.excess_at_equal_loss(one, other)
            for one, other in zip(runs["gn"], runs["adam"])]
    return paired(logs, "log ratio of test losses at equal training loss")


def behind_sgd(runs):
    """(d): gradient descent ends below Gauss-Newton."""
    return paired(compared.logs(runs["gn"], runs["sgd"]), "log ratio")


TOLD = {"a": (ends_below, "Adam ends below Gauss-Newton in training and test loss"),
        "b": (saturation_of, "Gauss-Newton saturates (the second half gains less than 2 % of "
                             "training loss), Adam does not"),
        "c": (leads, "Gauss-Newton leads in training loss after five epochs"),
        "f": (at_equal_loss, "at the lowest training loss that both reach Gauss-Newton's test loss "
                             "is above Adam's")}
SETS = {"mnist": "MNIST", "cifar": "CIFAR-10"}


@study(PAPER, "figure-2",
       shows="Mini-batches: training loss, test loss and accuracy of Gauss-Newton, Adam and SGD",
       claims={f"{letter}-{name}": f"mini-batches of {told}: {text}" for name, told in SETS.items()
               for letter, (_, text) in TOLD.items()}
       | {"d": "mini-batches of CIFAR-10: SGD ends below Gauss-Newton",
          "e": "Gauss-Newton falls further behind Adam on CIFAR-10 than on MNIST, in training loss",
          "e-test": "Gauss-Newton falls further behind Adam on CIFAR-10 than on MNIST, in test "
                    "loss"},
       full=compared.FIVE_SEEDS, quick=compared.QUICK, seconds=(5800, 9),
       needs=("mnist", "cifar-10"), ours=("f-cifar", "f-mnist"),
       smaller="CIFAR-10 at 8 x 8 pixels, MNIST with 8000 images",
       deviation=compared.AT_AUTHORS + ". MNIST: 8000 images, d' = 1064, n = 136, 60 epochs; the "
       "authors' rates are 0.2, 1e-4 and 0.1")
class Figure2(compared.OfFigure2):
    def runs(self, settings, results):
        return compared.FIGURE_2.wanted(settings, results, SETS)

    def judge(self, results, settings):
        verdicts = {f"{letter}-{name}": compared.FIGURE_2.under_rules(results, settings, name,
                                                                      judge)
                    for name in SETS for letter, (judge, _) in TOLD.items()}
        verdicts["d"] = compared.FIGURE_2.under_rules(results, settings, "cifar", behind_sgd)
        mnist, cifar = (compared.FIGURE_2.by_rule(results, settings, name) for name in SETS)
        for letter, record in (("e", "loss"), ("e-test", "test")):
            verdicts[letter] = compared.decided({rule: self._further(cifar[rule], other, record)
                                                 for rule, other in zip(cifar, mnist.values())})
        return verdicts

    def _further(self, cifar, mnist, record):
        """(e), of method -> runs on both sets: the seeds that both have."""
        logs = [compared.logs(runs["gn"], runs["adam"], lambda run: compared.final(run, record))
                for runs in (cifar, mnist)]
        return paired([one - other for one, other in zip(*logs)],
                      "log ratio to Adam on CIFAR-10 less that on MNIST")

    def draw(self, results, figure, settings):
        panels = figure.subplots(2, 3)
        for row, name in zip(panels, SETS):
            told = compared.FIGURE_2.by_rule(results, settings, name)
            for panel, record, label in zip(row, ("loss", "test", "accuracy"), (
                    "training loss", "test loss", "test accuracy")):
                compared.draw_by_rule(panel, told, record, log=record != "accuracy")
                panel.set(ylabel=label)
            row[1].set_title(f"{compared.title_of(settings, (name,))}; "
                             f"{compared.thick_and_thin(told)}", fontsize=8)
        legend_below(figure, panels[0][0])
        headline(figure, "Mini-batches", settings)
