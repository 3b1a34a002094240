"""Figure 4: how far kernel and representations move from the start."""

import numpy as np

from secondorder.studies import (both, diverged, headline, legend_below, lowest_common, paired,
                                 smoothed, study)

from .. import PAPER
from . import compared
from .training import NAMES

MANY, GAP = 0.9, 0.1  # of a similarity


def last(run, name, block=None):
    """A similarity at the last look; NaN where the run diverged."""
    if diverged(run) or not run["looks"]:
        return float("nan")
    value = run["looks"][-1][name]
    return value if block is None else value[block]


def above(values, margin, measure):
    return paired(np.subtract(values, margin), measure)


def kernel_claims(runs):
    """(a): similarity with the start at least 0.9 for Gauss-Newton and SGD, Adam lower by 0.1."""
    end = {method: [last(run, "ntk") for run in runs[method]] for method in compared.METHODS}
    return {**{f"a-{method}": above(end[method], MANY, "similarity less 0.9")
               for method in ("gn", "sgd")},
            "a-adam": both(*(paired(np.subtract(end[method], end["adam"]),
                                    f"similarity, {NAMES[method]} less Adam", GAP)
                             for method in ("gn", "sgd")))}


def speed_claim(runs):
    """(b): the kernel changes less between looks than Adam's."""
    moved = {method: [np.mean([1 - look["step"] for look in run["looks"][1:]])
                      if not diverged(run) and len(run["looks"]) > 1 else np.nan
                      for run in runs[method]] for method in compared.METHODS}
    return paired(np.subtract(moved["adam"], np.maximum(moved["gn"], moved["sgd"])),
                  "Adam's change less the larger of the other two")


def blocks_claims(runs, blocks):
    """(c): CKA with the start at least 0.9 for Gauss-Newton and SGD, below for Adam."""
    def ends(method, pick):
        return [pick(last(run, "cka", block) for block in blocks) for run in runs[method]]
    return {**{f"c-{method}": above(ends(method, min), MANY, "least CKA less 0.9")
               for method in ("gn", "sgd")},
            "c-adam": paired(MANY - np.array(ends("adam", max)), "0.9 less the largest CKA")}


def equal_loss_claim(runs):
    """(g): (a)'s gap to Adam, read at the lowest training loss that Gauss-Newton and Adam reach."""
    gaps = []
    for one, other in zip(runs["gn"], runs["adam"]):
        if diverged(one) or diverged(other) or not one["looks"]:
            gaps.append(np.nan)
            continue
        level = lowest_common(*(smoothed(run["loss"]) for run in (one, other)))
        (_, ours), (_, adams) = (compared.kernel_at(run, level) for run in (one, other))
        gaps.append(ours - adams)
    return paired(gaps, "similarity less Adam's at equal training loss", GAP)


@study(PAPER, "figure-4",
       shows="Tangent kernel and representations against their start, CIFAR-10",
       claims={"a-gn": "Gauss-Newton: the kernel's similarity with the start ends at 0.9 or more",
               "a-sgd": "SGD: the same", "a-adam": "Adam: it ends lower than both by 0.1 or more",
               "b": "between looks the kernel changes less for both than for Adam",
               "c-gn": "Gauss-Newton: CKA of the first, middle and last block with the start ends "
                       "at 0.9 or more", "c-sgd": "SGD: the same",
               "c-adam": "Adam: it ends below 0.9 in all three",
               "e": "Gauss-Newton's and Adam's CKA is lower in the last block than in the first",
               "g": "control, ours: Gauss-Newton's kernel is nearer to its start than Adam's, by "
                    "0.1, at equal training loss too"},
       full=compared.FOURTEEN_SEEDS, quick=compared.QUICK, seconds=(9000, 5),
       needs=("cifar-10",),
       ours=("g",),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; kernel on 100 test images, CKA on 500, every 10 epochs. "
       "The skips keep x_0 in every block, so CKA is high for anyone. One panel is the CKA of what "
       "the last block and the blocks before it added")
class Figure4(compared.OfFigure2):
    def judge(self, results, settings):
        def depth_claim(runs):
            return both(*(paired([last(run, "cka", 0) - last(run, "cka", -1)
                                  for run in runs[method]], f"first less last, {NAMES[method]}")
                          for method in ("gn", "adam")))

        return compared.by_letter({
            rule: {**kernel_claims(runs), "b": speed_claim(runs),
                   **blocks_claims(runs, (0, 2, -1)), "e": depth_claim(runs),
                   "g": equal_loss_claim(runs)}
            for rule, runs in compared.by_rule(results, settings).items()})

    def draw(self, results, figure, settings):
        told = compared.by_rule(results, settings)
        panels = figure.subplots(2, 3, sharex=True)
        shown = {"kernel, with start": lambda look: look["ntk"],
                 "kernel, with last look": lambda look: look["step"],
                 "CKA, what the last block added": lambda look: look["added"][-1],
                 "CKA, first block": lambda look: look["cka"][0],
                 "CKA, middle block": lambda look: look["cka"][2],
                 "CKA, last block": lambda look: look["cka"][-1]}
        for panel, (title, of) in zip(panels.flat, shown.items()):
            compared.draw_looks(panel, told, of, settings["cifar"]["looks"])
            panel.set_title(title, fontsize=9)
        for panel in panels[-1]:
            panel.set_xlabel("epoch")
        for panel in panels[:, 0]:
            panel.set_ylabel("similarity")
        legend_below(figure, panels[0, 0])
        headline(figure, f"What stays as it was at the start ({compared.THICK_AND_THIN})\n"
                 f"{compared.title_of(settings)}", settings)
