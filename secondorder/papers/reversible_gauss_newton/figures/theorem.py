"""Claim: right inverse and Moore-Penrose inverse have the same dynamics of the loss."""

import numpy as np

from secondorder.studies import Run, counted, diverged, finished, legend_below, study

from .. import PAPER
from .training import NAMES, TITLES, train

RATES = {"half": 0.5, "one": 1.0}


def apart(one, other):
    """Largest |log ratio| of two curves of loss; infinite where a run diverged."""
    if diverged(one) or diverged(other):
        return float("inf")
    return float(np.abs(np.log(one["loss"]) - np.log(other["loss"])).max())


@study(PAPER, "claim-theorem",
       shows="One batch: training loss by the right inverse and by Moore-Penrose",
       claims={letter: "one batch: the right inverse and Moore-Penrose have the same loss at every "
               f"step, within 5 % (rate {rate:g})"
               for letter, rate in RATES.items()},
       full={"task": "mnist", "samples": 96, "width": 960, "epochs": 21, "seeds": (2, 3, 4)},
       quick={"task": "digits", "samples": 24, "width": 60, "epochs": 4, "seeds": (2,)},
       seconds=(60, 1), needs=("mnist",),
       smaller="96 images of MNIST, d' = 960, 20 steps",
       deviation="MNIST, one batch of 96, d' = 960, 20 steps; cross-entropy, where the theorem is "
       "about small steps")
class Theorem:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("task", "samples", "width", "epochs")}
        return [Run(train, {"seed": seed, "method": method, "rate": rate, **sizes,
                            "batch": settings["samples"]})
                for seed in settings["seeds"] for method in ("exact", "mp")
                for rate in RATES.values()]

    def judge(self, results, settings):
        told = {letter: [*map(apart, *(results.of(method=method, rate=rate)
                                       for method in ("exact", "mp")))]
                for letter, rate in RATES.items()}
        return {letter: counted([value < 0.05 for value in values], values,
                                "largest log of one loss over the other", 3)
                for letter, values in told.items()}

    def draw(self, results, figure, settings):
        for panel, rate in zip(figure.subplots(1, 2, sharey=True), RATES.values()):
            for method, style in (("exact", "-"), ("mp", "--")):
                for k, one in enumerate(finished(results.of(method=method, rate=rate))):
                    panel.semilogy(one["loss"], style, color=f"C{k}",
                                   label=NAMES[method] if k == 0 else None)
            panel.set(xlabel="step", title=f"rate {rate:g}")
            panel.locator_params(axis="x", integer=True)
        legend_below(figure, panel)
        figure.axes[0].set_ylabel("training loss")
        figure.suptitle("The right inverse and Moore-Penrose: "
                        f"{TITLES[settings['task']]}, one batch of {settings['samples']}, "
                        f"d' = {settings['width']}; one colour per seed", fontsize=10)
