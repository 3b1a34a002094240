"""Figure 1: one batch again and again. Exact Gauss-Newton falls as descent on the logits does."""

import numpy as np

from secondorder.studies import (Chosen, counted, diverged, headline, least, legend_below, paired,
                                 study, undecided)

from .. import PAPER
from . import compared
from .training import TITLES, train

RATES = compared.RATES | {"gn": (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)}
AUTHORS = {"mnist": {"gn": 1.0, "adam": 1e-4, "sgd": 0.1},
           "cifar": {"gn": 6.0, "adam": 1e-5, "sgd": 0.01}}
#: Seeds that were run at these rates.
AUTHORS_SEEDS = {"mnist": (2, 3, 4), "cifar": (2, 3, 4)}
NAMES = {"mnist": "MNIST", "cifar": "CIFAR-10"}
LEVEL = 0.1
FROM, TO = 10, 40  # steps between which a loss is held against the two laws
CLEARLY = 5  # times better is the law that wins


def boldest(curves):
    """Rule P: the largest rate that does not diverge (finite, never above twice the start)."""
    return max((k for k, curve in enumerate(curves) if not diverged(curve)
                and max(curve["loss"]) <= 2 * curve["loss"][0]), default=0)


def lowest(curves):
    """Rule B: least final loss."""
    return least([np.inf if diverged(curve) else curve["loss"][-1] for curve in curves], "rate")


TRAININGS = Chosen(train, RATES, {"P": boldest, "B": lowest}, compared.WORDS,
                   compared.published(AUTHORS, AUTHORS_SEEDS))


def faster(runs):
    """log2 of the steps of the better of Adam and SGD over Gauss-Newton's, to loss 0.1: above 1."""
    steps = {method: [compared.reached(run, LEVEL) for run in runs[method]] for method in runs}
    logs = np.log2(np.minimum(steps["adam"], steps["sgd"])) - np.log2(np.maximum(steps["gn"], 1))
    return paired(logs, "log2 of the ratio of steps", 1.0)


def law(runs):
    """Whether the loss falls exponentially or as 1 / (t + t0), whichever fits clearly better.

    Exponential: log L is a straight line in t. The other: 1 / L is one. What a line leaves
    unexplained, 1 - R^2, decides: the smaller has to be at most a fifth of the larger.
    """
    logs = []
    for run in runs["gn"]:
        losses = np.array(run["loss"])[FROM:TO + 1]
        if diverged(run) or len(losses) < 4:
            return undecided("a run diverged or is too short", len(runs["gn"]))
        t = np.arange(FROM, FROM + len(losses))
        logs.append(float(np.log10(unexplained(t, 1 / losses) / unexplained(t, np.log(losses)))))
    if any(abs(log) < np.log10(CLEARLY) for log in logs):
        return undecided("neither law fits five times better than the other in every seed",
                         len(logs), float(np.median(logs)), LAW)
    return counted([log > 0 for log in logs], logs, LAW, 3)


LAW = "log10 of what 1 / (t + t0) leaves unexplained over what the exponential does"


def unexplained(t, values):
    """1 - R^2 of the straight line through values over t."""
    residual = values - np.polynomial.Polynomial.fit(t, values, 1)(t)
    return float(np.sum(residual**2) / np.sum((values - values.mean())**2))


@study(PAPER, "figure-1",
       shows="One batch: training loss of Gauss-Newton, Adam and SGD, step by step",
       claims={f"{letter}-{name}": f"one batch of {told}: {text}" for name, told in NAMES.items()
               for letter, text in (("a", "Gauss-Newton reaches loss 0.1 within half the steps of "
                                     "the better of Adam and SGD"),
                                    ("b", "Gauss-Newton's loss falls exponentially, not as "
                                     "1 / (t + t0), from step 10 on"))},
       full={"mnist": {"task": "mnist", "samples": 1024, "batch": 1024, "width": 8000,
                       "epochs": 41},
             "cifar": {"task": "cifar-16", "samples": 205, "batch": 205, "width": 1600,
                       "epochs": 41}, "choosing": 15, "rates": (0, 6), "seeds": (2, 3, 4),
             "published": AUTHORS_SEEDS},
       quick={"mnist": {"task": "digits", "samples": 40, "batch": 40, "width": 64, "epochs": 14},
              "cifar": {"task": "cifar-8", "samples": 20, "batch": 20, "width": 48, "epochs": 14},
              "choosing": 5, "rates": (1, 3), "seeds": (2,)}, seconds=(4000, 3),
       needs=("mnist", "cifar-10"),
       smaller="MNIST at the printed size; CIFAR-10 at 16 x 16 pixels, d' = 1600",
       deviation="MNIST at the printed size; CIFAR-10 at 16 x 16 pixels, one batch of 205, "
       "d' = 1600. Rates by 15 steps on seed 100, judged over 40: by the paper's own rule the "
       "largest that does not diverge, where the authors' rates were not run. For Gauss-Newton it "
       "is the largest of the grid, at which one step suffices for loss 0.1")
class Figure1:
    def runs(self, settings, results):
        return TRAININGS.wanted(settings, results, NAMES)

    def judge(self, results, settings):
        return {f"{letter}-{name}": TRAININGS.under_rules(results, settings, name, judge)
                for name in NAMES for letter, judge in (("a", faster), ("b", law))}

    def draw(self, results, figure, settings):
        for panel, name in zip(figure.subplots(1, 2), NAMES):
            told, about = TRAININGS.by_rule(results, settings, name), settings[name]
            compared.draw_by_rule(panel, told, "loss", start=0)
            panel.set(ylabel="training loss")
            panel.set_title(f"{TITLES[about['task']]}: {about['samples']} images, d' = "
                            f"{about['width']}\n{compared.thick_and_thin(told)}", fontsize=8)
            panel.axhline(LEVEL, color="0.6", linewidth=0.8)
        legend_below(figure, panel)
        headline(figure, "One batch at every step; line: the loss to reach", settings)
