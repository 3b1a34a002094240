"""Ours: is the right inverse to blame, or that it solves for x_L and not for the logits?

The right inverse moves x_L, d numbers an image, by the least change that the logits ask for;
Moore-Penrose of the logits moves ten numbers an image. Moore-Penrose of x_L stands between them: it
solves the right inverse's own system by the shortest step.
"""

import numpy as np

from secondorder.studies import Run, chosen, diverged, legend_below, paired, study

from .. import PAPER
from . import poor_generalisation
from .poor_generalisation import CHOOSING, LEVEL, UNTIL
from .training import NAMES, TITLES, train

RATES = (0.2, 0.5, 1.0, 2.0)
TOLD = NAMES | {"exact": "the right inverse", "mp": "Moore-Penrose of the logits"}
STYLES = poor_generalisation.STYLES | {"mp-features": ("C5", "--")}
PAIRS = {"features": ("mp-features", "mp"), "inverse": ("exact", "mp-features"),
         "both": ("exact", "mp")}
METHODS = ("exact", "mp-features", "mp")
RATIOS = {60: "0.8", 120: "0.4"}  # d' -> n / d' for 48 images
FULL = {"task": "digits", "samples": 48, "widths": tuple(RATIOS), "epochs": 60,
        "seeds": (2, 3, 4, 5, 6, 7)}
QUICK = {"task": "digits", "samples": 12, "widths": (15, 30), "epochs": 6, "seeds": (2,)}


def one(settings, seed, method, rate, width):
    return Run(train, {"seed": seed, "task": settings["task"], "method": method, "rate": rate,
                       "epochs": settings["epochs"], "samples": settings["samples"],
                       "batch": settings["samples"], "width": width, "until": UNTIL})


def best_rate(results, method, width):
    """The rate with the least test loss at the level, on a seed of its own; None as long as runs
    are missing.
    """
    candidates = [{"method": method, "rate": rate, "width": width} for rate in RATES]
    best = chosen(results, candidates, poor_generalisation.at_level, (CHOOSING,))
    return None if best is None else best["rate"]


def claims():
    return {f"{letter}-{ratio}": f"n / d' = {ratio}: {TOLD[one]} has a higher test loss than "
            f"{TOLD[other]} at training loss {LEVEL}"
            for ratio in RATIOS.values() for letter, (one, other) in PAIRS.items()}


@study(PAPER, "claim-features-or-logits",
       shows="Test loss at equal training loss: right inverse, and Moore-Penrose of x_L and of the "
             "logits",
       claims=claims(), ours=tuple(claims()), full=FULL, quick=QUICK, seconds=(900, 4),
       smaller="48 digits in one batch",
       deviation="a control of ours: 48 digits in one batch. Moore-Penrose of x_L solves with a "
                 "kernel of 64 times the samples. Every method at the rate that generalises best "
                 "on seed 100, of four; weights start at 1e-3")
class FeaturesOrLogits:
    def runs(self, settings, results):
        wanted = []
        for method in METHODS:
            for width in settings["widths"]:
                wanted += [one(settings, CHOOSING, method, rate, width) for rate in RATES]
                best = best_rate(results, method, width)
                wanted += [one(settings, seed, method, best, width)
                           for seed in settings["seeds"] if best]
        return wanted

    def judge(self, results, settings):
        verdicts = {}
        for width, ratio in zip(settings["widths"], RATIOS.values()):
            rates = {method: best_rate(results, method, width) for method in METHODS}
            runs = {method: results.by_seed(method=method, width=width, rate=rates[method])
                    for method in METHODS}
            told = {method: np.array([
                np.nan if diverged(runs[method][seed]) else
                np.log(poor_generalisation.test_at(runs[method][seed]))
                for seed in settings["seeds"]]) for method in METHODS}
            for letter, (above, below) in PAIRS.items():
                verdicts[f"{letter}-{ratio}"] = paired(
                    told[above] - told[below], "log ratio of test losses").with_note(
                    f"rates {rates[above]:g} and {rates[below]:g}")
        return verdicts

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, len(settings["widths"]), sharey=True)
        for panel, width in zip(panels, settings["widths"]):
            for method in METHODS:
                colour, style = STYLES[method]
                runs = results.by_seed(method=method, width=width,
                                       rate=best_rate(results, method, width))
                for number, seed in enumerate(settings["seeds"]):
                    x = runs[seed]["loss"][1:]
                    panel.plot(x, runs[seed]["test"][:len(x)], style, color=colour, linewidth=1,
                               label=None if number else TOLD[method])
            panel.set(xscale="log", yscale="log", xlabel="training loss, falling",
                      title=f"n / d' = {settings['samples'] / width:.1f}")
            panel.invert_xaxis()
        panels[0].set_ylabel("test loss")
        legend_below(figure, panels[0])
        figure.suptitle(f"{settings['samples']} {TITLES[settings['task']]} in one batch; "
                        f"{len(settings['seeds'])} seeds, a line each", fontsize=10)
